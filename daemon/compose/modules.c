// SPDX-License-Identifier: Apache-2.0
/* modules.c - starts and stops each part of the daemon, and connects the parts. */
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#include "cleanup.h"
#include "config_file.h"
#include "config_watch.h"
#include "daemon.h"
#include "dir_watch.h"
#include "job.h"
#include "link_events.h"
#include "log.h"
#include "memory.h"
#include "node.h"
#include "qps.h"
#include "report_reader.h"
#include "resources.h"
#include "revision.h"
#include "routes_metrics.h"
#include "sampler.h"
#include "settings_watch.h"
#include "tls.h"
#include "uevents.h"

/* --- connections between modules -------------------------------------------------------------- */

static void modules_on_hint(unsigned parts, bool lost, void *arg)
{
	struct daemon *d = arg;

	node_hint(d->node, parts, lost);
}

static void modules_on_address(int nsid, int ifindex, void *arg)
{
	struct daemon *d = arg;

	node_hint_address(d->node, nsid, ifindex);
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
	quiet_later(d);
	bpf_wiring_update(d);
	qps_update(d->qps);
	if (d->resources && node_knows_devices(d->node))
		resources_inputs_changed(d->resources);
	packet_wiring_update(d);
	if (d->sampler && node_complete(d->node))
		sampler_follow(d->sampler);
}

static void on_dev_node(const char *name, void *arg)
{
	struct daemon *d = arg;

	(void)name;
	node_hint(d->node, SCAN_RDMA, false);
}

static void on_config_changed(void *arg)
{
	reload_now(arg);
}

static const struct resource_table *resources_offered(void *arg)
{
	struct daemon *d = arg;

	return d->resources ? resources_table(d->resources) : NULL;
}

static void self_metrics_fill(struct self_metrics *m, void *arg)
{
	struct daemon *d = arg;
	struct rlimit fds = {0};

	d->page_counts = node_knows_devices(d->node);
	m->revision = ROCELET_REVISION;
	m->log_lines_dropped = log_dropped();
	m->oldest_job_us = job_oldest_ms() * 1000;
	m->config_ok = config_state_ok(&d->config);
	m->config_last_good = d->config.last_good_of[0];
	m->config_held = d->config.held;
	m->config_digest = d->source.digest;
	m->config_generation = d->routes.config_generation;
	memcpy(m->config_group, d->source.group, sizeof(m->config_group));
	m->config_unmatched = d->source.can_match && !d->source.group[0];
	m->config_refusals = d->config.refusals.n;
	m->config_unusable = d->config.n_lacks;
	m->config_ignored = d->config.n_ignored;
	m->tls_expires_s = tls_expires_s();
	m->compat = d->options->compat != 0;
	m->compat_success = node_inventory(d->node)->host.n_rdma > 0;
	m->start_unix_ms = d->start_unix_ms;
	m->inventory_generation = node_inventory(d->node)->generation;
	for (int i = 0; i < N_RESCANS; i++)
		m->rescan_us[i] = node_rescan_us(d->node, (enum rescan)i);
	getrlimit(RLIMIT_NOFILE, &fds);
	m->open_fds_max = (unsigned)fds.rlim_cur;
	bpf_wiring_update(d);
	bpf_wiring_describe(d, m);
	attach_wiring_describe(d, m);
	qp_wiring_describe(d, m);
}

/* The page is not rendered any more after this time without a request: several intervals of
 * Prometheus. */
#define PAGE_KEPT_MS 300000

static bool modules_wants_page(void *arg)
{
	const struct daemon *d = arg;

	return d->page_wanted_ms && uv_now(&d->loop) - d->page_wanted_ms < PAGE_KEPT_MS;
}

static void modules_want_page(void *arg)
{
	struct daemon *d = arg;

	d->page_wanted_ms = uv_now(&d->loop);
	if (!d->routes.page)
		sampler_wake(d->sampler);
}

/* Publishes the page, but not before the first scan of the devices, because it would have none. */
static void on_page(struct page *page, void *arg)
{
	struct daemon *d = arg;

	if (!d->page_counts)
		return;
	if (!d->routes.is_sampled)
		memory_release(); /* all libraries are loaded, and all modules started */
	routes_use_page(&d->routes, page);
	settings_watch_refresh(d->settings);
}

static const struct settings_table *settings_known(void *arg)
{
	const struct daemon *d = arg;

	return d->routes.settings;
}

static void on_settings(void *arg)
{
	struct daemon *d = arg;

	d->routes.settings = settings_watch_table(d->settings);
	d->routes.settings_generation++;
}

/* --- signals ---------------------------------------------------------------------------------- */

static void modules_on_signal(uv_signal_t *handle, int signum)
{
	log_info("loop", 0, "%s: stopping", signum == SIGINT ? "SIGINT" : "SIGTERM");
	uv_stop(handle->loop);
}

static void on_hangup(uv_signal_t *handle, int signum)
{
	(void)signum;
	reload_now(handle->data);
}

static int signals_start(struct daemon *d, struct err *e)
{
	(void)e;
	signal(SIGPIPE, SIG_IGN);
	uv_signal_init(&d->loop, &d->sigint);
	uv_signal_init(&d->loop, &d->sigterm);
	uv_signal_init(&d->loop, &d->sighup);
	d->sighup.data = d;
	uv_signal_start(&d->sighup, on_hangup, SIGHUP);
	uv_signal_start(&d->sigint, modules_on_signal, SIGINT);
	uv_signal_start(&d->sigterm, modules_on_signal, SIGTERM);
	return 0;
}

static void signals_stop(struct daemon *d)
{
	uv_close((uv_handle_t *)&d->sigint, NULL);
	uv_close((uv_handle_t *)&d->sigterm, NULL);
	uv_close((uv_handle_t *)&d->sighup, NULL);
}

/* --- the node's lock -------------------------------------------------------------------------- */

static int node_lock_start(struct daemon *d, struct err *e)
{
	(void)e;
	node_lock_serve(&d->node_lock, &d->loop);
	return 0;
}

static void node_lock_end(struct daemon *d)
{
	node_lock_stop(&d->node_lock);
}

/* --- blocked jobs ----------------------------------------------------------------------------- */

static int job_watch_start(struct daemon *d, struct err *e)
{
	(void)e;
	job_watch_open(&d->job_watch, &d->loop, JOB_SLOW_MS);
	d->routes.jobs = job_list;
	d->routes.self = &d->self;
	return 0;
}

static void job_watch_stop(struct daemon *d)
{
	job_watch_close(&d->job_watch);
}

/* --- a successor ------------------------------------------------------------------------------ */

/* Time for sending the answer; the successor waits for our locks anyway. */
#define ANSWER_MS 50

static void on_hand_over_timer(void *arg)
{
	struct daemon *d = arg;

	uv_stop(&d->loop);
}

/* Answers a successor. Rejects the request of a restarted predecessor: it should exit, and not get
 * the node back. */
static int on_hand_over(const struct attach_owner *successor, const char **ret_pod, struct err *e,
			void *arg)
{
	struct daemon *d = arg;
	char pod[HAND_OVER_POD_SIZE] = "";

	if (successor->pod[0])
		snprintf(pod, sizeof(pod), "%s/%s", successor->namespace, successor->pod);
	if (*pod && strcmp(pod, d->predecessor) == 0)
		return err_set(e, -EBUSY,
			       "pod %s has already handed this node over, and should exit", pod);
	log_info("loop", 0, "%s%s requests this node: handing it over",
		 *pod ? "pod " : "a rocelet outside of pods", pod);
	snprintf(d->successor, sizeof(d->successor), "%s", pod);
	d->hands_over = true;
	timer_in(&d->hand_over, ANSWER_MS);
	*ret_pod = d->own_pod;
	return 0;
}

static int hand_over_start(struct daemon *d, struct err *e)
{
	(void)e;
	timer_init(&d->hand_over, &d->loop, on_hand_over_timer, d);
	hand_over_self(d->own_pod);
	d->routes.own_pod = d->own_pod;
	d->routes.hand_over = (struct hand_over_hook){on_hand_over, d};
	return 0;
}

static void hand_over_stop(struct daemon *d)
{
	d->routes.hand_over = (struct hand_over_hook){0};
	timer_close(&d->hand_over, NULL);
}

/* --- modules ---------------------------------------------------------------------------------- */

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

/* Starts to listen before the node's first scan can end, so that no change is missed in between. */
static int links_start(struct daemon *d, struct err *e)
{
	const struct link_hooks hooks = {
		.hint = modules_on_hint, .address = modules_on_address, .arg = d};

	if (!d->hw.live)
		return err_set(e, -EOPNOTSUPP, "the sysfs root is not this kernel's");
	return link_events_open(&d->links, &d->loop, d->options->event_buffer, &d->self,
				node_inventory(d->node), &hooks, e);
}

static void links_stop(struct daemon *d)
{
	link_events_close(d->links);
}

/* Listens to the kernel, to udev or to both. The kernel sends its uevents first; udev sends its own
 * after its rules have named the device and set its permissions. */
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
				 &d->self, modules_on_hint, d, e);
	if (r == 0 && source != EVENT_SOURCE_KERNEL && (udev_runs || source == EVENT_SOURCE_UDEV))
		r = uevents_open(&d->udev_uevents, &d->loop, false, d->options->event_buffer,
				 &d->self, modules_on_hint, d, e);
	return r;
}

static void uevents_stop(struct daemon *d)
{
	uevents_close(d->kernel_uevents);
	uevents_close(d->udev_uevents);
}

/* Returns the number of optional counters to enable. Enabling changes the node, so a dry run only
 * logs it. */
static size_t modules_optional_counters(struct daemon *d)
{
	const struct option_list *list = &d->options->optional_counters;

	for (unsigned i = 0; i < list->n; i++) {
		d->optional[i] = list->items[i];
		if (options_change_nothing(d->options))
			log_info("sampler", 0,
				 "%s: would switch on optional counter %s where a port has it",
				 d->options->dry_run ? "dry run" : "observes only", list->items[i]);
	}
	return options_change_nothing(d->options) ? 0 : list->n;
}

static void modules_read_report(struct report_reader *reader, void *arg)
{
	const struct daemon *d = arg;

	sampler_read_report(d->sampler, reader);
}

static int sampler_start(struct daemon *d, struct err *e)
{
	int r;
	const struct sampler_opts opts = {
		.optional = d->optional,
		.n_optional = modules_optional_counters(d),
		.interval_ms = d->options->sample_interval_ms,
		.limits = &d->limits,
		.few_series = !d->options->all_series,
		.counters =
			{
				.port_counters = d->options->port_counters,
				.compat = d->options->compat != 0,
			},
	};
	const struct sampler_hooks hooks = {
		.describe = self_metrics_fill,
		.resources = resources_offered,
		.packets = packet_wiring_view,
		.queue_pairs = qp_wiring_ports,
		.settings = settings_known,
		.wants_page = modules_wants_page,
		.wants_line = diagnosis_wiring_wants_line,
		.line = diagnosis_wiring_line,
		.wants_ports = diagnosis_wiring_wants_ports,
		.ports_read = diagnosis_wiring_ports_read,
		.wants_counters = attach_wiring_wants_counters,
		.diagnosed = diagnosis_wiring_publish,
		.done = on_page,
		.arg = d,
	};

	r = sampler_open(&d->sampler, &d->loop, &d->hw, node_inventory(d->node), &d->self, &opts,
			 &hooks, e);
	if (r == 0) {
		d->routes.read_report = modules_read_report;
		d->routes.read_report_arg = d;
		d->routes.want_page = modules_want_page;
		d->routes.want_page_arg = d;
	}
	return r;
}

static void sampler_stop(struct daemon *d)
{
	d->routes.diagnosis = NULL;
	d->routes.read_report = NULL;
	d->routes.want_page = NULL;
	routes_metrics_done(&d->routes);
	sampler_close(d->sampler);
}

/* With one sample per second, every second sample reads the settings, so a change is detected
 * within 4 s. */
#define SETTINGS_PAUSE_MS 1500

static int settings_start(struct daemon *d, struct err *e)
{
	return settings_watch_open(&d->settings, &d->loop, &d->hw, node_inventory(d->node),
				   SETTINGS_PAUSE_MS, on_settings, d, e);
}

static void settings_stop(struct daemon *d)
{
	d->routes.settings = NULL;
	settings_watch_close(d->settings);
	d->settings = NULL;
}

/* Watches the folder of the device nodes, because creating or deleting one by hand causes no other
 * event. */
static int dev_watch_start(struct daemon *d, struct err *e)
{
	char path[OPTION_TEXT_SIZE + 16];

	snprintf(path, sizeof(path), "%s/infiniband", d->options->dev_root);
	return dir_watch_open(&d->dev_watch, &d->loop, path, on_dev_node, d, e);
}

static void dev_watch_stop(struct daemon *d)
{
	dir_watch_close(d->dev_watch);
}

/* True if the configuration file has changed since the start. */
static bool is_changed(const struct daemon *d)
{
	struct config_file file = {0};
	struct err ignored;
	bool changed;

	config_file_read(&file, d->options->config, &ignored);
	changed = config_file_digest(&file) != d->launch->config_digest;
	config_file_done(&file);
	return changed;
}

/* Watches the configuration. Changes between its first read and this watch cause no event, so the
 * file is compared. That time may be long if another rocelet had to exit first. */
static int config_watch_start(struct daemon *d, struct err *e)
{
	int r = config_watch_open(&d->config_watch, &d->loop, d->options->config, on_config_changed,
				  d, e);

	if (r == 0 && is_changed(d))
		reload_now(d);
	return r;
}

static void config_watch_stop(struct daemon *d)
{
	config_watch_close(d->config_watch);
	config_keep_end(d);
}

const struct module modules[] = {
	{"signals", false, signals_start, signals_stop},
	{"node's lock", false, node_lock_start, node_lock_end},
	{"watch for blocked jobs", false, job_watch_start, job_watch_stop},
	{"memory", false, quiet_start, quiet_stop},
	{"node", false, node_start, node_stop},
	{"link events", true, links_start, links_stop},
	{"uevents", true, uevents_start, uevents_stop},
	{"http", false, http_start, http_stop},
	{"event watch", true, event_watch_start, event_watch_stop},
	{"sample watch", true, sample_watch_start, sample_watch_stop},
	{"counters watch", true, counters_watch_start, counters_watch_stop},
	{"live watch", true, live_watch_start, live_watch_stop},
	{"allocations", false, holders_start, holders_stop},
	{"attach engine", true, engine_start, engine_stop},
	{"resources", false, resources_start, resources_stop},
	{"configuration watch", true, config_watch_start, config_watch_stop},
	{"device node watch", true, dev_watch_start, dev_watch_stop},
	{"sampler", false, sampler_start, sampler_stop},
	{"Node Feature Discovery file", true, features_start, features_stop},
	{"settings of ports", true, settings_start, settings_stop}, /* it reads after each sample */
	{"owners of processes", false, owners_start, owners_stop},
	/* Late, because reading the kernel's BTF is slow. */
	{"bpf", true, bpf_start, bpf_stop},
	{"packet counting", true, packets_start, packets_stop},
	/* After bpf, so that changes are reported before the existing queue pairs are read. */
	{"queue pairs", true, qps_start, qps_stop},
	{"successor", false, hand_over_start, hand_over_stop},
};

const size_t n_modules = ARRAY_SIZE(modules);
