// SPDX-License-Identifier: Apache-2.0
/* resources.c - see resources.h.
 *
 * Success: something changed -> decision -> lists to the kubelet -> table. Failures: out of memory
 * (the kubelet keeps its last list, retried after a second), a socket that cannot be served (logged
 * once, retried at the next decision). */
#include "resources.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "state.h"

/* Decides which devices are advertised to the kubelet, in two turns of the loop.
 *
 * Success: something changed -> settle timer -> pools_build() -> next turn -> health -> lists to
 * the kubelet. Between the turns, kubelet requests are served: with a thousand devices, one turn
 * takes about as long as a request is allowed to wait. If the inputs change between the turns, the
 * second turn builds the pools again, so that no health and no list is based on stale data. */

/* A timer of 0 ms may fire in the same turn. */
#define NEXT_TURN_MS 1
/* Delay before a retry after out of memory. */
#define RETRY_MS     1000

/* Sets the timer to the end of the first hold time. */
static void arm_hold(struct resources *r)
{
	uint64_t first = TIMER_NEVER;

	for (size_t i = 0; i < r->n_items; i++)
		for (size_t k = 0; k < r->items[i]->n_tracked; k++) {
			uint64_t at = health_deadline(&r->items[i]->tracked[k].health,
						      r->pools.views[i].pool);

			first = at < first ? at : first;
		}
	timer_at(&r->hold, first);
}

/* --- deciding --------------------------------------------------------------------------------- */

/* False until the engine has found the attachments of the previous process: nothing is advertised
 * before. */
static bool may_advertise(const struct resources *r)
{
	return !r->opts.engine || attach_engine_is_ready(r->opts.engine);
}

/* Returns the inputs that pools are built from. The configuration is not included: replacing it
 * drops the pools. */
static struct built_from sources(const struct resources *r)
{
	return (struct built_from){r->inventory->generation,
				   reservations_generation(holders_reservations(r->holders))};
}

static bool is_up_to_date(const struct resources *r)
{
	const struct built_from now = sources(r);

	return r->has_built && r->built_from.inventory == now.inventory &&
	       r->built_from.reservations == now.reservations;
}

/* Drops the pools built for the next decision, which builds them again. */
static void advertise_drop(struct resources *r)
{
	pools_done(&r->built);
	r->has_built = false;
}

static bool advertise_is_leaving(const struct attach_record *r, const struct pod_list *held)
{
	return r->plan.kind == PLAN_VF && r->owner.door != DOOR_ADMIN && r->resource[0] &&
	       r->state != ATTACH_FREE && !pod_list_find(held, r->resource, r->id, NULL);
}

/* Adds devices that are returning. A device that is returning from a pod stays in its pool like an
 * allocated device, even if parts of it are not visible in the meantime. 1: *ret has the allocated
 * and the returning devices; 0: no device is returning. */
static int add_leaving(struct pod_list *ret, const struct resources *r)
{
	const struct pod_list *held = holders_held(r->holders);
	const struct attach_status *list = NULL;
	size_t n = r->opts.engine ? attach_engine_list(r->opts.engine, &list) : 0;
	int error = 0;

	for (size_t i = 0; i < n && error == 0; i++) {
		const struct attach_record *a = list[i].record;
		const struct pod_device d = {.resource = a->resource, .id = a->id};

		if (!advertise_is_leaving(a, held))
			continue;
		if (ret->n == 0)
			error = pod_list_copy(ret, held);
		if (error == 0)
			error = pod_list_push(ret, &d);
	}
	pod_list_sort(ret);
	return error < 0 ? error : ret->n > 0;
}

static int advertise_build(struct resources *r)
{
	struct pod_list all = {0};
	int error = add_leaving(&all, r);

	advertise_drop(r);
	if (error >= 0)
		error = pools_build(&r->built, &r->config, &r->inventory->host,
				    error ? &all : holders_held(r->holders));
	pod_list_done(&all);
	r->has_built = error == 0;
	r->built_from = sources(r);
	return error;
}

/* Rebuilds pools that became stale since the first turn. */
static int advertise_decide(struct resources *r)
{
	int error = is_up_to_date(r) ? 0 : advertise_build(r);

	if (error < 0)
		return error;
	pools_done(&r->pools);
	r->pools = r->built;
	r->built = (struct pools){0};
	r->has_built = false;
	error = resource_judge(r);
	if (error == 0) {
		r->decided = true;
		error = may_advertise(r) ? resource_advertise(r) : 0;
	}
	arm_hold(r);
	return error;
}

static void second_turn(struct resources *r)
{
	int error;

	r->to_judge = false;
	error = advertise_decide(r);
	if (error < 0) {
		log_warn("resources", error,
			 "cannot decide which devices to offer, keeping the last list");
		timer_in(&r->settle, RETRY_MS);
	}
	files_follow(r);
	resources_show_soon(r);
	resources_notify_engine(r);
}

/* Runs one turn of a decision; arg: struct resources. */
static void advertise_turn(void *arg)
{
	struct resources *r = arg;

	if (r->to_judge) {
		second_turn(r);
	} else if (r->devices_known && holders_known(r->holders)) {
		(void)advertise_build(r); /* if out of memory, the second turn tries again */
		r->to_judge = true;
		timer_in(&r->settle, NEXT_TURN_MS);
	}
}

const struct resource_table *resources_table(const struct resources *r)
{
	return &r->table;
}

/* --- lists and table -------------------------------------------------------------------------- */

static void on_show(void *arg)
{
	struct resources *r = arg;
	int changed = resources_make_table(r);

	if (changed < 0) {
		log_warn("resources", changed,
			 "cannot update the list of offered devices, trying again later");
		timer_in(&r->show, RETRY_MS);
	} else if (changed > 0) {
		r->hooks.changed(r->hooks.arg);
	}
}

/* --- changes of the inputs -------------------------------------------------------------------- */

void resources_held(struct resources *r, bool changed, uint64_t answered_ms)
{
	if (changed)
		resources_decide_soon(r);
	if (strcmp(holders_error(r->holders), r->table.held_error) != 0)
		resources_show_soon(r);
	allocate_continue(r, answered_ms);
}

static void on_allocations_changed(void *arg)
{
	const struct resources *r = arg;

	holders_request(r->holders);
}

static void resources_on_status(void *arg)
{
	resources_show_soon(arg);
}

static void on_swept(void *arg)
{
	struct resources *r = arg;

	r->hooks.sockets_swept(r->hooks.arg);
}

/* --- lifetime --------------------------------------------------------------------------------- */

void resources_attachments_changed(struct resources *r)
{
	resources_decide_soon(r);
}

void resources_inputs_changed(struct resources *r)
{
	r->devices_known = true;
	resources_decide_soon(r);
}

int resources_configure(struct resources *r, struct pool_config *config)
{
	struct pools pools = {0};
	int error = pools_build(&pools, config, &r->inventory->host, holders_held(r->holders));

	if (error == 0)
		error = resource_follow_config(r, config);
	if (error < 0) {
		pools_done(&pools);
		return error;
	}
	pools_done(&r->pools); /* the pools refer to the old configuration */
	advertise_drop(r);
	pool_config_done(&r->config);
	r->pools = pools;
	r->config = *config;
	*config = (struct pool_config){0};
	r->to_sweep = true;
	r->status.followed = false;
	resources_decide_soon(r);
	return 0;
}

const struct pool_config *resources_config(const struct resources *r)
{
	return &r->config;
}

static int plugin_start(struct resources *r, struct err *e)
{
	const struct kubelet_hooks hooks = {
		.sockets_swept = on_swept,
		.allocations_changed = on_allocations_changed,
		.status_changed = resources_on_status,
		.arg = r,
	};

	int error = r->opts.dry_run
			    ? 0
			    : kubelet_open(&r->kubelet, r->loop, &r->opts.kubelet, &hooks, e);

	if (error == 0 && r->kubelet && r->opts.inherited)
		kubelet_take_over(r->kubelet, r->opts.inherited);
	return error;
}

static void on_hold(void *arg)
{
	resources_decide_soon(arg);
}

int resources_open(struct resources **ret, struct uv_loop_s *loop, const struct hw *hw,
		   const struct inventory *inventory, const struct resources_opts *opts,
		   const struct resources_hooks *hooks, struct err *e)
{
	struct resources *r = calloc(1, sizeof(*r));
	int error;

	if (!r)
		return err_set(e, -ENOMEM, "resources: out of memory");
	r->loop = loop;
	r->hw = hw;
	r->inventory = inventory;
	r->holders = opts->holders;
	r->opts = *opts;
	r->hooks = *hooks;
	r->to_sweep = true;
	timer_init(&r->settle, loop, advertise_turn, r);
	timer_init(&r->show, loop, on_show, r);
	timer_init(&r->hold, loop, on_hold, r);
	timer_init(&r->allocate_deadline, loop, allocate_expire, r);
	r->open_handles = 4;
	status_open(r);
	error = plugin_start(r, e);
	if (error < 0)
		resources_close(r);
	else
		*ret = r;
	return error;
}

static void on_part_closed(void *arg)
{
	struct resources *r = arg;

	if (--r->open_handles > 0)
		return;
	for (size_t i = 0; i < r->n_items; i++)
		resource_free(r->items[i]);
	free(r->items);
	pools_done(&r->pools);
	advertise_drop(r);
	pool_config_done(&r->config);
	resource_table_done(&r->table);
	status_done(r);
	free(r);
}

static void stop_deciding(struct resources *r)
{
	r->closing = true;
	r->open_handles += status_close(r, on_part_closed);
	if (r->opts.engine)
		attach_engine_offer(r->opts.engine, NULL);
	allocate_drop(r, NULL);
	timer_close(&r->settle, on_part_closed);
	timer_close(&r->show, on_part_closed);
	timer_close(&r->hold, on_part_closed);
	timer_close(&r->allocate_deadline, on_part_closed);
}

void resources_close(struct resources *r)
{
	if (!r)
		return;
	stop_deciding(r);
	kubelet_close(r->kubelet);
}

void resources_hand_over(struct resources *r, struct kubelet_sockets *ret)
{
	if (!r)
		return;
	kubelet_hand_over(r->kubelet, ret); /* including unanswered requests */
	stop_deciding(r);
}
