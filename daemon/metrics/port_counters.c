// SPDX-License-Identifier: Apache-2.0
#include "port_counters.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "number.h"

#define NO_PORT SIZE_MAX

static void port_counters_forget(struct port_counters *c)
{
	for (size_t i = 0; i < c->n; i++)
		free(c->rows[i].labels);
	free(c->rows);
	*c = (struct port_counters){.name = c->name};
}

void port_counters_done(struct port_counters_set *s)
{
	for (size_t i = 0; i < s->n; i++)
		port_counters_forget(&s->items[i]);
	s->n = 0;
}

bool port_name_equal(const struct port_name *a, const struct port_name *b)
{
	return a->port == b->port && strcmp(a->device, b->device) == 0;
}

static size_t port_counters_index(const struct port_counters_set *s, const struct port_name *name)
{
	size_t i = 0;

	while (i < s->n && !port_name_equal(&s->items[i].name, name))
		i++;
	return i;
}

const struct port_counters *port_counters_find(const struct port_counters_set *s,
					       const struct port_name *name)
{
	size_t i = port_counters_index(s, name);

	return i < s->n ? &s->items[i] : NULL;
}

void port_counters_follow(struct port_counters_set *s, const struct port_name *names, size_t n)
{
	struct port_counters_set next = {.n = n};

	for (size_t i = 0; i < n; i++) {
		size_t at = port_counters_index(s, &names[i]);

		next.items[i].name = names[i];
		if (at == s->n)
			continue;
		next.items[i] = s->items[at];
		s->items[at] = (struct port_counters){.name = names[i]};
	}
	port_counters_done(s);
	*s = next;
}

/* --- readings --------------------------------------------------------------------------------- */

static size_t sampled_port_of(const struct sample *s, const char *device, uint32_t port)
{
	for (size_t i = 0; i < s->n_ports; i++)
		if (s->ports[i].port == port && strcmp(s->ports[i].device, device) == 0)
			return i;
	return NO_PORT;
}

/* Appends the readings of one port of the sample. False: out of memory. */
static bool port_counters_add(struct port_counters *c, const struct sample *s, size_t port)
{
	struct reading_pos pos = {.port = port, .one_port = true};
	struct reading r;

	while (port != NO_PORT && sample_next(s, &pos, &r)) {
		struct port_counter *row = array_push(c->rows, c->n);

		if (!row)
			return false;
		*row = (struct port_counter){.family = r.family,
					     .labels = strdup(r.labels),
					     .unit = r.unit,
					     .of_device = s->ports[port].port == 0,
					     .is_known = r.state == READING_OK,
					     .value = r.value,
					     .rate = (double)NAN};
		if (!row->labels)
			return false;
	}
	return true;
}

/* Returns a counter's rate; before: the same counter in the previous sample. Its index stays the
 * same while the layout is unchanged. */
static double port_counters_rate(const struct port_counter *now, const struct port_counter *before,
				 uint64_t over_ms)
{
	if (now->family->type != METRIC_COUNTER || !now->is_known || !before->is_known ||
	    now->value < before->value)
		return (double)NAN;
	return number_in_base_unit(now->value - before->value, now->unit) * 1000 / (double)over_ms;
}

static void port_counters_compare(struct port_counters *c, const struct port_counters *before)
{
	if (before->taken_ms == 0 || before->layout != c->layout || before->resets != c->resets ||
	    before->n != c->n)
		return;
	c->over_ms = c->taken_ms - before->taken_ms;
	for (size_t i = 0; i < c->n; i++)
		c->rows[i].rate = port_counters_rate(&c->rows[i], &before->rows[i], c->over_ms);
}

static void port_counters_read(struct port_counters *c, const struct sample *s, uint64_t unix_ms)
{
	size_t port = sampled_port_of(s, c->name.device, c->name.port);
	size_t whole = c->name.port ? sampled_port_of(s, c->name.device, 0) : NO_PORT;
	struct port_counters next = {.name = c->name,
				     .layout = s->layout,
				     .taken_ms = s->taken_ms,
				     .unix_ms = unix_ms,
				     .is_new = true,
				     .is_missing = port == NO_PORT && whole == NO_PORT};

	if (!port_counters_add(&next, s, port) || !port_counters_add(&next, s, whole)) {
		port_counters_forget(&next);
		return;
	}
	next.resets = (port != NO_PORT ? s->ports[port].resets : 0) +
		      (whole != NO_PORT ? s->ports[whole].resets : 0);
	port_counters_compare(&next, c);
	port_counters_forget(c);
	*c = next;
}

void port_counters_take(struct port_counters_set *set, const struct sample *s, uint64_t unix_ms,
			uint64_t least_ms)
{
	for (size_t i = 0; i < set->n; i++) {
		struct port_counters *c = &set->items[i];

		c->is_new = false;
		if (c->taken_ms == 0 || s->taken_ms >= c->taken_ms + least_ms)
			port_counters_read(c, s, unix_ms);
	}
}
