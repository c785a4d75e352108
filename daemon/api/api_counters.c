// SPDX-License-Identifier: Apache-2.0
#include "api_counters.h"

#include <stdio.h>
#include <string.h>

#include "api_ports.h"
#include "cleanup.h"
#include "json_out.h"
#include "port_counters.h"
#include "utc_text.h"

#define COUNTER_NAME_MAX 320 /* a family's name and DICT_LABELS_MAX (dictionary.h) */

/* Returns the unit, which the name of a family contains by Prometheus' convention. "": no unit. */
static const char *counter_unit(const char *family)
{
	static const struct {
		const char *word, *unit;
	} units[] = {{"_bytes", "B"}, {"_seconds", "s"}, {"_ratio", "ratio"}};

	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (strstr(family, units[i].word))
			return units[i].unit;
	return "";
}

static void api_add_counter(struct json_out *o, const struct port_counter *c)
{
	const bool is_counter = c->family->type == METRIC_COUNTER;
	char name[COUNTER_NAME_MAX];

	snprintf(name, sizeof(name), c->labels[0] ? "%s{%s}" : "%s%s", c->family->name, c->labels);
	json_out_open(o, NULL, '{');
	json_out_text(o, "name", name);
	json_out_text(o, "type", is_counter ? "counter" : "gauge");
	json_out_text(o, "unit", counter_unit(c->family->name));
	json_out_bool(o, "ofDevice", c->of_device);
	if (c->is_known)
		json_out_reading(o, "value", c->value, c->unit);
	else
		json_out_null(o, "value");
	json_out_real(o, "rate", c->rate);
	json_out_text(o, "help", c->family->help);
	json_out_close(o, '}');
}

char *api_counters(const struct port_counters *c, size_t *ret_len)
{
	char time[UTC_TEXT_SIZE];
	struct json_out o = {0};

	utc_text(c->unix_ms, time);
	json_out_open(&o, NULL, '{');
	json_out_text(&o, "time", time);
	json_out_number(&o, "timeMs", c->taken_ms);
	json_out_text(&o, "device", c->name.device);
	json_out_number(&o, "port", c->name.port);
	json_out_number(&o, "resets", c->resets);
	json_out_number(&o, "overMs", c->over_ms);
	json_out_open(&o, "counters", '[');
	for (size_t i = 0; i < c->n; i++)
		api_add_counter(&o, &c->rows[i]);
	json_out_close(&o, ']');
	json_out_close(&o, '}');
	return api_text(&o, ret_len);
}
