// SPDX-License-Identifier: Apache-2.0
#include "attach_bench.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "cleanup.h"
#include "loop_helpers.h"
#include "netns.h"
#include "tmptree.h"

static const uint8_t own_mac[6] = {2, 0, 0, 0, 9, 3};

static const char *altname(void)
{
	static char name[32];

	snprintf(name, sizeof(name), "function-%d", getpid());
	return name;
}

/* --- namespaces ------------------------------------------------------------------------------- */

static void run_in(pid_t pid, const char *fmt, va_list ap)
{
	char command[512], full[600];

	vsnprintf(command, sizeof(command), fmt, ap);
	if (pid)
		snprintf(full, sizeof(full), "nsenter -t %d -n %s", pid, command);
	else
		snprintf(full, sizeof(full), "%s", command);
	if (system(full) != 0)
		fail_msg("%s", full);
}

void attach_bench_shell(struct attach_bench *b, int which, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	run_in(which < 0 ? 0 : b->pods[which], fmt, ap);
	va_end(ap);
}

/* Child process: creates the namespace, reports that, and keeps it. */
static void keep_namespace(int ready)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (unshare(CLONE_NEWNET) < 0 || write(ready, "", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

static pid_t start_pod(void)
{
	int ready[2];
	char c;
	pid_t pid;

	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0)
		keep_namespace(ready[1]);
	close(ready[1]);
	assert_int_equal(read(ready[0], &c, 1), 1);
	close(ready[0]);
	return pid;
}

const char *attach_bench_pod(struct attach_bench *b, int which)
{
	static char path[2][64];

	if (!b->pods[which])
		b->pods[which] = start_pod();
	snprintf(path[which], sizeof(path[which]), "/proc/%d/ns/net", b->pods[which]);
	return path[which];
}

static int is_namespace(int netns_fd, const char *path, void *arg)
{
	const struct stat *expected = arg;
	struct stat st;

	(void)path;
	return fstat(netns_fd, &st) == 0 && st.st_ino == expected->st_ino ? -EEXIST : 0;
}

/* Waits until the namespace is gone: a process that is scanning /proc, such as another test, may
 * pin it for a moment. */
static void until_gone(const struct attach_bench *b, struct stat *namespace)
{
	for (int ms = 0; ms < PATIENCE_MS; ms += 10) {
		if (netns_each(&b->hw, is_namespace, namespace) != -EEXIST)
			return;
		usleep(10000);
	}
}

void attach_bench_kill_pod(struct attach_bench *b, int which, bool keeps_vf)
{
	struct netdev_seen seen;
	struct stat namespace;

	if (!b->pods[which])
		return;
	assert_int_equal(stat(attach_bench_pod(b, which), &namespace), 0);
	if (keeps_vf && attach_bench_look(b, which, &seen)) {
		attach_bench_shell(b, which, "ip link set %s down", seen.netdev.name);
		attach_bench_shell(b, which, "ip link set %s netns %d", seen.netdev.name, getpid());
	}
	kill(b->pods[which], SIGKILL);
	waitpid(b->pods[which], NULL, 0);
	b->pods[which] = 0;
	until_gone(b, &namespace);
}

bool attach_bench_look(struct attach_bench *b, int which, struct netdev_seen *ret)
{
	struct nlsock s;
	int r, fd;

	if (which < 0) {
		r = nlsock_open(&s, NETLINK_ROUTE, NULL);
	} else {
		fd = netns_open_path(&b->hw, attach_bench_pod(b, which), NULL);
		assert_true(fd >= 0);
		r = netns_nlsock(&s, fd, NETLINK_ROUTE, NULL);
		close(fd);
	}
	assert_int_equal(r, 0);
	r = netdev_by_name(&s, altname(), ret, NULL);
	nlsock_close(&s);
	return r == 0;
}

/* --- the bench -------------------------------------------------------------------------------- */

static void make_tree(struct attach_bench *b, bool with_pf)
{
	char *dir = b->tree = tmptree_new();

	tmptree_write(dir, "sys/bus/pci/devices/" BENCH_FUNCTION "/vendor", "0x8086\n");
	tmptree_write(dir, "sys/bus/pci/devices/" BENCH_FUNCTION "/device", "0x154c\n");
	tmptree_write(dir, "sys/bus/pci/devices/" BENCH_FUNCTION "/net/.is", "\n");
	tmptree_write(dir, "dev/null", "\n");
	tmptree_write(dir, "state/.is", "\n");
	if (!with_pf)
		return;
	tmptree_link(dir, "sys/bus/pci/devices/" BENCH_FUNCTION "/physfn", "../" BENCH_PF);
	tmptree_link(dir, "sys/bus/pci/devices/" BENCH_PF "/virtfn3", "../" BENCH_FUNCTION);
	tmptree_link(dir, "sys/bus/pci/devices/" BENCH_PF "/virtfn2", "../0000:99:10.4");
}

static void make_netdevs(struct attach_bench *b, const char *name, unsigned mtu)
{
	attach_bench_shell(b, -1,
			   "ip link add %s mtu %u address 02:00:00:00:09:03 type veth peer pf9",
			   name, mtu);
	attach_bench_shell(b, -1, "ip link property add dev %s altname %s", name, altname());
	attach_bench_shell(b, -1, "ip link set pf9 up");
}

static void show_in_sysfs(struct attach_bench *b, const char *name, unsigned index)
{
	char path[128];
	static const char *const files[][2] = {
		{"threaded", "0"},
		{"queues/rx-0/rps_cpus", "0"},
		{"queues/tx-0/xps_cpus", "0"},
		{"queues/tx-0/byte_queue_limits/limit_max", "1879048192"},
	};

	snprintf(path, sizeof(path), "sys/class/net/%s/ifindex", name);
	tmptree_write(b->tree, path, "%u\n", index);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		snprintf(path, sizeof(path), "sys/class/net/%s/%s", name, files[i][0]);
		tmptree_write(b->tree, path, "%s\n", files[i][1]);
	}
}

/* Under both names that it may have in the host. */
static void show_netdev(struct attach_bench *b, const char *name)
{
	unsigned index = if_nametoindex(name);

	show_in_sysfs(b, BENCH_NAME, index);
	show_in_sysfs(b, BENCH_SPARE_NAME, index);
	tmptree_write(b->tree, "sys/bus/pci/devices/" BENCH_FUNCTION "/net/.is", "\n");
}

static struct attach_bench bench;

void attach_bench_unbind(void)
{
	if (system("ip link del pf9") != 0)
		fail();
	tmptree_remove(bench.tree, "sys/bus/pci/devices/" BENCH_FUNCTION "/net/.is");
	tmptree_remove(bench.tree, "sys/bus/pci/devices/" BENCH_FUNCTION "/net");
}

void attach_bench_bind(void)
{
	make_netdevs(&bench, "eth9", 1500);
	show_netdev(&bench, "eth9");
}

static void make_pf(struct attach_bench *b)
{
	snprintf(b->pf.function, sizeof(b->pf.function), "%s", BENCH_PF);
	memcpy(b->pf.mac, "\x00\x1b\x21\x00\x99\x00", 6);
	b->pf.vfs[3] = (struct vf_settings){.fields = 0x1ff & ~(VF_NODE_GUID | VF_PORT_GUID),
					    .vlan_proto = 0x8100,
					    .spoofchk = true,
					    .link_state = VF_LINK_AUTO};
	fake_pf = &b->pf;
	fake_function(BENCH_PF, "pf9");
}

static bool is_possible(void)
{
	static bool tested, answer;

	if (!tested)
		answer = geteuid() == 0 && unshare(CLONE_NEWNET) == 0 &&
			 system("ip link set lo up && ip link add rl0 type veth peer rl1 &&"
				" ip link del rl0") == 0;
	tested = true;
	return answer;
}

static void open_hw(struct attach_bench *b)
{
	char sys[300], dev[300];

	snprintf(sys, sizeof(sys), "%s/sys", b->tree);
	snprintf(dev, sizeof(dev), "%s/dev", b->tree);
	assert_int_equal(hw_open(&b->hw, sys, dev, "/proc", NULL), 0);
	b->hw.live = true;
}

struct attach_bench *attach_bench_open(bool with_pf)
{
	struct attach_bench *b = &bench;
	char state[300];

	if (!is_possible())
		return NULL;
	*b = (struct attach_bench){0};
	make_tree(b, with_pf);
	open_hw(b);
	snprintf(state, sizeof(state), "%s/state", b->tree);
	assert_int_equal(journal_open(&b->job.journal, state, NULL), 0);
	b->job.hw = &b->hw;
	make_netdevs(b, BENCH_NAME, BENCH_MTU);
	show_netdev(b, BENCH_NAME);
	b->driver = (struct fake_driver){.unbind = attach_bench_unbind, .bind = attach_bench_bind};
	fake_driver = &b->driver;
	fake_function(BENCH_FUNCTION, altname());
	if (with_pf)
		make_pf(b);
	attach_bench_plan(b);
	return b;
}

struct attach_bench *attach_bench_need(void **state)
{
	if (!*state)
		skip();
	return *state;
}

int attach_bench_teardown(void **state)
{
	struct attach_bench *b = *state;

	if (!b)
		return 0;
	attach_bench_kill_pod(b, 0, false);
	attach_bench_kill_pod(b, 1, false);
	if (system("ip link del pf9 2>/dev/null") < 0)
		fail();
	journal_close(b->job.journal);
	hw_close(&b->hw);
	tmptree_free(b->tree);
	fake_functions_end();
	return 0;
}

/* --- jobs ------------------------------------------------------------------------------------- */

void attach_bench_plan(struct attach_bench *b)
{
	struct attach_record *r = &b->job.record;

	memset(r, 0, sizeof(*r));
	snprintf(r->resource, sizeof(r->resource), "rocelet.dev/roce");
	snprintf(r->id, sizeof(r->id), BENCH_FUNCTION);
	snprintf(r->function, sizeof(r->function), BENCH_FUNCTION);
	snprintf(r->owner.namespace, sizeof(r->owner.namespace), "team-a");
	snprintf(r->owner.pod, sizeof(r->owner.pod), "trainer-0");
	snprintf(r->owner.uid, sizeof(r->owner.uid), "5b3e1f7a");
	snprintf(r->owner.netns.path, sizeof(r->owner.netns.path), "%s", attach_bench_pod(b, 0));
	snprintf(r->plan.ifname, sizeof(r->plan.ifname), "net1");
	r->plan.n_ips = 1;
	r->plan.ips[0] = (struct ip_prefix){.family = AF_INET, .len = 24};
	inet_pton(AF_INET, "192.0.2.7", r->plan.ips[0].addr);
}

static int run_from(struct attach_bench *b, int next, int engines, int n)
{
	int r;

	b->job.next = next;
	r = attach_run(&b->job);
	if (r == 0 && b->job.next == engines) {
		b->job.next++;
		r = attach_run(&b->job);
	}
	if (r == 0)
		assert_int_equal(b->job.next, n);
	else
		assert_true(b->job.err.code < 0 && b->job.err.msg[0]);
	return r;
}

int attach_bench_attach(struct attach_bench *b)
{
	b->job.is_return = false;
	return run_from(b, STEP_RECORD, STEP_IPAM, N_ATTACH_STEPS);
}

int attach_bench_return(struct attach_bench *b)
{
	b->job.is_return = true;
	return run_from(b, BACK_RECORD, BACK_IPAM, N_RETURN_STEPS);
}

static int read_state(const struct attach_record *r, void *arg)
{
	*(enum attach_state *)arg = r->state;
	return 0;
}

static void no_bad(const char *key, const struct err *e, void *arg)
{
	(void)key, (void)arg;
	fail_msg("%s", e->msg);
}

void attach_bench_is_clean(struct attach_bench *b)
{
	enum attach_state state = ATTACH_FREE;
	struct netdev_seen seen;

	assert_true(attach_bench_look(b, -1, &seen));
	assert_string_equal(seen.netdev.name, BENCH_NAME);
	assert_string_equal(seen.alias, "");
	assert_int_equal(seen.netdev.mtu, BENCH_MTU);
	assert_memory_equal(seen.netdev.addr, own_mac, sizeof(own_mac));
	assert_false(seen.netdev.flags & IFF_UP);
	assert_int_equal(journal_each(b->job.journal, read_state, no_bad, &state, NULL), 0);
	assert_int_equal(state, ATTACH_FREE);
	assert_int_equal(b->job.record.state, ATTACH_FREE);
}
