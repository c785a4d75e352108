// SPDX-License-Identifier: Apache-2.0
#include "port_events.h"

#include <stdio.h>
#include <string.h>

#include "bpf_words.h"
#include "search.h"

/* Maximum time from a move to a port-down event that it causes. A move first takes its netdev down;
 * drivers may report that late. */
#define EXIT_NS (5 * 1000000000ULL)

void netns_exits_add(struct netns_exits *x, const struct bpf_event_netdev_moved *e)
{
	x->last[x->next].netns = e->netns_from;
	x->last[x->next].time_ns = e->head.time_ns;
	x->next = (x->next + 1) % NETNS_EXITS;
}

static bool left_lately(const struct netns_exits *x, uint64_t netns, uint64_t now_ns)
{
	return any_of(NETNS_EXITS, i,
		      x->last[i].time_ns && x->last[i].netns == netns &&
			      now_ns - x->last[i].time_ns < EXIT_NS);
}

/* Returns the RDMA device; NULL: it is not in the host's last scan. */
static const struct rdma_dev *port_events_rdma_of(const struct host *h, uint32_t index)
{
	return find_first(h->rdma, h->n_rdma, i, h->rdma[i].index == index);
}

static const struct attach_record *port_holder(struct attach_list list, const struct host *h,
					       uint32_t index)
{
	const struct rdma_dev only_index = {.index = index}, *known = port_events_rdma_of(h, index);

	for (size_t i = 0; i < list.n && index != RDMA_INDEX_NONE; i++) {
		const struct attach_record *r = list.items[i].record;

		if (r->state != ATTACH_FREE &&
		    attach_record_is_rdma(r, known ? known : &only_index))
			return r;
	}
	return NULL;
}

static bool is_in_transit(const struct attach_record *r, const struct bpf_event_port *e,
			  const struct netns_exits *x)
{
	return r->state != ATTACH_IN_POD || left_lately(x, r->owner.netns.ino, e->head.time_ns);
}

void port_event_complete(struct event *event, const struct bpf_event_port *e,
			 const struct host *host, struct attach_list list,
			 const struct netns_exits *x)
{
	const struct attach_record *r = port_holder(list, host, e->index);
	size_t used = strlen(event->message);

	if (!r)
		return;
	snprintf(event->namespace, sizeof(event->namespace), "%s", r->owner.namespace);
	snprintf(event->pod, sizeof(event->pod), "%s", r->owner.pod);
	if (e->event != PORT_EVENT_DOWN || !is_in_transit(r, e, x))
		return;
	event->type = EVENT_NORMAL;
	snprintf(event->message + used, sizeof(event->message) - used,
		 ", %s is attaching or returning", r->function);
}
