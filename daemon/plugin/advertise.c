// SPDX-License-Identifier: Apache-2.0
/* advertise.c - decides which devices are advertised to the kubelet, in two turns of the loop.
 *
 * Happy path: something changed -> settle timer -> pools_build() -> next turn -> health -> lists to
 * the kubelet. Splitting the work lets kubelet requests be served in between: with a thousand
 * devices, each turn takes about as long as a request may wait. If the inputs change between the
 * turns, the second turn builds the pools again, so that nothing is judged or advertised from stale
 * data. */
#include "log.h"
#include "state.h"

/* A timer of 0 ms may fire in the same turn. */
#define NEXT_TURN_MS 1
/* Delay before a retry after out of memory. */
#define RETRY_MS     1000

/* Wakes up when the first hold time ends. */
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

/* Advertise nothing before the engine has found the attachments left from before our start. */
static bool may_advertise(const struct resources *r)
{
	return !r->opts.engine || attach_engine_is_ready(r->opts.engine);
}

/* The inputs that pools are built from. The configuration is no part: replacing it drops the
 * pools. */
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

void advertise_drop(struct resources *r)
{
	pools_done(&r->built);
	r->has_built = false;
}

static bool advertise_is_leaving(const struct attach_record *r, const struct pod_list *held)
{
	return r->plan.kind == PLAN_VF && r->owner.door != DOOR_ADMIN && r->resource[0] &&
	       r->state != ATTACH_FREE && !pod_list_find(held, r->resource, r->id, NULL);
}

/* A device that is returning from a pod stays in its pool like a held one, whatever of it is
 * visible meanwhile. 1: *ret is the held and the returning devices, 0: no device is returning. */
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
		log_warn("resources", error, "cannot decide what to offer, keeping the last list");
		timer_in(&r->settle, RETRY_MS);
	}
	files_follow(r);
	resources_show_soon(r);
	resources_notify_engine(r);
}

void advertise_turn(void *arg)
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
