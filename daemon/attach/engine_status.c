// SPDX-License-Identifier: Apache-2.0
/* engine_status.c - attachments and counters for readers outside of the engine. */
#include "engine_state.h"

#include <string.h>

bool attach_engine_is_ready(const struct attach_engine *e)
{
	return e->ready;
}

size_t attach_engine_list(const struct attach_engine *e, const struct attach_status **ret)
{
	*ret = e->all.list.items;
	return e->all.list.n;
}

const struct attach_status *attach_engine_find(const struct attach_engine *e, const char *function)
{
	struct attachment *a = attachments_of_function(&e->all, function);

	return a && a->record.state != ATTACH_FREE ? attachment_status(a) : NULL;
}

/* Is the attachment's pod the holder? Also true for a mere reservation, which may be for a
 * container of the same pod: PreStartContainer will show that. */
static bool is_holders(const struct attach_engine *e, const struct attachment *a)
{
	struct attach_view view;
	const struct pod_device *d;

	if (!engine_view(e, &view) || view.held->source == POD_SOURCE_NONE)
		return true;
	d = pod_list_find(view.held, a->record.resource, a->record.id, NULL);
	return d && (d->pod[0] == '\0' || (strcmp(d->pod, a->record.owner.pod) == 0 &&
					   strcmp(d->namespace, a->record.owner.namespace) == 0));
}

enum attach_fitness attach_engine_fitness(const struct attach_engine *e, const char *function)
{
	const struct attachment *a = attachments_of_function(&e->all, function);

	switch (a ? a->record.state : ATTACH_FREE) {
	case ATTACH_FREE:
		break;
	case ATTACH_ATTACHING:
	case ATTACH_IN_POD:
		if (!attachment_is_granted(a) || a->drift & ATTACH_DRIFT_RDMA)
			return ATTACH_UNFIT;
		return is_holders(e, a) ? ATTACH_FIT : ATTACH_LEAVING;
	case ATTACH_RETURNING:
	case ATTACH_BAD:
		return attachment_is_in_trouble(a) ? ATTACH_UNFIT : ATTACH_LEAVING;
	}
	return ATTACH_FIT;
}

void attach_engine_counters(const struct attach_engine *e, struct attach_counters *ret)
{
	unsigned *const of_state[] = {
		[ATTACH_FREE] = &ret->free,	[ATTACH_ATTACHING] = &ret->attaching,
		[ATTACH_IN_POD] = &ret->in_pod, [ATTACH_RETURNING] = &ret->returning,
		[ATTACH_BAD] = &ret->bad,
	};

	*ret = e->counters;
	for (size_t i = 0; i < e->all.n; i++)
		++*of_state[e->all.items[i]->record.state];
	ret->cri_open = e->holders && e->ops->runtime(e->holders, &ret->cri);
}
