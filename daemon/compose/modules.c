/* modules.c - how each part of the daemon is started and stopped, and what the parts tell each
 * other. */
#include <inttypes.h>
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
#include "resources.h"
#include "sampler.h"
#include "settings_watch.h"
#include "tls.h"
#include "uevents.h"

/* --- what the modules tell each other --------------------------------------------------------- */

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
	bpf_wing_look(d);
	qps_look(d->qps);
	if (d->resources && node_knows_devices(d->node))
		resources_look(d->resources);
	packet_wing_look(d);
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
	m->log_lines_dropped = log_dropped();
	m->oldest_job_us = job_oldest_ms() * 1000;
	m->config_ok = config_state_ok(&d->config);
	m->config_refusals = d->config.refusals.n;
	m->tls_expires_s = tls_expires_s();
	m->compat = d->options->compat != 0;
	m->compat_success = node_inventory(d->node)->host.n_rdma > 0;
	m->start_unix_ms = d->start_unix_ms;
	m->inventory_generation = node_inventory(d->node)->generation;
	for (int i = 0; i < N_RESCANS; i++)
		m->rescan_us[i] = node_rescan_us(d->node, (enum rescan)i);
	getrlimit(RLIMIT_NOFILE, &fds);
	m->open_fds_max = (unsigned)fds.rlim_cur;
	bpf_wing_look(d);
	bpf_wing_describe(d, m);
	vf_wing_describe(d, m);
	qp_wing_describe(d, m);
}

/* Until the devices have been looked for, nobody is told that there are none. */
static void on_page(struct page *page, void *arg)
{
	struct daemon *d = arg;

	if (!d->page_counts)
		return;
	if (!d->routes.page)
		memory_give_back_code(); /* everything is loaded and has been started */
	page_unref(d->routes.page);
	d->routes.page = page_ref(page);
	settings_watch_look(d->settings);
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

/* --- work that does not end ------------------------------------------------------------------- */

static int job_watch_start(struct daemon *d, struct err *e)
{
	(void)e;
	job_watch_open(&d->job_watch, &d->loop, JOB_SLOW_MS);
	d->routes.jobs = job_list;
	return 0;
}

static void job_watch_stop(struct daemon *d)
{
	job_watch_close(&d->job_watch);
}

/* --- a successor ------------------------------------------------------------------------------ */

/* Who asks is answered meanwhile; it waits for our locks then. */
#define ANSWER_MS 50

static void on_hand_over_due(void *arg)
{
	struct daemon *d = arg;

	uv_stop(&d->loop);
}

/* One that has given us the node and was started anew shall end, not have it back. */
static int on_hand_over(const struct attach_owner *successor, const char **ret_pod, struct err *e,
			void *arg)
{
	struct daemon *d = arg;
	char pod[HAND_OVER_POD_SIZE] = "";

	if (successor->pod[0])
		snprintf(pod, sizeof(pod), "%s/%s", successor->namespace, successor->pod);
	if (*pod && strcmp(pod, d->predecessor) == 0)
		return err_set(e, -EBUSY, "pod %s has handed this node over before, and is to end",
			       pod);
	log_info("loop", 0, "%s%s asks for this node: handing it over",
		 *pod ? "pod " : "a rocelet in no pod", pod);
	snprintf(d->successor, sizeof(d->successor), "%s", pod);
	d->hands_over = true;
	due_in(&d->hand_over, ANSWER_MS);
	*ret_pod = d->own_pod;
	return 0;
}

static int hand_over_start(struct daemon *d, struct err *e)
{
	(void)e;
	due_init(&d->hand_over, &d->loop, on_hand_over_due, d);
	hand_over_self(d->own_pod);
	d->routes.own_pod = d->own_pod;
	d->routes.hand_over = (struct hand_over_hook){on_hand_over, d};
	return 0;
}

static void hand_over_stop(struct daemon *d)
{
	d->routes.hand_over = (struct hand_over_hook){0};
	due_close(&d->hand_over, NULL);
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

/* Joined before the node's first scan can end, so that nothing happens unseen between the two. */
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

/* Switching counters on is a change of the node: a dry run only says so. */
static size_t modules_optional_counters(struct daemon *d)
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
		.n_optional = modules_optional_counters(d),
		.interval_ms = d->options->sample_interval_ms,
		.limits = &d->limits,
		.counters =
			{
				.port_counters = d->options->port_counters,
				.compat = d->options->compat != 0,
			},
	};
	const struct sampler_hooks hooks = {
		.describe = self_metrics_fill,
		.resources = resources_offered,
		.packets = packet_wing_view,
		.queue_pairs = qp_wing_ports,
		.settings = settings_known,
		.wants_line = diagnosis_wing_wants_line,
		.line = diagnosis_wing_line,
		.wants_counters = vf_wing_wants_counters,
		.diagnosed = diagnosis_wing_tell,
		.done = on_page,
		.arg = d,
	};

	return sampler_open(&d->sampler, &d->loop, &d->hw, node_inventory(d->node), &d->self, &opts,
			    &hooks, e);
}

static void sampler_stop(struct daemon *d)
{
	d->routes.diagnosis = NULL;
	sampler_close(d->sampler);
}

/* With samples of a second each second of them: a change is judged 4 s after it was made. */
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

/* A node that is deleted or made by hand sends no event. */
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

/* What was edited since the start read it is told by nobody: that may be long ago, where another
 * rocelet had to end first. */
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
}

const struct module modules[] = {
	{"signals", false, signals_start, signals_stop},
	{"node's lock", false, node_lock_start, node_lock_end},
	{"watch over workers", false, job_watch_start, job_watch_stop},
	{"node", false, node_start, node_stop},
	{"link events", true, links_start, links_stop},
	{"uevents", true, uevents_start, uevents_stop},
	{"http", false, http_start, http_stop},
	{"event watch", true, event_watch_start, event_watch_stop},
	{"sample watch", true, sample_watch_start, sample_watch_stop},
	{"live watch", true, live_watch_start, live_watch_stop},
	{"who holds what", false, holders_start, holders_stop},
	{"attach engine", true, engine_start, engine_stop},
	{"resources", false, resources_start, resources_stop},
	{"configuration watch", true, config_watch_start, config_watch_stop},
	{"device node watch", true, dev_watch_start, dev_watch_stop},
	{"sampler", false, sampler_start, sampler_stop},
	{"settings of ports", true, settings_start, settings_stop}, /* looks after each sample */
	{"owners of processes", false, owners_start, owners_stop},
	/* Late: reading the kernel's BTF takes a while. */
	{"bpf", true, bpf_start, bpf_stop},
	{"packet counting", true, packets_start, packets_stop},
	{"queue pairs", true, qps_start, qps_stop}, /* what is there once changes are told */
	{"successor", false, hand_over_start, hand_over_stop},
};

const size_t n_modules = ARRAY_SIZE(modules);
