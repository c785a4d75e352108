// SPDX-License-Identifier: Apache-2.0
/* Finding, identifying and entering network namespaces, whatever keeps them alive. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cleanup.h"
#include "faults.h"
#include "fds.h"
#include "namespaces.h"
#include "netns.h"
#include "netns_walk.h"
#include "test_group.h"

static const char *no_namespace;
static struct hw hw = {.sys_fd = -1, .dev_fd = -1, .proc_fd = -1, .live = true};
static char folder[] = "/tmp/rocelet-netns-XXXXXX"; /* the test's own mount */

static uint64_t ino_of(int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	return st.st_ino;
}

static int need_namespaces(void **state)
{
	(void)state;
	if (no_namespace)
		skip();
	return 0;
}

/* --- running a function inside -------------------------------------------------------------- */

static int get_own_ino(void *arg)
{
	AUTO_FD own = netns_open_own();

	*(uint64_t *)arg = own < 0 ? 0 : ino_of(own);
	return 42;
}

static void test_work_is_done_inside_and_we_stay(void **state)
{
	AUTO_FD fd = namespace_new();
	uint64_t before, inside, after;
	(void)state;

	get_own_ino(&before);
	assert_int_equal(netns_run(fd, get_own_ino, &inside), 42);
	get_own_ino(&after);
	assert_true(inside == ino_of(fd));
	assert_true(before == after);
	assert_true(inside != before);
	assert_int_equal(netns_run(-1, get_own_ino, &inside), -EBADF);
	assert_int_equal(netns_run(hw.proc_fd, get_own_ino, &inside), -EINVAL);
}

static void test_a_socket_inside(void **state)
{
	AUTO_FD fd = namespace_new();
	struct nlsock s;
	struct err e = {0};
	(void)state;

	assert_int_equal(netns_nlsock(&s, fd, NETLINK_ROUTE, &e), 0);
	assert_true(s.fd >= 0);
	nlsock_close(&s);
	assert_int_equal(netns_nlsock(&s, -1, NETLINK_ROUTE, &e), -EBADF);
	assert_int_equal(s.fd, -1);
	assert_non_null(strstr(e.msg, strerror(EBADF)));
}

/* --- opening and identifying ---------------------------------------------------------------- */

/* Starts a child in new namespaces (flags: for unshare()) that runs until it is killed. */
static pid_t start_child(int flags)
{
	int ready[2];
	char byte = 0;
	pid_t pid;

	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		/* Inherited descriptors would keep other namespaces alive. */
		dup2(ready[1], 3);
		close_range(4, ~0u, 0);
		if (unshare(flags) < 0 || write(3, &byte, 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

static void stop_child(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void mount_at(int fd, const char *path)
{
	char from[64];

	snprintf(from, sizeof(from), "/proc/self/fd/%d", fd);
	close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	assert_int_equal(mount(from, path, NULL, MS_BIND, NULL), 0);
}

static void test_a_path_is_opened(void **state)
{
	AUTO_FD fd = namespace_new(), opened = -1;
	char path[128], link[128];
	struct err e = {0};
	(void)state;

	snprintf(path, sizeof(path), "%s/pod", folder);
	snprintf(link, sizeof(link), "%s/link", folder);
	mount_at(fd, path);
	opened = netns_open_path(&hw, path, &e);
	assert_true(opened >= 0);
	assert_true(ino_of(opened) == ino_of(fd));
	close(take_fd(&opened));
	assert_int_equal(symlink("pod", link), 0);
	opened = netns_open_path(&hw, link, &e);
	assert_true(opened >= 0);
	assert_int_equal(unlink(link), 0);
	assert_int_equal(umount2(path, MNT_DETACH), 0);
	/* Below the mount is an ordinary file. */
	assert_int_equal(netns_open_path(&hw, path, &e), -EINVAL);
	assert_non_null(strstr(e.msg, "not a network namespace"));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(netns_open_path(&hw, path, &e), -ENOENT);
	assert_non_null(strstr(e.msg, path));
}

static void test_invalid_paths(void **state)
{
	struct err e = {0};
	char fifo[128];
	(void)state;

	snprintf(fifo, sizeof(fifo), "%s/fifo", folder);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_int_equal(netns_open_path(&hw, fifo, &e), -EINVAL); /* returns without blocking */
	assert_int_equal(unlink(fifo), 0);
	assert_int_equal(netns_open_path(&hw, "", &e), -EINVAL);
	assert_int_equal(netns_open_path(&hw, "proc/1/ns/net", &e), -EINVAL);
	assert_int_equal(netns_open_path(&hw, "/dev/null", &e), -EINVAL);
	assert_int_equal(netns_open_path(&hw, "/tmp", &e), -EINVAL);
	snprintf(fifo, sizeof(fifo), "/proc/%d/ns/mnt", (int)getpid());
	assert_int_equal(netns_open_path(&hw, fifo, &e), -EINVAL);
	assert_int_equal(netns_open_path(&hw, "/proc/4194999/ns/net", &e), -ENOENT);
	assert_int_equal(netns_open_path(&hw, "/dev/null/net", &e), -ENOENT);
}

/* A /proc in which this process has the number 1. */
static int proc_of(pid_t first)
{
	char path[128], to[64];

	snprintf(path, sizeof(path), "%s/proc", folder);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/proc/1", folder);
	snprintf(to, sizeof(to), "/proc/%d", first);
	assert_int_equal(symlink(to, path), 0);
	snprintf(path, sizeof(path), "%s/proc/thread-self", folder);
	assert_int_equal(symlink("/proc/thread-self", path), 0);
	snprintf(path, sizeof(path), "%s/proc", folder);
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* We run in another mount namespace than the host: paths and their links are resolved in the
 * host's. */
static void test_the_hosts_paths_from_a_container(void **state)
{
	AUTO_FD fd = namespace_new(), opened = -1;
	char path[128], link[128];
	struct hw inside = hw;
	struct err e = {0};
	pid_t host;
	(void)state;

	snprintf(path, sizeof(path), "%s/pod", folder);
	snprintf(link, sizeof(link), "%s/link", folder);
	assert_int_equal(symlink(path, link), 0);
	mount_at(fd, path);
	host = start_child(CLONE_NEWNS);
	inside.proc_fd = proc_of(host);
	assert_int_equal(umount2(path, MNT_DETACH), 0); /* the host has its own copy of the mount */
	assert_int_equal(netns_open_path(&hw, path, &e), -EINVAL);
	assert_int_equal(netns_open_path(&hw, link, &e), -EINVAL);
	opened = netns_open_path(&inside, path, &e);
	assert_true(opened >= 0);
	assert_true(ino_of(opened) == ino_of(fd));
	close(take_fd(&opened));
	opened = netns_open_path(&inside, link, &e);
	assert_true(opened >= 0);
	assert_int_equal(unlink(link), 0);
	assert_int_equal(netns_open_path(&inside, link, &e), -ENOENT);
	assert_int_equal(netns_open_path(&inside, "/../../etc/passwd", &e), -EINVAL);
	stop_child(host);
	close(inside.proc_fd);
	assert_int_equal(unlink(path), 0);
}

/* "ip netns add" creates the file before it mounts; "ip netns delete" unmounts before it
 * deletes. */
static void test_a_name_without_a_mount_is_skipped(void **state)
{
	static const char *const parts[] = {"names", "names/1", "names/1/root", "names/1/root/run",
					    "names/1/root/run/netns"};
	AUTO_FD fd = namespace_new(), opened = -1;
	struct hw other = {.sys_fd = -1, .dev_fd = -1, .proc_fd = -1, .live = true};
	char path[128];
	(void)state;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, parts[i]);
		assert_int_equal(mkdir(path, 0700), 0);
	}
	snprintf(path, sizeof(path), "%s/names", folder);
	other.proc_fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_true(other.proc_fd >= 0);
	snprintf(path, sizeof(path), "%s/names/1/root/run/netns/pod", folder);
	assert_int_equal(netns_open(&other, "pod"), -ENOENT);
	mount_at(fd, path);
	opened = netns_open(&other, "pod");
	assert_true(opened >= 0);
	assert_true(ino_of(opened) == ino_of(fd));
	assert_int_equal(umount2(path, MNT_DETACH), 0);
	assert_int_equal(netns_open(&other, "pod"), -ENOENT);
	close(other.proc_fd);
}

static void test_alive_until_its_process_dies(void **state)
{
	pid_t pid = start_child(CLONE_NEWNET);
	struct netns_id id = {.path = "untouched"};
	char path[200];
	struct err e = {0};
	int fd;
	(void)state;

	snprintf(path, sizeof(path), "/proc/%d/ns/net", pid);
	fd = netns_open_path(&hw, path, &e);
	assert_true(fd >= 0);
	assert_int_equal(netns_identify(-1, path, &id), -EBADF);
	assert_string_equal(id.path, "untouched");
	assert_int_equal(netns_identify(fd, path, &id), 0);
	assert_string_equal(id.path, path);
	assert_true(id.ino == ino_of(fd));
	close(fd);
	assert_true(netns_is_there(&hw, &id));
	fd = netns_open_id(&hw, &id, &e);
	assert_true(fd >= 0);
	close(fd);
	stop_child(pid);
	assert_false(netns_is_there(&hw, &id));
	assert_int_equal(netns_open_id(&hw, &id, &e), -ENOENT);
	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(netns_identify(hw.proc_fd, path, &id), -ENAMETOOLONG);
}

/* A mounted name or an open descriptor keeps a namespace, but does not use it. */
static void test_namespaces_in_use(void **state)
{
	AUTO_FD kept = namespace_new();
	pid_t pid = start_child(CLONE_NEWNET);
	struct hw blind = hw;
	enum netns_use use[3];
	unsigned pids[3];
	struct netns_id ids[3] = {{.ino = ino_of(kept)}};
	char path[64];
	struct stat st;
	(void)state;

	snprintf(path, sizeof(path), "/proc/%d/ns/net", pid);
	assert_int_equal(stat(path, &st), 0);
	ids[1].ino = st.st_ino;
	get_own_ino(&ids[2].ino);
	netns_users(&hw, ids, 3, use, pids);
	assert_int_equal(use[0], NETNS_EMPTY);
	assert_int_equal(use[1], NETNS_IN_USE);
	assert_int_equal(pids[1], pid);
	assert_int_equal(use[2], NETNS_IN_USE);
	blind.proc_fd = -1;
	netns_users(&blind, ids, 3, use, pids);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(use[i], NETNS_USE_UNKNOWN);
	stop_child(pid);
	netns_users(&hw, ids, 2, use, pids);
	assert_int_equal(use[1], NETNS_EMPTY);
	assert_int_equal(pids[1], 0);
}

static void test_a_reused_path_is_another_namespace(void **state)
{
	AUTO_FD first = namespace_new(), second = namespace_new();
	struct netns_id id;
	char path[128];
	struct err e = {0};
	(void)state;

	snprintf(path, sizeof(path), "%s/again", folder);
	mount_at(first, path);
	assert_int_equal(netns_identify(first, path, &id), 0);
	assert_true(netns_is_there(&hw, &id));
	assert_int_equal(umount2(path, MNT_DETACH), 0);
	mount_at(second, path);
	assert_false(netns_is_there(&hw, &id));
	assert_int_equal(netns_open_id(&hw, &id, &e), -ENOENT);
	assert_non_null(strstr(e.msg, "a different namespace"));
	/* an id without device and inode */
	id.dev = id.ino = 0;
	assert_int_equal(netns_open_id(&hw, &id, &e), -ENOENT);
	assert_int_equal(umount2(path, MNT_DETACH), 0);
	assert_int_equal(unlink(path), 0);
}

/* Without free descriptors it cannot be proven that a namespace is dead. */
static void test_without_descriptors_the_state_is_unknown(void **state)
{
	struct rlimit before, none;
	struct netns_id id;
	AUTO_FD fd = namespace_new();
	enum netns_life life;
	char path[64];
	(void)state;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", getpid(), fd);
	assert_int_equal(netns_identify(fd, path, &id), 0);
	getrlimit(RLIMIT_NOFILE, &before);
	none = before;
	none.rlim_cur = 3;
	setrlimit(RLIMIT_NOFILE, &none);
	life = netns_search(&hw, &id);
	setrlimit(RLIMIT_NOFILE, &before);
	assert_int_equal(life, NETNS_UNKNOWN);
	assert_int_equal(netns_search(&hw, &id), NETNS_ALIVE);
}

/* Node agents and administrators unmount paths that the runtime has mounted; the pod still runs. */
static void test_a_namespace_outlives_its_path(void **state)
{
	pid_t pid = start_child(CLONE_NEWNET);
	char path[64], link[64], other[128];
	struct netns_id id;
	struct err e = {0};
	AUTO_FD fd = -1;
	(void)state;

	snprintf(link, sizeof(link), "/proc/%d/ns/net", pid);
	snprintf(path, sizeof(path), "%s/cni", folder);
	fd = netns_open_path(&hw, link, &e);
	mount_at(fd, path);
	assert_int_equal(netns_identify(fd, path, &id), 0);
	close(take_fd(&fd));
	assert_int_equal(netns_search(&hw, &id), NETNS_ALIVE);
	assert_string_equal(id.path, path);
	assert_int_equal(umount2(path, MNT_DETACH), 0);
	assert_false(netns_is_there(&hw, &id));
	snprintf(other, sizeof(other), "%s", id.path);
	fd = netns_open_anywhere(&hw, &id, &e);
	if (fd < 0)
		fail_msg("%s", e.msg);
	assert_true(ino_of(fd) == id.ino);
	/* the path is updated, so that later calls need no search */
	assert_string_equal(id.path, link);
	assert_true(netns_is_there(&hw, &id));
	close(take_fd(&fd));
	snprintf(id.path, sizeof(id.path), "%s", other);
	stop_child(pid);
	assert_int_equal(netns_search(&hw, &id), NETNS_DEAD);
	assert_int_equal(netns_open_anywhere(&hw, &id, &e), -ENOENT);
	assert_int_equal(unlink(path), 0);
}

/* Without visible processes it cannot be proven that a namespace is dead. */
static void test_without_proc_the_state_is_unknown(void **state)
{
	const struct hw blind = {.sys_fd = -1, .dev_fd = -1, .proc_fd = -1, .live = true};
	struct netns_id id = {.path = "/run/netns/rocelet-none", .dev = 4, .ino = 12345};
	struct err e = {0};
	(void)state;

	assert_int_equal(netns_search(&blind, &id), NETNS_UNKNOWN);
	assert_int_equal(netns_open_anywhere(&blind, &id, &e), -EAGAIN);
	assert_non_null(strstr(e.msg, "/run/netns/rocelet-none"));
	id.ino = 0;
	assert_int_equal(netns_search(&hw, &id), NETNS_DEAD);
}

/* --- paths that a pod controls -------------------------------------------------------------- */

/* How often the file was opened since the last call. */
static int n_opened(int inotify_fd)
{
	char events[4096];
	int n = 0;

	for (;;) {
		ssize_t len = read(inotify_fd, events, sizeof(events));

		if (len <= 0)
			return n;
		for (ssize_t i = 0; i < len; n++)
			i += (ssize_t)(sizeof(struct inotify_event) +
				       ((struct inotify_event *)(events + i))->len);
	}
}

static int watch(const char *path)
{
	int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

	assert_true(fd >= 0);
	assert_true(inotify_add_watch(fd, path, IN_OPEN) >= 0);
	return fd;
}

static int count_namespaces(int fd, const char *path, void *arg)
{
	(void)fd, (void)path;
	++*(int *)arg;
	return 0;
}

/* A device file bind-mounted over a namespace is not opened: for a watchdog device, opening starts
 * the watchdog. */
static void test_a_file_mounted_over_a_namespace_is_not_opened(void **state)
{
	AUTO_FD fd = namespace_new();
	char path[64], fifo[64];
	AUTO_FD opened = -1;
	int n = 0;
	(void)state;

	snprintf(path, sizeof(path), "%s/covered", folder);
	snprintf(fifo, sizeof(fifo), "%s/fifo", folder);
	mount_at(fd, path);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_int_equal(mount(fifo, path, NULL, MS_BIND, NULL), 0);
	close(take_fd(&fd));
	opened = watch(fifo);
	assert_true(netns_each(&hw, count_namespaces, &n) >= 0);
	assert_int_equal(n_opened(opened), 0);
	assert_int_equal(umount2(path, MNT_DETACH), 0);
	assert_int_equal(umount2(path, MNT_DETACH), 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(unlink(fifo), 0);
}

/* A descriptor or path may refer to another file than when its link was read. */
static void test_other_files_are_not_opened(void **state)
{
	char fifo[64], descriptor[64], below[160];
	struct err e = {0};
	AUTO_FD opened = -1, fd = -1;
	(void)state;

	snprintf(fifo, sizeof(fifo), "%s/fifo", folder);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	fd = open(fifo, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	snprintf(descriptor, sizeof(descriptor), "/proc/%d/fd/%d", (int)getpid(), fd);
	snprintf(below, sizeof(below), "/proc/%d/root%s", (int)getpid(), fifo);
	opened = watch(fifo);
	assert_int_equal(netns_open_path(&hw, descriptor, &e), -EINVAL);
	assert_int_equal(netns_open_path(&hw, below, &e), -EINVAL);
	assert_int_equal(netns_open_path(&hw, fifo, &e), -EINVAL);
	assert_int_equal(n_opened(opened), 0);
	assert_int_equal(unlink(fifo), 0);
}

/* --- finding all namespaces ----------------------------------------------------------------- */

static bool is_in_set(const struct netns_set *s, uint64_t ino)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->items[i].ino == ino)
			return true;
	return false;
}

struct visit {
	uint64_t ino;
	int n, n_all, stop_with;
	char path[512];
};

static int on_namespace(int fd, const char *path, void *arg)
{
	struct visit *l = arg;

	l->n_all++;
	if (ino_of(fd) != l->ino)
		return 0;
	l->n++;
	snprintf(l->path, sizeof(l->path), "%s", path);
	return l->stop_with;
}

/* Asserts that it is found once, by a path that opens it. */
static void assert_found(uint64_t ino, const char *path_part)
{
	struct visit l = {.ino = ino};
	struct err e = {0};
	AUTO_FD fd = -1;

	assert_int_equal(netns_each(&hw, on_namespace, &l), 0);
	assert_int_equal(l.n, 1);
	if (!strstr(l.path, path_part))
		fail_msg("found at %s, which does not contain \"%s\"", l.path, path_part);
	fd = netns_open_path(&hw, l.path, &e);
	if (fd < 0)
		fail_msg("%s", e.msg);
	assert_true(ino_of(fd) == ino);
}

/* A freed inode number may be reused at once, also by another program's namespace; so compare the
 * path, too. */
static void assert_not_found(uint64_t ino, const char *path_part)
{
	struct visit l = {.ino = ino};

	assert_int_equal(netns_each(&hw, on_namespace, &l), 0);
	if (l.n && strstr(l.path, path_part))
		fail_msg("found at %s", l.path);
}

static void test_one_that_only_a_process_keeps(void **state)
{
	pid_t pid = start_child(CLONE_NEWNET);
	char path[64];
	struct stat st;
	(void)state;

	snprintf(path, sizeof(path), "/proc/%d/ns/net", pid);
	assert_int_equal(stat(path, &st), 0);
	assert_found(st.st_ino, path);
	stop_child(pid);
	assert_not_found(st.st_ino, path);
}

static void test_one_that_only_a_descriptor_keeps(void **state)
{
	int fd = namespace_new();
	uint64_t ino = ino_of(fd);
	char path[64];
	(void)state;

	snprintf(path, sizeof(path), "/proc/%d/fd/", (int)getpid());
	assert_found(ino, path);
	close(fd);
	assert_not_found(ino, path);
}

static void test_one_that_only_a_mount_keeps(void **state)
{
	int fd = namespace_new();
	uint64_t ino = ino_of(fd);
	char path[128];
	(void)state;

	snprintf(path, sizeof(path), "%s/only a mount", folder); /* blanks are escaped */
	mount_at(fd, path);
	close(fd);
	assert_found(ino, "/only a mount");
	assert_int_equal(umount2(path, MNT_DETACH), 0);
	assert_int_equal(unlink(path), 0);
	assert_not_found(ino, folder);
}

/* A mount that is visible in another process's mount namespace only. */
static void test_one_that_only_another_process_s_mount_keeps(void **state)
{
	int fd = namespace_new();
	uint64_t ino = ino_of(fd);
	char path[128], theirs[192];
	pid_t pid;
	(void)state;

	snprintf(path, sizeof(path), "%s/theirs", folder);
	mount_at(fd, path);
	pid = start_child(CLONE_NEWNS);
	close(fd);
	/* The folder's mounts are private, so the child's copy remains. */
	assert_int_equal(umount2(path, MNT_DETACH), 0);
	snprintf(theirs, sizeof(theirs), "/proc/%d/root%s", pid, path);
	assert_found(ino, theirs);
	stop_child(pid);
	assert_int_equal(unlink(path), 0);
	assert_not_found(ino, theirs);
}

static void test_our_own_is_left_out(void **state)
{
	uint64_t own;
	(void)state;

	get_own_ino(&own);
	assert_not_found(own, "");
}

static void test_a_callback_error_ends_the_walk(void **state)
{
	AUTO_FD fd = namespace_new();
	struct visit l = {.ino = ino_of(fd), .stop_with = -ENOENT};
	(void)state;

	assert_int_equal(netns_each(&hw, on_namespace, &l), -ENOENT);
	assert_int_equal(l.n, 1);
}

static void test_without_proc_there_are_names(void **state)
{
	const struct hw blind = {.sys_fd = -1, .dev_fd = -1, .proc_fd = -1, .live = true};
	AUTO_FD fd = namespace_new();
	struct visit l = {.ino = ino_of(fd)};
	(void)state;

	assert_int_equal(netns_each(&blind, on_namespace, &l), NETNS_INCOMPLETE);
	assert_int_equal(l.n, 0);
}

static void test_a_walk_without_descriptors_fails(void **state)
{
	AUTO_FD fd = namespace_new();
	struct visit l = {.ino = ino_of(fd)};
	struct rlimit before, few;
	int r;
	(void)state;

	getrlimit(RLIMIT_NOFILE, &before);
	few = before;
	few.rlim_cur = (rlim_t)fd + 2;
	setrlimit(RLIMIT_NOFILE, &few);
	r = netns_each(&hw, on_namespace, &l);
	setrlimit(RLIMIT_NOFILE, &before);
	assert_int_equal(r, NETNS_INCOMPLETE);
}

static void test_every_allocation_may_fail(void **state)
{
	AUTO_FD a = namespace_new(), b = namespace_new(), c = namespace_new();
	unsigned before = fds_open();
	bool hit = true;
	long nth = 0;
	(void)state;
	(void)b;
	(void)c;

	for (; hit; nth++) {
		struct visit l = {.ino = ino_of(a)};
		int r;

		faults_alloc(nth);
		r = netns_each(&hw, on_namespace, &l);
		hit = faults_end();
		assert_int_equal(r, hit ? -ENOMEM : 0);
		assert_int_equal(fds_open(), before);
	}
	assert_true(nth > 3);
}

/* --- settings ------------------------------------------------------------------------------- */

/* --- cost of a walk ------------------------------------------------------------------------- */

#define SHARERS	 51
#define MANY_FDS 20000

__attribute__((noreturn)) static int wait_for_end(void *arg)
{
	(void)arg;
	for (;;)
		pause();
}

/* Starts many processes that share their open files; returns the first one's pid. */
static pid_t start_sharers(void)
{
	static char stacks[SHARERS][4096] __attribute__((aligned(16)));
	const struct rlimit most = {MANY_FDS + 16, MANY_FDS + 16};
	int ready[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		setrlimit(RLIMIT_NOFILE, &most);
		for (int i = 0; i < MANY_FDS; i++)
			if (dup(ready[1]) < 0)
				break;
		for (int i = 1; i < SHARERS; i++)
			clone(wait_for_end, stacks[i] + sizeof(stacks[i]), CLONE_FILES | SIGCHLD,
			      NULL);
		if (write(ready[1], &byte, 1) != 1)
			_exit(1);
		wait_for_end(NULL);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

/* When the parent ends, its children become ours, as we are the first process of this PID
 * namespace. */
static void stop_sharers(pid_t pid)
{
	stop_child(pid);
	kill(-1, SIGKILL);
	while (waitpid(-1, NULL, 0) > 0)
		;
}

static uint64_t cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Each open file is read once, even if processes share it. */
static void test_shared_files_are_read_once(void **state)
{
	AUTO_FD fd = namespace_new();
	uint64_t before, ino = ino_of(fd);
	struct netns_set set;
	pid_t pid;
	(void)state;

	pid = start_sharers();
	before = cpu_ms();
	assert_int_equal(netns_walk(&hw, &netns_budget_usual, &set), 0);
	print_message("%d processes share %d open files: %zu links read in %llu ms of CPU\n",
		      SHARERS, MANY_FDS, set.n_descriptors,
		      (unsigned long long)(cpu_ms() - before));
	stop_sharers(pid);
	assert_true(set.complete);
	assert_true(set.n_descriptors >= MANY_FDS);
	assert_true(set.n_descriptors < 2 * MANY_FDS);
	assert_true(is_in_set(&set, ino));
	netns_set_done(&set);
}

/* One user's budget is used up: files of other users are still found, and the walk reports that it
 * is incomplete. */
static void test_one_user_does_not_use_up_the_walk(void **state)
{
	struct netns_budget small = netns_budget_usual;
	AUTO_FD fd = namespace_new();
	uint64_t ino = ino_of(fd);
	struct netns_set set;
	pid_t pid;
	(void)state;

	small.user_descriptors = MANY_FDS / 2;
	pid = start_sharers();
	assert_int_equal(netns_walk(&hw, &small, &set), 0);
	assert_false(set.complete);
	assert_true(set.n_descriptors <= MANY_FDS / 2);
	assert_true(is_in_set(&set, ino));
	netns_set_done(&set);
	small = netns_budget_usual;
	small.cpu_ns = 0;
	assert_int_equal(netns_walk(&hw, &small, &set), 0);
	assert_false(set.complete);
	netns_set_done(&set);
	small = netns_budget_usual;
	small.processes = 1;
	assert_int_equal(netns_walk(&hw, &small, &set), 0);
	assert_false(set.complete);
	netns_set_done(&set);
	stop_sharers(pid);
}

static void *search_often(void *arg)
{
	const struct netns_id *id = arg;

	for (int i = 0; i < 20; i++) {
		struct netns_id copy = *id;
		enum netns_life life = netns_search(&hw, &copy);

		if (life != NETNS_ALIVE)
			return (void *)1;
	}
	return NULL;
}

/* Concurrent callers share a walk, and each gets a current result. */
static void test_concurrent_searches(void **state)
{
	AUTO_FD fd = namespace_new();
	struct netns_id id = {.path = "/run/netns/rocelet-none"};
	pthread_t threads[4];
	struct stat st;
	(void)state;

	assert_int_equal(fstat(fd, &st), 0);
	id.dev = st.st_dev;
	id.ino = st.st_ino;
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, search_often, &id), 0);
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++) {
		void *failed = NULL;

		pthread_join(threads[i], &failed);
		assert_null(failed);
	}
}

static void test_settings_are_applied_inside(void **state)
{
	static const struct sysctl_setting settings[] = {{AF_INET, "arp_notify", "1"},
							 {AF_INET, "rp_filter", "2"}};
	AUTO_FD fd = namespace_new();
	AUTO_FD proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct hw node = {.sys_fd = -1, .dev_fd = -1, .proc_fd = proc};
	struct err e = {0};
	int r;
	(void)state;

	namespace_run(fd, "ip link add net1 type veth peer name net2");
	r = netns_sysctl(&node, fd, "net1", settings, 2, &e);
	if (r == -EROFS) {
		assert_non_null(strstr(e.msg, "read-only"));
		skip();
	}
	if (r)
		fail_msg("%s", e.msg);
	namespace_run(fd, "test $(cat /proc/sys/net/ipv4/conf/net1/arp_notify) = 1 && "
			  "test $(cat /proc/sys/net/ipv4/conf/net1/rp_filter) = 2 && "
			  "test $(cat /proc/sys/net/ipv4/conf/net2/arp_notify) = 0");
}

static void test_missing_settings(void **state)
{
	struct sysctl_setting s = {AF_INET, "arp_notify", "1"};
	AUTO_FD fd = namespace_new();
	AUTO_FD proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct hw node = {.sys_fd = -1, .dev_fd = -1, .proc_fd = proc};
	struct err e = {0};
	(void)state;

	assert_int_equal(netns_sysctl(&node, fd, "none0", &s, 1, &e), -ENOENT);
	assert_string_equal(e.msg, "net.ipv4.conf.none0.arp_notify = 1: No such file or directory");
	s.key = "no_such_thing";
	s.family = AF_INET6;
	assert_int_equal(netns_sysctl(&node, fd, "lo", &s, 1, &e), -ENOENT);
	assert_non_null(strstr(e.msg, "net.ipv6.conf.lo.no_such_thing"));
	s.key = "../../../../kernel/core_pattern";
	assert_int_equal(netns_sysctl(&node, fd, "lo", &s, 1, &e), -EINVAL);
	s.key = "";
	assert_int_equal(netns_sysctl(&node, fd, "lo", &s, 1, &e), -EINVAL);
	s.key = "arp_notify";
	assert_int_equal(netns_sysctl(&node, fd, "..", &s, 1, &e), -EINVAL);
	assert_int_equal(netns_sysctl(&node, fd, "a/b", &s, 1, &e), -EINVAL);
	assert_int_equal(netns_sysctl(&node, fd, "much-too-long-a-name", &s, 1, &e), -EINVAL);
	assert_int_equal(netns_sysctl(&node, -1, "lo", &s, 1, &e), -EBADF);
	s.family = AF_INET;
	s.value = "nonsense";
	assert_int_equal(netns_sysctl(&node, fd, "lo", &s, 1, &e), -EINVAL);
	assert_int_equal(netns_sysctl(&node, fd, "lo", NULL, 0, &e), 0);
	node.proc_fd = -1;
	assert_int_equal(netns_sysctl(&node, fd, "lo", &s, 1, &e), -ENOENT);
}

/* --- announcing and probing addresses ------------------------------------------------------- */

static const uint8_t mac[6] = {2, 0, 0, 0, 7, 7};

/* Creates near0 here and far0 in the pod, which announces. Returns a socket that receives from
 * near0. */
static int open_near_socket(int pod_fd)
{
	struct sockaddr_ll at = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL)};
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_ALL));

	namespace_run(-1,
		      "ip link add near0 type veth peer name far0 && ip link set near0 up && "
		      "ip link set far0 netns /proc/%d/fd/%d",
		      (int)getpid(), pod_fd);
	namespace_run(pod_fd, "ip link set far0 up");
	at.sll_ifindex = (int)if_nametoindex("near0");
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	return fd;
}

static int index_inside(void *arg)
{
	return (int)if_nametoindex(arg);
}

/* Returns the next frame that was sent from our MAC. */
static ssize_t next_frame(int fd, uint8_t *frame, size_t size)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	for (;;) {
		ssize_t n;

		if (poll(&p, 1, 5000) != 1)
			fail_msg("nothing was heard");
		n = recv(fd, frame, size, 0);
		if (n > 12 && memcmp(frame + 6, mac, 6) == 0)
			return n;
	}
}

static void test_announcements_are_sent(void **state)
{
	static const uint8_t arp[42] = {
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2,	 0, 0, 0, 7, 7, 0x08, 0x06, /* broadcast */
		0,    1,    8,	  0,	6,    4,    0,	 1,			    /* request */
		2,    0,    0,	  0,	7,    7,    192, 0, 2, 7,		    /* sender */
		0,    0,    0,	  0,	0,    0,    192, 0, 2, 7,		    /* target */
	};
	static const uint8_t advert_start[14 + 8] = {
		0x33, 0x33, 0, 0, 0, 1, 2, 0, 0, 0, 7, 7, 0x86, 0xdd, 0x60, 0, 0, 0, 0, 32, 58, 255,
	};
	static const uint8_t advert_option[8] = {2, 1, 2, 0, 0, 0, 7, 7};
	struct ip_prefix ips[3] = {{.family = AF_INET, .len = 24}, {0}, {.family = AF_INET6}};
	AUTO_FD pod = namespace_new(), ear = open_near_socket(pod);
	uint8_t frame[256];
	struct err e = {0};
	char name[] = "far0";
	int r;
	(void)state;

	inet_pton(AF_INET, "192.0.2.7", ips[0].addr);
	inet_pton(AF_INET6, "2001:db8::7", ips[2].addr);
	r = netns_announce(pod, netns_run(pod, index_inside, name), mac, ips, 3, &e);
	if (r)
		fail_msg("%s", e.msg);
	assert_true(next_frame(ear, frame, sizeof(frame)) >= (ssize_t)sizeof(arp));
	assert_memory_equal(frame, arp, sizeof(arp));
	assert_int_equal(next_frame(ear, frame, sizeof(frame)), 86);
	assert_memory_equal(frame, advert_start, sizeof(advert_start));
	assert_memory_equal(frame + 22, ips[2].addr, 16);
	assert_memory_equal(frame + 38, "\xff\x02\0\0\0\0\0\0\0\0\0\0\0\0\0\1", 16);
	assert_memory_equal(frame + 54, "\x88\0", 2);
	assert_memory_equal(frame + 58, "\x20\0\0\0", 4); /* override, unsolicited */
	assert_memory_equal(frame + 62, ips[2].addr, 16);
	assert_memory_equal(frame + 78, advert_option, 8);
	namespace_run(-1, "ip link delete near0");
}

/* The kernel's own neighbour table accepts the announcement, which requires a correct checksum. */
static void test_the_kernel_accepts_an_announcement(void **state)
{
	struct ip_prefix ips[2] = {{.family = AF_INET}, {.family = AF_INET6}};
	AUTO_FD pod = namespace_new();
	__attribute__((unused)) AUTO_FD ear = open_near_socket(pod);
	struct err e = {0};
	char name[] = "far0";
	(void)state;

	inet_pton(AF_INET, "192.0.2.7", ips[0].addr);
	inet_pton(AF_INET6, "2001:db8::7", ips[1].addr);
	namespace_run(-1, "ip addr add 192.0.2.1/24 dev near0 && "
			  "ip addr add 2001:db8::1/64 dev near0 nodad && "
			  "ip neigh add 192.0.2.7 lladdr 02:00:00:00:01:01 dev near0 nud stale && "
			  "ip neigh add 2001:db8::7 lladdr 02:00:00:00:01:01 dev near0 nud stale");
	assert_int_equal(netns_announce(pod, netns_run(pod, index_inside, name), mac, ips, 2, &e),
			 0);
	/* A softirq delivers the veth's frames later. */
	namespace_run(-1, "for i in $(seq 500); do [ $(ip neigh show dev near0 | "
			  "grep -c '^\\(192.0.2.7\\|2001:db8::7\\) .*02:00:00:00:07:07') = 2 ] && "
			  "exit 0; sleep 0.01; done; ip neigh show dev near0; exit 1");
	namespace_run(-1, "ip link delete near0");
}

/* Starts a child that sends ARP requests from 192.0.2.5 in VLAN `tag` on near0 until it is
 * killed. */
static pid_t send_arp_in_vlan(uint8_t tag)
{
	const struct sockaddr_ll near0 = {.sll_family = AF_PACKET,
					  .sll_ifindex = (int)if_nametoindex("near0")};
	const uint8_t frame[64] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2,   0, 0,   0, 1, 1,
				   0x81, 0,    0,    tag,  8,	 6,    0,   1, 8,   0, 6, 4,
				   0,	 1,    2,    0,	   0,	 0,    1,   1, 192, 0, 2, 5,
				   0,	 0,    0,    0,	   0,	 0,    192, 0, 2,   9};
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	pid_t pid;

	assert_true(fd >= 0);
	pid = fork();
	assert_true(pid >= 0);
	while (pid == 0) {
		sendto(fd, frame, sizeof(frame), 0, (const struct sockaddr *)&near0, sizeof(near0));
		usleep(2000);
	}
	close(fd);
	return pid;
}

/* A station that has the address in a VLAN of the same port belongs to another network; VLAN 0
 * means untagged. */
static void test_an_address_in_a_vlan_does_not_count(void **state)
{
	struct ip_prefix ip = {.family = AF_INET};
	AUTO_FD pod = namespace_new();
	__attribute__((unused)) AUTO_FD ear = open_near_socket(pod);
	char name[] = "far0";
	uint8_t by[6];
	size_t which;
	(void)state;

	inet_pton(AF_INET, "192.0.2.5", ip.addr);
	for (uint8_t tag = 0; tag <= 7; tag = (uint8_t)(tag + 7)) {
		pid_t pid = send_arp_in_vlan(tag);
		int r = netns_probe(pod, netns_run(pod, index_inside, name), mac, &ip, 1,
				    tag ? 500 : 30000, &which, by);

		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		assert_int_equal(r, tag == 0);
	}
	namespace_run(-1, "ip link delete near0");
}

/* Generous deadlines where an answer is expected: the machine may be busy. */
static void test_an_address_in_use_answers(void **state)
{
	struct ip_prefix ips[3] = {{.family = AF_INET}, {.family = AF_INET}, {.family = AF_INET6}};
	AUTO_FD pod = namespace_new();
	__attribute__((unused)) AUTO_FD ear = open_near_socket(pod);
	char name[] = "far0";
	const int ifindex = netns_run(pod, index_inside, name);
	uint8_t by[6];
	size_t which = 9;
	(void)state;

	inet_pton(AF_INET, "192.0.2.7", ips[0].addr);
	inet_pton(AF_INET, "192.0.2.1", ips[1].addr);
	inet_pton(AF_INET6, "2001:db8::1", ips[2].addr);
	namespace_run(-1, "ip link set near0 address 02:00:00:00:01:01 && "
			  "ip addr add 192.0.2.1/24 dev near0 && "
			  "ip addr add 2001:db8::1/64 dev near0 nodad");
	assert_int_equal(netns_probe(pod, ifindex, mac, ips, 1, 50, &which, by), 0);
	assert_int_equal(netns_probe(pod, ifindex, mac, ips, 2, 30000, &which, by), 1);
	assert_int_equal(which, 1);
	assert_memory_equal(by, "\2\0\0\0\1\1", 6);
	assert_int_equal(netns_probe(pod, ifindex, mac, ips + 2, 1, 30000, &which, by), 1);
	assert_int_equal(which, 0);
	namespace_run(pod, "ip link set far0 down");
	assert_true(netns_probe(pod, ifindex, mac, ips, 2, 50, &which, by) < 0);
	namespace_run(-1, "ip link delete near0");
}

static void test_failed_announcements(void **state)
{
	struct ip_prefix addr = {.family = AF_INET};
	AUTO_FD pod = namespace_new();
	unsigned before = fds_open();
	struct err e = {0};
	char name[] = "far0";
	int far;
	(void)state;

	namespace_run(pod, "ip link add far0 type veth peer name near0");
	far = netns_run(pod, index_inside, name);
	assert_int_equal(netns_announce(pod, far, mac, &addr, 1, &e), -ENETDOWN);
	assert_non_null(strstr(e.msg, "gratuitous ARP"));
	assert_int_equal(netns_announce(pod, 0x7ffffff0, mac, &addr, 1, &e), -ENODEV);
	assert_int_equal(netns_announce(-1, far, mac, &addr, 1, &e), -EBADF);
	namespace_run(pod, "ip link set far0 up; ip link set near0 up");
	faults_send(0, ENOBUFS);
	assert_int_equal(netns_announce(pod, far, mac, &addr, 1, &e), -ENOBUFS);
	assert_true(faults_end());
	assert_int_equal(netns_announce(pod, far, mac, &addr, 0, &e), 0);
	assert_int_equal(fds_open(), before);
}

/* --- setup ---------------------------------------------------------------------------------- */

/* Creates a folder whose mounts do not propagate. */
static int enter(void **state)
{
	(void)state;
	if (!no_namespace)
		no_namespace = namespaces_enter();
	hw.proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (!no_namespace && (!mkdtemp(folder) || mount("none", folder, "tmpfs", 0, NULL) < 0 ||
			      mount(NULL, folder, NULL, MS_PRIVATE, NULL) < 0))
		no_namespace = "nothing can be mounted here";
	return 0;
}

static int leave(void **state)
{
	(void)state;
	umount2(folder, MNT_DETACH);
	rmdir(folder);
	close(hw.proc_fd);
	return 0;
}

#define IN_NAMESPACES(test) cmocka_unit_test_setup(test, need_namespaces)

TEST_GROUP(netns_ops)
{
	const struct CMUnitTest tests[] = {
		IN_NAMESPACES(test_work_is_done_inside_and_we_stay),
		IN_NAMESPACES(test_a_socket_inside),
		IN_NAMESPACES(test_a_path_is_opened),
		IN_NAMESPACES(test_invalid_paths),
		IN_NAMESPACES(test_the_hosts_paths_from_a_container),
		IN_NAMESPACES(test_a_name_without_a_mount_is_skipped),
		IN_NAMESPACES(test_alive_until_its_process_dies),
		IN_NAMESPACES(test_namespaces_in_use),
		IN_NAMESPACES(test_a_reused_path_is_another_namespace),
		IN_NAMESPACES(test_without_descriptors_the_state_is_unknown),
		IN_NAMESPACES(test_a_namespace_outlives_its_path),
		IN_NAMESPACES(test_without_proc_the_state_is_unknown),
		IN_NAMESPACES(test_a_file_mounted_over_a_namespace_is_not_opened),
		IN_NAMESPACES(test_other_files_are_not_opened),
		IN_NAMESPACES(test_one_that_only_a_process_keeps),
		IN_NAMESPACES(test_one_that_only_a_descriptor_keeps),
		IN_NAMESPACES(test_one_that_only_a_mount_keeps),
		IN_NAMESPACES(test_one_that_only_another_process_s_mount_keeps),
		IN_NAMESPACES(test_our_own_is_left_out),
		IN_NAMESPACES(test_a_callback_error_ends_the_walk),
		IN_NAMESPACES(test_without_proc_there_are_names),
		IN_NAMESPACES(test_a_walk_without_descriptors_fails),
		IN_NAMESPACES(test_every_allocation_may_fail),
		IN_NAMESPACES(test_shared_files_are_read_once),
		IN_NAMESPACES(test_one_user_does_not_use_up_the_walk),
		IN_NAMESPACES(test_concurrent_searches),
		IN_NAMESPACES(test_settings_are_applied_inside),
		IN_NAMESPACES(test_missing_settings),
		IN_NAMESPACES(test_announcements_are_sent),
		IN_NAMESPACES(test_the_kernel_accepts_an_announcement),
		IN_NAMESPACES(test_an_address_in_a_vlan_does_not_count),
		IN_NAMESPACES(test_an_address_in_use_answers),
		IN_NAMESPACES(test_failed_announcements),
	};

	no_namespace = namespaces_enter_pids();
	return test_group_run(tests, enter, leave);
}
