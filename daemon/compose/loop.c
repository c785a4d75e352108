// SPDX-License-Identifier: Apache-2.0
/* loop.c - runs the daemon: takes the locks, starts the modules from top to bottom, runs the loop,
 * and stops the modules from bottom to top.
 *
 * Stop (signal, or a module that could not start): each stop closes the module's handles, then the
 * loop runs until none is left. A handle that stays open is a bug and is logged. */
#include "loop.h"

#include <linux/capability.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cleanup.h"
#include "daemon.h"
#include "job.h"
#include "job_watch.h"
#include "lock.h"
#include "log.h"
#include "page.h"
#include "privileges.h"
#include "socket_transfer.h"
#include "unix_time.h"

static void stop_modules(struct daemon *d, size_t n)
{
	while (n > 0)
		modules[--n].stop(d);
}

static int start_modules(struct daemon *d, struct err *e)
{
	for (size_t i = 0; i < n_modules; i++) {
		int r = modules[i].start(d, e);

		if (r == 0)
			continue;
		if (modules[i].optional) {
			log_warn("loop", 0, "%s: %s, going on without it", modules[i].name, e->msg);
			continue;
		}
		stop_modules(d, i + 1);
		return err_wrap(e, "%s", modules[i].name);
	}
	return 0;
}

static void log_open_handle(uv_handle_t *h, void *arg)
{
	(void)arg;
	log_error("loop", 0, "a %s handle was left open",
		  uv_handle_type_name(uv_handle_get_type(h)));
}

/* Raises the limit of descriptors to the hard limit, because the sysfs fallback needs a descriptor
 * per counter. */
static void raise_fd_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/* Requests a short time slice: the loop has little work per wake-up, but other processes wait for
 * it, and a short slice lets it run before the workers, which keep the default (sched_setattr(2);
 * fair tasks since Linux 6.12, kernel/sched/fair.c, PREEMPT_SHORT). Older kernels reject or ignore
 * it, but on them a thread that mostly sleeps runs soon enough. */
static void request_short_slices(void)
{
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime_ns, deadline_ns, period_ns;
	} attr = {
		.size = 48,
		.policy = SCHED_OTHER,
		.flags = 1, /* SCHED_FLAG_RESET_ON_FORK, linux/sched.h */
		.nice = getpriority(PRIO_PROCESS, 0),
		.runtime_ns = 100000,
	};

	(void)syscall(SYS_sched_setattr, 0, &attr, 0);
}

/* --- locks ------------------------------------------------------------------------------------ */

/* Writes a line such as "pid 17 on node-1, pod a/b: rocelet --config x". */
static void describe_self(const struct launch *l, char *ret, size_t size)
{
	char host[65] = "", pod[HAND_OVER_POD_SIZE];
	size_t n;

	gethostname(host, sizeof(host) - 1);
	hand_over_self(pod);
	n = (size_t)snprintf(ret, size, "pid %d on %s%s%s", getpid(), host, *pod ? ", pod " : "",
			     pod);
	for (int i = 0; i < l->argc && n < size; i++)
		n += (size_t)snprintf(ret + n, size - n, "%s%s", i ? " " : ": ", l->argv[i]);
}

/* An attempt to take one of the locks; folder NULL: the node's. */
struct attempt {
	struct daemon *daemon;
	struct lock *lock;
	const char *folder;
	mode_t mode;
};

static int attempt_lock(void *arg, struct err *e)
{
	const struct attempt *a = arg;
	struct daemon *d = a->daemon;
	char self[180];

	if (!a->folder)
		return node_lock_take(&d->node_lock, &d->hw, e);
	describe_self(d->launch, self, sizeof(self));
	return lock_take(a->lock, &d->hw, a->folder, a->mode, self, e);
}

/* Requests the node from the predecessor. Called after every try for the lock; repeats the request
 * until the predecessor has answered, because one that has just started may not serve its socket
 * yet. With a rejected configuration, the node is not requested: the predecessor, whose
 * configuration was valid, serves the node as long as it runs. */
static void request_node(uint64_t left_ms, void *arg)
{
	struct daemon *d = ((struct attempt *)arg)->daemon;
	struct err e = {0};
	int r;

	socket_transfer_receive(d->successor_fd, &d->at_kubelet);
	if (d->requested_node)
		return;
	if (d->launch->refused.code) {
		d->requested_node = true;
		log_warn("lock", 0, "the configuration was rejected, not requesting this node: %s",
			 d->launch->refused.msg);
		return;
	}
	if (d->successor_fd < 0) {
		d->successor_fd = socket_transfer_listen(d->options->run_dir, &e);
		if (d->successor_fd < 0)
			log_warn("lock", 0,
				 "%s, going on without the predecessor's kubelet connections",
				 e.msg);
	}
	r = hand_over_request(d->predecessor, d->options->run_dir, left_ms, &e);
	d->requested_node = r == 0 || r == -EBUSY;
	if (r == 0)
		log_info("lock", 0, "the other rocelet hands this node over");
	else if (r == -EBUSY)
		log_warn("lock", 0,
			 "the other rocelet does not hand over: %s, waiting for its exit", e.msg);
}

/* Waits for a lock. A folder that cannot be locked is read-only, or on a file system without locks:
 * this is logged, and the daemon runs without the lock. */
static int lock_one(struct attempt a, struct err *e)
{
	const struct options *o = a.daemon->options;
	int r = lock_wait(attempt_lock, o->lock_wait_ms, o->take_over ? request_node : NULL, &a, e);

	if (r == -EALREADY || r == 0)
		return r;
	log_warn("lock", 0, "%s, going on without it", e->msg);
	return 0;
}

/* True if the node's lock is needed: without CAP_NET_ADMIN, nothing can be changed. */
static bool may_change_things(const struct daemon *d)
{
	return d->hw.live && !d->options->dry_run &&
	       (geteuid() == 0 || privileges_effective() & UINT64_C(1) << CAP_NET_ADMIN);
}

/* Takes all locks. A dry run does not lock the state folder. The node's lock is taken last and
 * released first, so a process that has locked the folders does not have to wait for it. */
static int lock_node(struct daemon *d, struct err *e)
{
	const struct options *o = d->options;
	int r = 0;

	if (d->hw.live && !o->dry_run)
		r = lock_one((struct attempt){d, &d->state_lock, o->state_dir, 0700}, e);
	if (r == 0 && !lock_is_of(&d->state_lock, o->run_dir))
		r = lock_one((struct attempt){d, &d->run_lock, o->run_dir, 0755}, e);
	if (r == 0 && may_change_things(d))
		r = lock_one((struct attempt){.daemon = d}, e);
	socket_transfer_receive(d->successor_fd, &d->at_kubelet);
	socket_transfer_close(d->successor_fd, o->run_dir);
	return r;
}

int loop_lock_run_folder(struct daemon *d, struct err *e)
{
	const char *folder = d->options->run_dir;
	struct lock l = LOCK_NONE;
	char self[180];
	int r;

	if (lock_is_of(&d->state_lock, folder) || lock_is_of(&d->run_lock, folder))
		return 0;
	describe_self(d->launch, self, sizeof(self));
	r = lock_take(&l, &d->hw, folder, 0755, self, e);
	if (r < 0)
		return r;
	lock_release(&d->run_lock);
	d->run_lock = l;
	return 0;
}

/* --- life cycle ------------------------------------------------------------------------------- */

/* The kubelet kills a pod 30 s after SIGTERM. Operations on devices end sooner unless they are
 * blocked. */
#define DRAIN_MS 20000

static void hand_sockets_over(struct daemon *d);

/* Exits without waiting for blocked threads. The kernel ends them and then releases our locks. */
__attribute__((noreturn)) static void end_without(struct daemon *d)
{
	struct job_status jobs[JOB_THREADS];
	size_t n = job_list(jobs, ARRAY_SIZE(jobs), 0);

	for (size_t i = 0; i < n; i++)
		log_error("loop", 0,
			  "%s has been running for %llu s: exiting without waiting; the next start "
			  "repairs interrupted operations",
			  jobs[i].text, (unsigned long long)jobs[i].for_ms / 1000);
	if (n == 0)
		uv_walk(&d->loop, log_open_handle, NULL);
	hand_sockets_over(d);
	_exit(EXIT_FAILURE);
}

static int run_modules(struct daemon *d, struct err *e)
{
	int r;

	gethostname(d->host_name, sizeof(d->host_name) - 1);
	d->routes.node = d->host_name;
	d->routes.started_unix_ms = d->start_unix_ms;
	d->routes.every_ms = d->options->sample_interval_ms;
	d->routes.epoch_ms = d->start_unix_ms - uv_now(&d->loop);
	r = event_ring_init(&d->events);
	d->routes.events = &d->events;
	d->routes.config = &d->config;
	d->routes.unprivileged = d->options->unprivileged;
	confinement_read(d->confinement);
	d->routes.confinement = d->confinement;
	r = r < 0 ? err_set(e, r, "out of memory") : start_modules(d, e);
	if (r == 0) {
		uv_run(&d->loop, UV_RUN_DEFAULT);
		stop_modules(d, n_modules);
	}
	/* Wait until every handle has closed and every worker has ended. */
	if (!job_drain(&d->loop, DRAIN_MS))
		end_without(d);
	if (uv_loop_close(&d->loop) != 0) {
		uv_walk(&d->loop, log_open_handle, NULL);
		r = r < 0 ? r : err_set(e, -EBUSY, "handles were left open");
	}
	page_unref(d->routes.page);
	routes_done(&d->routes);
	event_ring_done(&d->events);
	free(d->config_json);
	config_state_done(&d->config);
	return r;
}

static int run_loop(struct daemon *d, struct err *e)
{
	int r = uv_loop_init(&d->loop);

	return r < 0 ? err_set(e, r, "event loop: %s", uv_strerror(r)) : run_modules(d, e);
}

/* Sends the kubelet sockets to the successor. Call before the locks are released: the successor
 * receives the last messages when it has the locks. */
static void hand_sockets_over(struct daemon *d)
{
	struct err e = {0};

	if (!d->hands_over)
		return;
	if (socket_transfer_send(d->options->run_dir, &d->at_kubelet, &e) == 0)
		kubelet_sockets_done(&d->at_kubelet);
	else
		log_info("loop", 0, "%s: the successor has to register with the kubelet again",
			 e.msg);
}

/* Waits for termination after a successor has taken over. */
static void linger(struct daemon *d)
{
	/* libuv's handler was removed, and there is no configuration to reload. */
	signal(SIGHUP, SIG_IGN);
	log_info("loop", 0, "handed over to %s, waiting for SIGTERM",
		 *d->successor ? d->successor : "a rocelet outside of pods");
	if (hand_over_linger(&d->at_kubelet, d->options->run_dir) == -EOWNERDEAD)
		log_warn("loop", 0, "%s is not locked any more: exiting, to be restarted",
			 d->options->run_dir);
}

int loop_run(const struct launch *launch, struct err *e)
{
	const struct options *options = launch->options;
	struct daemon d = {
		.launch = launch,
		.options = options,
		.limits = options->diagnosis,
		.start_unix_ms = unix_ms(),
		.state_lock = LOCK_NONE,
		.run_lock = LOCK_NONE,
		.node_lock = {.fd = -1},
		.successor_fd = -1,
	};
	int r;

	raise_fd_limit();
	request_short_slices();
	r = hw_open(&d.hw, options->sysfs_root, options->dev_root, options->proc_root, e);
	if (r < 0)
		return r;
	d.hw.no_bpf = !options_want_bpf(options);
	r = lock_node(&d, e);
	if (r == 0)
		r = run_loop(&d, e);
	hand_sockets_over(&d);
	node_lock_release(&d.node_lock);
	lock_release(&d.run_lock);
	lock_release(&d.state_lock);
	hw_close(&d.hw);
	if (r == 0 && d.hands_over)
		linger(&d);
	kubelet_sockets_done(&d.at_kubelet);
	return r;
}
