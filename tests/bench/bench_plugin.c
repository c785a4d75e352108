// SPDX-License-Identifier: Apache-2.0
/* bench_plugin.c - the device plugin of a full node, measured by a fake kubelet.
 *
 *   bench_plugin ROCELET TREE [SECONDS=10]
 *
 * TREE: `mk_sysfs TREE 8 1024`. Serves kubelet.sock, starts the daemon and prints: the time from
 * start to Register and the first list; Allocate at 100 calls per second while a device's node is
 * removed and created; the resident set; wake-ups while idle. Times are compared with floors in the
 * same run: a start with a walk over the files of the tree that opens none of them, a call with a
 * message of the same sizes over a bare unix socket between two processes. */
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

#include "cleanup.h"
#include "deviceplugin.pb-c.h"
#include "uds.h"

#define RATE	    100 /* calls per second */
#define FLAP_MS	    300
#define IDLE_S	    10
#define RESOURCE    "rocelet.dev/vf"
#define START_BAR   1.5
#define CALL_BAR    20.0
#define RSS_BAR_KB  (12 * 1024)
#define SOCKET	    "rocelet.dev_vf.sock"
#define CALLS_MAX   100000
#define REQUEST_LEN 16 /* lengths of an Allocate request and its answer, about */
#define ANSWER_LEN  447

/* Time that a thread ran and waited for a processor (sched/stats.txt in the kernel's
 * documentation). */
struct turns {
	uint64_t ran_ns, waited_ns;
};

/* How long a call took, and what both processes did meanwhile. */
struct spent {
	double took_ms;
	struct turns daemon, bench;
};

struct bench {
	uv_loop_t loop;
	uv_timer_t pace, flap, guard;
	struct uds_server *kubelet;
	struct uds_client *plugin;
	const char *daemon, *tree;
	char dir[64];
	pid_t pid;
	uint64_t start_ns, registered_ns, listed_ns;
	char **ids;
	size_t n_ids, n_lists;
	unsigned calls_wanted, calls_made, calls_ended, calls_failed;
	uint64_t *sent_ns;
	double *took_ms;
	struct spent *sent_at; /* counters when the call was sent; took_ms: unused */
	struct spent slowest;
	bool nodeless, failed; /* failed: above a bar */
	char node[256];
};

static void die(const char *what)
{
	fprintf(stderr, "bench_plugin: %s\n", what);
	exit(1);
}

/* --- the daemon ------------------------------------------------------------------------------- */

static void make_dirs(struct bench *b)
{
	static const char *const names[] = {"", "/kubelet", "/kubelet/device-plugins", "/dev",
					    "/dev/infiniband"};
	char path[256];

	snprintf(b->dir, sizeof(b->dir), "/dev/shm/bench-plugin-%d", getpid());
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof(path), "%s%s", b->dir, names[i]);
		if (mkdir(path, 0755) < 0)
			die("cannot make folders");
	}
}

static void touch(const struct bench *b, const char *name)
{
	char path[256];
	AUTO_FD fd = -1;

	snprintf(path, sizeof(path), "%s/dev/infiniband/%s", b->dir, name);
	fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	if (fd < 0)
		die("cannot make a device node");
}

/* Empty files as nodes of all devices of the tree, as only their existence is checked. */
static void make_nodes(const struct bench *b)
{
	static const char *const kinds[] = {"uverbs", "umad", "issm"};
	char name[32];

	for (unsigned i = 0; i < 1032; i++)
		for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
			snprintf(name, sizeof(name), "%s%u", kinds[k], i);
			touch(b, name);
		}
	touch(b, "rdma_cm");
}

static void write_config(const struct bench *b)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/config.json", b->dir);
	f = fopen(path, "w");
	if (!f)
		die("cannot write the configuration");
	fprintf(f,
		"{\"pools\": [{\"resourceName\": \"vf\", \"selectors\": {\"devices\": [\"101e\"], "
		"\"drivers\": [\"mlx5_core\"], \"isRdma\": true}, \"hold\": {\"noChardev\": "
		"{\"downMs\": 0, \"upMs\": 0}}}]}\n");
	fclose(f);
}

static void run_daemon(const struct bench *b, const char *rescan)
{
	char config[256], kubelet[256], run[256], state[256], dev[256];

	snprintf(config, sizeof(config), "%s/config.json", b->dir);
	snprintf(kubelet, sizeof(kubelet), "%s/kubelet", b->dir);
	snprintf(run, sizeof(run), "%s/run", b->dir);
	snprintf(state, sizeof(state), "%s/state", b->dir);
	snprintf(dev, sizeof(dev), "%s/dev", b->dir);
	setenv("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0", 1); /* as in the image */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	execl(b->daemon, b->daemon, "--config", config, "--sysfs-root", b->tree, "--dev-root", dev,
	      "--kubelet-dir", kubelet, "--run-dir", run, "--state-dir", state, "--listen", "",
	      "--rescan-interval", rescan, "--sample-interval", "3600", "--no-bpf", "--log-level",
	      "error", "--devinfo-dir", run, NULL);
	_exit(127);
}

static void start_daemon(struct bench *b, const char *rescan)
{
	b->n_lists = 0;
	b->registered_ns = b->listed_ns = 0;
	b->start_ns = uv_hrtime();
	b->pid = fork();
	if (b->pid == 0)
		run_daemon(b, rescan);
}

static void stop_daemon(struct bench *b)
{
	uds_client_close(b->plugin);
	b->plugin = NULL;
	kill(b->pid, SIGTERM);
	waitpid(b->pid, NULL, 0);
}

/* --- the kubelet's side ----------------------------------------------------------------------- */

static void take_ids(struct bench *b, const V1beta1__ListAndWatchResponse *list)
{
	for (size_t i = 0; i < b->n_ids; i++)
		free(b->ids[i]);
	free(b->ids);
	b->ids = calloc(list->n_devices + 1, sizeof(*b->ids));
	b->n_ids = 0;
	for (size_t i = 0; i < list->n_devices; i++)
		if (strcmp(list->devices[i]->health, "Healthy") == 0)
			b->ids[b->n_ids++] = strdup(list->devices[i]->id);
}

/* A kubelet reads lists and makes calls in different threads. Here one thread does both, so reading
 * a thousand devices would count as the daemon's time: later lists are only counted. */
static void on_list(struct grpc_call *call, const uint8_t *bytes, size_t len, void *arg)
{
	struct bench *b = arg;
	V1beta1__ListAndWatchResponse *list;

	(void)call;
	b->n_lists++;
	if (b->listed_ns > 0)
		return;
	list = v1beta1__list_and_watch_response__unpack(NULL, len, bytes);
	if (!list)
		die("cannot decode a list");
	if (list->n_devices > 0)
		b->listed_ns = uv_hrtime();
	take_ids(b, list);
	v1beta1__list_and_watch_response__free_unpacked(list, NULL);
}

static void on_watch_end(struct grpc_call *call, enum grpc_status status, const char *text,
			 void *arg)
{
	(void)call, (void)status, (void)text, (void)arg;
}

static void watch(struct bench *b)
{
	const struct grpc_reply reply = {.message = on_list, .end = on_watch_end, .arg = b};
	char path[256];
	struct err e = {0};

	snprintf(path, sizeof(path), "%s/kubelet/device-plugins/" SOCKET, b->dir);
	if (uds_client_open(&b->plugin, &b->loop, path, NULL, &e) < 0 ||
	    uds_client_call(b->plugin, "/v1beta1.DevicePlugin/ListAndWatch", (const uint8_t *)"", 0,
			    0, &reply, NULL) < 0)
		die("cannot watch the list");
}

static void on_request(struct grpc_call *call, const char *path, const uint8_t *bytes, size_t len,
		       void *arg)
{
	struct bench *b = arg;

	(void)path, (void)bytes, (void)len;
	b->registered_ns = uv_hrtime();
	grpc_send(call, (const uint8_t *)"", 0);
	grpc_finish(call, GRPC_OK, NULL);
	if (!b->plugin)
		watch(b);
}

static void on_cancel(struct grpc_call *call, void *arg)
{
	(void)call, (void)arg;
}

static void serve_kubelet(struct bench *b)
{
	const struct uds_server_opts opts = {
		.limits = {.max_message = 4u << 20, .max_calls = 100},
		.max_connections = 8,
		.mode = 0600,
	};
	const struct grpc_service service = {.request = on_request, .cancel = on_cancel, .arg = b};
	char path[256];
	struct err e = {0};

	snprintf(path, sizeof(path), "%s/kubelet/device-plugins/kubelet.sock", b->dir);
	if (uds_server_open(&b->kubelet, &b->loop, path, &opts, &service, &e) < 0)
		die(e.msg);
}

/* --- running the loop ------------------------------------------------------------------------- */

static void on_guard(uv_timer_t *timer)
{
	(void)timer;
	die("nothing happens any more");
}

/* Runs the loop until done() returns true. */
static void run_until(struct bench *b, bool (*done)(const struct bench *))
{
	uv_timer_start(&b->guard, on_guard, 120000, 0);
	while (!done(b))
		uv_run(&b->loop, UV_RUN_ONCE);
	uv_timer_stop(&b->guard);
}

static bool is_listed(const struct bench *b)
{
	return b->listed_ns > 0;
}

static bool calls_are_done(const struct bench *b)
{
	return b->calls_ended == b->calls_wanted;
}

/* --- the floor -------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void read_all(int fd, char *buf, size_t n)
{
	for (size_t got = 0; got < n;) {
		ssize_t r = read(fd, buf + got, n - got);

		if (r <= 0)
			_exit(0);
		got += (size_t)r;
	}
}

/* Sends Allocate's bytes back and forth between two processes at the same rate. */
static void echo(unsigned calls, double *took)
{
	static char buf[ANSWER_LEN];
	int fds[2];
	pid_t peer;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) < 0)
		die("socketpair");
	peer = fork();
	if (peer == 0) {
		for (close(fds[0]);;) {
			read_all(fds[1], buf, REQUEST_LEN);
			if (write(fds[1], buf, ANSWER_LEN) < 0)
				_exit(0);
		}
	}
	close(fds[1]);
	for (unsigned i = 0; i < calls; i++) {
		uint64_t start;

		usleep(1000000 / RATE);
		start = uv_hrtime();
		if (write(fds[0], buf, REQUEST_LEN) < 0)
			die("write");
		read_all(fds[0], buf, ANSWER_LEN);
		took[i] = (double)(uv_hrtime() - start) / 1e6;
	}
	close(fds[0]);
	waitpid(peer, NULL, 0);
	qsort(took, calls, sizeof(double), compare);
}

/* Runs at the same time in a separate process, so that it waits for the same processors. */
static pid_t start_floor(double **ret_took, unsigned calls)
{
	double *took = mmap(NULL, calls * sizeof(double), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid;

	if (took == MAP_FAILED)
		die("mmap");
	pid = fork();
	if (pid == 0) {
		echo(calls, took);
		_exit(0);
	}
	*ret_took = took;
	return pid;
}

/* --- Allocate --------------------------------------------------------------------------------- */

static struct turns turns_of(pid_t pid)
{
	struct turns t = {0};
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", pid);
	f = fopen(path, "r");
	if (f && fscanf(f, "%" SCNu64 " %" SCNu64, &t.ran_ns, &t.waited_ns) != 2)
		t = (struct turns){0};
	if (f)
		fclose(f);
	return t;
}

static struct turns turns_since(struct turns now, struct turns before)
{
	return (struct turns){now.ran_ns - before.ran_ns, now.waited_ns - before.waited_ns};
}

static void note_slowest(struct bench *b, unsigned i)
{
	const struct spent *from = &b->sent_at[i];

	if (b->took_ms[i] <= b->slowest.took_ms)
		return;
	b->slowest = (struct spent){
		b->took_ms[i],
		turns_since(turns_of(b->pid), from->daemon),
		turns_since(turns_of(getpid()), from->bench),
	};
}

static void on_grant(struct grpc_call *call, const uint8_t *bytes, size_t len, void *arg)
{
	(void)call, (void)bytes, (void)len, (void)arg;
}

static void on_grant_end(struct grpc_call *call, enum grpc_status status, const char *text,
			 void *arg)
{
	struct bench *b = arg;

	(void)call;
	b->took_ms[b->calls_ended] = (double)(uv_hrtime() - b->sent_ns[b->calls_ended]) / 1e6;
	note_slowest(b, b->calls_ended);
	b->calls_ended++;
	if (status != GRPC_OK && b->calls_failed++ == 0)
		fprintf(stderr, "bench_plugin: Allocate: %s\n", text ? text : "?");
}

static size_t pack_allocate(const char *id, uint8_t *buf)
{
	char *ids[] = {(char *)id};
	V1beta1__ContainerAllocateRequest one = V1BETA1__CONTAINER_ALLOCATE_REQUEST__INIT;
	V1beta1__ContainerAllocateRequest *all[] = {&one};
	V1beta1__AllocateRequest request = V1BETA1__ALLOCATE_REQUEST__INIT;

	one.n_devices_ids = 1;
	one.devices_ids = ids;
	request.n_container_requests = 1;
	request.container_requests = all;
	return v1beta1__allocate_request__pack(&request, buf);
}

/* Calls Allocate for another device each time, except for the last one, whose node is created and
 * removed. */
static void on_pace(uv_timer_t *timer)
{
	struct bench *b = timer->data;
	const struct grpc_reply reply = {.message = on_grant, .end = on_grant_end, .arg = b};
	uint8_t request[256];
	size_t len;

	if (b->calls_made == b->calls_wanted) {
		uv_timer_stop(timer);
		return;
	}
	len = pack_allocate(b->ids[(b->calls_made * 7) % (b->n_ids - 1)], request);
	b->sent_at[b->calls_made] = (struct spent){0, turns_of(b->pid), turns_of(getpid())};
	b->sent_ns[b->calls_made++] = uv_hrtime();
	if (uds_client_call(b->plugin, "/v1beta1.DevicePlugin/Allocate", request, len, 10000,
			    &reply, NULL) < 0)
		die("cannot call Allocate");
}

/* The node of the last device. */
static void find_node(struct bench *b)
{
	char pattern[512];
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%s/devices/pci0000:00/%s/infiniband_verbs/uverbs*",
		 b->tree, b->ids[b->n_ids - 1]);
	if (glob(pattern, 0, NULL, &found) != 0)
		die("the last device has no uverbs");
	snprintf(b->node, sizeof(b->node), "%s/dev/infiniband/%s", b->dir,
		 strrchr(found.gl_pathv[0], '/') + 1);
	globfree(&found);
}

static void on_flap(uv_timer_t *timer)
{
	struct bench *b = timer->data;
	int fd = b->nodeless ? open(b->node, O_CREAT | O_WRONLY | O_CLOEXEC, 0600) : -1;

	if (fd >= 0)
		close(fd);
	else if (b->nodeless || unlink(b->node) < 0)
		die("cannot flap");
	b->nodeless = !b->nodeless;
}

static void allocate(struct bench *b, unsigned seconds)
{
	size_t lists = b->n_lists;

	b->calls_wanted = seconds * RATE;
	find_node(b);
	uv_timer_start(&b->pace, on_pace, 0, 1000 / RATE);
	uv_timer_start(&b->flap, on_flap, FLAP_MS, FLAP_MS);
	run_until(b, calls_are_done);
	uv_timer_stop(&b->flap);
	if (b->nodeless)
		on_flap(&b->flap);
	qsort(b->took_ms, b->calls_ended, sizeof(double), compare);
	printf("  Allocate, %u calls at %d/s, %zu lists meanwhile, %u failed: p50 %.3f ms, p99 %.3f "
	       "ms, max %.3f ms\n",
	       b->calls_ended, RATE, b->n_lists - lists, b->calls_failed,
	       b->took_ms[b->calls_ended / 2], b->took_ms[b->calls_ended * 99 / 100],
	       b->took_ms[b->calls_ended - 1]);
	printf("  the slowest, %.1f ms: meanwhile the daemon's loop ran for %.1f ms and waited for a "
	       "processor for %.1f ms, this program %.1f and %.1f ms\n",
	       b->slowest.took_ms, (double)b->slowest.daemon.ran_ns / 1e6,
	       (double)b->slowest.daemon.waited_ns / 1e6, (double)b->slowest.bench.ran_ns / 1e6,
	       (double)b->slowest.bench.waited_ns / 1e6);
}

/* --- the process ------------------------------------------------------------------------------ */

/* A line of /proc/PID/[task/TID/]status. */
static long status_line(const char *path, const char *key)
{
	char line[256];
	long value = 0;
	FILE *f = fopen(path, "r");

	while (f && fgets(line, sizeof(line), f))
		if (strncmp(line, key, strlen(key)) == 0)
			value = atol(line + strlen(key));
	if (f)
		fclose(f);
	return value;
}

static long rss_kb(const struct bench *b)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", b->pid);
	return status_line(path, "VmRSS:");
}

/* The voluntary context switches of all threads. */
static long wakeups(const struct bench *b)
{
	char path[512];
	struct dirent *entry;
	long sum = 0;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", b->pid);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks)) != NULL) {
		snprintf(path, sizeof(path), "/proc/%d/task/%s/status", b->pid, entry->d_name);
		sum += status_line(path, "voluntary_ctxt_switches:");
	}
	if (tasks)
		closedir(tasks);
	return sum;
}

static void on_idle_over(uv_timer_t *timer)
{
	uv_stop(timer->loop);
}

static void idle(struct bench *b, unsigned ms)
{
	uv_timer_start(&b->guard, on_idle_over, ms, 0);
	uv_run(&b->loop, UV_RUN_DEFAULT);
}

static void measure_idle(struct bench *b)
{
	long before;

	start_daemon(b, "0");
	run_until(b, is_listed);
	idle(b, 3000); /* until the first sample is over */
	before = wakeups(b);
	idle(b, IDLE_S * 1000);
	printf("  idle for %d s, sampler and rescan off: %ld wake-ups; RSS %ld kB (bar: 12 MB)\n",
	       IDLE_S, wakeups(b) - before, rss_kb(b));
	b->failed |= rss_kb(b) > RSS_BAR_KB;
	stop_daemon(b);
}

static int visit(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)path, (void)st, (void)type, (void)ftw;
	return 0;
}

static double walk_ms(const struct bench *b)
{
	uint64_t start_ns = uv_hrtime();

	if (nftw(b->tree, visit, 64, FTW_PHYS) != 0)
		die("cannot walk over the tree");
	return (double)(uv_hrtime() - start_ns) / 1e6;
}

static void measure_start(struct bench *b)
{
	double to_register[5], to_list[5], floor[5];

	for (int i = 0; i < 5; i++) {
		floor[i] = walk_ms(b);
		start_daemon(b, "0");
		run_until(b, is_listed);
		to_register[i] = (double)(b->registered_ns - b->start_ns) / 1e6;
		to_list[i] = (double)(b->listed_ns - b->start_ns) / 1e6;
		stop_daemon(b);
	}
	qsort(to_register, 5, sizeof(double), compare);
	qsort(to_list, 5, sizeof(double), compare);
	qsort(floor, 5, sizeof(double), compare);
	printf("  start with %zu VFs, median of 5: Register after %.0f ms, the list after %.0f ms, "
	       "%.1f times a walk over the tree of %.0f ms (bar: %.1f)\n",
	       b->n_ids, to_register[2], to_list[2], to_list[2] / floor[2], floor[2], START_BAR);
	b->failed |= to_list[2] > START_BAR * floor[2];
}

static void measure_allocate(struct bench *b, unsigned seconds)
{
	unsigned calls = seconds * RATE;
	double *floor, times;
	long busy_kb;
	pid_t pid;

	start_daemon(b, "0");
	run_until(b, is_listed);
	pid = start_floor(&floor, calls);
	allocate(b, seconds);
	waitpid(pid, NULL, 0);
	idle(b, 1000); /* until the last change was scanned, and memory was returned */
	busy_kb = rss_kb(b);
	idle(b, 5000); /* the daemon returns memory to the system when idle */
	printf("  RSS a second after that: %ld kB, and 5 s later: %ld kB (bar: 12 MB)\n", busy_kb,
	       rss_kb(b));
	b->failed |= busy_kb > RSS_BAR_KB || rss_kb(b) > RSS_BAR_KB;
	stop_daemon(b);
	times = b->took_ms[calls / 2] / floor[calls / 2];
	printf("  floor: as many bytes over a bare socket between two other processes at the same "
	       "time: p50 %.3f ms, p99 %.3f ms, max %.3f ms; Allocate's p50 is %.1f times that "
	       "(bar: %.0f), its p99 %.1f times\n",
	       floor[calls / 2], floor[calls * 99 / 100], floor[calls - 1], times, CALL_BAR,
	       b->took_ms[calls * 99 / 100] / floor[calls * 99 / 100]);
	b->failed |= times > CALL_BAR;
	munmap(floor, calls * sizeof(double));
}

int main(int argc, char *argv[])
{
	static struct bench b;
	char command[128];

	if (argc < 3)
		die("usage: bench_plugin ROCELET TREE [SECONDS]");
	b.daemon = argv[1];
	b.tree = argv[2];
	signal(SIGPIPE, SIG_IGN);
	uv_loop_init(&b.loop);
	uv_timer_init(&b.loop, &b.pace);
	uv_timer_init(&b.loop, &b.flap);
	uv_timer_init(&b.loop, &b.guard);
	b.pace.data = b.flap.data = b.guard.data = &b;
	b.sent_ns = calloc(CALLS_MAX, sizeof(*b.sent_ns));
	b.took_ms = calloc(CALLS_MAX, sizeof(*b.took_ms));
	b.sent_at = calloc(CALLS_MAX, sizeof(*b.sent_at));
	make_dirs(&b);
	make_nodes(&b);
	write_config(&b);
	serve_kubelet(&b);
	measure_start(&b);
	measure_idle(&b);
	measure_allocate(&b, argc > 3 ? (unsigned)atoi(argv[3]) : 10);
	snprintf(command, sizeof(command), "rm -rf '%s'", b.dir);
	return system(command) == 0 && b.calls_failed == 0 && !b.failed ? 0 : 1;
}
