// SPDX-License-Identifier: Apache-2.0
#include "siblings.h"

#include <math.h>
#include <string.h>

static bool carries_data(const struct port_observation *o)
{
	return o->visible && !o->management && !o->parent[0] && !o->admin_down &&
	       o->state == PORT_ACTIVE && o->rate_bps && o->link_layer != LINK_INFINIBAND;
}

const struct sibling_group *siblings_of(const struct siblings *s, const struct port_observation *o)
{
	if (!carries_data(o))
		return NULL;
	for (unsigned i = 0; i < s->n; i++)
		if (s->groups[i].rate_bps == o->rate_bps &&
		    strcmp(s->groups[i].driver, o->driver) == 0)
			return &s->groups[i];
	return NULL;
}

static void count_value(struct agreement *a, unsigned value)
{
	a->n++;
	for (int i = 0; i < 2; i++) {
		if (a->counts[i] && a->values[i] != value)
			continue;
		a->values[i] = value;
		a->counts[i]++;
		return;
	}
	a->more = true;
}

static void count_carried(struct carried *c, double bytes)
{
	c->second = c->n == 0 ? INFINITY : bytes < c->least ? c->least : fmin(c->second, bytes);
	c->least = c->n == 0 ? bytes : fmin(c->least, bytes);
	c->most = fmax(c->most, bytes);
	c->n++;
}

uint64_t siblings_rate(const struct siblings *s, const struct port_observation *o)
{
	const struct sibling_group *faster = NULL;

	if (!carries_data(o))
		return 0;
	for (unsigned i = 0; i < s->n; i++) {
		const struct sibling_group *g = &s->groups[i];

		if (strcmp(g->driver, o->driver) != 0)
			continue;
		/* All other ports of the driver must be in one group, and that must be faster. */
		if (g->rate_bps <= o->rate_bps ? g->n > 1 || g->rate_bps != o->rate_bps
					       : faster != NULL)
			return 0;
		if (g->rate_bps > o->rate_bps)
			faster = g;
	}
	return faster && faster->n >= 3 ? faster->rate_bps : 0;
}

void siblings_make(struct siblings *s, const struct observation *all, const struct port_load *loads)
{
	s->n = 0;
	for (size_t i = 0; i < all->n_ports; i++) {
		const struct port_observation *o = &all->ports[i];
		struct sibling_group *g = (struct sibling_group *)siblings_of(s, o);

		if (!carries_data(o))
			continue;
		if (!g && s->n < SIBLING_GROUPS) {
			g = &s->groups[s->n++];
			*g = (struct sibling_group){.rate_bps = o->rate_bps};
			memcpy(g->driver, o->driver, sizeof(g->driver));
		}
		if (g && o->settings && (o->settings->seen & SETTINGS_PFC))
			count_value(&g->pfc, o->settings->pfc);
		if (g)
			g->n++;
		if (g && !isnan(loads[i].minute))
			count_carried(&g->carried, loads[i].minute);
		if (g && o->mtu)
			count_value(&g->mtu, o->mtu);
	}
}

int siblings_agree(const struct agreement *a, unsigned own)
{
	unsigned left[2] = {a->counts[0], a->counts[1]};

	if (a->more)
		return -1;
	for (int i = 0; i < 2; i++)
		if (left[i] && a->values[i] == own)
			left[i]--;
	if (left[0] >= 2 && left[1] == 0)
		return (int)a->values[0];
	return left[1] >= 2 && left[0] == 0 ? (int)a->values[1] : -1;
}
