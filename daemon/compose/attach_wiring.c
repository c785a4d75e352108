// SPDX-License-Identifier: Apache-2.0
/* attach_wiring.c - the VF subsystem: allocations, the attach engine and the device plugin, and
 * their connections. */
#include <string.h>

#include "api_pod.h"
#include "cleanup.h"
#include "cni_door.h"
#include "cni_left.h"
#include "daemon.h"
#include "engine.h"
#include "holders.h"
#include "listen.h"
#include "log.h"
#include "node.h"
#include "resources.h"
#include "self_metrics.h"

/* --- connections ------------------------------------------------------------------------------ */

static void attach_wiring_on_resources(void *arg)
{
	struct daemon *d = arg;

	d->routes.resources = resources_table(d->resources);
	quiet_later(d);
	reload_held(d); /* last, because it may configure the resources */
}

static void attach_wiring_on_event(const struct event *event, void *arg)
{
	daemon_event(arg, event);
}

static void on_sockets_swept(void *arg)
{
	struct daemon *d = arg;

	sockets_serve_metrics(d->http, d->options->kubelet_dir, &d->http_wiring.metrics_err);
}

/* Returns the status of a device for its pod. NULL: none yet, or out of memory. */
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
		attach_engine_inputs_changed(d->engine);
}

static void attach_wiring_on_sandboxes(void *arg)
{
	struct daemon *d = arg;

	if (d->engine)
		attach_engine_inputs_changed(d->engine);
}

static void on_attachments(void *arg)
{
	struct daemon *d = arg;

	d->routes.attachments.n = attach_engine_list(d->engine, &d->routes.attachments.items);
	d->routes.attachments_generation++;
	if (d->resources)
		resources_attachments_changed(d->resources);
	packet_wiring_update(d);
}

/* --- admin requests --------------------------------------------------------------------------- */

static int wiring_attach(const char *function, const struct admin_request *wanted,
			 admin_done_fn *done, void *done_arg, struct err *e, void *arg)
{
	struct daemon *d = arg;

	return attach_engine_attach(d->engine, function, &wanted->owner, &wanted->plan, done,
				    done_arg, e);
}

static int wiring_detach(const char *function, bool force, admin_done_fn *done, void *done_arg,
			 struct err *e, void *arg)
{
	struct daemon *d = arg;

	return attach_engine_detach(d->engine, function, force, done, done_arg, e);
}

static void wiring_fix(void *arg)
{
	struct daemon *d = arg;

	attach_engine_fix(d->engine);
}

static void copy_counters(struct attach_counters *ret, void *arg)
{
	struct daemon *d = arg;

	attach_engine_counters(d->engine, ret);
}

static int wiring_cni(const char *text, size_t len, cni_reply_fn *reply, bool (*is_wanted)(void *),
		      void *reply_arg, char **ret_text, void *arg)
{
	const struct daemon *d = arg;

	return cni_door_request(d->cni, text, len, reply, is_wanted, reply_arg, ret_text);
}

/* --- modules ---------------------------------------------------------------------------------- */

int holders_start(struct daemon *d, struct err *e)
{
	const struct options *o = d->options;
	const struct holders_opts opts = {
		.kubelet_dir = o->kubelet_dir,
		.pod_resources = o->pod_resources,
		.cri_socket = o->cri_socket,
		.polls = o->dry_run,
	};
	const struct holders_hooks hooks = {
		.held = on_held, .sandboxes = attach_wiring_on_sandboxes, .arg = d};

	return holders_open(&d->holders, &d->loop, &opts, &hooks, e);
}

void holders_stop(struct daemon *d)
{
	holders_close(d->holders);
	d->holders = NULL;
}

/* Lists the paths that are hidden from IPAM plugins, because plugins could use them to control or
 * inspect the kubelet, the runtime or rocelet. The runtime's socket is listed as well, because its
 * folder may be /, which cannot be hidden. */
static void hide_from_plugins(struct daemon *d)
{
	const struct options *o = d->options;
	const char *const hidden[] = {
		o->kubelet_dir,	    o->pod_resources,	o->run_dir,   o->state_dir,
		d->runtime_folder,  o->cri_socket,	o->proc_root, o->dev_root,
		o->auth_token_file, o->basic_auth_file, o->tls_key,
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

/* Executes the DELs that the CNI plugin has written to files. Otherwise, a device returns when its
 * namespace ends. */
static void open_deletions(struct daemon *d)
{
	struct err e = {0};

	if (!options_change_nothing(d->options) &&
	    cni_left_open(&d->cni_left, &d->loop, d->options->state_dir, d->cni, &e) < 0)
		log_warn("cni", 0,
			 "%s, going on without the DELs that the CNI plugin writes to files",
			 e.msg);
}

static void attach_wiring_on_moving(bool moving, void *arg)
{
	struct daemon *d = arg;

	node_moving(d->node, moving);
}

int engine_start(struct daemon *d, struct err *e)
{
	const struct options *o = d->options;
	const struct attach_engine_opts opts = {
		.state_dir = o->state_dir,
		.ipam = {.path = o->cni_path, .hidden = d->hidden},
		.holders = d->holders,
		.dry_run = options_change_nothing(o),
	};
	const struct attach_hooks hooks = {
		.changed = on_attachments,
		.event = attach_wiring_on_event,
		.moving = attach_wiring_on_moving,
		.arg = d,
	};
	const struct admin_hooks admin = {
		.attach = wiring_attach,
		.detach = wiring_detach,
		.fix = wiring_fix,
		.counters = copy_counters,
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
	d->routes.admin = admin;
	d->cni = cni_door_new(d->engine, &d->loop, node_inventory(d->node), o->cni_path,
			      &o->cni_ipam_needs);
	if (!d->cni)
		return err_set(e, -ENOMEM, "out of memory");
	d->routes.cni = (struct cni_hook){.request = wiring_cni, .arg = d};
	open_deletions(d);
	return 0;
}

void engine_stop(struct daemon *d)
{
	d->routes.attachments = (struct attach_list){0};
	d->routes.admin = (struct admin_hooks){0};
	d->routes.cni = (struct cni_hook){0};
	cni_left_close(d->cni_left);
	d->cni_left = NULL;
	attach_engine_close(d->engine);
	d->engine = NULL;
	cni_door_free(d->cni);
	d->cni = NULL;
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
		.dry_run = options_change_nothing(o),
		.holders = d->holders,
		.engine = d->engine,
	};
	const struct resources_hooks hooks = {
		.changed = attach_wiring_on_resources,
		.event = attach_wiring_on_event,
		.sockets_swept = on_sockets_swept,
		.status = on_pod_status,
		.arg = d,
	};
	struct config_source source = {.digest = d->launch->config_digest,
				       .can_match = d->launch->can_match};
	int r = resources_open(&d->resources, &d->loop, &d->hw, node_inventory(d->node), &opts,
			       &hooks, e);

	memcpy(source.group, d->launch->group, sizeof(source.group));
	if (r == 0)
		r = reload_use(d, d->launch->pools, &d->limits, &source, e);
	if (r == 0 && d->launch->refused.code < 0)
		reload_refused(d, &d->launch->refused);
	else if (r == 0 && d->launch->file)
		config_keep(d, d->launch->file);
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
	config_checks_done(d);
}

void attach_wiring_sampled(struct daemon *d, uint64_t sample_ms)
{
	if (d->resources)
		resources_sampled(d->resources, sample_ms);
}

bool attach_wiring_wants_counters(void *arg)
{
	const struct daemon *d = arg;

	return d->resources && resources_have_pod_status(d->resources);
}

void attach_wiring_describe(const struct daemon *d, struct self_metrics *m)
{
	struct attach_counters counters;

	if (!d->engine)
		return;
	attach_engine_counters(d->engine, &counters);
	attach_summary_build(&m->attach, &counters, d->routes.attachments);
}
