// SPDX-License-Identifier: Apache-2.0
/* bench_attach.c - time of an attach, compared with the kernel alone.
 *
 *   bench_attach FUNCTION STATE_DIR ROUNDS NETNS...
 *   bench_attach --at-once STATE_DIR ROUNDS NETNS FUNCTION...
 *
 * FUNCTION: bus name of a function whose netdev is in this namespace and not in use.
 * STATE_DIR: for the journal. NETNS: paths of network namespaces, used in turns.
 *
 * --at-once: all functions are in NETNS. floor: one request after another moves each of them back
 * to the host with its name. returns: all steps of attach_run() for all of them, by as many threads
 * as the engine has. The kernel's lock serialises both.
 *
 * Otherwise each round alternates. floor: three requests over open sockets: move with a name,
 * address, up. attach: all steps of attach_run(): journal on the disk, entering the namespace,
 * alias, sysctls, address, up, read-back. Each is followed by a return; every other return (reset)
 * ends with a new netdev. Prints wall-clock medians, which depend mostly on the device. */
#include <arpa/inet.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cleanup.h"
#include "netdev_ops.h"
#include "netns.h"
#include "rtnl_addr.h"
#include "steps.h"

#define ROUNDS_MAX  10000
#define AT_ONCE_MAX 64
/* WORKING_MAX of operation.c */
#define THREADS	    4

static struct hw hw;
static struct nlsock host;
static struct journal *journal;
static struct err failure;

static double now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

static void check(int r, const char *what)
{
	if (r >= 0)
		return;
	fprintf(stderr, "bench_attach: %s: %s\n", what,
		failure.msg[0] ? failure.msg : strerror(-r));
	exit(1);
}

static struct ip_prefix address(void)
{
	struct ip_prefix p = {.family = AF_INET, .len = 24};

	inet_pton(AF_INET, "192.0.2.7", p.addr);
	return p;
}

/* After a netdev has returned, udev queries it while holding the kernel's lock; neither side of the
 * comparison should wait for that. The file exists while udev has events (udev's own protocol,
 * which libudev uses, too). */
static void settle(void)
{
	const struct timespec moment = {.tv_nsec = 1000000};

	for (int i = 0; i < 3000 && (i < 20 || access("/run/udev/queue", F_OK) == 0); i++)
		nanosleep(&moment, NULL);
}

/* --- the kernel's floor ----------------------------------------------------------------------- */

static void ask(struct nlsock *s, struct nl_msg *req, const char *what)
{
	check(req ? nlsock_call(s, req, NULL, NULL, &failure) : -ENOMEM, what);
	nlmsg_free(req);
}

static double run_floor(struct nlsock *pod, const struct netdev_seen *vf, int netns_fd)
{
	struct netdev_change move = NETDEV_NO_CHANGE, up = NETDEV_NO_CHANGE;
	const struct ip_prefix ip = address();
	double start = now_ms();

	move.netns_fd = netns_fd;
	move.name = "net1";
	up.up = 1;
	ask(&host, rtnl_change_link(vf->netdev.ifindex, &move), "moving");
	/* The index is kept, as it is free in the pod's namespace. */
	ask(pod, rtnl_new_addr(vf->netdev.ifindex, &ip), "address");
	ask(pod, rtnl_change_link(vf->netdev.ifindex, &up), "up");
	return now_ms() - start;
}

static void undo_floor(struct nlsock *pod, const struct netdev_seen *vf, int own_fd)
{
	struct netdev_change back = NETDEV_NO_CHANGE;

	back.netns_fd = own_fd;
	back.name = vf->netdev.name;
	ask(pod, rtnl_change_link(vf->netdev.ifindex, &back), "moving back");
}

static double floor_round(const char *function, const char *netns)
{
	AUTO_FD fd = netns_open_path(&hw, netns, &failure);
	AUTO_FD own = netns_open_path(&hw, "/proc/self/ns/net", &failure);
	struct netdev_seen vf;
	struct nlsock pod;
	double ms;

	check(fd < 0 ? fd : own, netns);
	check(netdev_by_function(&host, function, 0, &vf, &failure), function);
	check(netns_nlsock(&pod, fd, NETLINK_ROUTE, &failure), netns);
	settle();
	ms = run_floor(&pod, &vf, fd);
	undo_floor(&pod, &vf, own);
	nlsock_close(&pod);
	return ms;
}

/* --- attach ----------------------------------------------------------------------------------- */

static void run_steps(struct attach_job *job, bool is_return)
{
	job->is_return = is_return;
	for (job->next = 0; job->next < (is_return ? (int)N_RETURN_STEPS : (int)N_ATTACH_STEPS);
	     job->next++) {
		int r = attach_run(job);

		failure = job->err;
		check(r, is_return ? return_step_name((enum return_step)job->next)
				   : attach_step_name((enum attach_step)job->next));
	}
}

/* Prepares an attach of the function; i: its number among those in one namespace. */
static void job_make(struct attach_job *job, const char *function, const char *netns,
		     enum clean_mode clean, unsigned i)
{
	struct attach_record *rec = &job->record;

	*job = (struct attach_job){.hw = &hw, .journal = journal};
	snprintf(rec->id, sizeof(rec->id), "%s", function);
	snprintf(rec->function, sizeof(rec->function), "%s", function);
	snprintf(rec->resource, sizeof(rec->resource), "rocelet.dev/bench");
	snprintf(rec->owner.netns.path, sizeof(rec->owner.netns.path), "%s", netns);
	snprintf(rec->plan.ifname, sizeof(rec->plan.ifname), "net%u", i + 1);
	rec->plan.clean = clean;
	rec->plan.ips[0] = address();
	rec->plan.ips[0].addr[3] += (uint8_t)i;
	rec->plan.n_ips = 1;
}

static double attach_round(const char *function, const char *netns, enum clean_mode clean,
			   double *ret_return_ms)
{
	struct attach_job job;
	double start, attached;

	job_make(&job, function, netns, clean, 0);
	settle();
	start = now_ms();
	run_steps(&job, false);
	attached = now_ms() - start;
	settle();
	start = now_ms();
	run_steps(&job, true);
	*ret_return_ms = now_ms() - start;
	return attached;
}

/* --- concurrent returns ----------------------------------------------------------------------- */

static double floor_at_once(const char *netns, char **functions, unsigned n)
{
	static struct netdev_seen vfs[AT_ONCE_MAX];
	AUTO_FD fd = netns_open_path(&hw, netns, &failure);
	AUTO_FD own = netns_open_path(&hw, "/proc/self/ns/net", &failure);
	struct nlsock pod;
	double start, ms;

	check(fd < 0 ? fd : own, netns);
	check(netns_nlsock(&pod, fd, NETLINK_ROUTE, &failure), netns);
	for (unsigned i = 0; i < n; i++) {
		struct netdev_change move = NETDEV_NO_CHANGE, up = NETDEV_NO_CHANGE;
		char name[IFNAMSIZ];

		snprintf(name, sizeof(name), "net%u", i + 1);
		move.netns_fd = fd;
		move.name = name;
		up.up = 1;
		check(netdev_by_function(&host, functions[i], 0, &vfs[i], &failure), functions[i]);
		ask(&host, rtnl_change_link(vfs[i].netdev.ifindex, &move), "moving");
		ask(&pod, rtnl_change_link(vfs[i].netdev.ifindex, &up), "up");
	}
	settle();
	start = now_ms();
	for (unsigned i = 0; i < n; i++)
		undo_floor(&pod, &vfs[i], own);
	ms = now_ms() - start;
	nlsock_close(&pod);
	return ms;
}

struct returns {
	struct attach_job *jobs;
	unsigned n;
	atomic_uint next;
};

static void *return_some(void *arg)
{
	struct returns *r = arg;
	unsigned i;

	while ((i = atomic_fetch_add(&r->next, 1)) < r->n)
		run_steps(&r->jobs[i], true);
	return NULL;
}

static double returns_at_once(const char *netns, char **functions, unsigned n)
{
	static struct attach_job jobs[AT_ONCE_MAX];
	struct returns r = {.jobs = jobs, .n = n};
	pthread_t threads[THREADS];
	double start;

	for (unsigned i = 0; i < n; i++) {
		job_make(&jobs[i], functions[i], netns, CLEAN_AUTO, i);
		run_steps(&jobs[i], false);
	}
	settle();
	start = now_ms();
	for (int i = 0; i < THREADS; i++)
		check(-pthread_create(&threads[i], NULL, return_some, &r), "thread");
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return now_ms() - start;
}

/* --- figures ---------------------------------------------------------------------------------- */

static int cmp(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double print(const char *name, double *ms, int n)
{
	qsort(ms, (size_t)n, sizeof(*ms), cmp);
	printf("%-8s median %8.3f ms   best %8.3f   worst %8.3f\n", name, ms[n / 2], ms[0],
	       ms[n - 1]);
	return ms[n / 2];
}

static int usage(void)
{
	fprintf(stderr, "usage: bench_attach FUNCTION STATE_DIR ROUNDS NETNS...\n"
			"       bench_attach --at-once STATE_DIR ROUNDS NETNS FUNCTION...\n");
	return 2;
}

static void measure_one(const char *function, int rounds, char **netns, int n_netns)
{
	static double floors[ROUNDS_MAX], attaches[ROUNDS_MAX], returns[ROUNDS_MAX],
		resets[ROUNDS_MAX];
	double floor_ms, attach_ms;

	for (int i = 0; i < rounds; i++) {
		const char *to = netns[i % n_netns];

		floors[i] = floor_round(function, to);
		attaches[i] = attach_round(function, to, CLEAN_AUTO, &returns[i]);
		attach_round(function, to, CLEAN_ALWAYS_RESET, &resets[i]);
	}
	floor_ms = print("floor", floors, rounds);
	attach_ms = print("attach", attaches, rounds);
	print("return", returns, rounds);
	print("reset", resets, rounds);
	printf("attach / floor: %.2f (of the best: %.2f)\n", attach_ms / floor_ms,
	       attaches[0] / floors[0]);
}

static void measure_at_once(const char *netns, int rounds, char **functions, unsigned n)
{
	static double floors[ROUNDS_MAX], returns[ROUNDS_MAX];
	double floor_ms, returns_ms;

	for (int i = 0; i < rounds; i++) {
		floors[i] = floor_at_once(netns, functions, n);
		returns[i] = returns_at_once(netns, functions, n);
	}
	floor_ms = print("floor", floors, rounds);
	returns_ms = print("returns", returns, rounds);
	printf("returns / floor: %.2f (of the best: %.2f)\n", returns_ms / floor_ms,
	       returns[0] / floors[0]);
}

int main(int argc, char **argv)
{
	int rounds = argc > 4 ? atoi(argv[3]) : 0;
	bool at_once = argc > 5 && strcmp(argv[1], "--at-once") == 0;

	if (rounds <= 0 || rounds > ROUNDS_MAX || (at_once && argc - 5 > AT_ONCE_MAX))
		return usage();
	check(hw_open(&hw, "/sys", "/dev", "/proc", &failure), "opening");
	check(nlsock_open(&host, NETLINK_ROUTE, &failure), "opening");
	check(journal_open(&journal, argv[2], &failure), "opening");
	if (at_once)
		measure_at_once(argv[4], rounds, argv + 5, (unsigned)(argc - 5));
	else
		measure_one(argv[1], rounds, argv + 4, argc - 4);
	journal_close(journal);
	nlsock_close(&host);
	hw_close(&hw);
	return 0;
}
