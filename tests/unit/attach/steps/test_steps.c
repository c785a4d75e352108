// SPDX-License-Identifier: Apache-2.0
/* Attach and return of one function, and everything that may interfere. */
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

/* --- the normal case -------------------------------------------------------------------------- */

static void into_a_pod_and_back(void **state)
{
	struct attach_bench *b = attach_bench_need(state);
	struct netdev_seen seen;

	/* A representor does not count as a second netdev. */
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

/* The pod uses the host's network, and has changed the netdev. */
static void a_device_left_in_the_host_is_restored(void **state)
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

/* The netdev was up, with an administrator's alias; the pod has its own MAC. */
static void a_netdev_returns_in_its_original_state(void **state)
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

static void routes_and_addresses_of_ipam(void **state)
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

/* --- repeated steps --------------------------------------------------------------------------- */

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

/* A daemon that was killed during the attach finds only the journal. */
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
	strcpy(b->job.record.plan.ipam, "{\"type\": \"static\"}");
	assert_int_equal(attach_run(&b->job), 0);
	assert_int_equal(b->job.next, STEP_IPAM);
	memset(&b->job.record, 0, sizeof(b->job.record));
	journal_each(b->job.journal, keep_record, ignore_bad, &b->job.record, NULL);
	assert_int_equal(b->job.record.state, ATTACH_ATTACHING);
	return_ok(b);
	attach_bench_is_clean(b);
}

/* Another namespace has an interface on top of the free VF. */
static void add_macvlan_elsewhere(struct attach_bench *b)
{
	attach_bench_pod(b, 1);
	attach_bench_shell(b, -1, "ip link add link %s name spy0 type macvlan", BENCH_NAME);
	attach_bench_shell(b, -1, "ip link set spy0 netns %d", b->pods[1]);
}

static void a_macvlan_on_a_free_vf_is_removed_by_a_reset(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	add_macvlan_elsewhere(b);
	attach_ok(b);
	is_in_pod(b, 0);
	assert_int_equal(b->driver.n_unbound, 1);
	attach_bench_shell(b, 1, "sh -c '! ip link show spy0 2>/dev/null'");
	return_ok(b);
	assert_int_equal(b->driver.n_unbound, 1);
	attach_bench_is_clean(b);
}

static void a_macvlan_on_a_vf_that_must_not_be_reset_is_an_error(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	add_macvlan_elsewhere(b);
	b->job.record.plan.clean = CLEAN_RESTORE;
	fails(b, attach_bench_attach(b), -EBUSY, "macvlan spy0 in namespace net:[");
	attach_bench_shell(b, 1, "ip link del spy0");
	return_ok(b);
	attach_bench_is_clean(b);
}

/* --- another owner ---------------------------------------------------------------------------- */

/* Moves the netdev to pod 1, with that alias. */
static void move_to_pod_1(struct attach_bench *b, const char *mark)
{
	attach_bench_shell(b, 0, "ip link set net1 alias '%s' netns %d", mark, b->pods[1]);
}

/* The record is from a restored backup of the folder: another pod has the device now. */
static void a_stale_record_takes_nothing_from_another_pod(void **state)
{
	static const char mark[] = "rocelet ens9f0v3 team-b/other-0 77777777";
	struct attach_bench *b = attach_bench_need(state);
	struct netdev_seen seen;

	attach_bench_pod(b, 1);
	attach_ok(b);
	move_to_pod_1(b, mark);
	return_ok(b);
	assert_true(b->job.superseded);
	assert_int_equal(b->job.record.state, ATTACH_FREE);
	assert_true(attach_bench_look(b, 1, &seen));
	assert_string_equal(seen.alias, mark);
	/* The pod has ended, and its namespace was removed. */
	b->job.record.state = ATTACH_IN_POD;
	attach_bench_kill_pod(b, 0, false);
	return_ok(b);
	assert_true(attach_bench_look(b, 1, &seen));
	assert_string_equal(seen.alias, mark);
}

/* The record cannot be read; the pod removed the alias, renamed the netdev and left residual
 * state. */
static void an_unknown_device_returns_with_a_new_netdev(void **state)
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

/* An alias written by the pod does not prevent the return: in the pod's own namespace, or, with the
 * record's own alias or none, in a namespace that the pod has created. */
static void an_alias_does_not_prevent_the_return(void **state)
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
	move_to_pod_1(b, "rocelet ens9f0v3 team-a/trainer-0 5b3e1f7a");
	return_ok(b);
	attach_bench_is_clean(b);

	attach_bench_plan(b);
	attach_ok(b);
	move_to_pod_1(b, "");
	return_ok(b);
	attach_bench_is_clean(b);
}

/* --- errors ----------------------------------------------------------------------------------- */

static void unexpected_states_are_errors(void **state)
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

static void a_name_in_use_is_reported(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	attach_bench_shell(b, 0, "ip link add net1 type veth peer other");
	fails(b, attach_bench_attach(b), -EEXIST, "the pod already has an interface net1");
	return_ok(b);
	attach_bench_is_clean(b);
	attach_bench_shell(b, 0, "ip link show net1 >/dev/null");
}

static void a_rejected_address_is_reported(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	b->job.record.plan.ips[0] = (struct ip_prefix){.family = AF_INET6, .len = 64};
	inet_pton(AF_INET6, "ff02::7", b->job.record.plan.ips[0].addr);
	assert_true(attach_bench_attach(b) < 0);
	assert_non_null(strstr(b->job.err.msg, "ff02::7/64"));
	return_ok(b);
	attach_bench_is_clean(b);
}

/* Before Linux 6.12, igb reports the MAC that the VF itself has set; setting 0 would remove the
 * VF's filter. */
static void a_mac_that_the_vf_has_set_is_kept(void **state)
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

/* A trusted VF may have set another MAC. */
static void a_mac_that_an_administrator_had_set_is_restored(void **state)
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

static void a_mac_that_was_set_for_the_pod_is_removed(void **state)
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

/* A return must not change the netdev, wherever it is. */
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

/* Since the reboot an administrator has changed the netdev. */
static void a_record_of_another_boot_changes_nothing(void **state)
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

/* While it is unknown whether the node was rebooted, the return changes nothing and is retried. */
static void a_return_waits_for_an_unreadable_boot_id(void **state)
{
	struct attach_bench *b = attach_bench_need(state);
	const int proc_fd = b->hw.proc_fd;

	attach_ok(b);
	b->hw.proc_fd = -1;
	fails(b, attach_bench_return(b), -ENODATA, "cannot determine the boot");
	b->hw.proc_fd = proc_fd;
	is_in_pod(b, 0);
	return_ok(b);
	attach_bench_is_clean(b);
}

/* sriov_numvfs was written while a pod had the VF: the record's name belongs to a new VF. */
static void a_recreated_vf_is_not_changed(void **state)
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

static void without_a_boot_id_the_alias_decides(void **state)
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
	b->job.record.boot[0] = '\0'; /* not in the host: only this boot can have moved it */
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

static void another_device_is_not_changed(void **state)
{
	struct attach_bench *b = attach_bench_need(state);
	struct link_origin *o = &b->job.record.origin;

	attach_ok(b);
	assert_int_equal(o->identity.vendor, 0x8086);
	assert_int_equal(o->identity.device, 0x154c);
	o->identity.device = 0x1520;
	is_left_alone(b, 0, -ESTALE);
	fails(b, -ESTALE, -ESTALE, "its ID is 8086:154c, expected 8086:1520");
	o->identity.device = 0x154c;
	o->vf_index = 4;
	is_left_alone(b, 0, -ESTALE);
	fails(b, -ESTALE, -ESTALE, "it is VF 3 of 0000:99:00.0, expected VF 4");
	o->vf_index = 3;
	snprintf(o->pf, sizeof(o->pf), "0000:98:00.0");
	is_left_alone(b, 0, -ESTALE);
	snprintf(o->pf, sizeof(o->pf), BENCH_PF);
	b->pf.mac[5] = 1;
	is_left_alone(b, 0, -ESTALE);
	fails(b, -ESTALE, -ESTALE, "its MAC differs");
	assert_int_equal(b->job.record.state, ATTACH_IN_POD);
	b->pf.mac[5] = 0;
	return_ok(b);
	attach_bench_is_clean(b);
}

/* --- interference ----------------------------------------------------------------------------- */

static void the_namespace_ends_during_the_attach(void **state)
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

static void the_namespace_ends_with_the_pod(void **state)
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

/* Without udev, which would assign a name of its own. */
static void a_netdev_with_an_invalid_name_returns(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	attach_ok(b);
	attach_bench_kill_pod(b, 0, true);
	attach_bench_shell(b, -1, "ip link set net1 name $(printf 'n\\001\\377')");
	return_ok(b);
	attach_bench_is_clean(b);
	/* udev may rename it to n__ later; that is a new netdev then. */
	assert_int_equal(b->driver.n_unbound, 1);
	assert_int_equal(b->job.renewal, RENEWAL_UNKNOWN);
}

/* A new netdev whose record is lost; its original name is known from the alias. */
static void an_alternative_name_of_the_netdev_itself_is_no_conflict(void **state)
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

/* As udev does with a device that returns to the host as net1. */
static void the_original_name_has_become_an_alternative_name(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	attach_ok(b);
	attach_bench_kill_pod(b, 0, true);
	attach_bench_shell(b, -1, "ip link property add dev net1 altname %s", BENCH_NAME);
	return_ok(b);
	attach_bench_is_clean(b);
}

/* Returns a program "XDP_PASS"; -1: not permitted, or not in this kernel. */
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

/* A pod with CAP_NET_ADMIN leaves names that prevent the return or collide with names of the host,
 * and state that a move does not reset. */
static void residual_state_of_the_pod_is_removed(void **state)
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

/* The pod has also removed the alias, and its namespace has ended. */
static void an_alternative_name_of_the_pod_is_removed_without_the_alias(void **state)
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

static void residual_state_in_the_host_is_detected(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	attach_ok(b);
	b->job.is_return = true;
	b->job.next = BACK_RECORD;
	strcpy(b->job.record.plan.ipam, "{\"type\": \"static\"}");
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

static void a_netdev_in_another_namespace_is_found(void **state)
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

/* A pod may choose the index of an interface that it creates. */
static void reuse_index(const struct netdev_seen *seen)
{
	struct attach_bench *b = index_bench;

	attach_bench_shell(b, 0, "ip link set net1 down name lost0");
	attach_bench_shell(b, 0, "ip link set lost0 netns %d", b->pods[1]);
	attach_bench_shell(b, 0, "ip link add decoy index %d type veth peer other",
			   seen->netdev.ifindex);
}

static void an_interface_with_the_netdevs_index_is_not_moved(void **state)
{
	struct attach_bench *b = index_bench = attach_bench_need(state);

	attach_ok(b);
	attach_bench_pod(b, 1);
	fake_meanwhile = reuse_index;
	return_ok(b);
	attach_bench_is_clean(b);
	attach_bench_shell(b, -1, "sh -c '! ip link show type veth | grep -q link-netns'");
}

/* The last step only verifies, it does not move the netdev. */
static void a_netdev_not_in_the_host_is_not_clean(void **state)
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

/* --- state that survives a move --------------------------------------------------------------- */

static void returns_with_a_new_netdev(struct attach_bench *b, const char *traces)
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

/* Each kind of residual state alone, then all of them. */
static void state_that_is_not_restored_needs_a_new_netdev(void **state)
{
	static const struct {
		const char *command, *traces;
	} knobs[] = {
		{"ip link set net1 mode dormant", "link mode"},
		{"ip link set net1 multicast off", "flags"},
		/* On the return the kernel creates sysctls that depend on this flag
		 * (ipv6_add_dev(): accept_dad). */
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
		returns_with_a_new_netdev(b, knobs[i].traces);
	}
	attach_ok(b);
	for (size_t i = 0; i < ARRAY_SIZE(knobs); i++)
		attach_bench_shell(b, 0, "%s", knobs[i].command);
	returns_with_a_new_netdev(b, "flags, link mode, group, GSO and GRO limits");
	attach_ok(b);
	return_ok(b);
	assert_int_equal(b->job.renewal, RENEWAL_NONE);
	assert_string_equal(b->job.traces, "");
}

/* The administrator's alias and alternative names are restored. */
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

/* A driver may create a netdev that differs from the old one: the retry must not take that for
 * residual state. */
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

static void an_upper_interface_in_another_namespace_is_removed(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	attach_ok(b);
	attach_bench_pod(b, 1);
	attach_bench_shell(b, 0, "ip link add link net1 hidden0 type macvlan");
	attach_bench_shell(b, 0, "ip link set hidden0 netns %d", b->pods[1]);
	returns_with_a_new_netdev(b, "macvlan hidden0 in namespace net:[");
	attach_bench_shell(b, 1, "sh -c '! ip link show hidden0 2>/dev/null'");
}

/* A process outside of the pod holds a socket of its namespace: no process, mount or descriptor
 * leads there, and the netdev stays in it. */
static void a_netdev_in_an_unreachable_namespace_is_replaced(void **state)
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

/* The interface on top is in the host, put there by a pod that may leave its own namespace. */
static void an_upper_interface_in_the_host_is_removed(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	attach_ok(b);
	attach_bench_shell(b, 0, "ip link add link net1 hidden0 type macvlan");
	attach_bench_shell(b, 0, "ip link set hidden0 netns %d", getpid());
	returns_with_a_new_netdev(b, "macvlan hidden0 in namespace net:[");
	attach_bench_shell(b, -1, "sh -c '! ip link show hidden0 2>/dev/null'");
}

/* Without BPF, a search for interfaces on top may be incomplete. */
static void without_bpf_upper_interfaces_are_unknown(void **state)
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
	returns_with_a_new_netdev(b, "macvlan hidden0 in namespace net:[");
}

/* A pool with clean: restore accepts a search that finds nothing, and fails if it finds an
 * interface. */
static void a_pool_with_restore_accepts_a_search(void **state)
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

/* A new netdev is set up once, so that its driver applies its initial settings. */
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

static void residual_state_is_an_error_with_restore(void **state)
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

static void a_pool_may_always_reset(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	b->job.record.plan.clean = CLEAN_ALWAYS_RESET;
	attach_ok(b);
	return_ok(b);
	attach_bench_is_clean(b);
	assert_int_equal(b->driver.n_unbound, 1);
	assert_int_equal(b->job.renewal, RENEWAL_ALWAYS);
}

/* A record of an older version, or a netdev with another program's alias. */
static void an_unrecorded_state_is_not_clean(void **state)
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

/* The daemon was killed between unbind and bind: the journal shows that the driver is missing. */
static void an_unbound_driver_is_bound_again(void **state)
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

/* The disk was full or read-only at the unbind, and the daemon was killed: the record does not show
 * it. */
static void an_unbound_driver_without_a_record_is_bound_again(void **state)
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

static void an_unplugged_device_counts_as_returned(void **state)
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

static void a_netdev_in_a_namespace_being_deleted_is_retried(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	attach_ok(b);
	attach_bench_shell(b, 0, "ip link del net1");
	fails(b, attach_bench_return(b), -EAGAIN, "is being deleted");
}

static void the_original_name_is_in_use(void **state)
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

/* As by udev, at any moment: the original name is retried before another one is used. */
static void the_original_name_is_in_use_for_a_moment(void **state)
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

static void the_original_name_is_in_use_before_the_return(void **state)
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

static void plan_settings(struct attach_record *r)
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

static void settings_of_the_pf_are_set_and_restored(void **state)
{
	struct attach_bench *b = attach_bench_need(state);
	struct vf_settings before = b->pf.vfs[3];
	struct netdev_seen seen;

	plan_settings(&b->job.record);
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

/* A VF bound to a user-space driver: it has no netdev, and the pod opens its device nodes. */
static struct attach_bench *user_space_bench(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	tmptree_remove(b->tree, "sys/bus/pci/devices/" BENCH_FUNCTION "/net/.is");
	tmptree_remove(b->tree, "sys/bus/pci/devices/" BENCH_FUNCTION "/net");
	tmptree_write(b->tree, "sys/bus/pci/devices/" BENCH_FUNCTION "/driver/.is", "\n");
	b->job.record.plan.no_netdev = true;
	return b;
}

static void a_vf_without_a_netdev_gets_the_settings_of_its_pf(void **state)
{
	struct attach_bench *b = user_space_bench(state);
	struct attach_record *r = &b->job.record;
	struct vf_settings before;
	struct netdev_seen seen;

	b->pf.vfs[3].fields |= VF_NODE_GUID;
	before = b->pf.vfs[3];
	plan_settings(r);
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
	/* The pod's program may have it open, and an unbind would block until it exits. */
	assert_int_equal(b->driver.n_unbound, 0);
}

/* The pod's namespace has ended; the settings remain. */
static void a_vf_without_a_netdev_is_restored_after_its_pod(void **state)
{
	struct attach_bench *b = user_space_bench(state);
	struct vf_settings before = b->pf.vfs[3];

	plan_settings(&b->job.record);
	attach_ok(b);
	attach_bench_kill_pod(b, 0, false);
	assert_int_equal(attach_check(&b->job, false), -ENOENT);
	return_ok(b);
	assert_memory_equal(&b->pf.vfs[3], &before, sizeof(before));
}

static void a_vf_that_has_a_netdev_again_is_an_error(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	b->job.record.plan.no_netdev = true;
	fails(b, attach_bench_attach(b), -EBUSY, "now has a netdev");
	tmptree_remove(b->tree, "sys/bus/pci/devices/" BENCH_FUNCTION "/net/.is");
	tmptree_remove(b->tree, "sys/bus/pci/devices/" BENCH_FUNCTION "/net");
	fails(b, attach_bench_attach(b), -EBUSY, "has no driver");
	assert_int_equal(b->job.record.state, ATTACH_FREE);
}

static void a_rejected_setting_is_reported(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	plan_settings(&b->job.record);
	b->pf.unsupported = VF_TRUST;
	fails(b, attach_bench_attach(b), -EOPNOTSUPP, BENCH_PF ": settings of its VF 3: trust");
	return_ok(b);
	attach_bench_is_clean(b);
}

static void a_return_during_a_pf_reset_is_retried(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	plan_settings(&b->job.record);
	attach_ok(b);
	b->pf.failure = -EBUSY;
	fails(b, attach_bench_return(b), -EBUSY, "resetting");
	b->pf.failure = 0;
	return_ok(b);
	attach_bench_is_clean(b);
}

/* While sriov_numvfs is written. A failed attach to a running pod would not be retried. */
static void an_attach_waits_for_the_pfs_vfs(void **state)
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

	plan_settings(&b->job.record);
	fails(b, attach_bench_attach(b), -EOPNOTSUPP, "is not a VF");
	return_ok(b);
	attach_bench_is_clean(b);
}

static void a_guid_takes_effect_by_rebinding_the_driver(void **state)
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

static void a_setting_that_the_pf_no_longer_reports_is_no_difference(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	plan_settings(&b->job.record);
	attach_ok(b);
	b->pf.vfs[3].fields &= ~(unsigned)VF_TRUST;
	return_ok(b);
	attach_bench_is_clean(b);
}

static void many_addresses_of_the_pod_do_not_hide_drift(void **state)
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

static void a_setting_that_cannot_be_repaired_is_reported(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	plan_settings(&b->job.record);
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

/* The record is lost; only the alias is left. */
static void only_the_alias_is_known(void **state)
{
	struct attach_bench *b = attach_bench_need(state);
	struct attach_record *r = &b->job.record;
	char altnames[ALTNAME_SIZE + 1];
	struct netdev_seen seen;

	plan_settings(r);
	r->plan.mtu = 1400;
	attach_ok(b);
	/* The bench finds the netdev by its alternative name. */
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

/* A pod may write any alias, for example with another interface's name. */
static void the_alias_contains_another_interfaces_name(void **state)
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

/* udev does not rename a netdev that was renamed before udev handles it, which may be late. */
static void a_name_known_only_from_the_alias_is_left_to_udev(void **state)
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

/* --- checks ----------------------------------------------------------------------------------- */

/* The pool sets nothing, so the original settings must be kept. */
static void changes_through_the_pf_are_drift(void **state)
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

/* Each difference is made alone, detected and repaired. Addresses that differ only in their length
 * or last byte differ. */
static void each_difference_is_seen(void **state)
{
	static const struct {
		const char *made_by;
		unsigned drift;
	} rows[] = {
		{"ip link set net1 alias mine", ATTACH_DRIFT_NAME},
		{"ip link set net1 address 02:11:22:33:44:56", VF_MAC},
		{"ip link set net1 mtu 1300", ATTACH_DRIFT_LINK(LINK_MTU)},
		{"sh -c 'ip addr del 192.0.2.7/24 dev net1 && ip addr add 192.0.2.7/25 dev net1'",
		 ATTACH_DRIFT_IPS},
		{"sh -c 'ip addr del 192.0.2.7/24 dev net1 && ip addr add 192.0.2.8/24 dev net1'",
		 ATTACH_DRIFT_IPS},
		{"sh -c 'ip addr del fd00::7/64 dev net1 && ip addr add fd00::8/64 dev net1'",
		 ATTACH_DRIFT_IPS},
		/* The kernel removes IPv6 addresses. */
		{"ip link set net1 down", ATTACH_DRIFT_DOWN | ATTACH_DRIFT_IPS},
	};
	struct attach_bench *b = attach_bench_need(state);
	struct net_plan *plan = &b->job.record.plan;

	plan_settings(&b->job.record);
	plan->mtu = 1400;
	plan->ips[plan->n_ips] = (struct ip_prefix){.family = AF_INET6, .len = 64};
	inet_pton(AF_INET6, "fd00::7", plan->ips[plan->n_ips++].addr);
	attach_ok(b);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		attach_bench_shell(b, 0, "%s", rows[i].made_by);
		assert_int_equal(attach_check(&b->job, false), 0);
		if (b->job.drift != rows[i].drift)
			fail_msg("%s: %#x", rows[i].made_by, b->job.drift);
		if (attach_check(&b->job, true) < 0 || b->job.left)
			fail_msg("%s: %#x left, %s", rows[i].made_by, b->job.left, b->job.err.msg);
	}
	return_ok(b);
	attach_bench_is_clean(b);
}

static void drift_is_detected_and_repaired(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	plan_settings(&b->job.record);
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

/* Each row of link_fields.h is set by the plan, watched, and restored by the return. */
static void each_link_field_is_set_watched_and_restored(void **state)
{
	struct attach_bench *b = attach_bench_need(state);
	struct netdev_seen before, seen;

	assert_true(attach_bench_look(b, -1, &before));
	for (unsigned i = 0; i < N_LINK_FIELDS; i++) {
		uint32_t *planned = &b->job.record.plan.link[i];

		memset(b->job.record.plan.link, 0, sizeof(b->job.record.plan.link));
		*planned = link_fields[i].initial - 77;
		attach_ok(b);
		assert_true(attach_bench_look(b, 0, &seen));
		assert_int_equal(seen.netdev.link[i], *planned);
		assert_int_equal(b->job.record.origin.link[i], before.netdev.link[i]);
		*planned += 1;
		assert_int_equal(attach_check(&b->job, false), 0);
		assert_int_equal(b->job.drift, ATTACH_DRIFT_LINK(i));
		assert_int_equal(attach_check(&b->job, true), 0);
		assert_int_equal(b->job.left, 0);
		assert_true(attach_bench_look(b, 0, &seen));
		assert_int_equal(seen.netdev.link[i], *planned);
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

static void a_queue_length_that_the_pod_changed_is_restored(void **state)
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

/* In a record 0 means an unknown queue length, so a length of 0 cannot be restored by its value. */
static void a_queue_length_of_0_needs_a_new_netdev(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	attach_bench_shell(b, -1, "ip link set %s txqueuelen 0", BENCH_NAME);
	b->job.record.plan.txqlen = 500;
	attach_ok(b);
	returns_with_a_new_netdev(b, "queue length");
}

/* A record of a version without this field: the setting is not changed. */
static void an_unknown_link_field_is_not_changed(void **state)
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

/* --- created interfaces ----------------------------------------------------------------------- */

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

static void a_macvlan_is_created_and_deleted(void **state)
{
	stacked(attach_bench_need(state), PLAN_MACVLAN);
}

static void an_ipvlan_is_created_and_deleted(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	if (system("ip link add rl0 type veth peer rl1 && ip link add link rl0 name rl2 type ipvlan"
		   " 2>/dev/null; r=$?; ip link del rl0; exit $r") != 0) {
		print_message("skipped: this kernel has no ipvlan\n");
		skip();
	}
	stacked(b, PLAN_IPVLAN);
}

static void a_renamed_macvlan_is_deleted(void **state)
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
	/* An interface of the same pod, whose alias ends differently. */
	snprintf(b->job.record.plan.ifname, IFNAMSIZ, "net2");
	b->job.record.link_id = 0; /* an older version's record, or BPF was not available */
	return_ok(b);
	attach_bench_shell(b, 0, "ip link show net1 >/dev/null");
	attach_bench_shell(b, -1, "ip link set %s down", BENCH_NAME);
	attach_bench_is_clean(b);
}

/* A pod that may create namespaces has moved the macvlan to one, renamed and without our alias;
 * then the pod ends. */
static void a_macvlan_in_another_namespace_is_deleted(void **state)
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

static void without_bpf_a_macvlan_is_found_by_its_alias(void **state)
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

/* Its namespace, kept by a socket alone, cannot be entered, but the interface is found there: the
 * return is retried. */
static void a_macvlan_in_an_unreachable_namespace_is_not_deleted_yet(void **state)
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
	fails(b, attach_bench_return(b), -EAGAIN, "net1 (in its pod: net1) is in namespace");
	nlsock_close(&kept);
	return_ok(b);
	attach_bench_shell(b, -1, "ip link set %s down", BENCH_NAME);
	attach_bench_is_clean(b);
}

/* Another host on the network has the address: here a macvlan on the same netdev. */
static void an_address_in_use_is_not_assigned(void **state)
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
	/* On a busy machine the answer to the probe may come too late. */
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
		TEST(a_device_left_in_the_host_is_restored),
		TEST(a_netdev_returns_in_its_original_state),
		TEST(routes_and_addresses_of_ipam),
		TEST(every_step_can_be_run_again),
		TEST(the_journal_is_enough_to_return),
		TEST(a_stale_record_takes_nothing_from_another_pod),
		TEST(an_unknown_device_returns_with_a_new_netdev),
		TEST(a_macvlan_on_a_free_vf_is_removed_by_a_reset),
		TEST(a_macvlan_on_a_vf_that_must_not_be_reset_is_an_error),
		TEST(an_alias_does_not_prevent_the_return),
		TEST(unexpected_states_are_errors),
		TEST(a_name_in_use_is_reported),
		TEST(a_rejected_address_is_reported),
		TEST_WITH_PF(a_mac_that_the_vf_has_set_is_kept),
		TEST_WITH_PF(a_mac_that_an_administrator_had_set_is_restored),
		TEST_WITH_PF(a_mac_that_was_set_for_the_pod_is_removed),
		TEST_WITH_PF(a_record_of_another_boot_changes_nothing),
		TEST_WITH_PF(a_return_waits_for_an_unreadable_boot_id),
		TEST_WITH_PF(a_recreated_vf_is_not_changed),
		TEST_WITH_PF(without_a_boot_id_the_alias_decides),
		TEST_WITH_PF(another_device_is_not_changed),
		TEST(the_namespace_ends_during_the_attach),
		TEST(the_namespace_ends_with_the_pod),
		TEST(a_netdev_with_an_invalid_name_returns),
		TEST(an_alternative_name_of_the_netdev_itself_is_no_conflict),
		TEST(the_original_name_has_become_an_alternative_name),
		TEST(residual_state_of_the_pod_is_removed),
		TEST(an_alternative_name_of_the_pod_is_removed_without_the_alias),
		TEST(residual_state_in_the_host_is_detected),
		TEST(state_that_is_not_restored_needs_a_new_netdev),
		TEST(a_new_netdev_has_its_names),
		TEST(a_new_netdev_is_not_renewed_again),
		TEST(an_upper_interface_in_another_namespace_is_removed),
		TEST(a_netdev_in_an_unreachable_namespace_is_replaced),
		TEST(an_upper_interface_in_the_host_is_removed),
		TEST(without_bpf_upper_interfaces_are_unknown),
		TEST(a_pool_with_restore_accepts_a_search),
		TEST(xps_that_was_not_set_before),
		TEST(residual_state_is_an_error_with_restore),
		TEST(a_pool_may_always_reset),
		TEST(an_unrecorded_state_is_not_clean),
		TEST(a_pf_with_vfs_is_not_reset),
		TEST(an_unbound_driver_is_bound_again),
		TEST(an_unbound_driver_without_a_record_is_bound_again),
		TEST(a_netdev_in_another_namespace_is_found),
		TEST(an_interface_with_the_netdevs_index_is_not_moved),
		TEST(a_netdev_not_in_the_host_is_not_clean),
		TEST(many_alternative_names),
		TEST(an_unplugged_device_counts_as_returned),
		TEST(a_netdev_in_a_namespace_being_deleted_is_retried),
		TEST(the_original_name_is_in_use),
		TEST(the_original_name_is_in_use_for_a_moment),
		TEST(the_original_name_is_in_use_before_the_return),
		TEST_WITH_PF(settings_of_the_pf_are_set_and_restored),
		TEST_WITH_PF(a_vf_without_a_netdev_gets_the_settings_of_its_pf),
		TEST_WITH_PF(a_vf_without_a_netdev_is_restored_after_its_pod),
		TEST_WITH_PF(a_vf_that_has_a_netdev_again_is_an_error),
		TEST_WITH_PF(a_rejected_setting_is_reported),
		TEST_WITH_PF(a_return_during_a_pf_reset_is_retried),
		TEST_WITH_PF(an_attach_waits_for_the_pfs_vfs),
		TEST(without_a_pf_nothing_is_set),
		TEST_WITH_PF(a_guid_takes_effect_by_rebinding_the_driver),
		TEST_WITH_PF(a_setting_that_the_pf_no_longer_reports_is_no_difference),
		TEST_WITH_PF(a_setting_that_cannot_be_repaired_is_reported),
		TEST(many_addresses_of_the_pod_do_not_hide_drift),
		TEST_WITH_PF(only_the_alias_is_known),
		TEST(the_alias_contains_another_interfaces_name),
		TEST(a_name_known_only_from_the_alias_is_left_to_udev),
		TEST_WITH_PF(each_difference_is_seen),
		TEST_WITH_PF(drift_is_detected_and_repaired),
		TEST(each_link_field_is_set_watched_and_restored),
		TEST(a_queue_length_that_the_pod_changed_is_restored),
		TEST(a_queue_length_of_0_needs_a_new_netdev),
		TEST(an_unknown_link_field_is_not_changed),
		TEST_WITH_PF(changes_through_the_pf_are_drift),
		TEST(a_macvlan_is_created_and_deleted),
		TEST(an_ipvlan_is_created_and_deleted),
		TEST(a_macvlan_in_another_namespace_is_deleted),
		TEST(without_bpf_a_macvlan_is_found_by_its_alias),
		TEST(a_macvlan_in_an_unreachable_namespace_is_not_deleted_yet),
		TEST(an_address_in_use_is_not_assigned),
		TEST(another_interface_is_not_deleted),
		TEST(a_renamed_macvlan_is_deleted),
	};

	namespaces_enter_pids();
	return test_group_run(tests, NULL, NULL);
}
