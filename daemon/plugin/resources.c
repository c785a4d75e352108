// SPDX-License-Identifier: Apache-2.0
/* resources.c - see resources.h.
 *
 * Happy path: something changed -> decision (advertise.c) -> lists to the kubelet -> table. Can
 * fail by: out of memory (the kubelet keeps its last list, retried after a second), a socket that
 * cannot be served (logged once, retried at the next decision). */
#include "resources.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "state.h"

/* Delay before a retry after out of memory. */
#define RETRY_MS 1000

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
		log_warn("resources", changed, "cannot show what is offered, trying again later");
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
	if (strcmp(holders_trouble(r->holders), r->table.held_error) != 0)
		resources_show_soon(r);
	allocate_continue(r, answered_ms);
}

static void on_allocations_changed(void *arg)
{
	const struct resources *r = arg;

	holders_ask(r->holders);
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
	pools_done(&r->pools); /* refers to the old configuration */
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
	timer_init(&r->patience, loop, allocate_expire, r);
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
	timer_close(&r->patience, on_part_closed);
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
	kubelet_hand_over(r->kubelet, ret); /* including requests not answered yet */
	stop_deciding(r);
}
