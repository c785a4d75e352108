/* resources.c - see resources.h.
 *
 * Happy path: something changed -> decision (advertise.c) -> lists to the kubelet -> table. Can
 * fail by: out of memory (the kubelet keeps its last list, tried again after a second), a socket
 * that cannot be served (said once, tried again at the next decision). */
#include "resources.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "dir_watch.h"
#include "log.h"
#include "state.h"

/* Who reads the table is a person or takes a sample a second. */
#define SHOW_MS	      50
/* Out of memory: the next try. */
#define RETRY_MS      1000
/* A pod that ends tells nobody: what is held is asked for now and then. */
#define REFRESH_MS    30000
/* How long a start waits to be told who holds what. */
#define FIRST_PODS_MS 2000

const struct resource_table *resources_table(const struct resources *r)
{
	return &r->table;
}

/* --- telling and showing ---------------------------------------------------------------------- */

void resources_tell_decided(const struct resources *r)
{
	if (r->hooks.decided)
		r->hooks.decided(r->hooks.arg);
}

static void on_show(uv_timer_t *timer)
{
	struct resources *r = timer->data;
	int changed = resources_make_table(r);

	if (changed < 0) {
		log_warn("resources", changed, "cannot show what is offered, trying again later");
		uv_timer_start(&r->show, on_show, RETRY_MS, 0);
	} else if (changed > 0) {
		r->hooks.changed(r->hooks.arg);
	}
}

void resources_within(const struct resources *r, uv_timer_t *timer, uv_timer_cb cb, uint64_t ms)
{
	if (!r->closing && (!uv_is_active((uv_handle_t *)timer) || uv_timer_get_due_in(timer) > ms))
		uv_timer_start(timer, cb, ms, 0);
}

void resources_show_soon(struct resources *r)
{
	resources_within(r, &r->show, on_show, SHOW_MS);
}

/* --- who holds what --------------------------------------------------------------------------- */

static void on_refresh(uv_timer_t *timer)
{
	struct resources *r = timer->data;

	if (!r->pods_known) {
		log_warn("resources", 0,
			 "the kubelet does not say which container holds what, going on without");
		r->pods_known = true;
		resources_decide_soon(r);
	}
	pod_resources_refresh(r->pods);
}

/* While nothing is held, nothing can come back; but without a kubelet.h nobody tells that something
 * is held now. What became of a reservation is asked as soon as it can be told. */
static void arm_refresh(struct resources *r)
{
	uint64_t now = uv_now(r->loop), at = reservations_ask_at(r->reservations),
		 wait = REFRESH_MS;

	if (at > now && at - now < REFRESH_MS)
		wait = at - now;
	if (reservations_list(r->reservations)->n == 0 && r->kubelet)
		uv_timer_stop(&r->refresh);
	else
		uv_timer_start(&r->refresh, on_refresh, wait, REFRESH_MS);
}

/* Of init containers' devices. A kubelet that has given nothing away yet has none. */
static void read_checkpoint(struct resources *r, struct pod_list *ret)
{
	struct err e = {0};
	int error = pod_checkpoint_read(ret, r->opts.kubelet.dir, &e);

	if (error >= 0)
		pod_checkpoint_drop_gone(ret, r->opts.kubelet.dir);
	else if (error != -ENOENT && !r->told_checkpoint)
		log_warn("resources", 0, "cannot see which init container has what: %s", e.msg);
	r->told_checkpoint = error < 0 && error != -ENOENT;
}

static int apply_list(struct resources *r, const struct pod_list *list, uint64_t asked_ms)
{
	struct pod_list checkpoint = {0};
	int changed;

	if (list->source == POD_SOURCE_API && reservations_lacks(r->reservations, list))
		read_checkpoint(r, &checkpoint);
	changed = reservations_apply(r->reservations, list, &checkpoint, asked_ms);
	pod_list_done(&checkpoint);
	return changed;
}

/* Out of memory: what the kubelet said counts for nobody, and is soon said again. */
static void ask_again(struct resources *r)
{
	log_warn("resources", -ENOMEM, "cannot note who holds what, keeping the last list");
	uv_timer_start(&r->refresh, on_refresh, RETRY_MS, REFRESH_MS);
}

/* asked_ms 0: no answer, which ends waiting for one as well. */
static void on_pods(const struct pod_list *list, uint64_t asked_ms, void *arg)
{
	struct resources *r = arg;
	int changed = 0;

	if (asked_ms)
		changed = apply_list(r, list, asked_ms);
	if (!r->pods_known || changed > 0)
		resources_decide_soon(r);
	r->pods_known = true;
	if (strcmp(pod_resources_trouble(r->pods), r->table.held_error) != 0)
		resources_show_soon(r);
	arm_refresh(r);
	if (changed >= 0)
		allocate_continue(r, list->source == POD_SOURCE_API ? asked_ms : 0);
	else
		ask_again(r);
	resources_tell_decided(r);
}

static void on_allocations_changed(void *arg)
{
	struct resources *r = arg;

	if (r->pods)
		pod_resources_refresh(r->pods);
}

static void on_status(void *arg)
{
	resources_show_soon(arg);
}

/* A pod's folder goes with its pod: the only sign there is of its end. */
static void on_pod_folder(const char *name, void *arg)
{
	struct resources *r = arg;

	(void)name;
	if (reservations_list(r->reservations)->n > 0 || !r->kubelet)
		pod_resources_refresh(r->pods);
}

static void on_swept(void *arg)
{
	struct resources *r = arg;

	r->hooks.sockets_swept(r->hooks.arg);
}

void resources_ask_pods(struct resources *r)
{
	pod_resources_refresh(r->pods);
}

bool resources_view(const struct resources *r, struct attach_view *ret)
{
	if (!r->decided)
		return false;
	*ret = (struct attach_view){.pools = &r->pools, .held = reservations_list(r->reservations)};
	return true;
}

/* --- lifetime --------------------------------------------------------------------------------- */

void resources_attachments_changed(struct resources *r)
{
	resources_decide_soon(r);
}

void resources_look(struct resources *r)
{
	r->devices_known = true;
	resources_decide_soon(r);
}

int resources_configure(struct resources *r, struct pool_config *config)
{
	struct pools pools = {0};
	int error = pools_build(&pools, config, &r->inventory->host,
				reservations_list(r->reservations));

	if (error == 0)
		error = resource_follow_config(r, config);
	if (error < 0) {
		pools_done(&pools);
		return error;
	}
	pools_done(&r->pools); /* refers to the old configuration */
	advertise_drop(r);
	pool_config_done(&r->config);
	r->pools = pools;
	r->config = *config;
	*config = (struct pool_config){0};
	r->to_sweep = true;
	resources_decide_soon(r);
	return 0;
}

const struct pool_config *resources_config(const struct resources *r)
{
	return &r->config;
}

static void watch_pods(struct resources *r)
{
	AUTO_FREE char *dir = NULL;
	struct err e = {0};

	if (asprintf(&dir, "%s/pods", r->opts.kubelet.dir) < 0)
		dir = NULL;
	if (!dir || dir_watch_open(&r->pods_dir, r->loop, dir, on_pod_folder, r, &e) < 0)
		log_warn("resources", 0, "%s, asking the kubelet every %d s instead", e.msg,
			 REFRESH_MS / 1000);
}

static int start(struct resources *r, struct err *e)
{
	const struct kubelet_hooks hooks = {
		.sockets_swept = on_swept,
		.allocations_changed = on_allocations_changed,
		.status_changed = on_status,
		.arg = r,
	};
	int error = pod_resources_open(&r->pods, r->loop, r->opts.kubelet.dir, on_pods, r, e);

	if (error == 0 && !r->opts.dry_run)
		error = kubelet_open(&r->kubelet, r->loop, &r->opts.kubelet, &hooks, e);
	if (error < 0)
		return error;
	watch_pods(r);
	uv_timer_start(&r->refresh, on_refresh, FIRST_PODS_MS, 0);
	pod_resources_refresh(r->pods);
	return 0;
}

static void init_timer(struct resources *r, uv_timer_t *timer)
{
	uv_timer_init(r->loop, timer);
	timer->data = r;
	r->open_handles++;
}

int resources_open(struct resources **ret, struct uv_loop_s *loop, const struct hw *hw,
		   const struct inventory *inventory, const struct resources_opts *opts,
		   const struct resources_hooks *hooks, struct err *e)
{
	struct resources *r = calloc(1, sizeof(*r));
	int error;

	if (r)
		r->reservations = reservations_new();
	if (!r || !r->reservations) {
		free(r);
		return err_set(e, -ENOMEM, "resources: out of memory");
	}
	r->loop = loop;
	r->hw = hw;
	r->inventory = inventory;
	r->opts = *opts;
	r->hooks = *hooks;
	r->to_sweep = true;
	init_timer(r, &r->settle);
	init_timer(r, &r->show);
	init_timer(r, &r->hold);
	init_timer(r, &r->refresh);
	error = start(r, e);
	if (error < 0)
		resources_close(r);
	else
		*ret = r;
	return error;
}

static void on_timer_closed(uv_handle_t *handle)
{
	struct resources *r = handle->data;

	if (--r->open_handles > 0)
		return;
	for (size_t i = 0; i < r->n_items; i++)
		resource_free(r->items[i]);
	free(r->items);
	pools_done(&r->pools);
	advertise_drop(r);
	pool_config_done(&r->config);
	reservations_free(r->reservations);
	resource_table_done(&r->table);
	free(r);
}

void resources_close(struct resources *r)
{
	if (!r)
		return;
	r->closing = true;
	allocate_drop(r, NULL);
	kubelet_close(r->kubelet);
	pod_resources_close(r->pods);
	dir_watch_close(r->pods_dir);
	uv_close((uv_handle_t *)&r->settle, on_timer_closed);
	uv_close((uv_handle_t *)&r->show, on_timer_closed);
	uv_close((uv_handle_t *)&r->hold, on_timer_closed);
	uv_close((uv_handle_t *)&r->refresh, on_timer_closed);
}
