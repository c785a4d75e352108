/* loop.c - the only place where the wings meet: it owns every module and passes each the parts it
 * needs.
 *
 * Start: top to bottom of the module table. Stop (signal, or a module that could not start): bottom
 * to top; each stop closes the module's handles, then the loop runs until none is left. A handle
 * that stays open is a bug and is said. */
#include "loop.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <uv.h>

#include "bpf_source.h"
#include "cleanup.h"
#include "http.h"
#include "hw.h"
#include "link_events.h"
#include "log.h"
#include "node.h"
#include "routes.h"
#include "sampler.h"
#include "sockets.h"
#include "uevents.h"

struct daemon {
	const struct options *options;
	uv_loop_t loop;
	struct hw hw;
	struct self_counters self;
	uint64_t start_unix_ms;
	char *config_json;
	const char *optional[OPTION_LIST_MAX];

	uv_signal_t sigint, sigterm;
	struct routes routes;
	struct http *http;
	struct node *node;
	struct link_events *links;
	struct uevents *kernel_uevents, *udev_uevents;
	struct bpf_source *bpf;
	struct sampler *sampler;
	bool page_counts; /* the sample that is being taken is of devices we have looked for */
};

static void stop_modules(struct daemon *d, size_t n);

/* --- what the modules tell each other --------------------------------------------------------- */

static void on_hint(unsigned parts, bool lost, void *arg)
{
	struct daemon *d = arg;

	node_hint(d->node, parts, lost);
}

static void on_address(int nsid, int ifindex, void *arg)
{
	struct daemon *d = arg;

	node_hint_address(d->node, nsid, ifindex);
}

static void on_bpf_event(const struct bpf_event *e, void *arg)
{
	struct daemon *d = arg;

	if (e)
		log_info("bpf", 0,
			 "%s (index %u) is moved from network namespace %u to %u by %s, pid %u",
			 e->name, e->ifindex, e->netns_from, e->netns_to, e->comm, e->pid);
	node_hint(d->node, SCAN_NETDEVS | SCAN_RDMA, e == NULL);
}

static void on_inventory(bool first, void *arg)
{
	struct daemon *d = arg;
	const struct inventory *inv = node_inventory(d->node);

	if (first)
		log_info("node", 0,
			 "%zu functions, %zu netdevs, %zu RDMA devices, RDMA namespaces %s",
			 inv->host.n_functions, inv->host.n_netdevs, inv->host.n_rdma,
			 rdma_netns_mode_name(inv->host.rdma_mode));
	if (node_knows_devices(d->node))
		d->routes.inventory = inv;
	if (d->sampler && node_complete(d->node))
		sampler_wake(d->sampler);
}

static void describe_programs(struct daemon *d, struct self_metrics *m)
{
	const struct bpf_program_status *p;
	unsigned n = bpf_source_programs(d->bpf, &p);

	for (unsigned i = 0; i < n && i < SELF_PROGRAMS_MAX; i++, m->n_programs++) {
		snprintf(m->programs[i].name, sizeof(m->programs[i].name), "%s", p[i].name);
		snprintf(m->programs[i].hook, sizeof(m->programs[i].hook), "%s", p[i].hook);
	}
}

static void describe(struct self_metrics *m, void *arg)
{
	struct daemon *d = arg;
	struct rlimit fds = {0};

	d->page_counts = node_knows_devices(d->node);
	m->log_lines_dropped = log_dropped();
	m->start_unix_ms = d->start_unix_ms;
	m->inventory_generation = node_inventory(d->node)->generation;
	for (int i = 0; i < N_LOOKS; i++)
		m->look_us[i] = node_look_us(d->node, (enum look)i);
	getrlimit(RLIMIT_NOFILE, &fds);
	m->open_fds_max = (unsigned)fds.rlim_cur;
	describe_programs(d, m);
}

/* Until the devices have been looked for, nobody is told that there are none. */
static void on_page(struct page *page, void *arg)
{
	struct daemon *d = arg;

	if (!d->page_counts)
		return;
	page_unref(d->routes.page);
	d->routes.page = page_ref(page);
}

/* --- modules ---------------------------------------------------------------------------------- */

static void on_signal(uv_signal_t *handle, int signum)
{
	log_info("loop", 0, "%s: stopping", signum == SIGINT ? "SIGINT" : "SIGTERM");
	uv_stop(handle->loop);
}

static int signals_start(struct daemon *d, struct err *e)
{
	(void)e;
	signal(SIGPIPE, SIG_IGN);
	uv_signal_init(&d->loop, &d->sigint);
	uv_signal_init(&d->loop, &d->sigterm);
	uv_signal_start(&d->sigint, on_signal, SIGINT);
	uv_signal_start(&d->sigterm, on_signal, SIGTERM);
	return 0;
}

static void signals_stop(struct daemon *d)
{
	uv_close((uv_handle_t *)&d->sigint, NULL);
	uv_close((uv_handle_t *)&d->sigterm, NULL);
}

static int node_start(struct daemon *d, struct err *e)
{
	const struct node_opts opts = {
		.settle_ms = d->options->settle_ms,
		.rescan_interval_ms = d->options->rescan_interval_ms,
	};

	return node_open(&d->node, &d->loop, &d->hw, &d->self, &opts, on_inventory, d, e);
}

static void node_stop(struct daemon *d)
{
	node_close(d->node);
}

/* Joined before the node's first scan can end, so that nothing happens unseen between the two. */
static int links_start(struct daemon *d, struct err *e)
{
	const struct link_hooks hooks = {.hint = on_hint, .address = on_address, .arg = d};

	if (!d->hw.live)
		return err_set(e, -EOPNOTSUPP, "the sysfs root is not this kernel's");
	return link_events_open(&d->links, &d->loop, d->options->event_buffer, &d->self,
				node_inventory(d->node), &hooks, e);
}

static void links_stop(struct daemon *d)
{
	link_events_close(d->links);
}

/* The kernel's own uevents come first; udev's come once its rules have named the device and set its
 * permissions. */
static int uevents_start(struct daemon *d, struct err *e)
{
	enum event_source source = d->options->event_source;
	bool udev_runs = uevents_udev_runs();
	int r = 0;

	if (!d->hw.live)
		return err_set(e, -EOPNOTSUPP, "the sysfs root is not this kernel's");
	if (!udev_runs && source == EVENT_SOURCE_AUTO)
		log_info("uevents", 0, "udev does not run here, listening to the kernel alone");
	if (source != EVENT_SOURCE_UDEV)
		r = uevents_open(&d->kernel_uevents, &d->loop, true, d->options->event_buffer,
				 &d->self, on_hint, d, e);
	if (r == 0 && source != EVENT_SOURCE_KERNEL && (udev_runs || source == EVENT_SOURCE_UDEV))
		r = uevents_open(&d->udev_uevents, &d->loop, false, d->options->event_buffer,
				 &d->self, on_hint, d, e);
	return r;
}

static void uevents_stop(struct daemon *d)
{
	uevents_close(d->kernel_uevents);
	uevents_close(d->udev_uevents);
}

static int bpf_start(struct daemon *d, struct err *e)
{
	if (d->options->no_bpf)
		return 0;
	if (!d->hw.live)
		return err_set(e, -EOPNOTSUPP, "the sysfs root is not this kernel's");
	return bpf_source_open(&d->bpf, &d->loop, &d->self, on_bpf_event, d, e);
}

static void bpf_stop(struct daemon *d)
{
	bpf_source_close(d->bpf);
}

/* Switching counters on is a change of the node: a dry run only says so. */
static size_t optional_counters(struct daemon *d)
{
	const struct option_list *list = &d->options->optional_counters;

	for (unsigned i = 0; i < list->n; i++) {
		d->optional[i] = list->items[i];
		if (d->options->dry_run)
			log_info("sampler", 0,
				 "dry run: would switch on optional counter %s where a port has it",
				 list->items[i]);
	}
	return d->options->dry_run ? 0 : list->n;
}

static int sampler_start(struct daemon *d, struct err *e)
{
	const struct sampler_opts opts = {
		.optional = d->optional,
		.n_optional = optional_counters(d),
		.interval_ms = d->options->sample_interval_ms,
		.counters =
			{
				.port_counters = d->options->port_counters,
				.compat = d->options->compat != 0,
			},
	};
	const struct sampler_hooks hooks = {.describe = describe, .done = on_page, .arg = d};

	return sampler_open(&d->sampler, &d->loop, &d->hw, node_inventory(d->node), &d->self, &opts,
			    &hooks, e);
}

static void sampler_stop(struct daemon *d)
{
	sampler_close(d->sampler);
}

static int http_start(struct daemon *d, struct err *e)
{
	const struct http_opts opts = {
		.max_connections = d->options->max_connections,
		.request_ms = d->options->request_timeout_ms,
	};
	unsigned port = 0;
	int r;

	d->config_json = options_json(d->options, NULL);
	d->routes.config_json = d->config_json;
	r = http_open(&d->http, &d->loop, &opts, &d->self, routes_answer, &d->routes, e);
	if (r < 0)
		return r;
	if (*d->options->listen != '\0') {
		r = http_listen_tcp(d->http, d->options->listen, &port, e);
		if (r < 0)
			return r;
		log_info("http", 0, "serving on %s, port %u", d->options->listen, port);
	}
	sockets_serve(d->http, d->options->run_dir, d->options->kubelet_dir);
	return 0;
}

static void http_stop(struct daemon *d)
{
	if (d->http)
		http_close(d->http, NULL, NULL);
}

static const struct {
	const char *name;
	bool optional; /* the daemon runs without it, and says so */
	int (*start)(struct daemon *, struct err *);
	void (*stop)(struct daemon *);
} modules[] = {
	{"signals", false, signals_start, signals_stop},
	{"node", false, node_start, node_stop},
	{"link events", true, links_start, links_stop},
	{"uevents", true, uevents_start, uevents_stop},
	{"http", false, http_start, http_stop},
	{"sampler", false, sampler_start, sampler_stop},
	{"bpf", true, bpf_start, bpf_stop}, /* last: reading the kernel's BTF takes a while */
};

static int start_modules(struct daemon *d, struct err *e)
{
	for (size_t i = 0; i < ARRAY_SIZE(modules); i++) {
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

static void stop_modules(struct daemon *d, size_t n)
{
	while (n > 0)
		modules[--n].stop(d);
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

static uint64_t unix_ms(void)
{
	uv_timeval64_t now;

	return uv_gettimeofday(&now) == 0
		       ? (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_usec / 1000
		       : 0;
}

static int run_modules(struct daemon *d, struct err *e)
{
	int r = start_modules(d, e);

	if (r == 0) {
		uv_run(&d->loop, UV_RUN_DEFAULT);
		stop_modules(d, ARRAY_SIZE(modules));
	}
	/* Until every handle has closed and every worker has ended. */
	uv_run(&d->loop, UV_RUN_DEFAULT);
	if (uv_loop_close(&d->loop) != 0) {
		uv_walk(&d->loop, tell_open_handle, NULL);
		r = r < 0 ? r : err_set(e, -EBUSY, "handles were left open");
	}
	page_unref(d->routes.page);
	routes_done(&d->routes);
	free(d->config_json);
	return r;
}

int loop_run(const struct options *options, struct err *e)
{
	struct daemon d = {.options = options, .start_unix_ms = unix_ms()};
	int r;

	raise_fd_limit();
	r = hw_open(&d.hw, options->sysfs_root, options->dev_root, options->proc_root, e);
	if (r < 0)
		return r;
	r = uv_loop_init(&d.loop);
	if (r == 0)
		r = run_modules(&d, e);
	else
		err_set(e, r, "event loop: %s", uv_strerror(r));
	hw_close(&d.hw);
	return r;
}
