/* loop.c - the daemon's life: modules started top to bottom, the loop, modules stopped bottom to
 * top.
 *
 * Stop (signal, or a module that could not start): each stop closes the module's handles, then the
 * loop runs until none is left. A handle that stays open is a bug and is said. */
#include "loop.h"

#include <linux/capability.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cleanup.h"
#include "daemon.h"
#include "estate.h"
#include "job.h"
#include "job_watch.h"
#include "lock.h"
#include "log.h"
#include "page.h"
#include "privileges.h"
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
			log_warn("loop", 0, "%s: %s, going on without", modules[i].name, e->msg);
			continue;
		}
		stop_modules(d, i + 1);
		return err_wrap(e, "%s", modules[i].name);
	}
	return 0;
}

static void tell_open_handle(uv_handle_t *h, void *arg)
{
	(void)arg;
	log_error("loop", 0, "a %s handle was left open",
		  uv_handle_type_name(uv_handle_get_type(h)));
}

/* The hard limit: the sysfs fallback holds a descriptor for every counter. */
static void raise_fd_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/* The loop has little to do each time, and somebody waits for it: it asks for short turns, which
 * come sooner than the workers' long ones (sched_setattr(2); fair tasks since Linux 6.12,
 * kernel/sched/fair.c, PREEMPT_SHORT). The workers get the usual ones. Older kernels refuse or
 * ignore it, and wake a thread that mostly sleeps soon enough. */
static void ask_for_short_turns(void)
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

/* --- nobody else ------------------------------------------------------------------------------ */

/* "pid 17 on node-1, pod a/b: rocelet --config x". */
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

/* One of the locks; folder NULL: the node's. */
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

/* Until it has answered: who has just started serves its socket a little later. Called with every
 * try for the lock. Who has nothing to offer does not ask: the other one, whose configuration was
 * right, serves the node as long as it lives. */
static void ask_predecessor(uint64_t left_ms, void *arg)
{
	struct daemon *d = ((struct attempt *)arg)->daemon;
	struct err e = {0};
	int r;

	estate_receive(d->heir_fd, &d->at_kubelet);
	if (d->asked_predecessor)
		return;
	if (d->launch->refused.code) {
		d->asked_predecessor = true;
		log_warn("lock", 0, "the configuration is refused, not asking for this node: %s",
			 d->launch->refused.msg);
		return;
	}
	if (d->heir_fd < 0) {
		d->heir_fd = estate_listen(d->options->run_dir, &e);
		if (d->heir_fd < 0)
			log_warn("lock", 0, "%s, going on without what the kubelet is connected to",
				 e.msg);
	}
	r = hand_over_ask(d->predecessor, d->options->run_dir, left_ms, &e);
	d->asked_predecessor = r == 0 || r == -EBUSY;
	if (r == 0)
		log_info("lock", 0, "the other rocelet hands this node over");
	else if (r == -EBUSY)
		log_warn("lock", 0, "the other rocelet does not hand over: %s, waiting for its end",
			 e.msg);
}

/* What cannot be locked cannot be written either, or knows no locks: no reason not to look. */
static int lock_one(struct attempt a, struct err *e)
{
	const struct options *o = a.daemon->options;
	int r = lock_wait(attempt_lock, o->lock_wait_ms, o->take_over ? ask_predecessor : NULL, &a,
			  e);

	if (r == -EALREADY || r == 0)
		return r;
	log_warn("lock", 0, "%s, going on without", e->msg);
	return 0;
}

/* Who cannot change an interface does not. */
static bool may_change_things(const struct daemon *d)
{
	return d->hw.live && !d->options->dry_run &&
	       (geteuid() == 0 || privileges_effective() & UINT64_C(1) << CAP_NET_ADMIN);
}

/* Who only looks leaves the state to others. The node's is the last to be taken and the first to be
 * given up: who has the folders of its predecessor need not wait for it. */
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
	estate_receive(d->heir_fd, &d->at_kubelet);
	estate_close(d->heir_fd, o->run_dir);
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

/* --- its life --------------------------------------------------------------------------------- */

/* The kubelet kills a pod after 30 s. Operations on devices end sooner unless one is blocked. */
#define DRAIN_MS 20000

static void leave_estate(struct daemon *d);

/* The kernel ends the threads, and gives up our locks when it has. */
__attribute__((noreturn)) static void end_without(struct daemon *d)
{
	struct job_status jobs[JOB_THREADS];
	size_t n = job_list(jobs, ARRAY_SIZE(jobs), 0);

	for (size_t i = 0; i < n; i++)
		log_error("loop", 0,
			  "%s has been running for %llu s: ending without it, the next start "
			  "repairs what it leaves",
			  jobs[i].text, (unsigned long long)jobs[i].for_ms / 1000);
	if (n == 0)
		uv_walk(&d->loop, tell_open_handle, NULL);
	leave_estate(d);
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
	r = r < 0 ? err_set(e, r, "out of memory") : start_modules(d, e);
	if (r == 0) {
		uv_run(&d->loop, UV_RUN_DEFAULT);
		stop_modules(d, n_modules);
	}
	/* Until every handle has closed and every worker has ended. */
	if (!job_drain(&d->loop, DRAIN_MS))
		end_without(d);
	if (uv_loop_close(&d->loop) != 0) {
		uv_walk(&d->loop, tell_open_handle, NULL);
		r = r < 0 ? r : err_set(e, -EBUSY, "handles were left open");
	}
	page_unref(d->routes.page);
	routes_done(&d->routes);
	event_ring_done(&d->events);
	free(d->config_json);
	free(d->config.refusals.list);
	return r;
}

static int run_loop(struct daemon *d, struct err *e)
{
	int r = uv_loop_init(&d->loop);

	return r < 0 ? err_set(e, r, "event loop: %s", uv_strerror(r)) : run_modules(d, e);
}

/* Before the locks go: who has them looks for it once more. */
static void leave_estate(struct daemon *d)
{
	struct err e = {0};

	if (!d->hands_over)
		return;
	if (estate_send(d->options->run_dir, &d->at_kubelet, &e) == 0)
		kubelet_estate_done(&d->at_kubelet);
	else
		log_info("loop", 0, "%s: the successor has to register with the kubelet anew",
			 e.msg);
}

/* The successor has the node. */
static void linger(struct daemon *d)
{
	/* libuv has no handler for it any more, and there is nothing to be read again. */
	signal(SIGHUP, SIG_IGN);
	log_info("loop", 0, "handed over to %s, waiting to be told to end",
		 *d->successor ? d->successor : "a rocelet in no pod");
	if (hand_over_linger(&d->at_kubelet, d->options->run_dir) == -EOWNERDEAD)
		log_warn("loop", 0, "nobody has %s any more: ending, to be started anew",
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
		.heir_fd = -1,
	};
	int r;

	raise_fd_limit();
	ask_for_short_turns();
	r = hw_open(&d.hw, options->sysfs_root, options->dev_root, options->proc_root, e);
	if (r < 0)
		return r;
	d.hw.no_bpf = options->no_bpf;
	r = lock_node(&d, e);
	if (r == 0)
		r = run_loop(&d, e);
	leave_estate(&d);
	node_lock_release(&d.node_lock);
	lock_release(&d.run_lock);
	lock_release(&d.state_lock);
	hw_close(&d.hw);
	if (r == 0 && d.hands_over)
		linger(&d);
	kubelet_estate_done(&d.at_kubelet);
	return r;
}
