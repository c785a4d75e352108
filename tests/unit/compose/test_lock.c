// SPDX-License-Identifier: Apache-2.0
/* Locks of folders and of the node: one daemon at a time, whatever happens to the lock file. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "cleanup.h"
#include "daemon_child.h"
#include "lock.h"
#include "loop_helpers.h"
#include "node_lock.h"
#include "test_group.h"
#include "tmptree.h"

static char *tree;
static struct hw hw;

static int open_tree(void **state)
{
	(void)state;
	tree = tmptree_new();
	return hw_open(&hw, "/sys", "/dev", "/proc", NULL);
}

static int close_tree(void **state)
{
	(void)state;
	hw_close(&hw);
	tmptree_free(tree);
	return 0;
}

static const char *in_tree(const char *name)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", tree, name);
	return path;
}

/* --- the lock --------------------------------------------------------------------------------- */

/* Starts a process that calls hold() and then waits until it is killed. */
static pid_t holder(int (*hold)(void))
{
	int ready[2];
	char answer = 'x';
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		answer = hold() == 0 ? 'y' : 'n';
		if (write(ready[1], &answer, 1) == 1)
			pause();
		_exit(1);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &answer, 1), 1);
	close(ready[0]);
	assert_int_equal(answer, 'y');
	return pid;
}

static int hold_state(void)
{
	static struct lock l;
	char self[64];

	snprintf(self, sizeof(self), "pid %d on node-1, pod a/b", getpid());
	return lock_take(&l, &hw, in_tree("state"), 0700, self, NULL);
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void is_held(const char *by)
{
	struct lock l = LOCK_NONE;
	struct err e = {0};

	assert_int_equal(lock_take(&l, &hw, in_tree("state"), 0700, "another", &e), -EALREADY);
	assert_int_equal(l.folder_fd, -1);
	if (!strstr(e.msg, by) || !strstr(e.msg, "state"))
		fail_msg("\"%s\" does not contain \"%s\"", e.msg, by);
}

static void is_free(void)
{
	struct lock l = LOCK_NONE;
	struct err e = {0};

	if (lock_take(&l, &hw, in_tree("state"), 0700, "another", &e) < 0)
		fail_msg("%s", e.msg);
	assert_true(lock_is_of(&l, in_tree("state")));
	assert_false(lock_is_of(&l, tree));
	lock_release(&l);
}

static void a_locked_folder_is_in_use(void **state)
{
	char owner[32];
	pid_t pid = holder(hold_state);
	struct stat st;

	(void)state;
	assert_int_equal(stat(in_tree("state"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_int_equal(stat(in_tree("state/lock"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	snprintf(owner, sizeof(owner), "pid %d on node-1, pod a/b", pid);
	is_held(owner);
	is_held(owner);
	end(pid);
	is_free();
}

static void a_stale_lock_file_is_not_a_lock(void **state)
{
	(void)state;
	tmptree_write(tree, "state/lock", "pid 1 on node-1: rocelet\n");
	is_free();
	assert_int_equal(access(in_tree("state/lock"), F_OK), -1);
}

static void the_file_may_be_deleted(void **state)
{
	char owner[32];
	pid_t pid = holder(hold_state);

	(void)state;
	snprintf(owner, sizeof(owner), "pid %d", pid);
	assert_int_equal(unlink(in_tree("state/lock")), 0);
	is_held(owner);
	is_held(owner); /* a new lock file exists now */
	end(pid);
	is_free();
}

/* The lock file must not be able to add a line to our log. */
static void control_characters_in_the_lock_file_are_replaced(void **state)
{
	char owner[32];
	pid_t pid = holder(hold_state);

	(void)state;
	snprintf(owner, sizeof(owner), "pid %d", pid);
	tmptree_write(tree, "state/lock", "\x1b[31m pid 1\n");
	is_held(owner);
	end(pid);
}

static int hold_as_other_user(void)
{
	int fd = open(in_tree("state"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 || setresuid(65534, 65534, 65534) < 0 ? -1 : flock(fd, LOCK_EX | LOCK_NB);
}

static void another_users_file_lock_is_ignored(void **state)
{
	pid_t pid;

	(void)state;
	if (geteuid() != 0)
		skip();
	tmptree_write(tree, "state/lock", "\n");
	pid = holder(hold_as_other_user);
	is_free();
	end(pid);
}

/* The lock file cannot be created, as on a full disk. */
static void the_folder_alone_is_a_lock(void **state)
{
	char owner[32];
	pid_t pid;

	(void)state;
	tmptree_write(tree, "state/lock/in-the-way", "\n");
	pid = holder(hold_state);
	snprintf(owner, sizeof(owner), "pid %d", pid);
	is_held(owner);
	end(pid);
	is_free();
}

static void a_folder_that_cannot_be_created_is_reported(void **state)
{
	struct lock l = LOCK_NONE;
	struct err e = {0};

	(void)state;
	tmptree_write(tree, "file", "\n");
	assert_int_equal(lock_take(&l, &hw, in_tree("file/state"), 0700, "x", &e), -ENOTDIR);
	assert_non_null(strstr(e.msg, "file/state cannot be locked"));
}

/* --- concurrent locking, while the file is deleted repeatedly
 * ----------------------------------- */

#define TAKERS 4
#define ROUNDS 200

/* Runs in a child process, so it must not assert. */
static int take_repeatedly(void)
{
	char inside[PATH_MAX];

	snprintf(inside, sizeof(inside), "%s/inside", tree);
	for (int n = 0; n < ROUNDS;) {
		struct lock l = LOCK_NONE;
		int fd;

		if (lock_take(&l, &hw, in_tree("state"), 0700, "x", NULL) < 0)
			continue;
		fd = open(inside, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
		if (fd < 0)
			return 1;
		close(fd);
		unlink(inside);
		lock_release(&l);
		n++;
	}
	return 0;
}

static pid_t child(int (*fn)(void))
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		_exit(fn());
	return pid;
}

static int delete_repeatedly(void)
{
	for (;;)
		unlink(in_tree("state/lock"));
	return 0;
}

static void concurrent_takers_exclude_each_other(void **state)
{
	pid_t takers[TAKERS], deleter = child(delete_repeatedly);
	int status, bad = 0;

	(void)state;
	for (int i = 0; i < TAKERS; i++)
		takers[i] = child(take_repeatedly);
	for (int i = 0; i < TAKERS; i++)
		bad += waitpid(takers[i], &status, 0) != takers[i] || status != 0;
	end(deleter);
	assert_int_equal(bad, 0);
}

/* --- the program ------------------------------------------------------------------------------ */

static const char *program(void)
{
	static char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 16);

	assert_true(n > 0);
	path[n] = '\0';
	for (int i = 0; i < 2; i++)
		*strrchr(path, '/') = '\0';
	return strcat(path, "/rocelet");
}

/* Starts a daemon that only observes this machine; its log is NAME.log. */
static pid_t start(const char *name, const char *state_dir, const char *run_dir, const char *wait,
		   const char *more)
{
	char state[PATH_MAX], run[PATH_MAX], log[PATH_MAX], kubelet[PATH_MAX], config[PATH_MAX];
	pid_t pid;

	tmptree_write(tree, "config.json", "{}\n");
	snprintf(config, sizeof(config), "%s/config.json", tree);
	snprintf(state, sizeof(state), "%s/%s", tree, state_dir);
	snprintf(run, sizeof(run), "%s/%s", tree, run_dir);
	snprintf(log, sizeof(log), "%s/%s.log", tree, name);
	snprintf(kubelet, sizeof(kubelet), "%s/kubelet", tree);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		int fd = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (fd < 0 || dup2(fd, STDERR_FILENO) < 0)
			_exit(126);
		execl(program(), "rocelet", "--config", config, "--listen", "", "--no-bpf",
		      "--state-dir", state, "--run-dir", run, "--kubelet-dir", kubelet,
		      "--lock-wait", wait, more, (char *)NULL);
		_exit(127);
	}
	return pid;
}

static void until_serving(const char *run_dir)
{
	char path[PATH_MAX], answer[4096];

	snprintf(path, sizeof(path), "%s/%s/rocelet.sock", tree, run_dir);
	http_get_until(path, "/healthz", "200 OK", answer, sizeof(answer));
}

static int status_of(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static char log_text[8192];

static bool is_in_log(const char *name, const char *words)
{
	char log[16];
	FILE *f;

	snprintf(log, sizeof(log), "%s.log", name);
	f = fopen(in_tree(log), "re");
	assert_non_null(f);
	log_text[fread(log_text, 1, sizeof(log_text) - 1, f)] = '\0';
	fclose(f);
	return strstr(log_text, words);
}

static void assert_log(const char *name, const char *words)
{
	if (!is_in_log(name, words))
		fail_msg("the log does not contain \"%s\": %s", words, log_text);
}

static void a_second_daemon_exits(void **state)
{
	char owner[64];
	pid_t first = start("first", "state", "run", "0", NULL);

	(void)state;
	until_serving("run");
	snprintf(owner, sizeof(owner), "in use by another rocelet: pid %d on ", first);
	assert_int_equal(status_of(start("second", "state", "other", "0", NULL)), 3);
	assert_log("second", owner);
	assert_log("second", "/state is");
	assert_int_equal(status_of(start("second", "other", "run", "0", NULL)), 3);
	assert_log("second", owner);
	assert_log("second", "/run is");
	assert_int_equal(status_of(start("second", "run", "state", "0", NULL)), 3);
	until_serving("run"); /* the first daemon's socket still works */
	assert_int_equal(daemon_stop(first, SIGTERM), 0);
}

/* A dry run may read another daemon's state. One folder may be both state and run folder. */
static void a_dry_run_starts_beside_a_daemon(void **state)
{
	pid_t first = start("first", "both", "both", "0", NULL), second;

	(void)state;
	until_serving("both");
	second = start("second", "both", "other", "0", "--dry-run");
	until_serving("other");
	assert_int_equal(daemon_stop(second, SIGTERM), 0);
	assert_int_equal(daemon_stop(first, SIGTERM), 0);
}

static void the_next_daemon_waits_for_the_end_of_the_first(void **state)
{
	pid_t first = start("first", "state", "run", "0", NULL), second;

	(void)state;
	until_serving("run");
	second = start("second", "state", "run", "600", NULL);
	for (struct stat st = {0}; stat(in_tree("second.log"), &st) < 0 || st.st_size < 100;)
		usleep(10000);
	end(first);
	until_serving("run");
	assert_log("second", "waiting 600 s");
	assert_int_equal(daemon_stop(second, SIGTERM), 0);
}

/* --- the node's lock -------------------------------------------------------------------------- */

static struct node_lock node_lock = {.fd = -1};

static int hold_node(void)
{
	return node_lock_take(&node_lock, &hw, NULL);
}

static int hold_another_node(void)
{
	return unshare(CLONE_NEWNET) < 0 ? -1 : hold_node();
}

static int hold_node_as_other_user(void)
{
	return setresuid(65534, 65534, 65534) < 0 ? -1 : hold_node();
}

static void a_node_has_one_lock(void **state)
{
	pid_t other = holder(hold_another_node), first = holder(hold_node);
	char owner[64];
	struct err e;

	(void)state;
	assert_int_equal(node_lock_take(&node_lock, &hw, &e), -EALREADY);
	snprintf(owner, sizeof(owner), "this node is in use by another rocelet: pid %d (", first);
	assert_memory_equal(e.msg, owner, strlen(owner));
	end(first);
	assert_int_equal(hold_node(), 0);
	node_lock_release(&node_lock);
	assert_int_equal(hold_node(), 0);
	node_lock_release(&node_lock);
	end(other);
}

/* Its clients get no answer. */
static int bind_node_as_other_user(void)
{
	const struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "\0" NODE_LOCK_NAME};
	int fd = setresuid(65534, 65534, 65534) < 0 ? -1 : socket(AF_UNIX, SOCK_STREAM, 0);

	return fd < 0 || bind(fd, (const struct sockaddr *)&name,
			      (socklen_t)(offsetof(struct sockaddr_un, sun_path) +
					  sizeof("\0" NODE_LOCK_NAME) - 1)) < 0
		       ? -1
		       : fd;
}

static int bind_node_silently(void)
{
	return bind_node_as_other_user() < 0 ? -1 : 0;
}

/* Its clients cannot connect, because its queue is full. */
static int fill_node(void)
{
	int fd = bind_node_as_other_user(), client;
	struct sockaddr_un name;
	socklen_t len = sizeof(name);

	if (fd < 0 || listen(fd, 1) < 0 || getsockname(fd, (struct sockaddr *)&name, &len) < 0)
		return -1;
	do
		client = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	while (client >= 0 && connect(client, (struct sockaddr *)&name, len) == 0);
	return client >= 0 && errno == EAGAIN ? 0 : -1;
}

/* A socket of another type with the same name is not a lock. */
static int hold_node_beside_a_datagram_socket(void)
{
	const struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "\0" NODE_LOCK_NAME};
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);

	if (fd < 0 || hold_node() < 0 || setresuid(65534, 65534, 65534) < 0)
		return -1;
	return bind(fd, (const struct sockaddr *)&name,
		    (socklen_t)(offsetof(struct sockaddr_un, sun_path) +
				sizeof("\0" NODE_LOCK_NAME) - 1));
}

static void the_lock_of_another_user_is_reported(void **state)
{
	int (*const ways[])(void) = {bind_node_silently, fill_node};
	struct err e;
	pid_t other;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		other = holder(ways[i]);
		assert_int_equal(node_lock_take(&node_lock, &hw, &e), -EACCES);
		assert_non_null(strstr(e.msg, "in use by user 65534"));
		end(other);
	}
	other = holder(hold_node_beside_a_datagram_socket);
	assert_int_equal(node_lock_take(&node_lock, &hw, &e), -EALREADY);
	end(other);
}

/* A pod with the host's network may bind the name first. */
static void the_pid_of_another_user_is_reported(void **state)
{
	pid_t other = holder(hold_node_as_other_user);
	char owner[64];
	struct err e;

	(void)state;
	assert_int_equal(node_lock_take(&node_lock, &hw, &e), -EACCES);
	snprintf(owner, sizeof(owner), "@rocelet-node is in use by user 65534, pid %d (", other);
	assert_memory_equal(e.msg, owner, strlen(owner));
	end(other);
}

/* Clients that connect repeatedly without reading an answer do not block the lock's owner. */
static void many_clients_learn_the_owner_of_the_node(void **state)
{
	char owner[32];
	uv_loop_t loop;
	pid_t client;

	(void)state;
	assert_int_equal(hold_node(), 0);
	assert_int_equal(uv_loop_init(&loop), 0);
	node_lock_serve(&node_lock, &loop);
	snprintf(owner, sizeof(owner), ": pid %d (", getpid());
	client = fork();
	if (client == 0) {
		struct err e;
		int n = 0;

		/* A full queue becomes empty after some attempts. */
		for (int named = 0; named < 200; named += strstr(e.msg, owner) != NULL)
			if (node_lock_take(&(struct node_lock){.fd = -1}, &hw, &e) != -EALREADY ||
			    ++n == 1000000)
				_exit(1);
		_exit(0);
	}
	for (int status;
	     waitpid(client, &status, WNOHANG) == 0 || (assert_int_equal(status, 0), 0);)
		uv_run(&loop, UV_RUN_NOWAIT);
	node_lock_stop(&node_lock);
	assert_int_equal(loop_end(&loop), 0);
	node_lock_release(&node_lock);
}

static void a_second_daemon_with_other_folders_exits(void **state)
{
	char owner[96];
	pid_t first = start("first", "state", "run", "0", NULL), second;

	(void)state;
	until_serving("run");
	snprintf(owner, sizeof(owner), "this node is in use by another rocelet: pid %d (rocelet)",
		 first);
	assert_int_equal(status_of(start("second", "other-state", "other-run", "0", NULL)), 3);
	assert_log("second", owner);
	/* The first daemon's folders are moved away and created again. */
	assert_int_equal(rename(in_tree("state"), "/tmp/rocelet-test-moved"), 0);
	assert_int_equal(rename("/tmp/rocelet-test-moved", in_tree("moved-state")), 0);
	assert_int_equal(status_of(start("second", "state", "other-run", "0", NULL)), 3);
	assert_log("second", owner);
	second = start("second", "other-state", "other-run", "0", "--dry-run");
	until_serving("other-run"); /* a dry run may start */
	assert_int_equal(daemon_stop(second, SIGTERM), 0);
	until_serving("run");
	end(first);
	second = start("second", "other-state", "other-run", "0", NULL);
	until_serving("other-run");
	assert_int_equal(daemon_stop(second, SIGTERM), 0);
}

static void a_successor_takes_over_the_node(void **state)
{
	pid_t first = start("first", "state", "run", "0", NULL), second;

	(void)state;
	until_serving("run");
	second = start("second", "state", "run", "600", "--take-over");
	while (!is_in_log("first", "waiting for SIGTERM"))
		usleep(10000);
	until_serving("run");
	/* The successor holds all three locks. */
	assert_int_equal(status_of(start("third", "other-state", "other-run", "0", NULL)), 3);
	assert_int_equal(daemon_stop(first, SIGTERM), 0);
	assert_int_equal(daemon_stop(second, SIGTERM), 0);
}

/* The machine's lock is in use by other tests or by a rocelet on this machine. */
static int new_node(void **state)
{
	(void)state;
	return unshare(CLONE_NEWNET);
}

TEST_GROUP(lock)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_locked_folder_is_in_use, open_tree, close_tree),
		cmocka_unit_test_setup_teardown(a_stale_lock_file_is_not_a_lock, open_tree,
						close_tree),
		cmocka_unit_test_setup_teardown(the_file_may_be_deleted, open_tree, close_tree),
		cmocka_unit_test_setup_teardown(control_characters_in_the_lock_file_are_replaced,
						open_tree, close_tree),
		cmocka_unit_test_setup_teardown(another_users_file_lock_is_ignored, open_tree,
						close_tree),
		cmocka_unit_test_setup_teardown(the_folder_alone_is_a_lock, open_tree, close_tree),
		cmocka_unit_test_setup_teardown(a_folder_that_cannot_be_created_is_reported,
						open_tree, close_tree),
		cmocka_unit_test_setup_teardown(concurrent_takers_exclude_each_other, open_tree,
						close_tree),
		cmocka_unit_test_setup_teardown(a_second_daemon_exits, open_tree, close_tree),
		cmocka_unit_test_setup_teardown(a_dry_run_starts_beside_a_daemon, open_tree,
						close_tree),
		cmocka_unit_test_setup_teardown(the_next_daemon_waits_for_the_end_of_the_first,
						open_tree, close_tree),
		cmocka_unit_test_setup_teardown(a_node_has_one_lock, open_tree, close_tree),
		cmocka_unit_test_setup_teardown(the_pid_of_another_user_is_reported, open_tree,
						close_tree),
		cmocka_unit_test_setup_teardown(the_lock_of_another_user_is_reported, open_tree,
						close_tree),
		cmocka_unit_test_setup_teardown(many_clients_learn_the_owner_of_the_node, open_tree,
						close_tree),
		cmocka_unit_test_setup_teardown(a_second_daemon_with_other_folders_exits, open_tree,
						close_tree),
		cmocka_unit_test_setup_teardown(a_successor_takes_over_the_node, open_tree,
						close_tree),
	};

	alarm(600); /* ends a test that hangs */
	return test_group_run(tests, new_node, NULL);
}
