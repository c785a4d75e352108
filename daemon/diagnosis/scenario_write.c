// SPDX-License-Identifier: Apache-2.0
#include "scenario_write.h"

#include <math.h>

#include "json_text.h"
#include "scenario_keys.h"

/* Takes `value`. If it is NULL (out of memory), jansson fails the set. */
static bool scenario_put(json_t *object, const char *key, json_t *value)
{
	return json_object_set_new(object, key, value) == 0;
}

/* Returns the value as JSON. Event counters are written as integers while a double is exact. */
static json_t *scenario_value_json(enum series s, double value)
{
	return series_kind(s) == SERIES_EVENTS && value < 9e15 ? json_integer((json_int_t)value)
							       : json_real(value);
}

static json_t *values_json(const double value[N_SERIES])
{
	json_t *object = json_object();
	char name[SERIES_NAME_SIZE];
	bool ok = object;

	for (int i = 0; i < N_SERIES; i++) {
		if (isnan(value[i]))
			continue;
		series_full_name((enum series)i, name);
		ok &= scenario_put(object, name, scenario_value_json((enum series)i, value[i]));
	}
	return scenario_keys_whole(object, ok);
}

/* --- the line --------------------------------------------------------------------------------- */

static json_t *scenario_write_port(const struct port_observation *o)
{
	json_t *object = scenario_port_json(o);

	return scenario_keys_whole(object, scenario_put(object, "values", values_json(o->value)));
}

static json_t *scenario_ports_json(const struct observation *o)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < o->n_ports; i++)
		list = json_push(list, scenario_write_port(&o->ports[i]));
	return list;
}

static json_t *sources_json(const struct observation *o)
{
	json_t *object = json_object();
	bool ok = object;

	for (int i = 0; i < N_SOURCES; i++) {
		const struct source_state *s = &o->sources[i];
		double age_ms = s->read_ms < o->now_ms ? (double)(o->now_ms - s->read_ms) : 0;

		if (s->used)
			ok &= scenario_put(object, source_name((enum source)i),
					   json_real(age_ms / 1000));
	}
	return scenario_keys_whole(object, ok);
}

json_t *scenario_line(const struct observation *o)
{
	json_t *line = json_object();
	bool ok = line && scenario_put(line, "t", json_real((double)o->now_ms / 1000));

	if (o->unix_ms)
		ok &= scenario_put(line, "wall", json_real((double)o->unix_ms / 1000));
	if (o->partial)
		ok &= scenario_put(line, "partial", json_true());
	ok = ok && scenario_put(line, "sources", sources_json(o)) &&
	     scenario_put(line, "ports", scenario_ports_json(o));
	return scenario_keys_whole(line, ok);
}
