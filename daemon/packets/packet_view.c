// SPDX-License-Identifier: Apache-2.0
/* packet_view.c - creates views, and reads the counters of their ports. */
#include "packet_view.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "array.h"

void packet_view_free(struct packet_view *v)
{
	free(v->ports);
	free(v->attached);
	free(v);
}

struct packet_view *packet_view_new(struct packet_ports *owner, const struct packet_port *ports,
				    size_t n)
{
	struct packet_view *v = calloc(1, sizeof(*v));

	if (!v)
		return NULL;
	v->owner = owner;
	v->n = n;
	v->ports = malloc(n * sizeof(*v->ports));
	v->attached = calloc(n, sizeof(struct attached *));
	if (!v->ports || !v->attached) {
		packet_view_free(v);
		return NULL;
	}
	memcpy(v->ports, ports, n * sizeof(*ports));
	return v;
}

static void read_port(const struct packet_view *v, size_t i, struct packet_sample *s)
{
	struct packet_port *port = &s->ports[i];

	if (!v->attached[i])
		return;
	port->error = packet_port_read(v->attached[i]->fd, s->counts[i]);
}

struct flow_walk {
	struct packet_sample *sample;
	size_t port;
};

static int on_flow(const struct roce_flow_key *key, const struct roce_flow *flow, void *arg)
{
	const struct flow_walk *w = arg;
	struct packet_flow *f = array_push(w->sample->flows, w->sample->n_flows);

	if (!f)
		return -ENOMEM;
	*f = (struct packet_flow){w->port, *key, *flow};
	return 0;
}

/* Reads the flow tables. -ENOMEM is the only error: a table that cannot be read is treated as
 * empty. */
static int packet_view_read_flows(const struct packet_view *v, struct packet_sample *s)
{
	int r = 0;

	for (size_t i = 0; i < v->n && r != -ENOMEM; i++)
		if (v->attached[i] && s->ports[i].flows)
			r = packet_port_flows(v->attached[i]->fd, on_flow,
					      &(struct flow_walk){s, i});
	return r == -ENOMEM ? r : 0;
}

static uint64_t monotonic_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

int packet_view_read(const struct packet_view *v, bool flows, struct packet_sample *ret)
{
	struct packet_sample s = {.n_ports = v->n, .taken_ns = monotonic_ns()};

	packet_sample_done(ret);
	s.ports = malloc(v->n * sizeof(*s.ports));
	s.counts = calloc(v->n, sizeof(*s.counts));
	if (!s.ports || !s.counts) {
		packet_sample_done(&s);
		return -ENOMEM;
	}
	memcpy(s.ports, v->ports, v->n * sizeof(*s.ports));
	for (size_t i = 0; i < v->n; i++)
		read_port(v, i, &s);
	if (flows && packet_view_read_flows(v, &s) < 0) {
		packet_sample_done(&s);
		return -ENOMEM;
	}
	*ret = s;
	return 0;
}
