// SPDX-License-Identifier: Apache-2.0
#include "scenario.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "scenario_lines.h"
#include "search.h"

#define T_MAX	    1e9 /* seconds */
/* Lines less than this apart are one point in time, unless a port occurs twice. */
#define SAME_TIME_S 0.3
#define TITLE_SIZE  128

struct scenario {
	struct scenario_lines lines;
	struct thresholds *limits;
	char title[TITLE_SIZE];
	json_t *next; /* first line of the next point in time; owned */
	double start_unix, interval_s;
	double t, full_t; /* of the present point in time, and of the last one with all ports */
	bool has_t, partial;
	double wall;		      /* unix seconds; NaN = derived from start and t */
	double source_age[N_SOURCES]; /* age in seconds; 0 unless the file says otherwise */
	bool source_used[N_SOURCES];
	struct scenario_port **ports;
	struct port_observation *observed;
	size_t n_ports, room_ports;
};

/* --- ports ------------------------------------------------------------------------------------ */

/* Finds or adds a port. NULL: too many ports, name too long, or out of memory. */
static struct scenario_port *scenario_find_port(struct scenario *s, const char *device,
						uint32_t port)
{
	struct scenario_port *p;

	for (size_t i = 0; i < s->n_ports; i++)
		if (s->ports[i]->o.port == port && strcmp(s->ports[i]->o.device, device) == 0)
			return s->ports[i];
	if (s->n_ports == SCENARIO_PORTS_MAX || strlen(device) >= RDMA_NAME_SIZE) {
		scenario_report(MISTAKE_TOO_MANY_PORTS, device, &s->lines);
		return NULL;
	}
	if (s->n_ports == s->room_ports) {
		size_t room = s->room_ports ? 2 * s->room_ports : 16;
		void *ports = reallocarray(s->ports, room, sizeof(void *)), *observed;

		if (!ports)
			return NULL;
		s->ports = ports;
		observed = reallocarray(s->observed, room, sizeof(*s->observed));
		if (!observed)
			return NULL;
		s->observed = observed;
		s->room_ports = room;
	}
	p = malloc(sizeof(*p));
	if (!p)
		return NULL;
	scenario_port_init(p, device, port);
	p->sampled = false;
	s->ports[s->n_ports++] = p;
	return p;
}

static struct scenario_port *scenario_port_of(struct scenario *s, const json_t *object)
{
	const char *device = json_string_value(json_object_get(object, "device"));
	const json_t *port = json_object_get(object, "port");
	json_int_t n = port ? json_integer_value(port) : 1;

	if (!device || !device[0]) {
		scenario_report(MISTAKE_NO_DEVICE, NULL, &s->lines);
		return NULL;
	}
	if (n < 0 || n > UINT32_MAX || (port && !json_is_integer(port))) {
		scenario_report(MISTAKE_WRONG_TYPE, "port", &s->lines);
		return NULL;
	}
	return scenario_find_port(s, device, (uint32_t)n);
}

/* --- the header ------------------------------------------------------------------------------- */

static void take_thresholds(struct scenario *s, const json_t *object)
{
	const char *key;
	json_t *v;

	json_object_foreach ((json_t *)object, key, v) {
		struct err e = {0};

		if (!json_is_number(v))
			scenario_report(MISTAKE_WRONG_TYPE, key, &s->lines);
		else if (thresholds_set(s->limits, key, json_number_value(v), &e) < 0)
			scenario_report(MISTAKE_THRESHOLD, e.msg, &s->lines);
	}
}

static const char *const port_skips[] = {"device", "port", "values", "about", NULL};

static void take_header_ports(struct scenario *s, const json_t *list)
{
	const struct scenario_complaints c = {scenario_report, &s->lines};
	json_t *object;
	size_t i;

	json_array_foreach ((json_t *)list, i, object) {
		struct scenario_port *p = scenario_port_of(s, object);

		if (!p)
			continue;
		scenario_port_describe(p, object, port_skips, &c);
		scenario_port_values(p, json_object_get(object, "values"), &c);
		scenario_port_clear(p);
	}
}

static void take_header(struct scenario *s, const json_t *h)
{
	static const char *const known[] = {"scenario",
					    "version",
					    "about",
					    "start",
					    "interval",
					    "thresholds",
					    "expect_congestion_control",
					    "ports",
					    "expect",
					    "judge",
					    NULL};
	const char *title = json_string_value(json_object_get(h, "scenario"));
	const char *expected = json_string_value(json_object_get(h, "expect_congestion_control"));
	double interval = json_number_value(json_object_get(h, "interval"));
	struct err e = {0};
	const char *key;
	json_t *v;

	json_object_foreach ((json_t *)h, key, v) {
		size_t i = 0;

		while (known[i] && strcmp(known[i], key) != 0)
			i++;
		if (!known[i])
			scenario_report(MISTAKE_UNKNOWN_KEY, key, &s->lines);
	}
	snprintf(s->title, sizeof(s->title), "%s", title ? title : "");
	s->start_unix = json_number_value(json_object_get(h, "start"));
	s->interval_s = interval > 0 && interval < T_MAX ? interval : 1;
	if (expected && thresholds_expect(s->limits, expected, &e) < 0)
		scenario_report(MISTAKE_THRESHOLD, e.msg, &s->lines);
	take_thresholds(s, json_object_get(h, "thresholds"));
	take_header_ports(s, json_object_get(h, "ports"));
}

/* --- samples ---------------------------------------------------------------------------------- */

static void take_sources(struct scenario *s, const json_t *sources)
{
	for (int i = 0; i < N_SOURCES; i++) {
		const json_t *v = json_object_get(sources, source_name((enum source)i));
		const json_t *age = json_is_object(v) ? json_object_get(v, "age") : v;

		if (!json_is_number(age))
			continue;
		s->source_used[i] = true;
		s->source_age[i] = json_number_value(age);
	}
}

static void scenario_take_port(struct scenario *s, const json_t *object, const char *const *skip)
{
	const struct scenario_complaints c = {scenario_report, &s->lines};
	struct scenario_port *p = scenario_port_of(s, object);

	if (!p)
		return;
	if (p->sampled) {
		scenario_report(MISTAKE_TWICE, p->o.device, &s->lines);
		return;
	}
	p->sampled = true;
	scenario_port_describe(p, object, skip, &c);
	scenario_port_values(p, json_object_get(object, "values"), &c);
}

static void scenario_take_sample(struct scenario *s, const json_t *object)
{
	static const char *const keys[] = {"t",	     "wall", "sources", "ports", "partial",
					   "device", "port", "values",	"about", NULL};
	const json_t *wall = json_object_get(object, "wall"), *list;
	json_t *port;
	size_t i;

	if (json_is_number(wall))
		s->wall = json_number_value(wall);
	s->partial |= json_is_true(json_object_get(object, "partial"));
	take_sources(s, json_object_get(object, "sources"));
	list = json_object_get(object, "ports");
	json_array_foreach ((json_t *)list, i, port) {
		scenario_take_port(s, port, port_skips);
	}
	if (json_object_get(object, "device") || (!list && json_object_get(object, "values")))
		scenario_take_port(s, object, keys);
}

static bool time_of(struct scenario *s, const json_t *object, double *ret)
{
	const json_t *t = json_object_get(object, "t");

	*ret = json_number_value(t);
	if (json_is_number(t) && *ret >= 0 && *ret <= T_MAX)
		return true;
	scenario_report(json_object_get(object, "scenario") ? MISTAKE_LATE_HEADER : MISTAKE_NO_TIME,
			NULL, &s->lines);
	return false;
}

/* True if the line begins the next point in time: it is later by more than the time that sampling
 * needs, or its port has occurred already. */
static bool begins_next(struct scenario *s, const json_t *object, double t)
{
	const char *device = json_string_value(json_object_get(object, "device"));
	const json_t *port = json_object_get(object, "port");
	uint32_t n = port ? (uint32_t)json_integer_value(port) : 1;

	if (t == s->t)
		return false;
	if (t - s->t >= SAME_TIME_S || !device)
		return true;
	return any_of(s->n_ports, i,
		      s->ports[i]->sampled && s->ports[i]->o.port == n &&
			      strcmp(s->ports[i]->o.device, device) == 0);
}

static void begin_time(struct scenario *s, double t)
{
	s->t = t;
	s->has_t = true;
	s->partial = false;
	s->wall = (double)NAN;
	for (int i = 0; i < N_SOURCES; i++)
		s->source_age[i] = 0;
	for (size_t i = 0; i < s->n_ports; i++)
		scenario_port_clear(s->ports[i]);
}

/* Completes the observation. Ports without a line are not visible, except in a partial sample,
 * which contains only the ports that were read. */
static void scenario_finish(struct scenario *s, struct observation *ret)
{
	double started = s->start_unix > 0 ? s->start_unix + s->t : 0;
	double unix_s = isnan(s->wall) ? started : s->wall;
	size_t missing = 0, n = 0;

	for (size_t i = 0; i < s->n_ports; i++)
		missing += !s->ports[i]->sampled;
	if (missing && s->t - s->full_t < s->interval_s / 2)
		s->partial = true;
	if (!s->partial)
		s->full_t = s->t;
	for (size_t i = 0; i < s->n_ports; i++) {
		struct scenario_port *p = s->ports[i];

		if (!p->sampled && s->partial)
			continue;
		p->o.visible &= p->sampled;
		s->observed[n++] = p->o;
	}
	*ret = (struct observation){
		.now_ms = SCENARIO_BASE_MS + (uint64_t)llround(s->t * 1000),
		.unix_ms = unix_s > 0 && unix_s < 1e12 ? (uint64_t)(unix_s * 1000) : 0,
		.partial = s->partial,
		.ports = s->observed,
		.n_ports = n};
	for (int i = 0; i < N_SOURCES; i++) {
		double age_ms = s->source_age[i] * 1000;

		ret->sources[i].used = s->source_used[i];
		ret->sources[i].read_ms = age_ms >= 0 && age_ms < (double)ret->now_ms
						  ? ret->now_ms - (uint64_t)age_ms
						  : 0;
	}
	s->has_t = false;
}

int scenario_next(struct scenario *s, struct observation *ret, struct err *e)
{
	json_t *object;
	double t;
	int r = 1;

	for (;;) {
		object = take_ptr(s->next);
		if (!object)
			r = scenario_lines_next(&s->lines, &object, e);
		if (r <= 0)
			break;
		if (!time_of(s, object, &t)) {
			json_decref(object);
			continue;
		}
		if (t < s->t) {
			scenario_report(MISTAKE_TIME_BACK, NULL, &s->lines);
			json_decref(object);
			continue;
		}
		if (s->has_t && begins_next(s, object, t)) {
			s->next = object;
			scenario_finish(s, ret);
			return 1;
		}
		if (!s->has_t && t == s->t && t >= 0) {
			scenario_report(MISTAKE_TWICE, "everything", &s->lines);
			json_decref(object);
			continue;
		}
		if (!s->has_t)
			begin_time(s, t);
		scenario_take_sample(s, object);
		json_decref(object);
	}
	if (r < 0 || !s->has_t)
		return r;
	scenario_finish(s, ret);
	return 1;
}

/* --- open, close ------------------------------------------------------------------------------ */

int scenario_open(struct scenario **ret, FILE *file, const char *name, struct thresholds *limits,
		  scenario_complain_fn *complain, void *arg, struct err *e)
{
	struct scenario *s = calloc(1, sizeof(*s));
	json_t *first;
	int r;

	if (!s)
		return err_set(e, -ENOMEM, "out of memory");
	s->lines = (struct scenario_lines){
		.file = file, .name = name, .complain = complain, .arg = arg};
	s->limits = limits;
	s->interval_s = 1;
	s->t = s->full_t = -1;
	r = scenario_lines_next(&s->lines, &first, e);
	if (r < 0) {
		scenario_free(s);
		return r;
	}
	if (first && json_object_get(first, "t"))
		s->next = first;
	else if (first) {
		take_header(s, first);
		json_decref(first);
	}
	*ret = s;
	return 0;
}

void scenario_free(struct scenario *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n_ports; i++)
		free(s->ports[i]);
	free(s->ports);
	free(s->observed);
	free(s->lines.line);
	json_decref(s->next);
	free(s);
}

const char *scenario_title(const struct scenario *s)
{
	return s->title;
}

void scenario_sum_up(struct scenario *s)
{
	scenario_lines_sum_up(&s->lines);
}
