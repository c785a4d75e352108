// SPDX-License-Identifier: Apache-2.0
/* RDMA devices of attachments: moved in exclusive mode, not moved in shared mode, or created. */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cmocka.h>

#include "attach_bench.h"
#include "attach_rdma.h"
#include "cleanup.h"
#include "loop_helpers.h"
#include "namespaces.h"
#include "soft_roce_nodes.h"
#include "test_group.h"
#include "tmptree.h"

static int open_bench(void **state)
{
	struct attach_bench *b = attach_bench_open(false);

	if (b)
		fake_rdma = &b->rdma;
	*state = b;
	return 0;
}

static void ok(struct attach_bench *b, int r)
{
	if (r < 0)
		fail_msg("step %d: %s", b->job.next, b->job.err.msg);
}

/* Gives the function an RDMA device, shown in sysfs while it is in the host. */
static void give_rdma(struct attach_bench *b, enum rdma_netns_mode mode)
{
	tmptree_write(b->tree, "sys/bus/pci/devices/" BENCH_FUNCTION "/infiniband/mlx5_3/x", "\n");
	b->rdma.mode = mode;
	fake_rdma_add("mlx5_3", fake_rdma_netns(-1), 0, false);
}

static ino_t pod_netns(struct attach_bench *b, int which)
{
	struct stat st;

	assert_int_equal(stat(attach_bench_pod(b, which), &st), 0);
	return st.st_ino;
}

static void show_in_sysfs(struct attach_bench *b, const char *was, const char *now)
{
	char path[200];

	snprintf(path, sizeof(path), "sys/bus/pci/devices/" BENCH_FUNCTION "/infiniband/%s", was);
	if (was[0]) {
		char file[210];

		snprintf(file, sizeof(file), "%s/x", path);
		tmptree_remove(b->tree, file);
		tmptree_remove(b->tree, path);
	}
	snprintf(path, sizeof(path), "sys/bus/pci/devices/" BENCH_FUNCTION "/infiniband/%s/x", now);
	if (now[0])
		tmptree_write(b->tree, path, "\n");
}

static void a_device_is_moved_in_exclusive_mode(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	give_rdma(b, RDMA_NETNS_EXCLUSIVE);
	ok(b, attach_bench_attach(b));
	assert_string_equal(b->job.record.rdma, "mlx5_3");
	assert_string_equal(b->job.record.origin.rdma, "mlx5_3");
	assert_true(b->rdma.devices[0].netns == pod_netns(b, 0));
	ok(b, attach_bench_attach(b) < 0 ? -1 : 0);
	ok(b, attach_bench_return(b));
	assert_true(b->rdma.devices[0].netns == fake_rdma_netns(-1));
	ok(b, attach_bench_return(b));
	attach_bench_is_clean(b);
}

/* The pod's namespace has ended, and the kernel has moved the device to the host or is about to. */
static void a_device_returns_from_another_namespace(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	give_rdma(b, RDMA_NETNS_EXCLUSIVE);
	ok(b, attach_bench_attach(b));
	b->rdma.devices[0].netns = pod_netns(b, 1);
	attach_bench_kill_pod(b, 0, true);
	ok(b, attach_bench_return(b));
	assert_true(b->rdma.devices[0].netns == fake_rdma_netns(-1));
	attach_bench_is_clean(b);

	attach_bench_plan(b);
	ok(b, attach_bench_attach(b));
	b->rdma.devices[0].netns = 1; /* a namespace that cannot be entered */
	show_in_sysfs(b, "mlx5_3", "");
	assert_int_equal(attach_bench_return(b), -EAGAIN);
	assert_non_null(strstr(b->job.err.msg, "mlx5_3 is in a namespace that is being deleted"));
	b->rdma.devices[0].netns = fake_rdma_netns(-1);
	show_in_sysfs(b, "", "mlx5_3");
	ok(b, attach_bench_return(b));
	attach_bench_is_clean(b);
}

/* The pod renamed the device, and ended. */
static void a_renamed_device_is_renamed_back(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	give_rdma(b, RDMA_NETNS_EXCLUSIVE);
	ok(b, attach_bench_attach(b));
	snprintf(b->rdma.devices[0].name, RDMA_NAME_SIZE, "mine0");
	b->rdma.devices[0].netns = fake_rdma_netns(-1);
	show_in_sysfs(b, "mlx5_3", "mine0");
	assert_int_equal(attach_bench_return(b), -EUCLEAN);
	assert_non_null(strstr(b->job.err.msg, "named mine0, not mlx5_3"));
	assert_string_equal(b->rdma.devices[0].name, "mlx5_3");
	show_in_sysfs(b, "mine0", "mlx5_3");
	ok(b, attach_bench_return(b));
	attach_bench_is_clean(b);
}

/* Only the alias of its netdev identifies the device. */
static void an_unrecorded_device_in_a_pod_is_returned(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	give_rdma(b, RDMA_NETNS_EXCLUSIVE);
	ok(b, attach_bench_attach(b));
	b->job.record.origin.mtu = 0;
	b->job.record.origin.rdma[0] = b->job.record.rdma[0] = '\0';
	b->job.record.rdma_id = b->job.record.origin.rdma_id = (struct rdma_identity){0};
	show_in_sysfs(b, "mlx5_3", "");
	assert_int_equal(attach_bench_return(b), -EAGAIN);
	b->job.next = BACK_VERIFY;
	b->rdma.mode = RDMA_NETNS_SHARED;
	assert_int_equal(attach_bench_return(b), -EUCLEAN);
	assert_non_null(strstr(b->job.err.msg, "in another namespace"));
	show_in_sysfs(b, "", "mlx5_3");
	ok(b, attach_bench_return(b));
}

static void a_device_is_not_moved_in_shared_mode(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	give_rdma(b, RDMA_NETNS_SHARED);
	ok(b, attach_bench_attach(b));
	assert_string_equal(b->job.record.rdma, "mlx5_3");
	assert_true(b->rdma.devices[0].netns == fake_rdma_netns(-1));
	ok(b, attach_bench_return(b));
	attach_bench_is_clean(b);
}

/* A process with CAP_NET_ADMIN in the host's namespace may rename the device. */
static void a_renamed_device_is_renamed_back_in_shared_mode(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	give_rdma(b, RDMA_NETNS_SHARED);
	ok(b, attach_bench_attach(b));
	snprintf(b->rdma.devices[0].name, RDMA_NAME_SIZE, "mine0");
	show_in_sysfs(b, "mlx5_3", "mine0");
	assert_int_equal(attach_bench_return(b), -EUCLEAN);
	assert_string_equal(b->rdma.devices[0].name, "mlx5_3");
	show_in_sysfs(b, "mine0", "mlx5_3");
	ok(b, attach_bench_return(b));
	attach_bench_is_clean(b);
}

/* A process outside of the pod that holds the pod's descriptor could create queue pairs on the
 * device while the next pod has it. */
static void an_open_device_is_reset(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	give_rdma(b, RDMA_NETNS_SHARED);
	ok(b, attach_bench_attach(b));
	b->rdma.devices[0].contexts = 1;
	ok(b, attach_bench_return(b));
	assert_int_equal(b->driver.n_unbound, 1);
	assert_int_equal(b->job.renewal, RENEWAL_DIRTY);
	assert_non_null(strstr(b->job.traces, "has its RDMA device open"));
}

static void a_device_that_is_closed_in_time_is_not_reset(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	give_rdma(b, RDMA_NETNS_SHARED);
	ok(b, attach_bench_attach(b));
	b->rdma.devices[0].contexts = b->rdma.devices[0].closes = 2;
	ok(b, attach_bench_return(b));
	assert_int_equal(b->driver.n_unbound, 0);
	attach_bench_is_clean(b);
}

/* Pod 0 has renamed its device; pod 1's device has the original name of that device. */
static void another_device_of_the_same_name_is_not_moved(void **state)
{
	struct attach_bench *b = attach_bench_need(state);
	uint32_t other;

	give_rdma(b, RDMA_NETNS_EXCLUSIVE);
	ok(b, attach_bench_attach(b));
	snprintf(b->rdma.devices[0].name, RDMA_NAME_SIZE, "mine0");
	other = fake_rdma_add("mlx5_3", pod_netns(b, 1), 0, false);
	show_in_sysfs(b, "mlx5_3", "");
	show_in_sysfs(b, "", "mine0");
	assert_int_equal(attach_bench_return(b), -EUCLEAN);
	assert_true(b->rdma.devices[0].netns == fake_rdma_netns(-1));
	assert_true(b->rdma.devices[other].netns == pod_netns(b, 1));
	/* Pod 1's device is removed, and the function's device has its name again. */
	b->rdma.devices[other].netns = 0;
	show_in_sysfs(b, "mine0", "mlx5_3");
	ok(b, attach_bench_return(b));
	attach_bench_is_clean(b);
}

/* The PF was reset: the driver has created a new device, in the host. A device in the pod with the
 * old one's name does not belong to the function. */
static void a_recreated_device_is_in_the_host(void **state)
{
	struct attach_bench *b = attach_bench_need(state);
	uint32_t other;

	give_rdma(b, RDMA_NETNS_EXCLUSIVE);
	ok(b, attach_bench_attach(b));
	b->rdma.devices[0].netns = 0;
	fake_rdma_add("mlx5_4", fake_rdma_netns(-1), 0, false);
	other = fake_rdma_add("mlx5_3", pod_netns(b, 0), 0, false);
	show_in_sysfs(b, "mlx5_3", "mlx5_4");
	assert_int_equal(attach_bench_return(b), -EUCLEAN);
	assert_true(b->rdma.devices[other].netns == pod_netns(b, 0));
	b->rdma.devices[other].netns = 0;
	show_in_sysfs(b, "mlx5_4", "mlx5_3");
	ok(b, attach_bench_return(b));
	attach_bench_is_clean(b);
}

/* A record of a version without the index: the netdev below identifies the device; without it
 * nothing is moved. */
static void a_device_without_an_index_is_identified_by_its_netdev(void **state)
{
	struct attach_bench *b = attach_bench_need(state);
	struct netdev_seen seen;

	give_rdma(b, RDMA_NETNS_EXCLUSIVE);
	ok(b, attach_bench_attach(b));
	memset(&b->job.record.rdma_id, 0, sizeof(b->job.record.rdma_id));
	memset(&b->job.record.origin.rdma_id, 0, sizeof(b->job.record.origin.rdma_id));
	show_in_sysfs(b, "mlx5_3", "");
	assert_int_equal(attach_bench_return(b), -EAGAIN);
	assert_true(b->rdma.devices[0].netns == pod_netns(b, 0));
	assert_true(attach_bench_look(b, 0, &seen));
	b->rdma.devices[0].netdev = seen.netdev.ifindex;
	attach_bench_return(b);
	assert_true(b->rdma.devices[0].netns == fake_rdma_netns(-1));
	show_in_sysfs(b, "", "mlx5_3");
	ok(b, attach_bench_return(b));
	attach_bench_is_clean(b);
}

/* --- soft-RoCE -------------------------------------------------------------------------------- */

static mode_t node(struct attach_bench *b, const char *name, dev_t *ret)
{
	char path[400];
	struct stat st;

	snprintf(path, sizeof(path), "%s/dev/rocelet/%s", b->tree, name);
	if (lstat(path, &st) < 0)
		return 0;
	*ret = st.st_rdev;
	return st.st_mode;
}

static void a_device_is_created_and_deleted(void **state)
{
	struct attach_bench *b = attach_bench_need(state);
	dev_t dev;

	b->rdma.mode = RDMA_NETNS_SHARED;
	b->job.record.plan.soft_roce = true;
	tmptree_write(b->tree, "sys/class/misc/rdma_cm/dev", "10:123\n");
	ok(b, attach_bench_attach(b));
	assert_string_equal(b->job.record.rdma, "rxe_0000_99_10_6");
	assert_true(b->rdma.devices[0].netns == pod_netns(b, 0));
	ok(b, attach_bench_attach(b));
	assert_int_equal(b->rdma.devices[1].netns, 0);
	assert_int_equal(node(b, "uverbs7", &dev), S_IFCHR | 0666);
	assert_int_equal(dev, makedev(231, 199));
	assert_int_equal(node(b, "by-name/" BENCH_FUNCTION, &dev), S_IFCHR | 0666);
	assert_int_equal(dev, makedev(231, 199));
	assert_int_equal(node(b, "rdma_cm", &dev), S_IFCHR | 0666);
	assert_int_equal(dev, makedev(10, 123));
	ok(b, attach_bench_return(b));
	assert_int_equal(b->rdma.devices[0].netns, 0);
	assert_int_equal(node(b, "uverbs7", &dev), 0);
	assert_int_equal(node(b, "by-name/" BENCH_FUNCTION, &dev), 0);
	ok(b, attach_bench_return(b));
	attach_bench_is_clean(b);
}

static void with_soft_roce_ok(struct attach_bench *b)
{
	b->rdma.mode = RDMA_NETNS_SHARED;
	b->job.record.plan.soft_roce = true;
	ok(b, attach_bench_attach(b));
}

static void with_soft_roce(struct attach_bench *b)
{
	with_soft_roce_ok(b);
	assert_int_not_equal(b->rdma.devices[0].netns, 0);
}

/* Another pod has created a device of that name on its own interface: it is never given away, moved
 * or deleted. */
static void a_foreign_device_of_our_name_is_not_used(void **state)
{
	struct attach_bench *b = attach_bench_need(state);
	struct netdev_seen seen;
	uint32_t foreign;

	foreign = fake_rdma_add("rxe_0000_99_10_6", pod_netns(b, 1), 77, true);
	with_soft_roce_ok(b);
	assert_string_not_equal(b->job.record.rdma, "rxe_0000_99_10_6");
	assert_true(attach_bench_look(b, 0, &seen));
	assert_int_equal(b->rdma.devices[1].netdev, seen.netdev.ifindex);
	assert_true(b->rdma.devices[1].netns == pod_netns(b, 0));
	ok(b, attach_bench_return(b));
	assert_int_equal(b->rdma.devices[1].netns, 0);
	assert_true(b->rdma.devices[foreign].netns == pod_netns(b, 1));
	attach_bench_is_clean(b);
}

/* A pod with CAP_NET_ADMIN has renamed its device, and another device has the original name. */
static void a_renamed_device_is_deleted_and_one_of_its_name_is_not(void **state)
{
	struct attach_bench *b = attach_bench_need(state);
	uint32_t other;

	with_soft_roce_ok(b);
	snprintf(b->rdma.devices[0].name, RDMA_NAME_SIZE, "mine");
	other = fake_rdma_add("rxe_0000_99_10_6", pod_netns(b, 1), 77, true);
	ok(b, attach_bench_return(b));
	assert_int_equal(b->rdma.devices[0].netns, 0);
	assert_true(b->rdma.devices[other].netns == pod_netns(b, 1));
	attach_bench_is_clean(b);
}

/* The pod has deleted its device, and another device has its name. */
static void a_device_with_the_name_of_a_deleted_one_is_not_deleted(void **state)
{
	struct attach_bench *b = attach_bench_need(state);
	uint32_t other;

	with_soft_roce_ok(b);
	b->rdma.devices[0].netns = 0;
	other = fake_rdma_add("rxe_0000_99_10_6", pod_netns(b, 1), 77, true);
	ok(b, attach_bench_return(b));
	assert_true(b->rdma.devices[other].netns == pod_netns(b, 1));
	assert_int_equal(b->rdma.n_deleted, 0);
	attach_bench_is_clean(b);
}

/* Two pods have deleted their devices. The placeholders that occupied their numbers during the
 * attach are removed. */
static void a_number_that_a_pod_may_open_is_not_used(void **state)
{
	static const char taken[][CHARDEV_NAME_SIZE] = {"uverbs7", "uverbs8", "uverbs12"};
	struct attach_bench *b = attach_bench_need(state);
	dev_t dev;

	b->job.taken = taken;
	b->job.n_taken = 3;
	with_soft_roce_ok(b);
	assert_string_equal(b->job.record.uverbs, "uverbs9");
	assert_int_equal(node(b, "uverbs9", &dev), S_IFCHR | 0666);
	assert_int_equal(node(b, "uverbs7", &dev), 0);
	assert_int_equal(b->rdma.devices[0].netns, 0);
	assert_int_equal(b->rdma.devices[1].netns, 0);
	assert_true(b->rdma.devices[2].netns == pod_netns(b, 0));
	assert_string_equal(b->rdma.devices[2].name, b->job.record.rdma);
	attach_bench_shell(b, 0, "sh -c '! ip link show type veth | grep rl-hold'");
	ok(b, attach_bench_return(b));
	attach_bench_is_clean(b);
}

/* An attack, probably; each placeholder costs the kernel a device. */
static void too_many_numbers_that_pods_may_open_are_an_error(void **state)
{
	char taken[PLACEHOLDERS_MAX + 1][CHARDEV_NAME_SIZE];
	struct attach_bench *b = attach_bench_need(state);

	for (unsigned i = 0; i <= PLACEHOLDERS_MAX; i++)
		snprintf(taken[i], sizeof(taken[i]), "uverbs%u", 7 + i);
	b->job.taken = (const char(*)[CHARDEV_NAME_SIZE])taken;
	b->job.n_taken = PLACEHOLDERS_MAX + 1;
	b->job.record.plan.soft_roce = true;
	assert_int_equal(attach_bench_attach(b), -EBUSY);
	assert_non_null(strstr(b->job.err.msg, "containers of other pods may open"));
	attach_bench_shell(b, 0, "sh -c '! ip link show type veth | grep rl-hold'");
	for (size_t i = 0; i < ARRAY_SIZE(b->rdma.devices); i++)
		assert_int_equal(b->rdma.devices[i].netns, 0);
	ok(b, attach_bench_return(b));
	attach_bench_is_clean(b);
}

/* The pod has deleted its device, so another one may get its number. */
static void a_device_deleted_in_its_pod_is_drift(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	with_soft_roce_ok(b);
	ok(b, attach_check(&b->job, false));
	assert_int_equal(b->job.drift, 0);
	b->rdma.devices[0].netns = 0;
	fake_rdma_add(b->job.record.rdma, pod_netns(b, 0), 77, true);
	ok(b, attach_check(&b->job, true));
	assert_int_equal(b->job.drift, ATTACH_DRIFT_RDMA);
	assert_int_equal(b->job.left, ATTACH_DRIFT_RDMA);
	ok(b, attach_bench_return(b));
	attach_bench_is_clean(b);
}

/* The daemon was killed after creating it, or the record is from an older version: the netdev below
 * identifies the device. */
static void an_unrecorded_device_is_deleted(void **state)
{
	struct attach_bench *b = attach_bench_need(state);
	uint32_t other;

	with_soft_roce_ok(b);
	other = fake_rdma_add("rxe_other", pod_netns(b, 1), 77, true);
	memset(&b->job.record.rdma_id, 0, sizeof(b->job.record.rdma_id));
	b->job.record.rdma[0] = '\0';
	ok(b, attach_bench_return(b));
	assert_int_equal(b->rdma.devices[0].netns, 0);
	assert_true(b->rdma.devices[other].netns == pod_netns(b, 1));
	attach_bench_is_clean(b);
}

/* The device was deleted after its creation, and another interface's device has its name. */
static void a_replaced_device_is_detected(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	with_soft_roce_ok(b);
	b->rdma.devices[0].netns = 0;
	fake_rdma_add("rxe_0000_99_10_6", pod_netns(b, 0), 77, true);
	b->job.record.state = ATTACH_ATTACHING;
	b->job.is_return = false;
	b->job.next = STEP_VERIFY;
	assert_true(attach_run(&b->job) < 0);
	ok(b, attach_bench_return(b));
	attach_bench_is_clean(b);
}

/* The kernel is deleting it. */
static void a_device_that_the_kernel_deletes_is_not_deleted(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	with_soft_roce(b);
	attach_bench_kill_pod(b, 0, true);
	b->rdma.devices[0].dies = 3;
	ok(b, attach_bench_return(b));
	assert_int_equal(b->rdma.devices[0].netns, 0);
	assert_int_equal(b->rdma.n_deleted, 0);
	attach_bench_is_clean(b);
}

/* Its netdev is in the host, and the kernel has not deleted it for a while. */
static void a_device_that_the_kernel_does_not_delete_is_deleted(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	with_soft_roce(b);
	attach_bench_kill_pod(b, 0, true);
	ok(b, attach_bench_return(b));
	assert_int_equal(b->rdma.n_deleted, 1);
	attach_bench_is_clean(b);
}

/* Kernels without rxe_disassociate_ucontext wait until the process closes it, which would block a
 * worker. */
static void an_open_device_is_not_deleted(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	with_soft_roce(b);
	b->rdma.devices[0].contexts = 1;
	assert_int_equal(attach_bench_return(b), -EBUSY);
	assert_non_null(strstr(b->job.err.msg, "outside of the pod has the soft-RoCE device"));
	assert_int_equal(b->rdma.n_deleted, 0);
	tmptree_write(b->tree, "sys/kernel/btf/rdma_rxe", "%s%c%s%c", "rxe_x", 0,
		      "rxe_disassociate_ucontext", 0);
	ok(b, attach_bench_return(b));
	assert_int_equal(b->rdma.n_deleted, 1);
	attach_bench_is_clean(b);
}

static void a_device_that_is_closed_in_time_is_deleted(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	with_soft_roce(b);
	b->rdma.devices[0].contexts = b->rdma.devices[0].closes = 2;
	ok(b, attach_bench_return(b));
	assert_int_equal(b->rdma.n_deleted, 1);
	attach_bench_is_clean(b);
}

/* Without its netdev it is unknown whether the kernel is deleting it. */
static void a_device_without_its_netdev_is_not_deleted(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	with_soft_roce(b);
	attach_bench_kill_pod(b, 0, false);
	assert_int_equal(attach_bench_return(b), -EAGAIN);
	assert_non_null(strstr(b->job.err.msg, "is being deleted"));
	assert_int_equal(b->rdma.n_deleted, 0);
}

static void a_macvlan_of_the_host_is_not_taken_for_the_pods(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	b->job.record.plan.kind = PLAN_MACVLAN;
	attach_bench_shell(b, -1, "ip link set %s up", BENCH_NAME);
	with_soft_roce(b);
	attach_bench_shell(b, -1, "ip link add link %s name net1 type macvlan", BENCH_NAME);
	attach_bench_kill_pod(b, 0, false);
	assert_int_equal(attach_bench_return(b), -EAGAIN);
	assert_int_equal(b->rdma.n_deleted, 0);
	attach_bench_shell(b, -1, "ip link del net1");
}

static void soft_roce_in_pods_needs_shared_mode(void **state)
{
	struct attach_bench *b = attach_bench_need(state);

	b->rdma.mode = RDMA_NETNS_EXCLUSIVE;
	b->job.record.plan.soft_roce = true;
	assert_int_equal(attach_bench_attach(b), -EOPNOTSUPP);
	assert_non_null(strstr(b->job.err.msg, "shared mode"));
	ok(b, attach_bench_return(b));
	attach_bench_is_clean(b);
}

static void names_are_short_and_unique(void **state)
{
	struct attach_record r = {0}, other;
	char name[RDMA_NAME_SIZE], second[RDMA_NAME_SIZE];

	(void)state;
	r.plan.kind = PLAN_MACVLAN;
	memset(r.id, 'a', sizeof(r.id) - 1);
	attach_rdma_soft_name(&r, name);
	assert_int_equal(strlen(name), RDMA_NAME_SIZE - 1);
	other = r;
	other.id[sizeof(r.id) - 2] = 'b';
	attach_rdma_soft_name(&other, second);
	assert_string_not_equal(name, second);
	snprintf(r.id, sizeof(r.id), "../x");
	attach_rdma_soft_name(&r, name);
	assert_string_equal(name, "rxe____x");
}

/* No file outside of the folder is created or removed, whatever the names. */
static void names_do_not_lead_out_of_the_folder(void **state)
{
	struct nldev_chardev uverbs = {.name = "../null", .dev = 1};
	struct attach_bench *b = attach_bench_need(state);
	struct err e = {0};

	assert_int_equal(soft_roce_nodes_make(&b->hw, "a", &uverbs, &e), -EINVAL);
	snprintf(uverbs.name, sizeof(uverbs.name), "uverbs1");
	assert_int_equal(soft_roce_nodes_make(&b->hw, "../../x", &uverbs, &e), 0);
	tmptree_remove(b->tree, "dev/rocelet/by-name/_._.._x");
	assert_int_equal(soft_roce_nodes_remove(&b->hw, "../../x", &e), 0);
	assert_int_equal(soft_roce_nodes_remove(&b->hw, "../../x", &e), 0);
	tmptree_remove(b->tree, "dev/rocelet/by-name");
	tmptree_write(b->tree, "elsewhere/file", "\n");
	tmptree_link(b->tree, "dev/rocelet/by-name", "../../elsewhere");
	assert_true(soft_roce_nodes_make(&b->hw, "id", &uverbs, &e) < 0);
	assert_true(soft_roce_nodes_remove(&b->hw, "id", &e) < 0);
	tmptree_remove(b->tree, "elsewhere/file");
}

/* A node is not removed while another device has its number. */
static void another_devices_node_is_kept(void **state)
{
	const struct nldev_chardev first = {.name = "uverbs1", .dev = 1},
				   second = {.name = "uverbs2", .dev = 2};
	struct attach_bench *b = attach_bench_need(state);
	struct err e = {0};
	dev_t dev;

	assert_int_equal(soft_roce_nodes_make(&b->hw, "a", &first, &e), 0);
	assert_int_equal(soft_roce_nodes_make(&b->hw, "b", &first, &e), 0);
	assert_int_equal(soft_roce_nodes_make(&b->hw, "c", &second, &e), 0);
	assert_int_equal(soft_roce_nodes_remove(&b->hw, "a", &e), 0);
	assert_int_equal(node(b, "uverbs1", &dev), S_IFCHR | 0666);
	assert_int_equal(soft_roce_nodes_remove(&b->hw, "b", &e), 0);
	assert_int_equal(node(b, "uverbs1", &dev), 0);
	assert_int_equal(node(b, "uverbs2", &dev), S_IFCHR | 0666);
}

/* When the last device is removed, the shared nodes are removed too. */
static void the_last_device_removes_the_shared_nodes(void **state)
{
	const struct nldev_chardev first = {.name = "uverbs1", .dev = 1},
				   second = {.name = "uverbs2", .dev = 2};
	struct attach_bench *b = attach_bench_need(state);
	AUTO_FREE char *path = NULL;
	struct err e = {0};
	dev_t dev;

	tmptree_write(b->tree, "sys/class/misc/rdma_cm/dev", "10:123\n");
	tmptree_write(b->tree, "dev/infiniband/file", "no node");
	assert_true(asprintf(&path, "%s/dev/infiniband/uverbs4", b->tree) > 0);
	assert_int_equal(mknod(path, S_IFCHR | 0600, 4), 0);
	assert_int_equal(soft_roce_nodes_make(&b->hw, "a", &first, &e), 0);
	assert_int_equal(soft_roce_nodes_make(&b->hw, "b", &second, &e), 0);
	assert_int_equal(soft_roce_nodes_remove(&b->hw, "a", &e), 0);
	assert_int_equal(node(b, "rdma_cm", &dev), S_IFCHR | 0666);
	assert_int_equal(node(b, "uverbs4", &dev), S_IFCHR | 0600);
	assert_int_equal(soft_roce_nodes_remove(&b->hw, "b", &e), 0);
	assert_int_equal(node(b, "rdma_cm", &dev), 0);
	assert_int_equal(node(b, "uverbs4", &dev), 0);
	assert_int_equal(unlink(path), 0);
	tmptree_remove(b->tree, "dev/infiniband/file");
}

/* A container may also have a device of another pool, whose node the runtime must find in the
 * folder. */
static void the_folder_also_has_the_hosts_nodes(void **state)
{
	const struct nldev_chardev soft = {.name = "uverbs7", .dev = 7},
				   other = {.name = "uverbs8", .dev = 8};
	struct attach_bench *b = attach_bench_need(state);
	AUTO_FREE char *path = NULL, *own = NULL;
	struct err e = {0};
	dev_t dev;

	tmptree_write(b->tree, "dev/infiniband/by-path/x", "a folder");
	tmptree_write(b->tree, "dev/infiniband/file", "no node");
	assert_true(asprintf(&path, "%s/dev/infiniband/uverbs4", b->tree) > 0);
	assert_int_equal(mknod(path, S_IFCHR | 0600, 4), 0);
	assert_true(asprintf(&own, "%s/dev/infiniband/uverbs7", b->tree) > 0);
	assert_int_equal(mknod(own, S_IFCHR | 0600, 7), 0);
	for (int again = 0; again < 2; again++)
		assert_int_equal(soft_roce_nodes_make(&b->hw, again ? "a" : "b", &soft, &e), 0);
	assert_int_equal(unlink(own), 0);
	assert_int_equal(soft_roce_nodes_remove(&b->hw, "b", &e), 0);
	assert_int_equal(node(b, "uverbs4", &dev), S_IFCHR | 0600);
	assert_int_equal(dev, 4);
	assert_int_equal(node(b, "uverbs7", &dev), S_IFCHR | 0666);
	assert_int_equal(node(b, "file", &dev), 0);
	/* The host's node gets another number. */
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mknod(path, S_IFCHR | 0600, 5), 0);
	assert_int_equal(soft_roce_nodes_make(&b->hw, "a", &soft, &e), 0);
	assert_int_equal(node(b, "uverbs4", &dev), S_IFCHR | 0600);
	assert_int_equal(dev, 5);
	/* Nodes of other devices are kept; nodes that the host no longer has are removed. */
	assert_int_equal(soft_roce_nodes_make(&b->hw, "b", &other, &e), 0);
	assert_int_equal(soft_roce_nodes_remove(&b->hw, "a", &e), 0);
	assert_int_equal(node(b, "uverbs4", &dev), S_IFCHR | 0600);
	assert_int_equal(node(b, "uverbs7", &dev), 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(soft_roce_nodes_remove(&b->hw, "a", &e), 0);
	assert_int_equal(node(b, "uverbs4", &dev), 0);
	assert_int_equal(node(b, "uverbs8", &dev), S_IFCHR | 0666);
	assert_int_equal(soft_roce_nodes_remove(&b->hw, "b", &e), 0);
	tmptree_remove(b->tree, "dev/infiniband/by-path/x");
	tmptree_remove(b->tree, "dev/infiniband/file");
}

/* For two pods that start at the same time. */
struct maker {
	struct attach_bench *bench;
	const char *id;
	struct nldev_chardev uverbs;
	int wrong;
};

static void *make_repeatedly(void *arg)
{
	struct maker *m = arg;

	for (int i = 0; i < 300; i++)
		if (soft_roce_nodes_make(&m->bench->hw, m->id, &m->uverbs, NULL) < 0 ||
		    soft_roce_nodes_check(&m->bench->hw, m->id, &m->uverbs, NULL) < 0)
			m->wrong++;
	return NULL;
}

static void nodes_are_made_at_the_same_time(void **state)
{
	struct attach_bench *b = attach_bench_need(state);
	struct maker makers[] = {
		{.bench = b, .id = "a", .uverbs = {.name = "uverbs1", .dev = 1}},
		{.bench = b, .id = "b", .uverbs = {.name = "uverbs2", .dev = 2}},
	};
	pthread_t threads[2];

	tmptree_write(b->tree, "sys/class/misc/rdma_cm/dev", "10:123\n");
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, make_repeatedly, &makers[i]), 0);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(makers[0].wrong + makers[1].wrong, 0);
}

/* A pod can open the read-only folder and lock it; the alarm ends a test that waits for the
 * lock. */
static void a_pods_lock_on_the_folder_blocks_no_worker(void **state)
{
	const struct nldev_chardev uverbs = {.name = "uverbs1", .dev = 1};
	struct attach_bench *b = attach_bench_need(state);
	AUTO_FREE char *path = NULL;
	AUTO_FD fd = -1;

	assert_int_equal(soft_roce_nodes_make(&b->hw, "a", &uverbs, NULL), 0);
	assert_true(asprintf(&path, "%s/dev/rocelet", b->tree) > 0);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	alarm(PATIENCE_MS / 1000);
	assert_int_equal(soft_roce_nodes_make(&b->hw, "b", &uverbs, NULL), 0);
	assert_int_equal(soft_roce_nodes_check(&b->hw, "b", &uverbs, NULL), 0);
	assert_int_equal(soft_roce_nodes_remove(&b->hw, "a", NULL), 0);
	assert_int_equal(soft_roce_nodes_remove(&b->hw, "b", NULL), 0);
	alarm(0);
}

static void a_node_with_a_wrong_number_is_detected(void **state)
{
	const struct nldev_chardev another = {.name = "uverbs7", .dev = 1};
	struct attach_bench *b = attach_bench_need(state);

	b->rdma.mode = RDMA_NETNS_SHARED;
	b->job.record.plan.soft_roce = true;
	ok(b, attach_bench_attach(b));
	assert_int_equal(soft_roce_nodes_make(&b->hw, BENCH_FUNCTION, &another, NULL), 0);
	b->job.record.state = ATTACH_ATTACHING;
	b->job.next = STEP_VERIFY;
	assert_int_equal(attach_run(&b->job), -EUCLEAN);
	assert_non_null(strstr(b->job.err.msg, "do not lead to uverbs7"));
	ok(b, attach_bench_return(b));
	attach_bench_is_clean(b);
}

TEST_GROUP(steps_rdma)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_bench, attach_bench_teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_device_is_moved_in_exclusive_mode),
		TEST(a_device_returns_from_another_namespace),
		TEST(a_renamed_device_is_renamed_back),
		TEST(another_device_of_the_same_name_is_not_moved),
		TEST(a_recreated_device_is_in_the_host),
		TEST(a_device_without_an_index_is_identified_by_its_netdev),
		TEST(an_unrecorded_device_in_a_pod_is_returned),
		TEST(a_device_is_not_moved_in_shared_mode),
		TEST(a_renamed_device_is_renamed_back_in_shared_mode),
		TEST(an_open_device_is_reset),
		TEST(a_device_that_is_closed_in_time_is_not_reset),
		TEST(a_device_is_created_and_deleted),
		TEST(a_foreign_device_of_our_name_is_not_used),
		TEST(a_renamed_device_is_deleted_and_one_of_its_name_is_not),
		TEST(a_device_with_the_name_of_a_deleted_one_is_not_deleted),
		TEST(a_number_that_a_pod_may_open_is_not_used),
		TEST(too_many_numbers_that_pods_may_open_are_an_error),
		TEST(a_device_deleted_in_its_pod_is_drift),
		TEST(an_unrecorded_device_is_deleted),
		TEST(a_replaced_device_is_detected),
		TEST(a_device_that_the_kernel_deletes_is_not_deleted),
		TEST(a_device_that_the_kernel_does_not_delete_is_deleted),
		TEST(a_device_without_its_netdev_is_not_deleted),
		TEST(an_open_device_is_not_deleted),
		TEST(a_device_that_is_closed_in_time_is_deleted),
		TEST(a_macvlan_of_the_host_is_not_taken_for_the_pods),
		TEST(soft_roce_in_pods_needs_shared_mode),
		cmocka_unit_test(names_are_short_and_unique),
		TEST(names_do_not_lead_out_of_the_folder),
		TEST(another_devices_node_is_kept),
		TEST(the_last_device_removes_the_shared_nodes),
		TEST(the_folder_also_has_the_hosts_nodes),
		TEST(nodes_are_made_at_the_same_time),
		TEST(a_pods_lock_on_the_folder_blocks_no_worker),
		TEST(a_node_with_a_wrong_number_is_detected),
	};

	namespaces_enter_pids();
	return test_group_run(tests, NULL, NULL);
}
