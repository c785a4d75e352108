// SPDX-License-Identifier: Apache-2.0
/* desired_build(): which device belongs into which pod. Recreated pods, several containers and
 * pools, incomplete lists, and impossible requests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "desired_fixture.h"
#include "faults.h"
#include "network_text.h"
#include "pod_sandbox.h"
#include "test_group.h"

/* --- owner of a sandbox ----------------------------------------------------------------------- */

static const struct {
	const char *what, *held, *sandboxes, *desired;
} cases[] = {
	{"a device of a pod", "t:c:roce:1", "t/u1/0@150+", "roce:1>u1.0=net1"},
	{"no sandbox yet", "t:c:roce:1@100", "", ""},
	{"another pod's sandbox", "t:c:roce:1", "tt/u2/0@150+ s/u3/0@150+", ""},
	{"only reserved", "::roce:1@100", "t/u1/0@150+", ""},
	{"a pool without a network", "t:c:plain:4", "t/u1/0@150+", ""},
	{"a resource of another plugin", "t:c:gpu:1", "t/u1/0@150+", ""},
	{"sandbox without details yet", "t:c:roce:1", "t/u1/0@150+d", ""},
	{"the host's network", "t:c:roce:1", "t/u1/0@150+h", "roce:1>u1.0="},
	{"a sandbox that has ended", "t:c:roce:1", "t/u1/0@150-", ""},
	{"the runtime reports no namespace", "t:c:roce:1", "t/u1/0@150+n", "roce:1>u1.0=net1!"},
	{"several devices are sorted", "t:c:roce:2 t:c:roce:1", "t/u1/0@150+",
	 "roce:1>u1.0=net1 roce:2>u1.0=net2"},
	{"several containers", "t:b:roce:1 t:a:roce:2", "t/u1/0@150+",
	 "roce:1>u1.0=net1 roce:2>u1.0=net2"},
	{"an init container's device, reused", "t:a:roce:1 t:init:roce:1 t:a:roce:2", "t/u1/0@150+",
	 "roce:1>u1.0=net1 roce:2>u1.0=net2"},
	{"several pools, by name", "t:c:slot:0 t:c:roce:1 t:c:fast:3 t:c:plain:4", "t/u1/0@150+",
	 "fast:3>u1.0=net1 roce:1>u1.0=net2 slot:0>u1.0=net3"},
	{"two pods", "s:c:roce:2 t:c:roce:1", "s/u2/0@160+ t/u1/0@150+",
	 "roce:1>u1.0=net1 roce:2>u2.0=net1"},
	{"natural order of slots", "t:c:slot:7 t:c:slot:10", "t/u1/0@150+",
	 "slot:10>u1.0=net2! slot:7>u1.0=net1"},
	{"sandbox recreated", "t:c:roce:1@100", "t/u1/0@150- t/u1/1@200+", "roce:1>u1.1=net1"},
	{"sandbox recreated, both ready", "t:c:roce:1@100", "t/u1/0@150+ t/u1/1@200+",
	 "roce:1>u1.1=net1"},
	{"sandbox recreated, the attempt decides", "t:c:roce:1", "t/u1/9@150+ t/u1/10@140+",
	 "roce:1>u1.10=net1"},
	/* two pods of the same name, t/u1 and t/u2 */
	{"only the old pod's sandbox is ready", "t:c:roce:1@300", "t/u1/0@150+", ""},
	{"the new pod's sandbox appears", "t:c:roce:1@300", "t/u1/0@150+ t/u2/0@350+",
	 "roce:1>u2.0=net1"},
	{"a device each, the old sandbox has ended", "t:c:roce:1@100 t:c:roce:2@300",
	 "t/u1/0@150- t/u2/0@350+", "roce:2>u2.0=net1"},
	{"the first device is ambiguous while both run", "t:c:roce:1@100 t:c:roce:2@300",
	 "t/u1/0@150+ t/u2/0@350+", "roce:2>u2.0=net1"},
	{"the old pod's device does not go to the new pod", "t:c:roce:1@100",
	 "t/u1/0@150- t/u2/0@350+", ""},
	{"uids that sort the other way", "t:c:roce:1@100 t:c:roce:2@300", "t/u9/0@150+ t/u2/0@350+",
	 "roce:2>u2.0=net1"},
	{"time of Allocate unknown, both run: ambiguous", "t:c:roce:1", "t/u1/0@150+ t/u2/0@350+",
	 ""},
	{"time of Allocate unknown, the new pod has ended", "t:c:roce:1", "t/u1/0@150+ t/u2/0@350-",
	 ""},
	{"time of Allocate unknown, the old pod has ended", "t:c:roce:1", "t/u1/0@150- t/u2/0@350+",
	 "roce:1>u2.0=net1"},
	{"the new pod uses the host's network", "t:c:roce:1@300", "t/u1/0@150+ t/u2/0@350+h",
	 "roce:1>u2.0="},
	{"the new sandbox has no details yet", "t:c:roce:1@300", "t/u1/0@150+ t/u2/0@350+d", ""},
	/* wall clock changes; "@seen~created" */
	{"clock set back before the sandbox was seen", "t:c:roce:1@100", "t/u1/0@150~3750+ =160",
	 ""},
	{"clock set forward before the sandbox was seen", "t:c:roce:1@3700",
	 "t/u1/0@3750~150+ =3760", ""},
	{"clock set back a little", "t:c:roce:1@100.15", "t/u1/0@100.20~100.06+ =101", ""},
	{"no creation time", "t:c:roce:1@100", "t/u1/0@150~0+ =160", ""},
	{"clock set back, a container waits", "t:c:roce:1@100!170", "t/u1/0@150~3750+ =170",
	 "roce:1>u1.0=net1"},
	{"clock set forward, a container waits", "t:c:roce:1@3700!3770", "t/u1/0@3750~150+ =3771",
	 "roce:1>u1.0=net1"},
	{"clock set back a little, a container waits", "t:c:roce:1@100.15!100.25",
	 "t/u1/0@100.20~100.06+ =101", "roce:1>u1.0=net1"},
	{"no creation time, a container waits", "t:c:roce:1@100!170", "t/u1/0@150~0+ =171",
	 "roce:1>u1.0=net1"},
	{"a container waits, the list is older", "t:c:roce:1@100!170", "t/u1/0@150~3750+ =169", ""},
	{"sandbox seen before Allocate, created later by the clock", "t:c:roce:1@300!370",
	 "t/u1/0@150~9999+ =380", ""},
	{"seen at the time of Allocate", "t:c:roce:1@300", "t/u1/0@300~9999+", ""},
	{"seen and created at the time of Allocate", "t:c:roce:1@300", "t/u1/0@300+",
	 "roce:1>u1.0=net1"},
	{"seen at the time of Allocate, a container waits", "t:c:roce:1@300!310",
	 "t/u1/0@300~0+ =311", "roce:1>u1.0=net1"},
	{"allocated before the daemon started, the list is older than the wait", "t:c:roce:1@0!170",
	 "t/u1/0@150+ =169", ""},
	{"allocated before the daemon started, the list is newer", "t:c:roce:1@0!170",
	 "t/u1/0@150+ =170", "roce:1>u1.0=net1"},
	{"created in the future: the device goes to the later sandbox", "t:c:roce:1@300",
	 "t/u1/0@150~9999+ t/u2/0@350+", "roce:1>u2.0=net1"},
	{"created before Allocate, seen after it", "t:c:roce:1@300", "t/u1/0@340~290+", ""},
	{"created before Allocate, with a later sandbox", "t:c:roce:1@300",
	 "t/u1/0@340~290+ t/u2/0@350+", "roce:1>u2.0=net1"},
	{"two sandboxes created in the future: ambiguous", "t:c:roce:1@300!360",
	 "t/u1/0@340~9999+ t/u2/0@350~9999+ =370", ""},
	{"the first of the two has ended", "t:c:roce:1@300!360",
	 "t/u1/0@340~9999- t/u2/0@350~9999+ =370", "roce:1>u2.0=net1"},
	{"two sandboxes since Allocate: ambiguous", "t:c:roce:1@300!360",
	 "t/u1/0@340+ t/u2/0@350+ =370", ""},
	{"the first has ended, but is still listed", "t:c:roce:1@300!360",
	 "t/u1/0@340- t/u2/0@350+ =370", ""},
	{"the first is no longer listed", "t:c:roce:1@300!360", "t/u2/0@350+ =370",
	 "roce:1>u2.0=net1"},
	/* the kubelet's checkpoint */
	{"by uid", "#u1:c:roce:1", "t/u1/0@150+ t/u2/0@350+", "roce:1>u1.0=net1"},
	{"by uid, sandbox recreated", "#u1:c:roce:1", "t/u1/0@150+ t/u1/1@160+ t/u2/0@350+",
	 "roce:1>u1.1=net1"},
	{"by uid, no such sandbox", "#u3:c:roce:1", "t/u1/0@150+ t/u2/0@350+", ""},
	{"by uid, older than the reservation", "#u1:c:roce:1@200", "t/u1/0@150+", ""},
	{"names and uids", "t:c:roce:2 #u1:i:roce:1", "t/u1/0@150+",
	 "roce:1>u1.0=net1 roce:2>u1.0=net2"},
	/* one device, two pods */
	{"the younger pod", "s:c:roce:1 t:c:roce:1", "s/u2/0@160+ t/u1/0@150+", "roce:1>u2.0=net1"},
	{"the younger pod, named last", "s:c:roce:1 t:c:roce:1", "s/u2/0@160+ t/u1/0@170+",
	 "roce:1>u1.0=net1"},
	{"the one seen later, whatever its creation time", "s:c:roce:1 t:c:roce:1",
	 "s/u2/0@160~9+ t/u1/0@150~9999+", "roce:1>u2.0=net1"},
	{"both seen at once: the one created later", "s:c:roce:1 t:c:roce:1",
	 "s/u2/0@160~9+ t/u1/0@160~8+", "roce:1>u2.0=net1"},
	{"a completed pod is still listed", "s:c:roce:1 t:c:roce:1", "s/u2/0@160- t/u1/0@150+",
	 "roce:1>u1.0=net1"},
	/* sandboxes that are newer than the kubelet's list */
	{"list older than the sandbox", "t:c:roce:1@100 =149", "t/u1/0@150+", ""},
	{"list as old as the sandbox", "t:c:roce:1@100 =150", "t/u1/0@150+", "roce:1>u1.0=net1"},
	{"list older than the second sandbox", "t:c:roce:1@100 =160", "t/u1/0@150- t/u1/1@200+",
	 ""},
	{"list as old as the sandbox, created later by the clock", "t:c:roce:1 =150",
	 "t/u1/0@150~250+", "roce:1>u1.0=net1"},
	{"list older than the sandbox, created before by the clock", "t:c:roce:1 =149",
	 "t/u1/0@150~100+", ""},
	{"another pod's reservation", "t:c:roce:1@100 ::roce:2@160", "t/u1/0@150+",
	 "roce:1>u1.0=net1"},
	{"of two pods, only the later one needs a newer list",
	 "s:c:fast:3@160 t:c:roce:1@100 ::roce:2@170 =180", "t/u1/0@150+ s/u2/0@200+",
	 "roce:1>u1.0=net1"},
};

static void test_every_case(void **state)
{
	struct desired_fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *text;

		desired_fixture_clear(f);
		add_held(f, cases[i].held);
		add_sandboxes(f, cases[i].sandboxes);
		text = joined(f);
		if (strcmp(text, cases[i].desired) != 0)
			fail_msg("%s: '%s' instead of '%s'", cases[i].what, text, cases[i].desired);
	}
}

static void test_a_desired_attachment_is_complete(void **state)
{
	struct desired_fixture *f = *state;
	const struct desired *w;

	add_held(f, "t:main:fast:3@100 t:main:slot:2@100");
	add_sandboxes(f, "t/u1/4@150+");
	joined(f);
	w = desired_of(f, "fast:3");
	assert_string_equal(w->resource, "a.b/fast");
	assert_string_equal(w->function, "0000:03:00.3");
	assert_ptr_equal(w->network, f->pools->config.pools[1].network);
	assert_int_equal(w->owner.door, DOOR_NATIVE);
	assert_string_equal(w->owner.namespace, "ns");
	assert_string_equal(w->owner.pod, "t");
	assert_string_equal(w->owner.container, "main");
	assert_string_equal(w->owner.uid, "u1");
	assert_string_equal(w->owner.sandbox, "u1.4");
	assert_string_equal(w->owner.netns.path, "/run/netns/u1.4");
	assert_int_equal(w->plan.vf.vlan, 7);
	w = desired_of(f, "slot:2");
	assert_string_equal(w->function, "0000:03:00.0");
	assert_int_equal(w->plan.kind, PLAN_MACVLAN);
	assert_null(desired_of(f, "roce:1"));
	assert_null(desired_of(f, "slot:3"));
}

static void test_a_pod_of_the_checkpoint_gets_its_names_from_the_runtime(void **state)
{
	struct desired_fixture *f = *state;

	add_held(f, "#u1:c:roce:1");
	add_sandboxes(f, "t/u1/0@150+");
	joined(f);
	assert_string_equal(desired_of(f, "roce:1")->owner.pod, "t");
}

static void test_when_the_kubelet_must_be_queried(void **state)
{
	struct desired_fixture *f = *state;

	add_held(f, "t:c:roce:1@100");
	add_sandboxes(f, "s/u2/0@170- t/u1/0@150+");
	/* The time of the query is unknown. */
	assert_false(pod_sandbox_needs_details(&f->held, &f->sandboxes, 0));
	add_held(f, "=149");
	assert_true(pod_sandbox_needs_details(&f->held, &f->sandboxes, 0));
	assert_true(pod_sandbox_needs_details(&f->held, &f->sandboxes, 149999));
	assert_false(pod_sandbox_needs_details(&f->held, &f->sandboxes, 150000));
	add_held(f, "=150");
	assert_false(pod_sandbox_needs_details(&f->held, &f->sandboxes, 0));
}

/* --- the annotation --------------------------------------------------------------------------- */

#define Q(resource, keys) "{\"resource\":\"a.b/" resource "\"" keys "}"

static const struct {
	const char *annotation, *desired;
	const char *sentence; /* of roce:2 */
} annotations[] = {
	{"[" Q("roce", ",\"interface\":\"a\"") "]",
	 "fast:3>u1.0=net3 roce:1>u1.0=a roce:2>u1.0=net2", ""},
	{"[" Q("roce", "") "," Q("roce", ",\"interface\":\"b\"") "]",
	 "fast:3>u1.0=net3 roce:1>u1.0=net1 roce:2>u1.0=b", ""},
	{"[" Q("fast", "") "," Q("roce", "") "]",
	 "fast:3>u1.0=net1 roce:1>u1.0=net2 roce:2>u1.0=net3", ""},
	{"[" Q("roce", ",\"interface\":\"net3\"") "]",
	 "fast:3>u1.0=net3! roce:1>u1.0=net3 roce:2>u1.0=net2", ""},
	{"[" Q("roce", "") "," Q("roce", ",\"interface\":\"net1\"") "]",
	 "fast:3>u1.0=net3 roce:1>u1.0=net1 roce:2>u1.0=net1!",
	 "pod ns/t: interface: net1 is already used by another device"},
	{"[" Q("roce", "") "," Q("roce", ",\"vlanQoS\":1") "]",
	 "fast:3>u1.0=net3 roce:1>u1.0=net1 roce:2>u1.0=net2!",
	 "pod ns/t: rocelet.dev/networks: entry 2: vlanQoS: needs a \"vlan\""},
	/* an invalid annotation concerns every device */
	{"{", "fast:3>u1.0=net1! roce:1>u1.0=net2! roce:2>u1.0=net3!",
	 "pod ns/t: rocelet.dev/networks: is not JSON: line 1, column 1: string or '}' expected "
	 "near end of "
	 "file"},
	{"[" Q("roce", ",\"vlan\":5000") "]",
	 "fast:3>u1.0=net1! roce:1>u1.0=net2! roce:2>u1.0=net3!",
	 "pod ns/t: rocelet.dev/networks: entry 1: vlan: 5000 is not between 0 and 4094"},
	{"[" Q("roce", "") "," Q("gpu", "") "]",
	 "fast:3>u1.0=net3! roce:1>u1.0=net1! roce:2>u1.0=net2!",
	 "pod ns/t: rocelet.dev/networks: entry 2: resource: the pod has no a.b/gpu to attach"},
	{"[" Q("plain", "") "]", "fast:3>u1.0=net1! roce:1>u1.0=net2! roce:2>u1.0=net3!",
	 "pod ns/t: rocelet.dev/networks: entry 1: resource: the pod has no a.b/plain to attach"},
	{"[" Q("roce", "") "," Q("roce", "") "," Q("roce", "") "]",
	 "fast:3>u1.0=net3! roce:1>u1.0=net1! roce:2>u1.0=net2!",
	 "pod ns/t: rocelet.dev/networks: entry 3: resource: the pod has only 2 of a.b/roce"},
};

static void test_the_annotation(void **state)
{
	struct desired_fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(annotations); i++) {
		desired_fixture_clear(f);
		add_held(f, "t:c:roce:1 t:c:roce:2 t:c:fast:3 t:c:plain:4");
		add_sandboxes(f, "t/u1/0@150+");
		set_networks(f, "u1", annotations[i].annotation);
		assert_string_equal(joined(f), annotations[i].desired);
		assert_string_equal(desired_of(f, "roce:2")->err.msg, annotations[i].sentence);
	}
}

static void test_an_invalid_annotation_concerns_one_pod(void **state)
{
	struct desired_fixture *f = *state;

	add_held(f, "s:c:roce:2 t:c:roce:1");
	add_sandboxes(f, "s/u2/0@160+ t/u1/0@150+");
	set_networks(f, "u1", "5");
	assert_string_equal(joined(f), "roce:1>u1.0=net1! roce:2>u2.0=net1");
}

/* Another plugin, which does not know ours, has given the VF to a second pod. */
static void test_a_vf_of_another_plugins_pod(void **state)
{
	struct desired_fixture *f = *state;

	add_held(f, "t:c:roce:1 x:c:sriov:1 x:c:sriov:2");
	add_sandboxes(f, "t/u1/0@150+ x/u2/0@150+");
	assert_string_equal(joined(f), "roce:1>u1.0=net1!");
	assert_string_equal(
		desired_of(f, "roce:1")->err.msg,
		"pod ns/t: the kubelet has granted 0000:03:00.1 as a.b/sriov to pod ns/x, too");
	desired_fixture_clear(f);
	add_held(f, "t:c:roce:1 ::sriov:1 x:c:slot:1");
	add_sandboxes(f, "t/u1/0@150+");
	assert_string_equal(joined(f), "roce:1>u1.0=net1");
	desired_fixture_clear(f);
	/* An entry of our own does not hide it. */
	add_held(f, "t:c:roce:1 x:c:slot:1 z:c:sriov:1");
	add_sandboxes(f, "t/u1/0@150+");
	assert_string_equal(joined(f), "roce:1>u1.0=net1!");
}

static void test_a_long_name_does_not_truncate_the_reason(void **state)
{
	struct desired_fixture *f = *state;
	char pod[256];

	memset(pod, 'p', sizeof(pod) - 1);
	pod[255] = '\0';
	add_held(f, "t:c:roce:1");
	add_sandboxes(f, "t/u1/0@150+");
	f->held.devices[0].pod = pod;
	SET_TEXT(f->sandboxes.items[0].pod, pod);
	set_networks(f, "u1", "[" Q("roce", ",\"vlan\":5000") "]");
	joined(f);
	assert_non_null(strstr(desired_of(f, "roce:1")->err.msg, "5000 is not between 0 and 4094"));
}

static void test_a_pf_has_no_settings_of_a_vf(void **state)
{
	struct desired_fixture *f = *state;

	add_held(f, "t:c:pf:");
	add_sandboxes(f, "t/u1/0@150+");
	set_networks(f, "u1", "[" Q("pf", ",\"mac\":\"02:00:00:00:00:01\"") "]");
	assert_string_equal(joined(f), "pf:>u1.0=net1");
	assert_int_equal(desired_of(f, "pf:")->plan.vf.fields, 0);
	assert_true(desired_of(f, "pf:")->plan.has_mac);
	set_networks(f, "u1", "[" Q("pf", ",\"trust\":\"on\"") "]");
	assert_string_equal(joined(f), "pf:>u1.0=net1!");
	assert_string_equal(
		desired_of(f, "pf:")->err.msg,
		"pod ns/t: trust: 0000:81:00.0 is not a VF, and only a VF has this setting");
}

/* A netdev in a pod may have any MTU, so it is a limit only in the host. */
static void test_the_devices_mtu_is_the_maximum(void **state)
{
	struct desired_fixture *f = *state;
	struct host *host = &f->pools->host;
	struct netdev *nd = NULL;

	for (size_t i = 0; i < host->n_netdevs; i++)
		if (strcmp(host->netdevs[i].function, "0000:03:00.1") == 0)
			nd = &host->netdevs[i];
	assert_non_null(nd);
	nd->mtu = 1500;
	add_held(f, "t:c:roce:1");
	add_sandboxes(f, "t/u1/0@150+");
	f->pools->config.pools[0].network->allow = 0;
	set_networks(f, "u1", "[" Q("roce", ",\"mtu\":1500") "]");
	assert_string_equal(joined(f), "roce:1>u1.0=net1");
	set_networks(f, "u1", "[" Q("roce", ",\"mtu\":1501") "]");
	assert_string_equal(joined(f), "roce:1>u1.0=net1!");
	assert_string_equal(desired_of(f, "roce:1")->err.msg,
			    "pod ns/t: rocelet.dev/networks: entry 1: mtu: 1501 is above the "
			    "device's 1500 of a.b/roce, \"allow\": [\"mtu\"] in its pool would");
	nd->nsid = 5;
	assert_string_equal(joined(f), "roce:1>u1.0=net1");
}

/* The annotation names interfaces that none of its devices gets. */
static void test_names_on_the_hosts_network(void **state)
{
	struct desired_fixture *f = *state;

	add_held(f, "t:c:roce:1 t:c:roce:2");
	add_sandboxes(f, "t/u1/0@150+h");
	set_networks(
		f, "u1",
		"[" Q("roce", ",\"interface\":\"a\"") "," Q("roce", ",\"interface\":\"b\"") "]");
	assert_string_equal(joined(f), "roce:1>u1.0= roce:2>u1.0=");
}

/* --- removed and impossible ------------------------------------------------------------------- */

/* devtmpfs has no idmapped mounts: the runtime could not mount /dev/rocelet. */
static void test_user_namespaces(void **state)
{
	struct desired_fixture *f = *state;

	f->pools->config.pools[0].network->plan.soft_roce = true;
	add_held(f, "t:c:roce:1 s:c:roce:2 t:c:fast:3");
	add_sandboxes(f, "t/u1/0@150+u s/u2/0@150+");
	assert_string_equal(joined(f), "fast:3>u1.0=net1 roce:1>u1.0=net2! roce:2>u2.0=net1");
	assert_string_equal(
		desired_of(f, "roce:1")->err.msg,
		"pod ns/t: softRoce: the nodes in /dev/rocelet cannot be mounted into a "
		"pod with its own user namespace (hostUsers: false)");
	assert_int_equal(desired_of(f, "roce:2")->err.code, 0);
	assert_int_equal(desired_of(f, "fast:3")->err.code, 0);
}

static void test_a_function_removed_from_the_bus(void **state)
{
	struct desired_fixture *f = *state;

	add_held(f, "t:c:roce:1 t:c:slot:0");
	add_sandboxes(f, "t/u1/0@150+");
	SET_TEXT(find_function(&f->pools->host, "0000:03:00.1")->id, "0000:99:00.1");
	assert_string_equal(joined(f), "roce:1>u1.0=net1! slot:0>u1.0=net2");
	assert_int_equal(desired_of(f, "roce:1")->err.code, -ENODEV);
	assert_string_equal(desired_of(f, "roce:1")->err.msg,
			    "pod ns/t: 0000:03:00.1 was removed from the bus");
}

static void test_an_hca_without_an_ethernet_netdev(void **state)
{
	struct desired_fixture *f = *state;
	struct netdev *nd = find_netdev(&f->pools->host, "eth0");

	add_held(f, "t:c:slot:0");
	add_sandboxes(f, "t/u1/0@150+");
	nd->type = 32; /* ARPHRD_INFINIBAND */
	assert_string_equal(joined(f), "slot:0>u1.0=net1!");
	assert_string_equal(desired_of(f, "slot:0")->err.msg,
			    "pod ns/t: 0 of a.b/slot has no HCA with an Ethernet netdev");
	nd->type = 0;
	assert_string_equal(joined(f), "slot:0>u1.0=net1");
	nd->nsid = 3;
	assert_string_equal(joined(f), "slot:0>u1.0=net1!");
}

/* --- addresses -------------------------------------------------------------------------------- */

#define IP(ip) ",\"ips\":[\"" ip "\"]"

static void test_an_address_belongs_to_one_pod(void **state)
{
	struct desired_fixture *f = *state;

	add_held(f, "s:c:roce:1 t:c:roce:2");
	add_sandboxes(f, "s/u2/0@160+ t/u1/0@150+");
	set_networks(f, "u1", "[" Q("roce", IP("10.9.0.1/24")) "]");
	set_networks(f, "u2", "[" Q("roce", IP("10.9.0.1/16")) "]");
	assert_string_equal(joined(f), "roce:1>u2.0=net1! roce:2>u1.0=net1");
	assert_int_equal(desired_of(f, "roce:1")->err.code, -EBUSY);
	assert_string_equal(desired_of(f, "roce:1")->err.msg,
			    "pod ns/s: ips: 10.9.0.1 is pod ns/t's");
	set_networks(f, "u2", "[" Q("roce", IP("10.9.0.1/24") ",\"vlan\":5") "]");
	assert_string_equal(joined(f), "roce:1>u2.0=net1 roce:2>u1.0=net1");
	/* A device that cannot be attached for another reason does not claim its address. */
	set_networks(f, "u2", "[" Q("roce", IP("10.9.0.1/24")) "]");
	set_networks(f, "u1", "[" Q("roce", IP("10.9.0.1/24") ",\"vlanQoS\":1") "]");
	assert_string_equal(joined(f), "roce:1>u2.0=net1 roce:2>u1.0=net1!");
}

static void give(struct attach_record *r, const char *ip, bool ipam)
{
	struct ip_prefix *slot = ipam ? &r->ips[r->n_ips++] : &r->plan.ips[r->plan.n_ips++];

	assert_true(ip_prefix_parse(ip, slot));
}

static void test_an_address_in_use(void **state)
{
	struct desired_fixture *f = *state;
	struct attach_record *r;

	add_held(f, "s:c:roce:1");
	add_sandboxes(f, "s/u2/0@160+");
	set_networks(f, "u2", "[" Q("roce", IP("10.9.0.1/24")) "]");
	r = add_record(f, "roce:2", "t", "u1.0");
	give(r, "10.9.0.7/24", false);
	assert_string_equal(joined(f), "roce:1>u2.0=net1");
	give(r, "10.9.0.1/24", true);
	assert_string_equal(joined(f), "roce:1>u2.0=net1!");
	assert_string_equal(desired_of(f, "roce:1")->err.msg,
			    "pod ns/s: ips: 10.9.0.1 is pod ns/t's");
	r->state = ATTACH_RETURNING;
	assert_string_equal(joined(f), "roce:1>u2.0=net1!");
	r->state = ATTACH_FREE;
	assert_string_equal(joined(f), "roce:1>u2.0=net1");
	r->state = ATTACH_BAD;
	assert_string_equal(joined(f), "roce:1>u2.0=net1");
	/* The pod's own address, also while the device moves between its sandboxes. */
	r = add_record(f, "roce:1", "s", "u2.0");
	give(r, "10.9.0.1/24", false);
	assert_string_equal(joined(f), "roce:1>u2.0=net1");
}

/* --- bounds ----------------------------------------------------------------------------------- */

static void test_many_slots_of_one_pod(void **state)
{
	struct desired_fixture *f = *state;
	char text[32];

	for (int i = 0; i < 8; i++) {
		snprintf(text, sizeof(text), "t:c:slot:%d", i);
		add_held(f, text);
	}
	add_sandboxes(f, "t/u1/0@150+");
	joined(f);
	assert_int_equal(f->desired.n, 8);
	assert_string_equal(desired_of(f, "slot:7")->plan.ifname, "net8");
}

static void test_out_of_memory_at_any_point(void **state)
{
	struct desired_fixture *f = *state;
	int r = -1;

	add_held(f, "s:c:roce:1 t:c:roce:2");
	add_sandboxes(f, "s/u2/0@160+ t/u1/0@150+");
	set_networks(f, "u1", "[" Q("roce", IP("10.9.0.1/24")) "]");
	add_record(f, "fast:3", "x", "u7.0")->plan.n_ips = 1;
	for (long nth = 0; r < 0; nth++) {
		struct desired_list list = {.n = 7};

		faults_alloc(nth);
		r = desired_build(&list, &f->pools->pools, &f->pools->host, &f->held, &f->sandboxes,
				  f->others, f->n_records);
		assert_int_equal(r, faults_end() ? -ENOMEM : 0);
		assert_int_equal(list.n, r < 0 ? 0 : 2);
		desired_list_done(&list);
	}
}

#define TEST(name)                                                                                 \
	cmocka_unit_test_setup_teardown(name, desired_fixture_setup, desired_fixture_teardown)

TEST_GROUP(desired)
{
	const struct CMUnitTest tests[] = {
		TEST(test_every_case),
		TEST(test_a_desired_attachment_is_complete),
		TEST(test_a_pod_of_the_checkpoint_gets_its_names_from_the_runtime),
		TEST(test_when_the_kubelet_must_be_queried),
		TEST(test_the_annotation),
		TEST(test_the_devices_mtu_is_the_maximum),
		TEST(test_an_invalid_annotation_concerns_one_pod),
		TEST(test_a_vf_of_another_plugins_pod),
		TEST(test_a_long_name_does_not_truncate_the_reason),
		TEST(test_a_pf_has_no_settings_of_a_vf),
		TEST(test_user_namespaces),
		TEST(test_names_on_the_hosts_network),
		TEST(test_a_function_removed_from_the_bus),
		TEST(test_an_hca_without_an_ethernet_netdev),
		TEST(test_an_address_belongs_to_one_pod),
		TEST(test_an_address_in_use),
		TEST(test_many_slots_of_one_pod),
		TEST(test_out_of_memory_at_any_point),
	};

	return test_group_run(tests, NULL, NULL);
}
