/* vf_wing.c - the VF wing: the device plugin and the attach engine, and what they tell each other.
 */
#include "daemon.h"
#include "engine.h"
#include "log.h"
#include "node.h"
#include "resources.h"
#include "sockets.h"

/* --- what they tell --------------------------------------------------------------------------- */

static void on_resources(void *arg)
{
	struct daemon *d = arg;

	d->routes.resources = resources_table(d->resources);
}

static void on_event(const struct event *event, void *arg)
{
	(void)event;
	(void)arg;
}

static void on_sockets_swept(void *arg)
{
	struct daemon *d = arg;

	sockets_serve_metrics(d->http, d->options->kubelet_dir);
}

static bool engine_view(struct attach_view *ret, void *arg)
{
	struct daemon *d = arg;

	return d->resources && resources_view(d->resources, ret);
}

static void engine_asks_pods(void *arg)
{
	struct daemon *d = arg;

	if (d->resources)
		resources_ask_pods(d->resources);
}

static void on_attachments(void *arg)
{
	struct daemon *d = arg;

	if (d->resources)
		resources_attachments_changed(d->resources);
}

static void on_decided(void *arg)
{
	struct daemon *d = arg;

	if (d->engine)
		attach_engine_look(d->engine);
}

/* --- modules ---------------------------------------------------------------------------------- */

int engine_start(struct daemon *d, struct err *e)
{
	const struct options *o = d->options;
	const struct attach_engine_opts opts = {
		.state_dir = o->state_dir,
		.cri_socket = o->cri_socket,
		.cni_path = o->cni_path,
		.dry_run = o->dry_run,
	};
	const struct attach_hooks hooks = {
		.view = engine_view,
		.ask_pods = engine_asks_pods,
		.changed = on_attachments,
		.event = on_event,
		.arg = d,
	};

	if (!d->hw.live)
		return err_set(e, -EOPNOTSUPP, "the sysfs root is not this kernel's");
	return attach_engine_open(&d->engine, &d->loop, &d->hw, node_inventory(d->node), &opts,
				  &hooks, e);
}

void engine_stop(struct daemon *d)
{
	attach_engine_close(d->engine);
	d->engine = NULL;
}

/* A configuration that is wrong at the start is a reason not to start: nobody depends on us yet. */
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
		.devinfo_dir = o->devinfo_dir,
		.cdi_dir = o->cdi_dir,
		.dry_run = o->dry_run,
		.engine = d->engine,
	};
	const struct resources_hooks hooks = {
		.changed = on_resources,
		.decided = on_decided,
		.sockets_swept = on_sockets_swept,
		.arg = d,
	};
	int r = resources_open(&d->resources, &d->loop, &d->hw, node_inventory(d->node), &opts,
			       &hooks, e);

	return r < 0 ? r : reload_use(d, d->launch->pools, e);
}

void resources_stop(struct daemon *d)
{
	d->routes.resources = NULL;
	resources_close(d->resources);
	d->resources = NULL;
}
