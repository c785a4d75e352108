// SPDX-License-Identifier: Apache-2.0
#include "series_choice.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "search.h"

/* Families that no verdict, alert or dashboard needs for a VF, or that are the same for its PF. */
static const char *const details[] = {
	"roce_port_physical_state",
	"roce_port_netdev_mtu_bytes",
	"roce_gid_table_entries",
	"roce_gid_table_used",
	"rocelet_counters_resets_total",
	"roce_slow_restarts_total",
	"roce_slow_restart_cnp_packets_total",
	"roce_slow_restart_transitions_total",
	"roce_adaptive_retransmissions_total",
	"roce_adaptive_retransmission_timeouts_total",
	"roce_cqe_flush_errors_total",
	"roce_local_length_errors_total",
	"roce_remote_invalid_requests_total",
	"roce_requests_received_total",
	"roce_requests_sent_total",
};

void series_choice_done(struct series_choice *c)
{
	free(c->ports);
	free(c->moved);
	*c = (struct series_choice){0};
}

bool series_is_detail(const char *family)
{
	return any_of(ARRAY_SIZE(details), i, strcmp(details[i], family) == 0);
}

/* True for a software device: one on a VF's netdev has the VF as its function. */
static bool series_is_soft(const struct rdma_dev *dev)
{
	return strcmp(dev->driver, "rxe") == 0 || strcmp(dev->driver, "siw") == 0;
}

bool series_is_of_vf(const struct series_choice *c, const struct host *h,
		     const struct rdma_dev *dev)
{
	const struct function *fn;

	if (!c || !c->few || series_is_soft(dev) || !dev->function[0])
		return false;
	fn = host_function(h, dev->function);
	return fn && fn->kind == FN_VF;
}

static bool series_has_moved(const struct series_choice *c, const char *device)
{
	return any_of(c->n_moved, i, strcmp(c->moved[i], device) == 0);
}

/* True for an idle VF. A device in another namespace is not idle: it belongs to a pod, even if its
 * holder is unknown. */
bool series_is_idle(const struct series_choice *c, const struct host *h, const struct rdma_dev *dev,
		    const struct pod_device *holder)
{
	return !holder && dev->nsid == NSID_HOST && series_is_of_vf(c, h, dev) &&
	       !series_has_moved(c, dev->name);
}

static size_t count_moved(const struct sample *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_ports; i++)
		n += s->ports[i].has_moved;
	return n;
}

static int list_moved(struct series_choice *c, const struct sample *s)
{
	c->moved = calloc(count_moved(s) + 1, sizeof(*c->moved));
	if (!c->moved)
		return -ENOMEM;
	for (size_t i = 0; i < s->n_ports; i++)
		if (s->ports[i].has_moved)
			strcpy(c->moved[c->n_moved++], s->ports[i].device);
	return 0;
}

static struct series_port choice_of(const struct series_choice *c, const struct sampled_port *port,
				    const struct host *h, const struct resource_table *table)
{
	const struct rdma_dev *dev = host_rdma_sampled(h, port->device);
	const struct pod_device *holder = dev && table ? resource_table_holder(table, dev->function,
									       dev->name)
						       : NULL;

	return (struct series_port){
		.is_vf = dev && series_is_of_vf(c, h, dev),
		.is_idle = dev && series_is_idle(c, h, dev, holder),
	};
}

int series_choice_follow(struct series_choice *c, const struct sample *s, const struct host *h,
			 const struct resource_table *table)
{
	struct series_choice next = {.few = c->few, .n_ports = s->n_ports};

	next.ports = calloc(s->n_ports + 1, sizeof(*next.ports));
	if (!next.ports || list_moved(&next, s) < 0) {
		free(next.ports);
		return -ENOMEM;
	}
	for (size_t i = 0; i < s->n_ports; i++)
		next.ports[i] = choice_of(&next, &s->ports[i], h, table);
	series_choice_done(c);
	*c = next;
	return 0;
}

bool series_choice_is_current(const struct series_choice *c, const struct sample *s)
{
	return !any_of(c->n_ports, i, c->ports[i].is_idle && s->ports[i].has_moved);
}

bool series_choice_skips(const struct series_choice *c, size_t port, bool detail)
{
	const struct series_port *p = &c->ports[port];

	return p->is_idle || (detail && p->is_vf);
}
