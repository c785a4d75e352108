// SPDX-License-Identifier: Apache-2.0
/* The path of a namespace leads through a file system that never answers: no caller may wait for
 * it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cleanup.h"
#include "namespaces.h"
#include "netns.h"
#include "test_group.h"

#define GIVE_UP_S 60 /* reached only if a search hangs */

static struct hw hw = {.sys_fd = -1, .dev_fd = -1, .proc_fd = -1, .live = true};
static char folder[] = "/tmp/rocelet-hang-XXXXXX";

/* --- a file system with one file, "x" --------------------------------------------------------- */

static atomic_bool answers;
static int fuse_fd;

static void fill_attr(struct fuse_attr *a, uint64_t node)
{
	*a = (struct fuse_attr){.ino = node,
				.mode = node == FUSE_ROOT_ID ? S_IFDIR | 0755 : S_IFREG | 0644,
				.nlink = 1};
}

/* Results must not be cached, so that the kernel asks each time. */
static size_t fill_answer(const struct fuse_in_header *in, void *body, int *ret_error)
{
	struct fuse_init_out *init = body;
	struct fuse_entry_out *entry = body;
	struct fuse_attr_out *attr = body;

	switch (in->opcode) {
	case FUSE_INIT:
		*init = (struct fuse_init_out){.major = FUSE_KERNEL_VERSION,
					       .minor = FUSE_KERNEL_MINOR_VERSION,
					       .max_write = 4096};
		return sizeof(*init);
	case FUSE_LOOKUP:
		*entry = (struct fuse_entry_out){.nodeid = 2};
		fill_attr(&entry->attr, 2);
		return sizeof(*entry);
	case FUSE_GETATTR:
		*attr = (struct fuse_attr_out){0};
		fill_attr(&attr->attr, in->nodeid);
		return sizeof(*attr);
	default:
		*ret_error = -ENOSYS;
		return 0;
	}
}

static void *serve(void *arg)
{
	_Alignas(8) static char request[1 << 20];
	const struct fuse_in_header *in = (const void *)request;
	_Alignas(8) char answer[512];
	struct fuse_out_header *out = (void *)answer;

	while (read(fuse_fd, request, sizeof(request)) > 0) {
		int error = 0;

		if (!answers)
			continue;
		out->unique = in->unique;
		out->len = (uint32_t)(sizeof(*out) + fill_answer(in, out + 1, &error));
		out->error = error;
		if (write(fuse_fd, answer, out->len) < 0 && errno != ENOENT)
			break;
	}
	return arg;
}

/* --- a process that keeps a namespace there --------------------------------------------------- */

static int mount_it(void)
{
	char options[128], path[128];
	pthread_t thread;

	fuse_fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (fuse_fd < 0)
		return -errno;
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", fuse_fd);
	snprintf(path, sizeof(path), "%s/x", folder);
	answers = true;
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("hang", folder, "fuse", 0, options) < 0)
		return -errno;
	if (pthread_create(&thread, NULL, serve, NULL))
		return -EAGAIN;
	return mount("/proc/self/ns/net", path, NULL, MS_BIND, NULL) < 0 ? -errno : 0;
}

/* Leaves its first namespace, which then only that mount keeps alive. */
static int child(uint64_t *ret_ino)
{
	struct stat st;
	int r;

	if (unshare(CLONE_NEWNS | CLONE_NEWNET) < 0)
		return -errno;
	r = mount_it();
	if (r < 0)
		return r;
	if (stat("/proc/self/ns/net", &st) < 0 || unshare(CLONE_NEWNET) < 0)
		return -errno;
	*ret_ino = st.st_ino;
	answers = false;
	return 0;
}

struct child_report {
	int error;
	uint64_t ino;
};

static pid_t start(struct child_report *ret)
{
	int ready[2];
	pid_t pid;

	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct child_report t = {0};

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		t.error = child(&t.ino);
		if (write(ready[1], &t, sizeof(t)) != sizeof(t) || t.error)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], ret, sizeof(*ret)), sizeof(*ret));
	close(ready[0]);
	return pid;
}

/* Kills the server; that ends the file system, and all processes that wait for it. */
static void stop(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* --- the searches ----------------------------------------------------------------------------- */

struct search {
	struct netns_id id;
	char path[128];
	enum netns_life life;
	int opened, each;
	struct err err;
};

static int count(int netns_fd, const char *path, void *arg)
{
	(void)netns_fd, (void)path, (void)arg;
	return 0;
}

static void *search(void *arg)
{
	struct search *s = arg;

	s->opened = netns_open_path(&hw, s->path, &s->err);
	s->life = netns_search(&hw, &s->id);
	s->each = netns_each(&hw, count, NULL);
	return NULL;
}

static void test_a_hanging_file_blocks_no_search(void **state)
{
	struct search s = {.id.path = "/run/netns/rocelet-hang"};
	AUTO_FD own = netns_open_own();
	struct timespec end;
	struct child_report report;
	pthread_t thread;
	struct stat st;
	pid_t pid;
	int r;
	(void)state;

	namespaces_need();
	pid = start(&report);
	if (report.error) {
		stop(pid);
		print_message("skipped: no FUSE: %s\n", strerror(-report.error));
		skip();
	}
	assert_int_equal(fstat(own, &st), 0);
	s.id.dev = st.st_dev;
	s.id.ino = report.ino;
	snprintf(s.path, sizeof(s.path), "/proc/%d/root%s/x", pid, folder);
	assert_int_equal(pthread_create(&thread, NULL, search, &s), 0);
	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += GIVE_UP_S;
	r = pthread_timedjoin_np(thread, NULL, &end);
	stop(pid);
	if (r)
		pthread_join(thread, NULL);
	assert_int_equal(r, 0);
	assert_int_equal(s.opened, -EAGAIN);
	assert_int_equal(s.life, NETNS_UNKNOWN);
	assert_int_equal(s.each, NETNS_INCOMPLETE);
}

static int setup(void **state)
{
	(void)state;
	hw.proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return hw.proc_fd < 0 || !mkdtemp(folder) ? -1 : 0;
}

static int teardown(void **state)
{
	(void)state;
	close(hw.proc_fd);
	return rmdir(folder);
}

TEST_GROUP(netns_hang)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_hanging_file_blocks_no_search)};

	(void)namespaces_enter();
	return test_group_run(tests, setup, teardown);
}
