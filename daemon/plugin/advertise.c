/* advertise.c - which devices the kubelet is told of is decided, in two turns of the loop.
 *
 * Happy path: something changed -> settle timer -> pools_build() -> next turn -> health -> lists to
 * the kubelet. The kubelet's questions come in between: with a thousand devices either turn takes
 * as long as one of them may wait. What changes between the two counts as well: the second turn
 * builds anew then, and nothing is judged or told by what is out of date. */
#include "log.h"
#include "state.h"

/* A timer of 0 ms may fire in the same turn. */
#define NEXT_TURN_MS 1
/* Out of memory: the next try. */
#define RETRY_MS     1000

/* Wakes when the first hold time ends. */
static void arm_hold(struct resources *r)
{
	uint64_t first = DUE_NEVER;

	for (size_t i = 0; i < r->n_items; i++)
		for (size_t k = 0; k < r->items[i]->n_tracked; k++) {
			uint64_t at = health_deadline(&r->items[i]->tracked[k].health,
						      r->pools.views[i].pool);

			first = at < first ? at : first;
		}
	due_at(&r->hold, first);
}

/* --- deciding --------------------------------------------------------------------------------- */

/* What lies about from before our start is found first. */
static bool may_tell(const struct resources *r)
{
	return !r->opts.engine || attach_engine_is_ready(r->opts.engine);
}

/* Everything that pools are built from; the configuration drops them when it goes. */
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
	return r->plan.kind == PLAN_VF && r->owner.door == DOOR_NATIVE && r->state != ATTACH_FREE &&
	       !pod_list_find(held, r->resource, r->id, NULL);
}

/* What is on its way back from a pod stays in its pool as what a container holds does, whatever can
 * be seen of it meanwhile. 1: *ret is what is held and that, 0: there is nothing such. */
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

/* What has changed since they were built is not left to the next decision. */
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
		error = may_tell(r) ? resource_tell(r) : 0;
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
		log_warn("resources", error, "cannot decide what to offer, the last list stays");
		due_in(&r->settle, RETRY_MS);
	}
	files_follow(r);
	resources_show_soon(r);
	resources_tell_engine(r);
}

void advertise_turn(void *arg)
{
	struct resources *r = arg;

	if (r->to_judge) {
		second_turn(r);
	} else if (r->devices_known && holders_known(r->holders)) {
		(void)advertise_build(r); /* out of memory the second turn tries again */
		r->to_judge = true;
		due_in(&r->settle, NEXT_TURN_MS);
	}
}
