// SPDX-License-Identifier: Apache-2.0
#include "api_live.h"

#include <stdlib.h>
#include <string.h>

#include "api_attachments.h"
#include "api_ports.h"
#include "diagnosis_json.h"
#include "diagnosis_report.h"
#include "fnv.h"
#include "utc_text.h"
#include "version.h"

#define EVENTS_MAX 100

/* Returns the time of the newest sample that the client has; 0: none. A since_ms later than the
 * report is from before a reboot, so it counts as 0. */
static uint64_t known_ms(const struct live_input *s, const struct live_query *q)
{
	return s->report && q->since_ms <= s->report->now_ms ? q->since_ms : 0;
}

static struct event_filter filter_of(const struct live_query *q)
{
	return (struct event_filter){.after = q->events_after, .limit = EVENTS_MAX};
}

bool api_live_any(const struct live_input *s, const struct live_query *q)
{
	struct event_filter filter = filter_of(q);

	return (s->report && s->report->now_ms > known_ms(s, q)) ||
	       (s->events && api_events_any(s->events, &filter));
}

void live_cache_done(struct live_cache *c)
{
	free(c->text);
	*c = (struct live_cache){0};
}

/* --- rows and verdicts ------------------------------------------------------------------------ */

static void add_signal_words(struct json_out *o)
{
	json_out_open(o, "signals", '[');
	for (int i = 0; i < N_SIGNALS; i++)
		json_out_text(o, NULL, signal_word((enum signal)i));
	json_out_close(o, ']');
}

static void api_live_add_port(struct json_out *o, const struct diagnosis_report *r, size_t port,
			      unsigned back)
{
	json_out_open(o, NULL, '[');
	json_out_text(o, NULL, r->ports[port].device);
	json_out_number(o, NULL, r->ports[port].port);
	for (int i = 0; i < N_SIGNALS; i++)
		json_out_real(o, NULL, diagnosis_report_signal(r, port, (enum signal)i, back));
	json_out_close(o, ']');
}

static void api_live_add_row(struct json_out *o, const struct diagnosis_report *r, unsigned back)
{
	json_out_open(o, NULL, '{');
	json_out_number(o, "atMs", diagnosis_report_row_ms(r, back));
	json_out_open(o, "ports", '[');
	for (size_t i = 0; i < r->n_ports; i++)
		api_live_add_port(o, r, i, back);
	json_out_close(o, ']');
	json_out_close(o, '}');
}

static void api_live_add_rows(struct json_out *o, const struct diagnosis_report *r,
			      uint64_t since_ms)
{
	unsigned n = 0, rows = diagnosis_report_rows(r), max = since_ms ? LIVE_ROWS_MAX : 1;

	while (n < rows && n < max && diagnosis_report_row_ms(r, n) > since_ms)
		n++;
	/* complete: the row before the first one written is not newer than since_ms, so the client
	 * has it and no row is missing in between. */
	json_out_bool(o, "complete",
		      since_ms && n < rows && diagnosis_report_row_ms(r, n) <= since_ms);
	json_out_open(o, "rows", '[');
	for (unsigned back = n; back-- > 0;)
		api_live_add_row(o, r, back);
	json_out_close(o, ']');
}

/* Adds the open verdicts, the worst first, so that the worst ones are listed if not all fit. */
static void api_live_add_verdicts(struct json_out *o, const struct diagnosis_report *r)
{
	uint64_t n = 0, problems = 0;

	json_out_open(o, "verdicts", '[');
	for (int severity = SEVERITY_CRITICAL; severity > SEVERITY_NONE; severity--)
		for (size_t i = r->n_verdicts; i-- > 0;) {
			const struct verdict *v = &r->verdicts[i];

			if (!verdict_is_reported(v) || (int)v->severity != severity)
				continue;
			problems += v->severity >= SEVERITY_WARNING;
			if (n++ < LIVE_VERDICTS_MAX)
				json_out_value(o, NULL,
					       verdict_json(v, r->verdicts, r->n_verdicts));
		}
	json_out_close(o, ']');
	json_out_number(o, "verdictCount", n);
	json_out_number(o, "problemCount", problems);
}

/* Adds the verdicts that have ended. Always the full list: it is short, and mostly empty. */
static void api_live_add_ended(struct json_out *o, const struct diagnosis_report *r)
{
	json_out_open(o, "ended", '[');
	for (size_t i = r->n_ended; i-- > 0;)
		json_out_value(o, NULL, ended_verdict_json(&r->ended[i]));
	json_out_close(o, ']');
}

static uint64_t ports_digest(const struct diagnosis_report *r)
{
	uint64_t h = FNV1A_START;

	for (size_t i = 0; i < r->n_ports; i++) {
		const struct port_watched *p = &r->ports[i];
		const uint64_t how = (uint64_t)p->port << 8 | (uint64_t)p->watch << 1 |
				     (p->clear_ms > 0);

		h = fnv1a(h, p->device, strlen(p->device) + 1);
		h = fnv1a(h, &how, sizeof(how));
	}
	return h >> 32; /* a double in the reader must hold it exactly */
}

static void add_report(struct json_out *o, const struct diagnosis_report *r, uint64_t since_ms)
{
	api_add_time(o, r);
	json_out_number(o, "portsDigest", ports_digest(r));
	add_signal_words(o);
	api_live_add_rows(o, r, since_ms);
	api_live_add_verdicts(o, r);
	api_live_add_ended(o, r);
}

/* Renders the report again if it or since_ms has changed. False: out of memory. */
static bool refresh_cache(struct live_cache *c, const struct diagnosis_report *r, uint64_t since_ms)
{
	struct json_out o = {0};
	size_t len;
	char *text;

	if (c->text && c->time_ms == r->now_ms && c->since_ms == since_ms)
		return true;
	add_report(&o, r, since_ms);
	text = api_text(&o, &len);
	if (!text)
		return false;
	live_cache_done(c);
	*c = (struct live_cache){text, len, r->now_ms, since_ms};
	return true;
}

/* --- the document ----------------------------------------------------------------------------- */

static void add_start(struct json_out *o, const struct live_input *s)
{
	char started[UTC_TEXT_SIZE];

	utc_text(s->started_unix_ms, started);
	json_out_text(o, "node", s->node ? s->node : "");
	json_out_number(o, "nowMs", s->now_ms);
	json_out_text(o, "started", started);
	json_out_number(o, "startedMs", s->started_unix_ms);
	json_out_number(o, "everyMs", s->every_ms);
	json_out_text(o, "version", ROCELET_VERSION);
}

static void add_generations(struct json_out *o, const struct live_input *s)
{
	json_out_open(o, "generations", '{');
	json_out_number(o, "devices", s->devices);
	json_out_number(o, "resources", s->resources);
	json_out_number(o, "attachments", s->attachments);
	json_out_number(o, "settings", s->settings);
	json_out_number(o, "config", s->config);
	json_out_close(o, '}');
}

/* Appends rendered JSON: the value of a member, or a list of members. NULL: out of memory. */
static void api_live_add_text(struct json_out *o, const char *text, size_t len)
{
	if (text)
		text_add(&o->text, text, len);
	else
		o->text.failed = true;
}

static void add_no_events(struct json_out *o, uint64_t generation)
{
	json_out_open(o, "events", '{');
	json_out_number(o, "generation", generation);
	json_out_open(o, "events", '[');
	json_out_close(o, ']');
	json_out_close(o, '}');
}

static void add_events(struct json_out *o, const struct live_input *s, const struct live_query *q)
{
	struct event_filter filter = filter_of(q);
	size_t len = 0;
	char *text;

	/* Most documents have no events, and each client sends a request every second. */
	if (!s->events || !api_events_any(s->events, &filter)) {
		add_no_events(o, s->events ? s->events->generation : 0);
		return;
	}
	text = api_events(s->events, &filter, &len);
	text_add(&o->text, ",\"events\":", strlen(",\"events\":"));
	api_live_add_text(o, text, len);
	free(text);
}

char *api_live(struct live_cache *c, const struct live_input *s, const struct live_query *q,
	       size_t *ret_len)
{
	struct json_out o = {0};

	if (s->report && !refresh_cache(c, s->report, known_ms(s, q)))
		return NULL;
	json_out_open(&o, NULL, '{');
	add_start(&o, s);
	add_generations(&o, s);
	add_events(&o, s, q);
	if (s->report) {
		text_add(&o.text, ",", 1);
		api_live_add_text(&o, c->text, c->len);
	} else {
		json_out_null(&o, "timeMs");
	}
	json_out_close(&o, '}');
	return api_text(&o, ret_len);
}
