/* vf_wing.c - the VF wing: who holds what, the attach engine and the device plugin, and what they
 * tell each other. */
#include <string.h>

#include "api_pod.h"
#include "cleanup.h"
#include "daemon.h"
#include "engine.h"
#include "holders.h"
#include "node.h"
#include "resources.h"
#include "self_metrics.h"
#include "sockets.h"

/* --- what they tell --------------------------------------------------------------------------- */

static void vf_wing_on_resources(void *arg)
{
	struct daemon *d = arg;

	d->routes.resources = resources_table(d->resources);
}

static void vf_wing_on_event(const struct event *event, void *arg)
{
	daemon_event(arg, event);
}

static void on_sockets_swept(void *arg)
{
	struct daemon *d = arg;

	sockets_serve_metrics(d->http, d->options->kubelet_dir);
}

/* What a pod reads of its device. */
static char *on_pod_status(const char *function, size_t *ret_len, void *arg)
{
	const struct daemon *d = arg;
	uint32_t every_ms = d->options->sample_interval_ms;

	if (!d->routes.diagnosis || !d->routes.inventory)
		return NULL;
	every_ms = every_ms < RESOURCES_STATUS_MS ? RESOURCES_STATUS_MS : every_ms;
	return api_pod_status(d->routes.diagnosis, &d->routes.inventory->host, function, every_ms,
			      ret_len);
}

static void on_held(bool changed, uint64_t answered_ms, void *arg)
{
	struct daemon *d = arg;

	if (d->resources)
		resources_held(d->resources, changed, answered_ms);
	if (d->engine)
		attach_engine_look(d->engine);
}

static void vf_wing_on_sandboxes(void *arg)
{
	struct daemon *d = arg;

	if (d->engine)
		attach_engine_look(d->engine);
}

static void on_attachments(void *arg)
{
	struct daemon *d = arg;

	d->routes.attachments.n = attach_engine_list(d->engine, &d->routes.attachments.items);
	d->routes.attachments_generation++;
	if (d->resources)
		resources_attachments_changed(d->resources);
	packet_wing_look(d);
}

/* --- what a person orders --------------------------------------------------------------------- */

static int order_attach(const char *function, const struct order *order, order_done_fn *done,
			void *done_arg, struct err *e, void *arg)
{
	struct daemon *d = arg;

	return attach_engine_attach(d->engine, function, &order->owner, &order->plan, done,
				    done_arg, e);
}

static int order_detach(const char *function, bool force, order_done_fn *done, void *done_arg,
			struct err *e, void *arg)
{
	struct daemon *d = arg;

	return attach_engine_detach(d->engine, function, force, done, done_arg, e);
}

static void order_fix(void *arg)
{
	struct daemon *d = arg;

	attach_engine_fix(d->engine);
}

static void tell_counters(struct attach_counters *ret, void *arg)
{
	struct daemon *d = arg;

	attach_engine_counters(d->engine, ret);
}

/* --- modules ---------------------------------------------------------------------------------- */

int holders_start(struct daemon *d, struct err *e)
{
	const struct options *o = d->options;
	const struct holders_opts opts = {
		.kubelet_dir = o->kubelet_dir,
		.cri_socket = o->cri_socket,
		.polls = o->dry_run,
	};
	const struct holders_hooks hooks = {
		.held = on_held, .sandboxes = vf_wing_on_sandboxes, .arg = d};

	return holders_open(&d->holders, &d->loop, &opts, &hooks, e);
}

void holders_stop(struct daemon *d)
{
	holders_close(d->holders);
	d->holders = NULL;
}

/* From IPAM plugins: where the kubelet, the runtime and we are to be ordered or read about. The
 * runtime's socket itself, too: the folder / cannot be hidden. */
static void hide_from_plugins(struct daemon *d)
{
	const struct options *o = d->options;
	const char *const hidden[] = {
		o->kubelet_dir, o->run_dir,  o->state_dir,	 d->runtime_folder,  o->cri_socket,
		o->proc_root,	o->dev_root, o->auth_token_file, o->basic_auth_file, o->tls_key,
	};
	size_t n = 0;
	char *slash;

	snprintf(d->runtime_folder, sizeof(d->runtime_folder), "%s", o->cri_socket);
	slash = strrchr(d->runtime_folder, '/');
	if (slash)
		*slash = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(hidden); i++)
		if (hidden[i][0])
			d->hidden[n++] = hidden[i];
}

int engine_start(struct daemon *d, struct err *e)
{
	const struct options *o = d->options;
	const struct attach_engine_opts opts = {
		.state_dir = o->state_dir,
		.ipam = {.path = o->cni_path, .hidden = d->hidden},
		.holders = d->holders,
		.dry_run = o->dry_run,
	};
	const struct attach_hooks hooks = {
		.changed = on_attachments,
		.event = vf_wing_on_event,
		.arg = d,
	};
	const struct order_hooks orders = {
		.attach = order_attach,
		.detach = order_detach,
		.fix = order_fix,
		.counters = tell_counters,
		.arg = d,
	};
	int r;

	if (!d->hw.live)
		return err_set(e, -EOPNOTSUPP, "the sysfs root is not this kernel's");
	hide_from_plugins(d);
	r = attach_engine_open(&d->engine, &d->loop, &d->hw, node_inventory(d->node), &opts, &hooks,
			       e);
	if (r < 0)
		return r;
	d->routes.orders = orders;
	return 0;
}

void engine_stop(struct daemon *d)
{
	d->routes.attachments = (struct attach_list){0};
	d->routes.orders = (struct order_hooks){0};
	attach_engine_close(d->engine);
	d->engine = NULL;
}

int resources_start(struct daemon *d, struct err *e)
{
	const struct options *o = d->options;
	const struct resources_opts opts = {
		.kubelet =
			{
				.dir = o->kubelet_dir,
				.registration = (enum registration)o->registration,
				.zero_on_close = o->shutdown_policy != 0,
			},
		.inherited = &d->at_kubelet,
		.devinfo_dir = o->devinfo_dir,
		.cdi_dir = o->cdi_dir,
		.run_dir = o->run_dir,
		.dry_run = o->dry_run,
		.holders = d->holders,
		.engine = d->engine,
	};
	const struct resources_hooks hooks = {
		.changed = vf_wing_on_resources,
		.event = vf_wing_on_event,
		.sockets_swept = on_sockets_swept,
		.status = on_pod_status,
		.arg = d,
	};
	int r = resources_open(&d->resources, &d->loop, &d->hw, node_inventory(d->node), &opts,
			       &hooks, e);

	if (r == 0)
		r = reload_use(d, d->launch->pools, &d->limits, e);
	if (r == 0 && d->launch->refused.code < 0)
		reload_refused(d, &d->launch->refused);
	return r;
}

void resources_stop(struct daemon *d)
{
	d->routes.resources = NULL;
	if (d->hands_over)
		resources_hand_over(d->resources, &d->at_kubelet);
	else
		resources_close(d->resources);
	d->resources = NULL;
}

void vf_wing_sampled(struct daemon *d, uint64_t sample_ms)
{
	if (d->resources)
		resources_sampled(d->resources, sample_ms);
}

bool vf_wing_wants_counters(void *arg)
{
	const struct daemon *d = arg;

	return d->resources && resources_tells_pods(d->resources);
}

void vf_wing_describe(const struct daemon *d, struct self_metrics *m)
{
	struct attach_counters counters;

	if (!d->engine)
		return;
	attach_engine_counters(d->engine, &counters);
	attach_summary_build(&m->attach, &counters, d->routes.attachments);
}
