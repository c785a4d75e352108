// SPDX-License-Identifier: Apache-2.0
/* Attach and return of one function, with everything that may come between. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/if_link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "attach_bench.h"
#include "cleanup.h"
#include "faults.h"
#include "namespaces.h"
#include "netns.h"
#include "test_group.h"
#include "tmptree.h"

static int open_bench(void **state)
{
	*state = attach_bench_open(false);
	return 0;
}

static int open_bench_with_pf(void **state)
{
	*state = attach_bench_open(true);
	return 0;
}

static void attach_ok(struct attach_bench *b)
{
	if (attach_bench_attach(b) < 0)
		fail_msg("step %d: %s", b->job.next, b->job.err.msg);
}

static void return_ok(struct attach_bench *b)
{
	if (attach_bench_return(b) < 0)
		fail_msg("step %d: %s", b->job.next, b->job.err.msg);
}

static void fails(struct attach_bench *b, int r, int code, const char *why)
{
	if (r != code || !strstr(b->job.err.msg, why))
		fail_msg("%d \"%s\" is not %d \"%s\"", r, b->job.err.msg, code, why);
	assert_int_equal(b->job.err.code, code);
}

static void is_in_pod(struct attach_bench *b, int which)
{
	struct netdev_seen seen;

	assert_true(attach_bench_look(b, which, &seen));
	assert_string_equal(seen.netdev.name, "net1");
	assert_string_equal(seen.alias, "rocelet ens9f0v3 team-a/trainer-0 5b3e1f7a");
	assert_true(seen.netdev.flags & IFF_UP);
	attach_bench_shell(b, which, "ip -br addr show net1 | grep -q ' 192.0.2.7/24'");
}

/* --- the way it goes -------------------------------------------------------------------------- */

static void into_a_pod_and_back(void **state)
{
	struct attach_bench *b = attach_bench_need(state);
	struct netdev_seen seen;

	/* A representor is no second one of its own. */
	tmptree_write(b->tree, "sys/bus/pci/devices/" BENCH_FUNCTION "/net/own/.is", "\n");
	tmptree_write(b->tree, "sys/bus/pci/devices/" BENCH_FUNCTION "/net/rep/phys_port_name",
		      "pf0vf1\n");
	b->job.record.plan.mtu = 1400;
	attach_ok(b);
	tmptree_remove(b->tree, "sys/bus/pci/devices/" BENCH_FUNCTION "/net/rep/phys_port_name");
	tmptree_remove(b->tree, "sys/bus/pci/devices/" BENCH_FUNCTION "/net/rep");
	is_in_pod(b, 0);
	assert_true(attach_bench_look(b, 0, &seen));
	assert_int_equal(seen.netdev.mtu, 1400);
	assert_int_equal(b->job.record.state, ATTACH_IN_POD);
	assert_int_equal(b->job.record.serial, 1);
	assert_string_equal(b->job.record.origin.name, BENCH_NAME);
	assert_int_equal(b->job.record.origin.mtu, BENCH_MTU);
	assert_true(b->job.record.owner.netns.ino != 0);
	return_ok(b);
	attach_bench_is_clean(b);
	assert_int_equal(b->job.record.serial, 1);
}

/* Its pod has the host's network, and did what it liked with it. */
static void one_that_stays_in_the_host_is_put_back(void **state)
{
	struct attach_bench *b = attach_bench_need(state);
	struct netdev_seen seen;

	b->job.record.plan = (struct net_plan){.in_host = true};
	b->job.record.owner.netns = (struct netns_id){.path = ""};
	attach_ok(b);
	assert_int_equal(b->job.record.state, ATTACH_IN_POD);
	assert_true(attach_bench_look(b, -1, &seen));
	assert_string_equal(seen.netdev.name, BENCH_NAME);
	assert_string_equal(seen.alias, "");
	assert_false(seen.netdev.flags & IFF_UP);
	attach_bench_shell(b, -1,
			   "ip link set %s name evil0 mtu 1300 address 02:11:22:33:44:55 alias x",
			   BENCH_NAME);
	attach_bench_shell(b, -1, "ip link set evil0 up");
	attach_bench_shell(b, -1, "ip address add 192.0.2.9/24 dev evil0");
	return_ok(b);
	attach_bench_is_clean(b);
}

/* Up as it was, with somebody else's alias and MAC of the pod's own. */
static void it_comes_back_as_it_was(void **state)
{
	struct attach_bench *b = attach_bench_need(state);
	struct netdev_seen seen;

	attach_bench_shell(b, -1, "ip link set %s up alias 'left rack'", BENCH_NAME);
	b->job.record.plan.has_mac = true;
	memcpy(b->job.record.plan.mac, "\x02\x11\x22\x33\x44\x55", 6);
	attach_ok(b);
	assert_true(attach_bench_look(b, 0, &seen));
	assert_memory_equal(seen.netdev.addr, b->job.record.plan.mac, 6);
	return_ok(b);
	assert_true(attach_bench_look(b, -1, &seen));
	assert_string_equal(seen.alias, "left rack");
	assert_true(seen.netdev.flags & IFF_UP);
	attach_bench_shell(b, -1, "ip link set %s down alias ''", BENCH_NAME);
	attach_bench_is_clean(b);
}

static void routes_and_ipams_addresses(void **state)
{
	struct attach_bench *b = attach_bench_need(state);
	struct attach_record *r = &b->job.record;

	r->plan.n_routes = 1;
	r->plan.routes[0].dst.family = AF_INET;
	r->plan.routes[0].dst.len = 16;
	inet_pton(AF_INET, "198.51.0.0", r->plan.routes[0].dst.addr);
	r->plan.routes[0].gateway = (struct ip_prefix){.family = AF_INET, .len = 32};
	inet_pton(AF_INET, "192.0.2.1", r->plan.routes[0].gateway.addr);
	r->n_ips = 1;
	r->ips[0] = (struct ip_prefix){.family = AF_INET6, .len = 64};
	inet_pton(AF_INET6, "fd00::7", r->ips[0].addr);
	attach_ok(b);
	is_in_pod(b, 0);
	attach_bench_shell(b, 0, "ip -6 addr show net1 | grep -q 'fd00::7/64'");
	attach_bench_shell(b, 0, "ip route | grep -q '^198.51.0.0/16 via 192.0.2.1 dev net1'");
	attach_bench_shell(b, 0, "grep -q 1 /proc/sys/net/ipv4/conf/net1/arp_notify");
	return_ok(b);
	attach_bench_is_clean(b);
}

/* --- again and again -------------------------------------------------------------------------- */

static void every_step_can_be_run_again(void **state)
{
	struct attach_bench *b = attach_bench_need(state);
	struct link_origin origin;

	attach_ok(b);
	origin = b->job.record.origin;
	for (int step = STEP_RECORD; step < N_ATTACH_STEPS; step++) {
		b->job.record.state = ATTACH_ATTACHING;
		b->job.next = step;
		if (step != STEP_IPAM && attach_run(&b->job) < 0)
			fail_msg("%s again: %s", attach_step_name((enum attach_step)step),
				 b->job.err.msg);
	}
	attach_ok(b);
	is_in_pod(b, 0);
	assert_memory_equal(&b->job.record.origin, &origin, sizeof(origin));
	return_ok(b);
	for (int step = BACK_RECORD; step < N_RETURN_STEPS; step++) {
		b->job.next = step;
		if (step != BACK_IPAM && attach_run(&b->job) < 0)
			fail_msg("%s again: %s", return_step_name((enum return_step)step),
				 b->job.err.msg);
	}
	return_ok(b);
	attach_bench_is_clean(b);
}

/* A daemon that died in the middle has only the journal. */
static int keep_record(const struct attach_record *r, void *arg)
{
	*(struct attach_record *)arg = *r;
	return 0;
}

static void ignore_bad(const char *key, const struct err *e, void *arg)
{
	(void)key, (void)e, (void)arg;
}

static void the_journal_is_enough_to_return(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	b->job.is_return = false;
	b->job.next = STEP_RECORD;
	assert_int_equal(attach_run(&b->job), 0);
	assert_int_equal(b->job.next, STEP_IPAM);
	memset(&b->job.record, 0, sizeof(b->job.record));
	journal_each(b->job.journal, keep_record, ignore_bad, &b->job.record, NULL);
	assert_int_equal(b->job.record.state, ATTACH_ATTACHING);
	return_ok(b);
	attach_bench_is_clean(b);
}

/* Another namespace has put an interface on the free VF: it does not come along. */
static void spy(struct attach_bench *b)
{
	attach_bench_pod(b, 1);
	attach_bench_shell(b, -1, "ip link add link %s name spy0 type macvlan", BENCH_NAME);
	attach_bench_shell(b, -1, "ip link set spy0 netns %d", b->pods[1]);
}

static void a_spy_on_a_free_one_sees_nothing_of_its_pod(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	spy(b);
	attach_ok(b);
	is_in_pod(b, 0);
	assert_int_equal(b->driver.n_unbound, 1);
	attach_bench_shell(b, 1, "sh -c '! ip link show spy0 2>/dev/null'");
	return_ok(b);
	assert_int_equal(b->driver.n_unbound, 1);
	attach_bench_is_clean(b);
}

static void a_spied_one_that_must_not_be_reset_is_refused(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	spy(b);
	b->job.record.plan.clean = CLEAN_RESTORE;
	fails(b, attach_bench_attach(b), -EBUSY, "macvlan spy0 in namespace net:[");
	attach_bench_shell(b, 1, "ip link del spy0");
	return_ok(b);
	attach_bench_is_clean(b);
}

/* --- whose it is by now -------------------------------------------------------------------- */

/* Into pod 1, under that mark. */
static void pass_on(struct attach_bench *b, const char *mark)
{
	attach_bench_shell(b, 0, "ip link set net1 alias '%s' netns %d", mark, b->pods[1]);
}

/* The record is of a folder that somebody has put back: another pod has the device since. */
static void a_stale_record_takes_nothing_from_another_pod(void **state)
{
	static const char mark[] = "rocelet ens9f0v3 team-b/other-0 77777777";
	struct attach_bench *b = attach_bench_need(state);
	struct netdev_seen seen;

	attach_bench_pod(b, 1);
	attach_ok(b);
	pass_on(b, mark);
	return_ok(b);
	assert_true(b->job.superseded);
	assert_int_equal(b->job.record.state, ATTACH_FREE);
	assert_true(attach_bench_look(b, 1, &seen));
	assert_string_equal(seen.alias, mark);
	/* Its pod has ended, and its namespace. */
	b->job.record.state = ATTACH_IN_POD;
	attach_bench_kill_pod(b, 0, false);
	return_ok(b);
	assert_true(attach_bench_look(b, 1, &seen));
	assert_string_equal(seen.alias, mark);
}

/* Nothing is known of it: its record cannot be read, and its pod has taken the mark away, chosen
 * the name and left something on it. */
static void of_one_that_nobody_knows_nothing_stays(void **state)
{
	struct attach_bench *b = attach_bench_need(state);
	struct attach_record unknown = {.state = ATTACH_RETURNING, .origin.vf_index = -1};
	struct netdev_seen seen;

	attach_ok(b);
	attach_bench_shell(b, 0, "ip link set net1 promisc on alias ''");
	attach_bench_kill_pod(b, 0, true);
	memcpy(unknown.function, b->job.record.function, sizeof(unknown.function));
	memcpy(unknown.boot, b->job.record.boot, sizeof(unknown.boot));
	b->job.record = unknown;
	return_ok(b);
	assert_int_equal(b->driver.n_unbound, 1);
	assert_int_equal(b->job.record.state, ATTACH_FREE);
	assert_true(attach_bench_look(b, -1, &seen));
	assert_string_equal(seen.netdev.name, "eth9");
}

/* What a pod writes keeps nothing from coming back: in its own namespace, or, with the record's own
 * mark or none, in one that it has made. */
static void a_mark_alone_keeps_nothing_away(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	attach_ok(b);
	attach_bench_shell(b, 0, "ip link set net1 alias 'rocelet ens9f0v3 team-b/other-0 777'");
	return_ok(b);
	assert_false(b->job.superseded);
	attach_bench_is_clean(b);

	attach_bench_pod(b, 1);
	attach_bench_plan(b);
	attach_ok(b);
	pass_on(b, "rocelet ens9f0v3 team-a/trainer-0 5b3e1f7a");
	return_ok(b);
	attach_bench_is_clean(b);

	attach_bench_plan(b);
	attach_ok(b);
	pass_on(b, "");
	return_ok(b);
	attach_bench_is_clean(b);
}

/* --- refused ---------------------------------------------------------------------------------- */

static void what_is_not_as_expected_is_refused(void **state)
{
	struct attach_bench *b = attach_bench_need(state);
	struct netdev_seen seen;

	attach_bench_shell(b, -1, "ip link set %s alias 'rocelet eth7 a/b c'", BENCH_NAME);
	fails(b, attach_bench_attach(b), -EBUSY, BENCH_FUNCTION " is not clean");
	attach_bench_shell(b, -1, "ip link set %s alias ''", BENCH_NAME);

	attach_bench_shell(b, -1, "ip link add br9 type bridge");
	attach_bench_shell(b, -1, "ip link set %s master br9", BENCH_NAME);
	fails(b, attach_bench_attach(b), -EBUSY, "belongs to a bond or bridge");
	attach_bench_shell(b, -1, "ip link del br9");

	tmptree_write(b->tree, "sys/class/net/" BENCH_NAME "/upper_storage.7/.is", "\n");
	fails(b, attach_bench_attach(b), -EBUSY, "is in use: storage.7 is stacked on " BENCH_NAME);
	tmptree_remove(b->tree, "sys/class/net/" BENCH_NAME "/upper_storage.7/.is");
	tmptree_remove(b->tree, "sys/class/net/" BENCH_NAME "/upper_storage.7");

	tmptree_write(b->tree, "sys/bus/pci/devices/" BENCH_FUNCTION "/net/uplink/.is", "\n");
	tmptree_write(b->tree, "sys/bus/pci/devices/" BENCH_FUNCTION "/net/port2/.is", "\n");
	fails(b, attach_bench_attach(b), -EOPNOTSUPP, "has several netdevs in the host");
	tmptree_remove(b->tree, "sys/bus/pci/devices/" BENCH_FUNCTION "/net/uplink/.is");
	tmptree_remove(b->tree, "sys/bus/pci/devices/" BENCH_FUNCTION "/net/port2/.is");
	tmptree_remove(b->tree, "sys/bus/pci/devices/" BENCH_FUNCTION "/net/uplink");
	tmptree_remove(b->tree, "sys/bus/pci/devices/" BENCH_FUNCTION "/net/port2");

	memset(&b->job.record.owner.netns, 0, sizeof(b->job.record.owner.netns));
	snprintf(b->job.record.owner.netns.path, 64, "/proc/1/comm");
	fails(b, attach_bench_attach(b), -EINVAL, "not a network namespace");
	snprintf(b->job.record.owner.netns.path, 64, "/run/netns/no-such-one");
	fails(b, attach_bench_attach(b), -ENOENT, "no-such-one");

	snprintf(b->job.record.owner.netns.path, 64, "/proc/%d/ns/net", getpid());
	fails(b, attach_bench_attach(b), -EINVAL, "the host's own network namespace");

	assert_int_equal(b->job.record.state, ATTACH_FREE);
	return_ok(b);
	attach_bench_is_clean(b);
	b->job.record.state = ATTACH_BAD;
	fails(b, attach_bench_attach(b), -EBUSY, "has not been returned yet (state bad)");
	attach_bench_plan(b);
	attach_bench_shell(b, -1, "ip link set %s netns %d", BENCH_NAME, b->pods[0]);
	fails(b, attach_bench_attach(b), -EBUSY, "no netdev in the host");
	assert_true(attach_bench_look(b, 0, &seen));
}

static void a_name_that_is_taken_is_named(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	attach_bench_shell(b, 0, "ip link add net1 type veth peer other");
	fails(b, attach_bench_attach(b), -EEXIST, "the pod already has an interface net1");
	return_ok(b);
	attach_bench_is_clean(b);
	attach_bench_shell(b, 0, "ip link show net1 >/dev/null");
}

static void an_address_that_is_refused_is_named(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	b->job.record.plan.ips[0] = (struct ip_prefix){.family = AF_INET6, .len = 64};
	inet_pton(AF_INET6, "ff02::7", b->job.record.plan.ips[0].addr);
	assert_true(attach_bench_attach(b) < 0);
	assert_non_null(strstr(b->job.err.msg, "ff02::7/64"));
	return_ok(b);
	attach_bench_is_clean(b);
}

/* Before Linux 6.12 igb shows what the VF has told; "0" there would take its filter away. */
static void a_mac_that_the_vf_has_told_its_pf_stays_there(void **state)
{
	struct attach_bench *b = attach_bench_need(state);
	struct netdev_seen seen;

	assert_true(attach_bench_look(b, -1, &seen));
	attach_ok(b);
	memcpy(b->pf.vfs[3].mac, seen.netdev.addr, 6);
	b->pf.n_set = 0;
	return_ok(b);
	assert_int_equal(b->pf.n_set, 0);
	assert_memory_equal(b->pf.vfs[3].mac, seen.netdev.addr, 6);
}

/* A trusted VF may have told its PF another. */
static void a_mac_that_an_administrator_had_set_comes_back(void **state)
{
	static const uint8_t set[6] = {2, 0, 0, 0, 0, 0x77};
	struct attach_bench *b = attach_bench_need(state);
	struct netdev_seen seen;

	assert_true(attach_bench_look(b, -1, &seen));
	memcpy(b->pf.vfs[3].mac, set, sizeof(set));
	attach_ok(b);
	memcpy(b->pf.vfs[3].mac, seen.netdev.addr, 6);
	return_ok(b);
	assert_memory_equal(b->pf.vfs[3].mac, set, sizeof(set));
}

static void a_mac_that_was_set_for_the_pod_goes(void **state)
{
	static const uint8_t none[6], mac[6] = {2, 0, 0, 0, 0, 0x99};
	struct attach_bench *b = attach_bench_need(state);

	b->job.record.plan.has_mac = true;
	memcpy(b->job.record.plan.mac, mac, sizeof(mac));
	attach_ok(b);
	assert_memory_equal(b->pf.vfs[3].mac, mac, sizeof(mac));
	return_ok(b);
	assert_memory_equal(b->pf.vfs[3].mac, none, sizeof(none));
	attach_bench_is_clean(b);
}

/* --- another boot, another device --------------------------------------------------------------
 */

/* A return, its netdev wherever it is: nothing there is changed. */
static void is_left_alone(struct attach_bench *b, int which, int code)
{
	struct netdev_seen before, after;
	struct vf_settings vf = b->pf.vfs[3];

	assert_true(attach_bench_look(b, which, &before));
	assert_int_equal(attach_bench_return(b), code);
	assert_true(attach_bench_look(b, which, &after));
	assert_memory_equal(&after, &before, sizeof(after));
	assert_memory_equal(&b->pf.vfs[3], &vf, sizeof(vf));
}

/* The administrator has set it up anew since. */
static void another_boot_leaves_it_as_it_is(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	b->job.record.plan.vf = (struct vf_settings){
		.fields = VF_VLAN | VF_TRUST, .vlan = 100, .vlan_proto = 0x8100, .trust = true};
	attach_ok(b);
	attach_bench_kill_pod(b, 0, true);
	attach_bench_shell(b, -1, "ip link set net1 name admins mtu 1300 up alias 'left rack'");
	b->pf.vfs[3].vlan = 77;
	memset(b->job.record.boot, 'f', BOOT_ID_SIZE - 1);
	is_left_alone(b, -1, 0);
	assert_int_equal(b->job.record.state, ATTACH_FREE);
	assert_true(b->job.settle_only);
}

/* Somebody has written sriov_numvfs while a pod had it: a new one bears its name. */
static void one_that_was_made_anew_is_left_as_it_is(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	b->job.record.plan.vf = (struct vf_settings){
		.fields = VF_VLAN | VF_TRUST, .vlan = 100, .vlan_proto = 0x8100, .trust = true};
	attach_ok(b);
	attach_bench_kill_pod(b, 0, true);
	attach_bench_shell(b, -1, "ip link set net1 name admins mtu 1300 up alias ''");
	b->pf.vfs[3].vlan = 77;
	assert_true(b->job.record.origin.identity.folder != 0);
	b->job.record.origin.identity.folder++;
	is_left_alone(b, -1, 0);
	assert_int_equal(b->job.record.state, ATTACH_FREE);
}

static void of_an_unknown_boot_the_mark_tells(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	b->job.record.plan.vf = (struct vf_settings){.fields = VF_TRUST, .trust = true};
	attach_ok(b);
	attach_bench_kill_pod(b, 0, true);
	b->job.record.boot[0] = '\0';
	return_ok(b);
	attach_bench_is_clean(b);
	assert_false(b->job.settle_only);

	attach_bench_plan(b);
	b->job.record.plan.vf = (struct vf_settings){.fields = VF_TRUST, .trust = true};
	attach_ok(b);
	b->job.record.boot[0] = '\0'; /* away: nobody else has brought it there */
	return_ok(b);
	attach_bench_is_clean(b);

	attach_bench_plan(b);
	b->job.record.plan.vf = (struct vf_settings){.fields = VF_TRUST, .trust = true};
	attach_ok(b);
	attach_bench_kill_pod(b, 0, true);
	attach_bench_shell(b, -1, "ip link set net1 alias ''");
	b->job.record.boot[0] = '\0';
	is_left_alone(b, -1, 0);
	assert_string_not_equal(b->job.record.boot, "");
}

static void another_device_is_left_alone(void **state)
{
	struct attach_bench *b = attach_bench_need(state);
	struct link_origin *o = &b->job.record.origin;

	attach_ok(b);
	assert_int_equal(o->identity.vendor, 0x8086);
	assert_int_equal(o->identity.device, 0x154c);
	o->identity.device = 0x1520;
	is_left_alone(b, 0, -ESTALE);
	fails(b, -ESTALE, -ESTALE, "it is 8086:154c, that was 8086:1520");
	o->identity.device = 0x154c;
	o->vf_index = 4;
	is_left_alone(b, 0, -ESTALE);
	fails(b, -ESTALE, -ESTALE, "it is VF 3 of 0000:99:00.0, that was VF 4");
	o->vf_index = 3;
	snprintf(o->pf, sizeof(o->pf), "0000:98:00.0");
	is_left_alone(b, 0, -ESTALE);
	snprintf(o->pf, sizeof(o->pf), BENCH_PF);
	b->pf.mac[5] = 1;
	is_left_alone(b, 0, -ESTALE);
	fails(b, -ESTALE, -ESTALE, "by its MAC");
	assert_int_equal(b->job.record.state, ATTACH_IN_POD);
	b->pf.mac[5] = 0;
	return_ok(b);
	attach_bench_is_clean(b);
}

/* --- what happens meanwhile ------------------------------------------------------------------- */

static void the_namespace_dies_in_the_middle(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	b->job.next = STEP_RECORD;
	assert_int_equal(attach_run(&b->job), 0);
	attach_bench_kill_pod(b, 0, true);
	b->job.next = STEP_CONFIGURE;
	fails(b, attach_run(&b->job), -ENOENT, "/ns/net");
	return_ok(b);
	attach_bench_is_clean(b);
}

static void the_namespace_dies_with_the_pod(void **state)
{
	struct attach_bench *b = attach_bench_need(state);
	struct netdev_seen seen;

	b->job.record.plan.mtu = 1400;
	attach_ok(b);
	attach_bench_kill_pod(b, 0, true);
	assert_true(attach_bench_look(b, -1, &seen));
	assert_string_equal(seen.netdev.name, "net1");
	return_ok(b);
	attach_bench_is_clean(b);
}

/* Without udev, which would give it one of its own. */
static void the_namespace_dies_with_a_strange_name(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	attach_ok(b);
	attach_bench_kill_pod(b, 0, true);
	attach_bench_shell(b, -1, "ip link set net1 name $(printf 'n\\001\\377')");
	return_ok(b);
	attach_bench_is_clean(b);
	/* udev may come to it after us, and would call it n__: that is another netdev then. */
	assert_int_equal(b->driver.n_unbound, 1);
	assert_int_equal(b->job.renewal, RENEWAL_UNKNOWN);
}

/* Of a new netdev whose record is lost; the mark has told its name. */
static void its_own_altname_is_no_others_name(void **state)
{
	struct attach_bench *b = attach_bench_need(state);
	struct link_origin lost = {.name = BENCH_NAME};
	struct netdev_seen seen;

	attach_ok(b);
	attach_bench_kill_pod(b, 0, true);
	attach_bench_shell(b, -1, "ip link set net1 alias ''");
	attach_bench_shell(b, -1, "ip link property add dev net1 altname %s altname enx1",
			   BENCH_NAME);
	lost.state = b->job.record.origin.state;
	b->job.record.origin = lost;
	attach_bench_return(b);
	assert_int_equal(b->driver.n_unbound, 0);
	assert_true(attach_bench_look(b, -1, &seen));
	assert_string_equal(seen.netdev.name, BENCH_NAME);
	assert_non_null(strstr(seen.altnames, "enx1"));
	assert_null(strstr(seen.altnames, BENCH_NAME));
}

/* As udev does with a device that comes home as net1. */
static void its_name_has_become_an_alternative_one(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	attach_ok(b);
	attach_bench_kill_pod(b, 0, true);
	attach_bench_shell(b, -1, "ip link property add dev net1 altname %s", BENCH_NAME);
	return_ok(b);
	attach_bench_is_clean(b);
}

/* "XDP_PASS"; -1: not for us, or not in this kernel. */
static int pass_all(void)
{
	static const struct bpf_insn program[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = XDP_PASS},
		{.code = BPF_JMP | BPF_EXIT},
	};
	union bpf_attr a = {.prog_type = BPF_PROG_TYPE_XDP,
			    .insn_cnt = 2,
			    .insns = (uintptr_t)program,
			    .license = (uintptr_t) "GPL"};

	return (int)syscall(SYS_bpf, BPF_PROG_LOAD, &a, sizeof(a));
}

static bool attach_xdp(struct attach_bench *b, int which)
{
	AUTO_FD program = pass_all();
	AUTO_FD ns = netns_open_path(&b->hw, attach_bench_pod(b, which), NULL);
	struct netdev_seen seen;
	struct nl_msg *req;
	struct nlsock s;

	assert_true(attach_bench_look(b, which, &seen));
	if (program < 0)
		return false;
	assert_int_equal(netns_nlsock(&s, ns, NETLINK_ROUTE, NULL), 0);
	req = rtnl_set_xdp(seen.netdev.ifindex, program, XDP_FLAGS_SKB_MODE);
	assert_non_null(req);
	assert_int_equal(nlsock_call(&s, req, NULL, NULL, NULL), 0);
	nlmsg_free(req);
	nlsock_close(&s);
	return true;
}

/* Of a pod that may change its interface: names that keep it from coming back, or that others could
 * be taken for, and what a move does not reset. */
static void the_pod_has_left_traces(void **state)
{
	struct attach_bench *b = attach_bench_need(state);
	struct netdev_seen seen;
	bool xdp;

	attach_ok(b);
	attach_bench_shell(b, -1, "ip link property add dev pf9 altname uplink-of-the-host");
	for (int i = 0; i < 9; i++)
		attach_bench_shell(b, 0, "ip link property add dev net1 altname pods-own-name-%d",
				   i);
	attach_bench_shell(b, 0, "ip link property add dev net1 altname uplink-of-the-host");
	attach_bench_shell(b, 0, "ip link set net1 promisc on allmulticast on arp off");
	xdp = attach_xdp(b, 0);
	assert_true(attach_bench_look(b, 0, &seen));
	assert_true(seen.has_xdp == xdp);
	return_ok(b);
	attach_bench_is_clean(b);
	assert_true(attach_bench_look(b, -1, &seen));
	assert_int_equal(seen.netdev.flags & (IFF_PROMISC | IFF_ALLMULTI | IFF_NOARP), 0);
	assert_false(seen.has_xdp);
	assert_null(netdev_altname(&seen.netdev, netdev_altname(&seen.netdev, NULL)));
}

/* It has also removed our mark, and its namespace has ended. */
static void an_alternative_name_of_the_pod_goes_without_the_mark(void **state)
{
	struct attach_bench *b = attach_bench_need(state);
	struct netdev_seen seen;

	attach_ok(b);
	attach_bench_shell(b, 0, "ip link property add dev net1 altname pods-own");
	attach_bench_shell(b, 0, "ip link set net1 alias ''");
	attach_bench_kill_pod(b, 0, true);
	return_ok(b);
	attach_bench_is_clean(b);
	assert_true(attach_bench_look(b, -1, &seen));
	assert_null(strstr(seen.altnames, "pods-own"));
}

static void traces_at_home_are_seen(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	attach_ok(b);
	b->job.is_return = true;
	b->job.next = BACK_RECORD;
	assert_int_equal(attach_run(&b->job), 0);
	assert_int_equal(b->job.next, BACK_IPAM);
	attach_bench_shell(b, -1, "ip link property add dev %s altname ens9", BENCH_NAME);
	b->job.next = BACK_VERIFY;
	fails(b, attach_run(&b->job), -EUCLEAN, "additional name, ens9");
	attach_bench_shell(b, -1, "ip link property del dev %s altname ens9", BENCH_NAME);
	attach_bench_shell(b, -1, "ip link set %s promisc on", BENCH_NAME);
	fails(b, attach_run(&b->job), -EUCLEAN, "has flags 0x100");
	return_ok(b);
	attach_bench_is_clean(b);
}

static void the_pod_has_moved_it_on(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	attach_ok(b);
	attach_bench_pod(b, 1);
	attach_bench_shell(b, 0, "ip link set net1 down name lost0");
	attach_bench_shell(b, 0, "ip link set lost0 netns %d", b->pods[1]);
	attach_bench_kill_pod(b, 0, false);
	return_ok(b);
	attach_bench_is_clean(b);
}

static struct attach_bench *index_bench;

/* A pod may choose the index of what it makes. */
static void reuse_index(const struct netdev_seen *seen)
{
	struct attach_bench *b = index_bench;

	attach_bench_shell(b, 0, "ip link set net1 down name lost0");
	attach_bench_shell(b, 0, "ip link set lost0 netns %d", b->pods[1]);
	attach_bench_shell(b, 0, "ip link add decoy index %d type veth peer other",
			   seen->netdev.ifindex);
}

static void the_pod_gives_its_index_to_another(void **state)
{
	struct attach_bench *b = index_bench = attach_bench_need(state);

	attach_ok(b);
	attach_bench_pod(b, 1);
	fake_meanwhile = reuse_index;
	return_ok(b);
	attach_bench_is_clean(b);
	attach_bench_shell(b, -1, "sh -c '! ip link show type veth | grep -q link-netns'");
}

/* Nobody brings it home in the last step. */
static void what_is_not_at_home_is_not_clean(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	attach_ok(b);
	b->job.is_return = true;
	b->job.next = BACK_VERIFY;
	fails(b, attach_run(&b->job), -EAGAIN, "is not in the host");
	return_ok(b);
	attach_bench_is_clean(b);
}

static void many_alternative_names(void **state)
{
	struct attach_bench *b = attach_bench_need(state);
	struct netdev_seen seen;
	char had[ALTNAMES_SIZE];

	for (int i = 0; i < 9; i++)
		attach_bench_shell(b, -1,
				   "ip link property add dev %s altname rack-7-of-the-north-%d",
				   BENCH_NAME, i);
	assert_true(attach_bench_look(b, -1, &seen));
	memcpy(had, seen.altnames, sizeof(had));
	assert_true(strlen(had) > ALTNAME_SIZE);
	attach_ok(b);
	attach_bench_shell(b, 0, "ip link property add dev net1 altname pods-own");
	return_ok(b);
	attach_bench_is_clean(b);
	assert_true(attach_bench_look(b, -1, &seen));
	assert_string_equal(seen.altnames, had);
	for (int i = 0; i < 100; i++)
		attach_bench_shell(b, -1,
				   "ip link property add dev %s altname rack-8-of-the-south-%d",
				   BENCH_NAME, i);
	fails(b, attach_bench_attach(b), -E2BIG, "more alternative names");
}

/* --- what a move keeps ------------------------------------------------------------------------ */

static void comes_with_a_new_netdev(struct attach_bench *b, const char *traces)
{
	unsigned before = b->driver.n_unbound;

	return_ok(b);
	attach_bench_is_clean(b);
	assert_int_equal(b->driver.n_unbound, before + 1);
	assert_int_equal(b->job.renewal, RENEWAL_DIRTY);
	if (!strstr(b->job.traces, traces))
		fail_msg("\"%s\" does not name %s", b->job.traces, traces);
	assert_false(b->job.record.renewing);
}

/* Each alone, then all of them. */
static void what_is_not_put_back_is_answered_with_a_new_netdev(void **state)
{
	static const struct {
		const char *command, *traces;
	} knobs[] = {
		{"ip link set net1 mode dormant", "link mode"},
		{"ip link set net1 multicast off", "flags"},
		/* Sysctls of the host's are made after this one, when it comes home. */
		{"ip link set net1 arp off", "flags"},
		{"ip link set net1 dynamic on", "flags"},
		{"ip link set net1 trailers off", "flags"},
		{"ip link set net1 group 7", "group"},
		{"ip link set net1 gso_max_segs 3", "GSO and GRO limits"},
		{"ip link set net1 gso_max_size 3000", "GSO and GRO limits"},
	};
	struct attach_bench *b = attach_bench_need(state);

	for (size_t i = 0; i < ARRAY_SIZE(knobs); i++) {
		attach_ok(b);
		attach_bench_shell(b, 0, "%s", knobs[i].command);
		comes_with_a_new_netdev(b, knobs[i].traces);
	}
	attach_ok(b);
	for (size_t i = 0; i < ARRAY_SIZE(knobs); i++)
		attach_bench_shell(b, 0, "%s", knobs[i].command);
	comes_with_a_new_netdev(b, "flags, link mode, group, GSO and GRO limits");
	attach_ok(b);
	return_ok(b);
	assert_int_equal(b->job.renewal, RENEWAL_NONE);
	assert_string_equal(b->job.traces, "");
}

/* What an administrator has set stays; names come back, too. */
static void a_new_netdev_has_its_names(void **state)
{
	struct attach_bench *b = attach_bench_need(state);
	struct netdev_seen seen;

	attach_bench_shell(b, -1, "ip link property add dev %s altname rack-7", BENCH_NAME);
	attach_bench_shell(b, -1, "ip link set %s alias 'left rack'", BENCH_NAME);
	attach_ok(b);
	attach_bench_shell(b, 0, "ip link set net1 group 7");
	return_ok(b);
	assert_int_equal(b->driver.n_unbound, 1);
	assert_true(attach_bench_look(b, -1, &seen));
	assert_non_null(strstr(seen.altnames, "rack-7"));
	assert_string_equal(seen.alias, "left rack");
	attach_bench_shell(b, -1, "ip link set %s alias ''", BENCH_NAME);
	attach_bench_is_clean(b);
}

static void bind_with_other_limits(void)
{
	attach_bench_bind();
	if (system("ip link set eth9 gso_max_segs 77") != 0)
		fail();
}

/* A driver may make it unlike the old one was: that is no dirt when somebody has to look again. */
static void a_new_netdev_is_not_renewed_again(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	b->driver.bind = bind_with_other_limits;
	attach_ok(b);
	attach_bench_shell(b, 0, "ip link set net1 group 7");
	attach_bench_shell(b, -1, "ip link add %s type veth peer other", BENCH_NAME);
	fails(b, attach_bench_return(b), -EUCLEAN, "because another interface has the name");
	assert_int_equal(b->driver.n_unbound, 1);
	attach_bench_shell(b, -1, "ip link del %s", BENCH_NAME);
	return_ok(b);
	attach_bench_is_clean(b);
	assert_int_equal(b->driver.n_unbound, 1);
}

static void what_sits_on_it_in_another_namespace_ends(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	attach_ok(b);
	attach_bench_pod(b, 1);
	attach_bench_shell(b, 0, "ip link add link net1 hidden0 type macvlan");
	attach_bench_shell(b, 0, "ip link set hidden0 netns %d", b->pods[1]);
	comes_with_a_new_netdev(b, "macvlan hidden0 in namespace net:[");
	attach_bench_shell(b, 1, "sh -c '! ip link show hidden0 2>/dev/null'");
}

/* A pod has given a socket of its namespace to somebody who lives on: no process, mount or
 * descriptor leads there, and the netdev stays in it. */
static void where_nobody_can_enter_it_is_left_behind(void **state)
{
	struct attach_bench *b = attach_bench_need(state);
	AUTO_FD ns = netns_open_path(&b->hw, attach_bench_pod(b, 0), NULL);
	struct nlsock kept;

	attach_ok(b);
	assert_int_equal(netns_nlsock(&kept, ns, NETLINK_ROUTE, NULL), 0);
	close(take_fd(&ns));
	attach_bench_kill_pod(b, 0, false);
	fails(b, attach_bench_return(b), -EAGAIN, "a namespace that is being deleted");
	assert_int_equal(b->driver.n_unbound, 0);
	b->job.may_replace = true;
	b->job.record.plan.clean = CLEAN_RESTORE;
	fails(b, attach_bench_return(b), -EAGAIN, "pinned by a socket or mount, and");
	assert_int_equal(b->driver.n_unbound, 0);
	b->job.record.plan.clean = CLEAN_ALWAYS_RESET;
	return_ok(b);
	assert_int_equal(b->driver.n_unbound, 1);
	assert_int_equal(b->job.renewal, RENEWAL_BEYOND);
	attach_bench_is_clean(b);
	nlsock_close(&kept);
}

/* Where a pod that may leave its own namespace has put it, beside what it hears. */
static void what_sits_on_it_in_the_host_ends(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	attach_ok(b);
	attach_bench_shell(b, 0, "ip link add link net1 hidden0 type macvlan");
	attach_bench_shell(b, 0, "ip link set hidden0 netns %d", getpid());
	comes_with_a_new_netdev(b, "macvlan hidden0 in namespace net:[");
	attach_bench_shell(b, -1, "sh -c '! ip link show hidden0 2>/dev/null'");
}

/* A search is not sure to find all, whatever else was as before. */
static void where_the_kernel_is_not_asked_nobody_knows(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	b->hw.no_bpf = true;
	attach_ok(b);
	return_ok(b);
	attach_bench_is_clean(b);
	assert_int_equal(b->driver.n_unbound, 1);
	assert_int_equal(b->job.renewal, RENEWAL_UNKNOWN);
	assert_string_equal(b->job.traces, "");
	attach_ok(b);
	attach_bench_pod(b, 1);
	attach_bench_shell(b, 0, "ip link add link net1 hidden0 type macvlan");
	attach_bench_shell(b, 0, "ip link set hidden0 netns %d", b->pods[1]);
	comes_with_a_new_netdev(b, "macvlan hidden0 in namespace net:[");
}

/* A pool that wants no reset is content with a search, and with nothing that one finds. */
static void a_pool_that_restores_is_content_with_a_search(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	b->hw.no_bpf = true;
	b->job.record.plan.clean = CLEAN_RESTORE;
	attach_ok(b);
	return_ok(b);
	attach_bench_is_clean(b);
	attach_bench_plan(b);
	b->job.record.plan.clean = CLEAN_RESTORE;
	attach_ok(b);
	attach_bench_pod(b, 1);
	attach_bench_shell(b, 0, "ip link add link net1 hidden0 type macvlan");
	attach_bench_shell(b, 0, "ip link set hidden0 netns %d", b->pods[1]);
	fails(b, attach_bench_return(b), -EUCLEAN, "left behind by its pod: macvlan hidden0");
	assert_int_equal(b->driver.n_unbound, 0);
	attach_bench_shell(b, 1, "ip link delete hidden0");
	return_ok(b);
	attach_bench_is_clean(b);
}

/* A netdev that has come anew has been up once, so that its driver has set what it sets then. */
static void xps_that_was_not_set_before(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	attach_ok(b);
	tmptree_write(b->tree, "sys/class/net/" BENCH_NAME "/queues/tx-0/xps_cpus", "3\n");
	return_ok(b);
	attach_bench_is_clean(b);
	assert_int_equal(b->driver.n_unbound, 1);
	assert_int_equal(b->job.renewal, RENEWAL_UNKNOWN);
	attach_bench_shell(b, -1,
			   "unshare -m sh -c 'mount -t sysfs sys /sys && "
			   "test $(cat /sys/class/net/%s/carrier_changes) -gt 1'",
			   BENCH_NAME);
	attach_bench_plan(b);
	b->job.record.plan.clean = CLEAN_RESTORE;
	attach_ok(b);
	tmptree_write(b->tree, "sys/class/net/" BENCH_NAME "/queues/tx-0/xps_cpus", "3\n");
	return_ok(b);
	assert_int_equal(b->driver.n_unbound, 1);
}

static void a_pool_that_restores_has_it_bad(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	b->job.record.plan.clean = CLEAN_RESTORE;
	attach_ok(b);
	attach_bench_shell(b, 0, "ip link set net1 group 7");
	fails(b, attach_bench_return(b), -EUCLEAN, "left behind by its pod: group, and its pool");
	assert_int_equal(b->driver.n_unbound, 0);
	attach_bench_shell(b, -1, "ip link set %s group default", BENCH_NAME);
	return_ok(b);
	attach_bench_is_clean(b);
}

static void a_pool_may_want_it_always(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	b->job.record.plan.clean = CLEAN_ALWAYS_RESET;
	attach_ok(b);
	return_ok(b);
	attach_bench_is_clean(b);
	assert_int_equal(b->driver.n_unbound, 1);
	assert_int_equal(b->job.renewal, RENEWAL_ALWAYS);
}

/* A record of an older version, or a netdev that somebody else has marked. */
static void what_nobody_has_looked_at_is_not_clean(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	attach_ok(b);
	memset(&b->job.record.origin.state, 0, sizeof(b->job.record.origin.state));
	return_ok(b);
	attach_bench_is_clean(b);
	assert_int_equal(b->driver.n_unbound, 1);
	assert_int_equal(b->job.renewal, RENEWAL_UNKNOWN);
}

static void a_pf_with_vfs_is_not_reset(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	tmptree_link(b->tree, "sys/bus/pci/devices/" BENCH_FUNCTION "/virtfn0",
		     "../" BENCH_FUNCTION);
	attach_ok(b);
	attach_bench_shell(b, 0, "ip link set net1 group 7");
	fails(b, attach_bench_return(b), -EUCLEAN, "because it has VFs");
	tmptree_remove(b->tree, "sys/bus/pci/devices/" BENCH_FUNCTION "/virtfn0");
	tmptree_write(b->tree, "sys/bus/pci/devices/" BENCH_FUNCTION "/net/port1", "\n");
	tmptree_write(b->tree, "sys/bus/pci/devices/" BENCH_FUNCTION "/net/port2", "\n");
	fails(b, attach_bench_return(b), -EUCLEAN, "because it has others");
	assert_int_equal(b->driver.n_unbound, 0);
	attach_bench_shell(b, -1, "ip link set %s group default", BENCH_NAME);
	return_ok(b);
}

/* Death between the two: the journal says whose driver is missing. */
static void a_driver_that_was_taken_is_given_back(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	attach_ok(b);
	b->job.is_return = true;
	b->job.next = BACK_RECORD;
	assert_int_equal(attach_run(&b->job), 0);
	attach_bench_unbind();
	b->job.record.state = ATTACH_RETURNING;
	b->job.record.renewing = true;
	return_ok(b);
	attach_bench_is_clean(b);
	assert_false(b->job.record.renewing);
}

/* The disk was full or read-only when it was taken, and we died: the record tells nothing of it. */
static void a_driver_that_was_taken_unrecorded_is_given_back(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	attach_ok(b);
	b->job.is_return = true;
	b->job.next = BACK_RECORD;
	assert_int_equal(attach_run(&b->job), 0);
	attach_bench_unbind();
	b->job.record.state = ATTACH_IN_POD;
	b->job.record.renewing = false;
	return_ok(b);
	assert_true(attach_bench_look(b, -1, &(struct netdev_seen){0}));
	attach_bench_is_clean(b);
}

static void unplugged_there_is_nothing_to_return(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	attach_ok(b);
	attach_bench_shell(b, 0, "ip link del net1");
	tmptree_remove(b->tree, "sys/bus/pci/devices/" BENCH_FUNCTION "/vendor");
	tmptree_remove(b->tree, "sys/bus/pci/devices/" BENCH_FUNCTION "/device");
	tmptree_remove(b->tree, "sys/bus/pci/devices/" BENCH_FUNCTION "/net/.is");
	tmptree_remove(b->tree, "sys/bus/pci/devices/" BENCH_FUNCTION "/net");
	tmptree_remove(b->tree, "sys/bus/pci/devices/" BENCH_FUNCTION);
	return_ok(b);
	assert_int_equal(b->job.record.state, ATTACH_FREE);
}

static void its_namespace_is_on_its_way_out(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	attach_ok(b);
	attach_bench_shell(b, 0, "ip link del net1");
	fails(b, attach_bench_return(b), -EAGAIN, "is being deleted");
}

static void its_name_is_taken_meanwhile(void **state)
{
	struct attach_bench *b = attach_bench_need(state);
	struct netdev_seen seen;

	attach_ok(b);
	attach_bench_shell(b, -1, "ip link add %s type veth peer other", BENCH_NAME);
	attach_bench_kill_pod(b, 0, true);
	fails(b, attach_bench_return(b), -EUCLEAN, "it is named roce000099106");
	assert_true(attach_bench_look(b, -1, &seen));
	assert_string_equal(seen.netdev.name, "roce000099106");
	attach_bench_shell(b, -1, "ip link del %s", BENCH_NAME);
	return_ok(b);
	attach_bench_is_clean(b);
}

/* As by udev, at any moment: it is asked for again before another is taken. */
static void its_name_is_taken_for_a_moment(void **state)
{
	struct attach_bench *b = attach_bench_need(state);
	bool failed;
	long n = 0;

	do {
		attach_ok(b);
		faults_send(n++, EEXIST);
		(void)attach_bench_return(b);
		failed = faults_end();
		assert_null(strstr(b->job.err.msg, "because another interface"));
		return_ok(b);
		attach_bench_is_clean(b);
	} while (failed);
	assert_true(n > 5);
}

static void its_name_is_taken_while_it_is_away(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	attach_ok(b);
	attach_bench_shell(b, -1, "ip link add %s type veth peer other", BENCH_NAME);
	fails(b, attach_bench_return(b), -EUCLEAN, "it is named roce000099106");
	attach_bench_shell(b, -1, "ip link del %s", BENCH_NAME);
	return_ok(b);
	attach_bench_is_clean(b);
}

/* --- through the PF --------------------------------------------------------------------------- */

static void want_settings(struct attach_record *r)
{
	r->plan.has_mac = true;
	memcpy(r->plan.mac, "\x02\x11\x22\x33\x44\x55", 6);
	r->plan.vf.fields = VF_VLAN | VF_SPOOFCHK | VF_TRUST | VF_MAX_RATE;
	r->plan.vf.vlan = 100;
	r->plan.vf.vlan_qos = 3;
	r->plan.vf.vlan_proto = 0x8100;
	r->plan.vf.trust = true;
	r->plan.vf.max_rate = 500;
}

static void settings_of_the_pf_come_and_go(void **state)
{
	struct attach_bench *b = attach_bench_need(state);
	struct vf_settings before = b->pf.vfs[3];
	struct netdev_seen seen;

	want_settings(&b->job.record);
	attach_ok(b);
	assert_int_equal(b->job.record.origin.vf_index, 3);
	assert_string_equal(b->job.record.origin.pf, BENCH_PF);
	assert_int_equal(b->pf.vfs[3].vlan, 100);
	assert_memory_equal(b->pf.vfs[3].mac, b->job.record.plan.mac, 6);
	assert_int_equal(b->pf.n_set, 1);
	assert_true(attach_bench_look(b, 0, &seen));
	assert_memory_equal(seen.netdev.addr, b->job.record.plan.mac, 6);
	return_ok(b);
	attach_bench_is_clean(b);
	assert_memory_equal(&b->pf.vfs[3], &before, sizeof(before));
	assert_int_equal(b->pf.n_set, 2);
}

/* A driver for user space has it: no netdev, and a pod that opens it by its device nodes. */
static struct attach_bench *bench_of_user_space(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	tmptree_remove(b->tree, "sys/bus/pci/devices/" BENCH_FUNCTION "/net/.is");
	tmptree_remove(b->tree, "sys/bus/pci/devices/" BENCH_FUNCTION "/net");
	tmptree_write(b->tree, "sys/bus/pci/devices/" BENCH_FUNCTION "/driver/.is", "\n");
	b->job.record.plan.no_netdev = true;
	return b;
}

static void one_without_a_netdev_gets_the_settings_of_its_pf(void **state)
{
	struct attach_bench *b = bench_of_user_space(state);
	struct attach_record *r = &b->job.record;
	struct vf_settings before;
	struct netdev_seen seen;

	b->pf.vfs[3].fields |= VF_NODE_GUID;
	before = b->pf.vfs[3];
	want_settings(r);
	r->plan.vf.fields |= VF_NODE_GUID;
	r->plan.vf.node_guid = 7;
	attach_ok(b);
	assert_int_equal(r->state, ATTACH_IN_POD);
	assert_true(r->owner.netns.ino != 0);
	assert_string_equal(r->origin.name, "");
	assert_true(attach_bench_look(b, -1, &seen));
	assert_int_equal(b->pf.vfs[3].vlan, 100);
	assert_int_equal(b->pf.vfs[3].node_guid, 7);
	assert_memory_equal(b->pf.vfs[3].mac, r->plan.mac, 6);
	assert_int_equal(attach_check(&b->job, false), 0);
	assert_int_equal(b->job.drift, 0);
	b->pf.vfs[3].vlan = 7;
	assert_int_equal(attach_check(&b->job, true), 0);
	assert_int_equal(b->job.drift, VF_VLAN);
	assert_int_equal(b->job.left, 0);
	assert_int_equal(b->pf.vfs[3].vlan, 100);
	return_ok(b);
	assert_int_equal(r->state, ATTACH_FREE);
	assert_memory_equal(&b->pf.vfs[3], &before, sizeof(before));
	/* Its program may have it open: a driver that is unbound would wait for that. */
	assert_int_equal(b->driver.n_unbound, 0);
}

/* The pod's namespace has ended, and with it everything but the settings. */
static void one_without_a_netdev_outlives_its_pod(void **state)
{
	struct attach_bench *b = bench_of_user_space(state);
	struct vf_settings before = b->pf.vfs[3];

	want_settings(&b->job.record);
	attach_ok(b);
	attach_bench_kill_pod(b, 0, false);
	assert_int_equal(attach_check(&b->job, false), -ENOENT);
	return_ok(b);
	assert_memory_equal(&b->pf.vfs[3], &before, sizeof(before));
}

static void one_that_has_a_netdev_by_now_is_refused(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	b->job.record.plan.no_netdev = true;
	fails(b, attach_bench_attach(b), -EBUSY, "now has a netdev");
	tmptree_remove(b->tree, "sys/bus/pci/devices/" BENCH_FUNCTION "/net/.is");
	tmptree_remove(b->tree, "sys/bus/pci/devices/" BENCH_FUNCTION "/net");
	fails(b, attach_bench_attach(b), -EBUSY, "has no driver");
	assert_int_equal(b->job.record.state, ATTACH_FREE);
}

static void a_setting_that_is_refused_is_named(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	want_settings(&b->job.record);
	b->pf.unsupported = VF_TRUST;
	fails(b, attach_bench_attach(b), -EOPNOTSUPP, BENCH_PF ": settings of its VF 3: trust");
	return_ok(b);
	attach_bench_is_clean(b);
}

static void a_pf_that_resets_is_waited_for(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	want_settings(&b->job.record);
	attach_ok(b);
	b->pf.failure = -EBUSY;
	fails(b, attach_bench_return(b), -EBUSY, "resetting");
	b->pf.failure = 0;
	return_ok(b);
	attach_bench_is_clean(b);
}

/* While sriov_numvfs is written: a pod that runs on has nobody who would ask for it again. */
static void a_pf_that_counts_its_vfs_late_is_waited_for(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	b->pf.failure = -ENODEV;
	b->pf.n_failures = 3;
	attach_ok(b);
	return_ok(b);
	attach_bench_is_clean(b);
}

static void without_a_pf_nothing_is_set(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	want_settings(&b->job.record);
	fails(b, attach_bench_attach(b), -EOPNOTSUPP, "is not a VF");
	return_ok(b);
	attach_bench_is_clean(b);
}

static void guids_are_taken_with_the_driver(void **state)
{
	struct attach_bench *b = attach_bench_need(state);
	char text[64] = "", path[300];
	FILE *f;

	tmptree_write(b->tree, "sys/bus/pci/devices/" BENCH_FUNCTION "/driver/unbind", "%s", "");
	fake_driver = NULL;
	b->job.record.plan.vf.fields = VF_NODE_GUID;
	b->job.record.plan.vf.node_guid = 0x1122334455667788;
	attach_ok(b);
	assert_true(b->pf.vfs[3].node_guid == 0x1122334455667788);
	snprintf(path, sizeof(path), "%s/sys/bus/pci/devices/" BENCH_FUNCTION "/driver/unbind",
		 b->tree);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_non_null(fgets(text, sizeof(text), f));
	fclose(f);
	assert_string_equal(text, BENCH_FUNCTION);
	return_ok(b);
	attach_bench_is_clean(b);
}

static void what_the_pf_tells_no_more_is_not_different(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	want_settings(&b->job.record);
	attach_ok(b);
	b->pf.vfs[3].fields &= ~(unsigned)VF_TRUST;
	return_ok(b);
	attach_bench_is_clean(b);
}

static void addresses_of_others_hide_none(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	b->job.record.plan.ips[0].len = 32;
	attach_ok(b);
	attach_bench_shell(b, 0, "ip addr del 192.0.2.7/32 dev net1");
	attach_bench_shell(b, 0,
			   "sh -c 'for i in $(seq 100); do echo addr add 198.51.100.$i/32 dev net1;"
			   " done | ip -batch -'");
	assert_int_equal(attach_check(&b->job, false), 0);
	assert_int_equal(b->job.drift, ATTACH_DRIFT_IPS);
	attach_bench_shell(b, 0, "ip addr add 192.0.2.7/32 dev net1");
	assert_int_equal(attach_check(&b->job, false), 0);
	assert_int_equal(b->job.drift, 0);
	return_ok(b);
	attach_bench_is_clean(b);
}

static void what_cannot_be_repaired_is_left(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	want_settings(&b->job.record);
	attach_ok(b);
	b->job.record.plan.vf.fields |= VF_NODE_GUID;
	b->job.record.plan.vf.node_guid = 7;
	b->pf.vfs[3].fields |= VF_NODE_GUID;
	b->pf.vfs[3].vlan = 7;
	assert_int_equal(attach_check(&b->job, true), 0);
	assert_int_equal(b->job.drift, VF_VLAN | VF_NODE_GUID);
	assert_int_equal(b->job.left, VF_NODE_GUID);
	b->job.record.plan.vf.fields &= ~(unsigned)VF_NODE_GUID;
	return_ok(b);
	attach_bench_is_clean(b);
}

/* The record is lost, but for what the mark says. */
static void only_the_mark_is_known(void **state)
{
	struct attach_bench *b = attach_bench_need(state);
	struct attach_record *r = &b->job.record;
	char altnames[ALTNAME_SIZE + 1];
	struct netdev_seen seen;

	want_settings(r);
	r->plan.mtu = 1400;
	attach_ok(b);
	/* By which the bench finds it. */
	memcpy(altnames, r->origin.altnames, sizeof(altnames));
	memset(&r->origin, 0, sizeof(r->origin));
	memset(&r->plan, 0, sizeof(r->plan));
	memcpy(r->origin.altnames, altnames, sizeof(altnames));
	b->pf.unsupported = VF_TRUST;
	assert_int_equal(attach_bench_return(b), -EOPNOTSUPP);
	b->pf.unsupported = 0;
	return_ok(b);
	assert_true(attach_bench_look(b, -1, &seen));
	assert_string_equal(seen.netdev.name, BENCH_NAME);
	assert_string_equal(seen.alias, "");
	assert_int_equal(seen.netdev.mtu, 1500);
	assert_memory_equal(b->pf.vfs[3].mac, "\0\0\0\0\0\0", 6);
	assert_int_equal(b->pf.vfs[3].vlan, 0);
}

/* A pod may write what it likes into the mark, another interface's name for example. */
static void the_mark_tells_anothers_name(void **state)
{
	struct attach_bench *b = attach_bench_need(state);
	struct attach_record *r = &b->job.record;
	char altnames[ALTNAME_SIZE + 1];
	struct netdev_seen seen;

	attach_ok(b);
	attach_bench_shell(b, -1, "ip link add uplink9 type veth peer other");
	attach_bench_shell(b, 0, "ip link set net1 alias 'rocelet uplink9'");
	memcpy(altnames, r->origin.altnames, sizeof(altnames));
	memset(&r->origin, 0, sizeof(r->origin));
	memcpy(r->origin.altnames, altnames, sizeof(altnames));
	return_ok(b);
	assert_int_equal(b->driver.n_unbound, 1);
	assert_true(attach_bench_look(b, -1, &seen));
	assert_string_equal(seen.netdev.name, "eth9");
	assert_string_equal(seen.alias, "");
	attach_bench_shell(b, -1, "ip link del uplink9");
}

/* udev keeps a name that somebody has given before it comes to a netdev, and may come late. */
static void a_name_that_a_mark_tells_is_left_to_udev(void **state)
{
	struct attach_bench *b = attach_bench_need(state);
	struct attach_record *r = &b->job.record;
	char altnames[ALTNAME_SIZE + 1], *host = tmptree_new();
	const int proc_fd = b->hw.proc_fd;
	struct netdev_seen seen;

	attach_ok(b);
	tmptree_write(host, "1/root/run/udev/control", "%s", "");
	tmptree_write(host, "sys/kernel/random/boot_id", "%s", r->boot);
	attach_bench_shell(b, 0, "ip link set net1 alias 'rocelet uplink9'");
	attach_bench_kill_pod(b, 0, true);
	memcpy(altnames, r->origin.altnames, sizeof(altnames));
	memset(&r->origin, 0, sizeof(r->origin));
	memcpy(r->origin.altnames, altnames, sizeof(altnames));
	b->hw.proc_fd = open(host, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return_ok(b);
	close(b->hw.proc_fd);
	b->hw.proc_fd = proc_fd;
	assert_int_equal(b->driver.n_unbound, 1);
	assert_true(attach_bench_look(b, -1, &seen));
	assert_string_equal(seen.netdev.name, "eth9");
	assert_string_equal(r->origin.name, "");
	tmptree_free(host);
}

/* --- checked ---------------------------------------------------------------------------------- */

/* Nothing is wanted of it, and so it is to stay as it was. */
static void others_change_it_through_the_pf(void **state)
{
	struct attach_bench *b = attach_bench_need(state);
	struct vf_settings before = b->pf.vfs[3];

	attach_ok(b);
	b->pf.vfs[3].trust = true;
	b->pf.vfs[3].spoofchk = false;
	b->pf.vfs[3].vlan = 7;
	b->pf.vfs[3].max_rate = 9;
	b->pf.vfs[3].mac[0] = 2;
	assert_int_equal(attach_check(&b->job, false), 0);
	assert_int_equal(b->job.drift, VF_VLAN | VF_SPOOFCHK | VF_TRUST);
	assert_int_equal(attach_check(&b->job, true), 0);
	assert_int_equal(attach_check(&b->job, false), 0);
	assert_int_equal(b->job.drift, 0);
	assert_int_equal(b->pf.vfs[3].trust, before.trust);
	assert_int_equal(b->pf.vfs[3].spoofchk, before.spoofchk);
	assert_int_equal(b->pf.vfs[3].vlan, before.vlan);
	assert_int_equal(b->pf.vfs[3].max_rate, 9);
	return_ok(b);
}

static void drift_is_seen_and_repaired(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	want_settings(&b->job.record);
	b->job.record.plan.mtu = 1400;
	attach_ok(b);
	assert_int_equal(attach_check(&b->job, false), 0);
	assert_int_equal(b->job.drift, 0);
	attach_bench_shell(b, 0, "ip addr flush dev net1");
	attach_bench_shell(b, 0, "ip link set net1 down mtu 1300 name x1");
	b->pf.vfs[3].vlan = 7;
	assert_int_equal(attach_check(&b->job, false), 0);
	assert_int_equal(b->job.drift, ATTACH_DRIFT_IPS | ATTACH_DRIFT_LINK(LINK_MTU) |
					       ATTACH_DRIFT_DOWN | ATTACH_DRIFT_NAME | VF_VLAN);
	if (attach_check(&b->job, true) < 0)
		fail_msg("%s", b->job.err.msg);
	assert_int_equal(attach_check(&b->job, false), 0);
	assert_int_equal(b->job.drift, 0);
	is_in_pod(b, 0);
	assert_int_equal(b->pf.vfs[3].vlan, 100);
	assert_int_equal(attach_announce(&b->job), 0);
	attach_bench_shell(b, 0, "ip link set net1 netns %d", getpid());
	fails(b, attach_check(&b->job, false), -ENODEV, "not in the pod any more");
	attach_bench_kill_pod(b, 0, false);
	fails(b, attach_check(&b->job, false), -ENOENT, "/ns/net");
	return_ok(b);
	attach_bench_is_clean(b);
}

/* Each row of link_fields.h, from the plan to the return. */
static void each_number_is_set_watched_and_put_back(void **state)
{
	struct attach_bench *b = attach_bench_need(state);
	struct netdev_seen before, seen;

	assert_true(attach_bench_look(b, -1, &before));
	for (unsigned i = 0; i < N_LINK_FIELDS; i++) {
		uint32_t *wanted = &b->job.record.plan.link[i];

		memset(b->job.record.plan.link, 0, sizeof(b->job.record.plan.link));
		*wanted = link_fields[i].initial - 77;
		attach_ok(b);
		assert_true(attach_bench_look(b, 0, &seen));
		assert_int_equal(seen.netdev.link[i], *wanted);
		assert_int_equal(b->job.record.origin.link[i], before.netdev.link[i]);
		*wanted += 1;
		assert_int_equal(attach_check(&b->job, false), 0);
		assert_int_equal(b->job.drift, ATTACH_DRIFT_LINK(i));
		assert_int_equal(attach_check(&b->job, true), 0);
		assert_int_equal(b->job.left, 0);
		assert_true(attach_bench_look(b, 0, &seen));
		assert_int_equal(seen.netdev.link[i], *wanted);
		return_ok(b);
		attach_bench_is_clean(b);
		assert_true(attach_bench_look(b, -1, &seen));
		assert_memory_equal(seen.netdev.link, before.netdev.link, sizeof(seen.netdev.link));
		assert_int_equal(b->job.renewal, RENEWAL_NONE);
		b->job.record.origin.link[i] += 1;
		b->job.next = BACK_VERIFY;
		fails(b, attach_run(&b->job), -EUCLEAN, link_fields[i].words);
	}
}

static void a_queue_that_its_pod_has_changed_is_put_back(void **state)
{
	struct attach_bench *b = attach_bench_need(state);
	struct netdev_seen seen;

	attach_bench_shell(b, -1, "ip link set %s txqueuelen 333", BENCH_NAME);
	attach_ok(b);
	attach_bench_shell(b, 0, "ip link set net1 txqueuelen 7");
	return_ok(b);
	attach_bench_is_clean(b);
	assert_int_equal(b->job.renewal, RENEWAL_NONE);
	assert_true(attach_bench_look(b, -1, &seen));
	assert_int_equal(seen.netdev.txqlen, 333);
}

/* 0 is what a record says of one that it does not know, so it is not put back by its value. */
static void a_queue_of_no_length_is_answered_with_a_new_netdev(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	attach_bench_shell(b, -1, "ip link set %s txqueuelen 0", BENCH_NAME);
	b->job.record.plan.txqlen = 500;
	attach_ok(b);
	comes_with_a_new_netdev(b, "queue length");
}

/* A record of a version that did not know it: it stays as it is. */
static void a_number_that_is_not_known_is_left_alone(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	for (unsigned i = 0; i < N_LINK_FIELDS; i++) {
		if (i == LINK_MTU)
			continue;
		attach_ok(b);
		b->job.record.origin.link[i] = 0;
		return_ok(b);
		attach_bench_is_clean(b);
		assert_int_equal(b->job.renewal, RENEWAL_NONE);
	}
}

/* --- made, not moved -------------------------------------------------------------------------- */

static void stacked(struct attach_bench *b, enum plan_kind kind)
{
	b->job.record.plan.kind = kind;
	attach_bench_shell(b, -1, "ip link set %s up", BENCH_NAME);
	attach_ok(b);
	attach_bench_shell(b, 0, "ip -d link show net1 | grep -q %s",
			   kind == PLAN_MACVLAN ? "macvlan" : "ipvlan");
	attach_bench_shell(b, 0, "ip link show net1 | grep -q 'alias rocelet'");
	attach_ok(b);
	return_ok(b);
	attach_bench_shell(b, 0, "sh -c '! ip link show net1 2>/dev/null'");
	attach_ok(b);
	attach_bench_kill_pod(b, 0, false);
	return_ok(b);
	attach_bench_shell(b, -1, "ip link set %s down", BENCH_NAME);
	attach_bench_is_clean(b);
}

static void a_macvlan_is_made_and_deleted(void **state)
{
	stacked(attach_bench_need(state), PLAN_MACVLAN);
}

static void an_ipvlan_is_made_and_deleted(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	if (system("ip link add rl0 type veth peer rl1 && ip link add link rl0 name rl2 type ipvlan"
		   " 2>/dev/null; r=$?; ip link del rl0; exit $r") != 0) {
		print_message("skipped: this kernel has no ipvlan\n");
		skip();
	}
	stacked(b, PLAN_IPVLAN);
}

static void one_that_is_called_otherwise_is_deleted(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	b->job.record.plan.kind = PLAN_MACVLAN;
	attach_bench_shell(b, -1, "ip link set %s up", BENCH_NAME);
	attach_ok(b);
	attach_bench_shell(b, 0, "ip link set net1 down name mine0");
	attach_bench_shell(b, 0, "ip link add net1 type veth peer other");
	return_ok(b);
	attach_bench_shell(b, 0, "sh -c '! ip link show mine0 2>/dev/null'");
	attach_bench_shell(b, 0, "ip link del net1");
	attach_ok(b);
	/* Of the same pod, with a mark that ends otherwise. */
	snprintf(b->job.record.plan.ifname, IFNAMSIZ, "net2");
	b->job.record.link_id = 0; /* an older rocelet's record, or nobody could ask the kernel */
	return_ok(b);
	attach_bench_shell(b, 0, "ip link show net1 >/dev/null");
	attach_bench_shell(b, -1, "ip link set %s down", BENCH_NAME);
	attach_bench_is_clean(b);
}

/* A pod that may make namespaces of its own hides it in one, under another name and without our
 * mark; then the pod ends. */
static void one_that_its_pod_has_moved_on_is_deleted(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	b->job.record.plan.kind = PLAN_MACVLAN;
	attach_bench_shell(b, -1, "ip link set %s up", BENCH_NAME);
	attach_ok(b);
	attach_bench_pod(b, 1);
	attach_bench_shell(b, 0, "ip link set net1 down name mine0 alias ''");
	attach_bench_shell(b, 0, "ip link set mine0 netns %d", b->pods[1]);
	attach_bench_shell(b, 1, "ip address add 10.9.0.1/24 dev mine0");
	attach_bench_shell(b, -1, "ip link add link %s others0 type macvlan", BENCH_NAME);
	attach_bench_shell(b, -1, "ip link set others0 netns %d", b->pods[1]);
	attach_bench_kill_pod(b, 0, false);
	return_ok(b);
	attach_bench_shell(b, 1, "sh -c '! ip link show mine0 2>/dev/null'");
	attach_bench_shell(b, 1, "ip link show others0 >/dev/null");
	attach_bench_shell(b, 1, "ip link delete others0");
	attach_bench_shell(b, -1, "ip link set %s down", BENCH_NAME);
	attach_bench_is_clean(b);
}

static void without_the_kernels_word_it_is_found_by_our_mark(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	b->hw.no_bpf = true;
	b->job.record.plan.kind = PLAN_MACVLAN;
	attach_bench_shell(b, -1, "ip link set %s up", BENCH_NAME);
	attach_ok(b);
	assert_int_equal(b->job.record.link_id, 0);
	attach_bench_pod(b, 1);
	attach_bench_shell(b, 0, "ip link set net1 down name mine0");
	attach_bench_shell(b, 0, "ip link set mine0 netns %d", b->pods[1]);
	attach_bench_kill_pod(b, 0, false);
	return_ok(b);
	attach_bench_shell(b, 1, "sh -c '! ip link show mine0 2>/dev/null'");
	attach_bench_shell(b, -1, "ip link set %s down", BENCH_NAME);
	attach_bench_is_clean(b);
}

/* Nobody can enter its namespace, and it answers in there: it has not come back. */
static void one_that_only_a_socket_keeps_is_not_back(void **state)
{
	struct attach_bench *b = attach_bench_need(state);
	struct nlsock kept;
	int fd = namespace_new();

	b->job.record.plan.kind = PLAN_MACVLAN;
	attach_bench_shell(b, -1, "ip link set %s up", BENCH_NAME);
	attach_ok(b);
	assert_int_equal(netns_nlsock(&kept, fd, NETLINK_ROUTE, NULL), 0);
	attach_bench_shell(b, 0, "ip link set net1 netns /proc/%d/fd/%d", getpid(), fd);
	close(fd);
	fails(b, attach_bench_return(b), -EAGAIN,
	      "net1, which was its pod's net1, is in namespace");
	nlsock_close(&kept);
	return_ok(b);
	attach_bench_shell(b, -1, "ip link set %s down", BENCH_NAME);
	attach_bench_is_clean(b);
}

/* Another station of the network has the address: here a macvlan on the same netdev. */
static void an_address_in_use_is_not_given(void **state)
{
	struct attach_bench *b = attach_bench_need(state);
	unsigned tries = 0;
	int r;

	b->job.record.plan.kind = PLAN_MACVLAN;
	attach_bench_shell(b, -1, "ip link set %s up", BENCH_NAME);
	attach_bench_pod(b, 1);
	attach_bench_shell(b, -1, "ip link add link %s old0 type macvlan mode bridge", BENCH_NAME);
	attach_bench_shell(b, -1, "ip link set old0 netns %d", b->pods[1]);
	attach_bench_shell(b, 1, "ip link set old0 address 02:00:00:00:09:09 up");
	attach_bench_shell(b, 1, "ip address add 192.0.2.7/24 dev old0");
	/* On a busy machine the answer may come too late. */
	while ((r = attach_bench_attach(b)) == 0 && ++tries < 100)
		return_ok(b);
	fails(b, r, -EADDRINUSE,
	      "192.0.2.7 is in use on the network of ens9f0v3, by 02:00:00:00:09:09");
	return_ok(b);
	attach_bench_shell(b, 1, "ip link delete old0");
	attach_ok(b);
	return_ok(b);
	attach_bench_shell(b, -1, "ip link set %s down", BENCH_NAME);
	attach_bench_is_clean(b);
}

static void another_interface_is_not_deleted(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	b->job.record.plan.kind = PLAN_MACVLAN;
	attach_bench_shell(b, 0, "ip link add net1 type veth peer other");
	fails(b, attach_bench_attach(b), -EEXIST, "already has an interface net1");
	return_ok(b);
	attach_bench_shell(b, 0, "ip link show net1 >/dev/null");
}

TEST_GROUP(steps)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_bench, attach_bench_teardown)
#define TEST_WITH_PF(name)                                                                         \
	cmocka_unit_test_setup_teardown(name, open_bench_with_pf, attach_bench_teardown)
	const struct CMUnitTest tests[] = {
		TEST(into_a_pod_and_back),
		TEST(one_that_stays_in_the_host_is_put_back),
		TEST(it_comes_back_as_it_was),
		TEST(routes_and_ipams_addresses),
		TEST(every_step_can_be_run_again),
		TEST(the_journal_is_enough_to_return),
		TEST(a_stale_record_takes_nothing_from_another_pod),
		TEST(of_one_that_nobody_knows_nothing_stays),
		TEST(a_spy_on_a_free_one_sees_nothing_of_its_pod),
		TEST(a_spied_one_that_must_not_be_reset_is_refused),
		TEST(a_mark_alone_keeps_nothing_away),
		TEST(what_is_not_as_expected_is_refused),
		TEST(a_name_that_is_taken_is_named),
		TEST(an_address_that_is_refused_is_named),
		TEST_WITH_PF(a_mac_that_the_vf_has_told_its_pf_stays_there),
		TEST_WITH_PF(a_mac_that_an_administrator_had_set_comes_back),
		TEST_WITH_PF(a_mac_that_was_set_for_the_pod_goes),
		TEST_WITH_PF(another_boot_leaves_it_as_it_is),
		TEST_WITH_PF(one_that_was_made_anew_is_left_as_it_is),
		TEST_WITH_PF(of_an_unknown_boot_the_mark_tells),
		TEST_WITH_PF(another_device_is_left_alone),
		TEST(the_namespace_dies_in_the_middle),
		TEST(the_namespace_dies_with_the_pod),
		TEST(the_namespace_dies_with_a_strange_name),
		TEST(its_own_altname_is_no_others_name),
		TEST(its_name_has_become_an_alternative_one),
		TEST(the_pod_has_left_traces),
		TEST(an_alternative_name_of_the_pod_goes_without_the_mark),
		TEST(traces_at_home_are_seen),
		TEST(what_is_not_put_back_is_answered_with_a_new_netdev),
		TEST(a_new_netdev_has_its_names),
		TEST(a_new_netdev_is_not_renewed_again),
		TEST(what_sits_on_it_in_another_namespace_ends),
		TEST(where_nobody_can_enter_it_is_left_behind),
		TEST(what_sits_on_it_in_the_host_ends),
		TEST(where_the_kernel_is_not_asked_nobody_knows),
		TEST(a_pool_that_restores_is_content_with_a_search),
		TEST(xps_that_was_not_set_before),
		TEST(a_pool_that_restores_has_it_bad),
		TEST(a_pool_may_want_it_always),
		TEST(what_nobody_has_looked_at_is_not_clean),
		TEST(a_pf_with_vfs_is_not_reset),
		TEST(a_driver_that_was_taken_is_given_back),
		TEST(a_driver_that_was_taken_unrecorded_is_given_back),
		TEST(the_pod_has_moved_it_on),
		TEST(the_pod_gives_its_index_to_another),
		TEST(what_is_not_at_home_is_not_clean),
		TEST(many_alternative_names),
		TEST(unplugged_there_is_nothing_to_return),
		TEST(its_namespace_is_on_its_way_out),
		TEST(its_name_is_taken_meanwhile),
		TEST(its_name_is_taken_for_a_moment),
		TEST(its_name_is_taken_while_it_is_away),
		TEST_WITH_PF(settings_of_the_pf_come_and_go),
		TEST_WITH_PF(one_without_a_netdev_gets_the_settings_of_its_pf),
		TEST_WITH_PF(one_without_a_netdev_outlives_its_pod),
		TEST_WITH_PF(one_that_has_a_netdev_by_now_is_refused),
		TEST_WITH_PF(a_setting_that_is_refused_is_named),
		TEST_WITH_PF(a_pf_that_resets_is_waited_for),
		TEST_WITH_PF(a_pf_that_counts_its_vfs_late_is_waited_for),
		TEST(without_a_pf_nothing_is_set),
		TEST_WITH_PF(guids_are_taken_with_the_driver),
		TEST_WITH_PF(what_the_pf_tells_no_more_is_not_different),
		TEST_WITH_PF(what_cannot_be_repaired_is_left),
		TEST(addresses_of_others_hide_none),
		TEST_WITH_PF(only_the_mark_is_known),
		TEST(the_mark_tells_anothers_name),
		TEST(a_name_that_a_mark_tells_is_left_to_udev),
		TEST_WITH_PF(drift_is_seen_and_repaired),
		TEST(each_number_is_set_watched_and_put_back),
		TEST(a_queue_that_its_pod_has_changed_is_put_back),
		TEST(a_queue_of_no_length_is_answered_with_a_new_netdev),
		TEST(a_number_that_is_not_known_is_left_alone),
		TEST_WITH_PF(others_change_it_through_the_pf),
		TEST(a_macvlan_is_made_and_deleted),
		TEST(an_ipvlan_is_made_and_deleted),
		TEST(one_that_its_pod_has_moved_on_is_deleted),
		TEST(without_the_kernels_word_it_is_found_by_our_mark),
		TEST(one_that_only_a_socket_keeps_is_not_back),
		TEST(an_address_in_use_is_not_given),
		TEST(another_interface_is_not_deleted),
		TEST(one_that_is_called_otherwise_is_deleted),
	};

	namespaces_enter_pids();
	return test_group_run(tests, NULL, NULL);
}
