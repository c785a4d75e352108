// SPDX-License-Identifier: Apache-2.0
#include "top_model.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "ctl_age.h"
#include "ctl_show_diagnosis.h"
#include "search.h"

/* Silence is reported after this many sampling intervals, but not before SILENCE_MIN_MS, because
 * answers need time, too. */
#define SILENCE_SAMPLES 3
#define SILENCE_MIN_MS	3000
/* Width of the text with a verdict's pods. */
#define PODS_WIDTH	80

/* --- values ----------------------------------------------------------------------------------- */

static const json_t *top_member(const json_t *object, const char *key)
{
	return json_object_get(object, key);
}

static void top_copy_text(char *ret, size_t size, const char *text)
{
	snprintf(ret, size, "%s", text ? text : "");
	for (char *c = ret; *c; c++)
		*c = *c >= ' ' && *c <= '~' ? *c : '?';
}

static void top_take_text(char *ret, size_t size, const json_t *object, const char *key)
{
	top_copy_text(ret, size, json_string_value(top_member(object, key)));
}

static double number(const json_t *n)
{
	return json_is_number(n) ? json_number_value(n) : (double)NAN;
}

static double top_number_of(const json_t *object, const char *key)
{
	return number(top_member(object, key));
}

/* Sum of the known values; NAN if none is known. *ret_least: only some of them are. */
static double top_sum_of(const json_t *object, const char *const *keys, size_t n, bool *ret_least)
{
	double sum = (double)NAN;
	size_t known = 0;

	for (size_t i = 0; i < n; i++) {
		double value = top_number_of(object, keys[i]);

		if (isnan(value))
			continue;
		sum = known++ ? sum + value : value;
	}
	*ret_least = known > 0 && known < n;
	return sum;
}

static void name_port(char *ret, size_t size, const json_t *object)
{
	const char *device = json_string_value(top_member(object, "device"));
	char text[96];

	snprintf(text, sizeof(text), "%.80s/%lld", device ? device : "",
		 (long long)json_integer_value(top_member(object, "port")));
	top_copy_text(ret, size, text);
}

static struct top_port *top_find_port(const struct top_model *m, const char *name)
{
	return find_first(m->ports, m->n_ports, i, strcmp(m->ports[i].name, name) == 0);
}

/* --- time ------------------------------------------------------------------------------------- */

static void add_apart(struct top_model *m, json_int_t before_ms, json_int_t at_ms)
{
	if (before_ms <= 0 || at_ms <= before_ms)
		return;
	m->apart_ms[1] = m->apart_ms[0];
	m->apart_ms[0] = at_ms - before_ms;
}

/* The shorter of the last two intervals: the longer one may include a pause of sampling or
 * polling. */
static uint64_t usually_apart(const struct top_model *m)
{
	json_int_t last = m->apart_ms[0], before = m->apart_ms[1];

	return (uint64_t)(before > 0 && before < last ? before : last);
}

uint64_t top_silence_ms(const struct top_model *m, uint64_t now_ms)
{
	uint64_t time_ms = (uint64_t)m->time_ms, apart_ms = usually_apart(m);
	uint64_t age_ms = m->time_ms > 0 && now_ms > time_ms ? now_ms - time_ms : 0;

	return age_ms >= SILENCE_MIN_MS && age_ms / SILENCE_SAMPLES >= apart_ms ? age_ms : 0;
}

/* --- the past --------------------------------------------------------------------------------- */

/* Advances the history to a second; the skipped seconds are unknown. */
static void go_on_to(struct top_port *p, uint64_t second)
{
	uint64_t from = second - p->second < TOP_HISTORY ? p->second : second - TOP_HISTORY;

	for (uint64_t i = from + 1; i <= second; i++)
		p->history[i % TOP_HISTORY] = NAN;
	p->second = second;
}

static void top_add_sample(struct top_port *p, json_int_t at_ms, double value)
{
	uint64_t second = (uint64_t)at_ms / 1000;
	float *most = &p->history[second % TOP_HISTORY];

	if (second > p->second)
		go_on_to(p, second);
	if (p->second - second < TOP_HISTORY)
		*most = fmaxf(*most, (float)value); /* fmaxf(3) ignores NAN */
}

double top_second(const struct top_port *p, size_t back)
{
	if (back >= TOP_HISTORY || back > p->second)
		return (double)NAN;
	return (double)p->history[(p->second - back) % TOP_HISTORY];
}

void top_model_past(struct top_model *m, const json_t *history)
{
	const json_t *signals = top_member(history, "signals");
	const json_t *received = top_member(signals, "bytes_received");
	const json_t *sent = top_member(signals, "bytes_sent");
	json_int_t before_ms = 0;
	struct top_port *p;
	char name[96];
	json_t *at;
	size_t i;

	name_port(name, sizeof(name), history);
	p = top_find_port(m, name);
	/* The history of a PF lacks its VFs' bytes. */
	if (!p || p->wire[0] > p->now[TOP_RECEIVED] || p->wire[1] > p->now[TOP_SENT])
		return;
	json_array_foreach (top_member(history, "atMs"), i, at) {
		json_int_t at_ms = json_integer_value(at);

		top_add_sample(p, at_ms,
			       number(json_array_get(received, i)) +
				       number(json_array_get(sent, i)));
		add_apart(m, before_ms, at_ms);
		before_ms = at_ms;
	}
}

/* --- now -------------------------------------------------------------------------------------- */

const char *const *top_parts(enum top_figure figure, size_t *ret_n)
{
	static const char *const cnp[] = {"cnp_received", "cnp_sent"};
	static const char *const loss[] = {"discards", "out_of_sequence"};
	static const char *const retransmissions[] = {"nak", "timeouts"};

	*ret_n = 2;
	return figure == TOP_CNP ? cnp : figure == TOP_LOSS ? loss : retransmissions;
}

static void take_figures(struct top_port *p, const json_t *now)
{
	p->now[TOP_RECEIVED] = top_number_of(now, "bytes_received");
	p->now[TOP_SENT] = top_number_of(now, "bytes_sent");
	p->now[TOP_PAUSE_RECEIVED] = top_number_of(now, "pause_received");
	p->now[TOP_PAUSE_SENT] = top_number_of(now, "pause_sent");
	p->now[TOP_CE] = top_number_of(now, "ce_share");
	for (int i = TOP_CNP; i <= TOP_RETR; i++) {
		size_t n;
		const char *const *parts = top_parts((enum top_figure)i, &n);

		p->now[i] = top_sum_of(now, parts, n, &p->least[i]);
	}
}

static void take_pod(struct top_port *p, const json_t *port)
{
	const char *namespace = json_string_value(top_member(port, "namespace"));
	const char *pod = json_string_value(top_member(port, "pod"));
	char text[400] = "";

	if (pod)
		snprintf(text, sizeof(text), "%.64s%s%.300s", namespace ? namespace : "",
			 namespace ? "/" : "", pod);
	top_copy_text(p->pod, sizeof(p->pod), text);
}

static enum vf_bytes top_contains_of(const json_t *include)
{
	if (!json_is_boolean(include))
		return VF_BYTES_UNKNOWN;
	return json_is_true(include) ? VF_BYTES_CONTAINED : VF_BYTES_SEPARATE;
}

static void top_take_port(struct top_port *p, const json_t *port)
{
	top_take_text(p->device, sizeof(p->device), port, "device");
	top_take_text(p->netdev, sizeof(p->netdev), port, "netdev");
	top_take_text(p->state, sizeof(p->state), port, "state");
	top_take_text(p->function, sizeof(p->function), port, "function");
	top_take_text(p->parent, sizeof(p->parent), port, "parent");
	p->vf_bytes = top_contains_of(top_member(port, "bytesIncludeVfs"));
	top_take_text(p->watch, sizeof(p->watch), port, "watch");
	take_pod(p, port);
	p->line = top_number_of(port, "rateBitsPerSecond") / 8;
	take_figures(p, top_member(port, "now"));
	p->seen = true;
}

static double top_add(double sum, double value)
{
	if (isnan(value))
		return sum;
	return isnan(sum) ? value : sum + value;
}

/* Returns a PF's figure plus that of its VFs, unless the PF's includes it. If that is unknown,
 * returns the larger of both and sets *ret_least. */
static double top_with_vfs(const struct top_port *head, double own, double vfs, bool *ret_least)
{
	*ret_least |= head->vf_bytes == VF_BYTES_UNKNOWN && own > 0 && vfs > 0;
	return vf_bytes_wire(head->vf_bytes, own, vfs);
}

/* What the link carries: a PF's bytes with those of its VFs. */
static void add_wires(struct top_model *m, json_int_t time_ms)
{
	static const enum top_figure figures[TOP_WIRE] = {TOP_RECEIVED, TOP_SENT};

	for (size_t i = 0; i < m->n_ports; i++) {
		struct top_port *p = &m->ports[i];

		for (size_t k = 0; k < TOP_WIRE; k++) {
			double vfs = (double)NAN;
			bool least = false;

			for (size_t v = 0; p->function[0] && !p->parent[0] && v < m->n_ports; v++)
				if (strcmp(m->ports[v].parent, p->function) == 0)
					vfs = top_add(vfs, m->ports[v].now[figures[k]]);
			p->wire[k] = top_with_vfs(p, p->now[figures[k]], vfs, &least);
		}
		top_add_sample(p, time_ms, p->wire[0] + p->wire[1]);
	}
}

/* Finds or adds a port. NULL: out of memory. */
static struct top_port *get_port(struct top_model *m, const char *name)
{
	struct top_port *p = top_find_port(m, name);

	if (p)
		return p;
	p = array_push(m->ports, m->n_ports);
	if (!p)
		return NULL;
	snprintf(p->name, sizeof(p->name), "%s", name);
	for (size_t i = 0; i < TOP_HISTORY; i++)
		p->history[i] = NAN;
	return p;
}

static void drop_unseen(struct top_model *m)
{
	size_t n = 0;

	for (size_t i = 0; i < m->n_ports; i++)
		if (m->ports[i].seen)
			m->ports[n++] = m->ports[i];
	m->n_ports = n;
}

/* The time of a fault, in the clock of the samples; 0 = unknown. */
static json_int_t top_onset_ms(const json_t *ports, const json_t *trouble)
{
	int64_t now = ctl_age_parse(json_string_value(top_member(ports, "time")));
	int64_t since = ctl_age_parse(json_string_value(top_member(trouble, "since")));
	json_int_t time_ms = json_integer_value(top_member(ports, "timeMs"));

	if (since < 0 || now < since || time_ms <= (now - since) * 1000)
		return 0;
	return time_ms - (now - since) * 1000;
}

/* Notes the troubles that are no verdicts. */
static void note_troubles(struct top_port *p, const json_t *troubles)
{
	json_t *t;
	size_t i;

	p->is_down = p->is_unhealthy = false;
	json_array_foreach ((json_t *)troubles, i, t) {
		const char *kind = json_string_value(top_member(t, "kind"));

		if (!kind || strcmp(kind, "verdict") == 0 ||
		    json_integer_value(top_member(t, "level")) < CTL_LEVEL_WARNING)
			continue;
		if (strcmp(kind, "link") == 0)
			p->is_down = true;
		else
			p->is_unhealthy = true;
	}
}

/* Copies the port's worst trouble, which is the first in the list. */
static void take_trouble(struct top_port *p, const json_t *port, const json_t *ports)
{
	const json_t *t = json_array_get(top_member(port, "troubles"), 0);

	note_troubles(p, top_member(port, "troubles"));
	p->level = (int)json_integer_value(top_member(t, "level"));
	p->of_pf = json_is_true(top_member(t, "ofPf"));
	p->before_start = json_is_true(top_member(t, "orEarlier"));
	p->onset_ms = top_onset_ms(ports, t);
	top_take_text(p->kind, sizeof(p->kind), t, "kind");
	top_take_text(p->cause, sizeof(p->cause), t, "word");
	top_take_text(p->sentence, sizeof(p->sentence), t, "what");
}

static int take_ports(struct top_model *m, const json_t *ports)
{
	json_int_t time_ms = json_integer_value(top_member(ports, "timeMs"));
	json_t *port;
	size_t i;

	for (i = 0; i < m->n_ports; i++)
		m->ports[i].seen = false;
	json_array_foreach (top_member(ports, "ports"), i, port) {
		struct top_port *p;
		char name[96];

		name_port(name, sizeof(name), port);
		p = get_port(m, name);
		if (!p)
			return -ENOMEM;
		p->number = json_integer_value(top_member(port, "port"));
		top_take_port(p, port);
		take_trouble(p, port, ports);
	}
	drop_unseen(m);
	add_wires(m, time_ms);
	add_apart(m, m->time_ms, time_ms);
	m->time_ms = time_ms;
	top_take_text(m->time, sizeof(m->time), ports, "time");
	return 0;
}

/* True if the PF of the port has a problem, which explains that the port is down. */
static bool has_pf_with_problem(const struct top_model *m, const struct top_port *p)
{
	for (size_t i = 0; p->parent[0] && i < m->n_ports; i++)
		if (strcmp(m->ports[i].function, p->parent) == 0 &&
		    m->ports[i].level >= CTL_LEVEL_WARNING)
			return true;
	return false;
}

/* If the verdict is the port's worst trouble, copies its pods and its exact onset. */
static void take_verdict(struct top_port *p, const json_t *verdict)
{
	const char *key = p->of_pf ? "function" : "device";
	const json_t *first = json_array_get(top_member(verdict, "pods"), 0);
	const char *cause = json_string_value(top_member(verdict, "cause"));
	const char *of = json_string_value(top_member(verdict, key));
	char pods[sizeof(p->pods)], pod[400] = "";

	if (strcmp(p->kind, "verdict") != 0 || !cause || strcmp(cause, p->cause) != 0 || !of ||
	    strcmp(of, p->of_pf ? p->parent : p->device) != 0 ||
	    json_integer_value(top_member(verdict, "port")) != p->number)
		return;
	p->onset_ms = json_integer_value(top_member(verdict, "onsetMs"));
	ctl_pods_text(verdict, PODS_WIDTH, pods, sizeof(pods));
	top_copy_text(p->pods, sizeof(p->pods), pods);
	if (first)
		snprintf(pod, sizeof(pod), "%.64s/%.300s",
			 json_string_value(top_member(first, "namespace")) ?: "-",
			 json_string_value(top_member(first, "name")) ?: "-");
	top_copy_text(p->first_pod, sizeof(p->first_pod), pod);
	p->more_pods = json_integer_value(top_member(verdict, "podCount")) - 1;
}

/* Counts the ports with troubles that are no verdicts. A port that is down and unhealthy counts
 * once. */
static void count_troubles(struct top_model *m)
{
	m->ports_down = m->unhealthy = 0;
	for (size_t i = 0; i < m->n_ports; i++) {
		const struct top_port *p = &m->ports[i];

		if (p->is_unhealthy)
			m->unhealthy++;
		else if (p->is_down)
			m->ports_down += !has_pf_with_problem(m, p);
	}
}

static void count_verdict(struct top_model *m, int level)
{
	m->critical += level >= 3;
	m->warnings += level == CTL_LEVEL_WARNING;
	m->information += level == 1;
}

static void take_verdicts(struct top_model *m, const json_t *diagnosis)
{
	json_t *verdict;
	size_t i;

	m->critical = m->warnings = m->information = 0;
	m->judged = false;
	for (i = 0; i < m->n_ports; i++) {
		m->ports[i].first_pod[0] = m->ports[i].pods[0] = '\0';
		m->judged |= strcmp(m->ports[i].watch, "judged") == 0 ||
			     strcmp(m->ports[i].watch, "down") == 0;
	}
	json_array_foreach (top_member(diagnosis, "verdicts"), i, verdict) {
		count_verdict(m, (int)json_integer_value(top_member(verdict, "level")));
		for (size_t k = 0; k < m->n_ports; k++)
			take_verdict(&m->ports[k], verdict);
	}
	count_troubles(m);
}

int top_model_update(struct top_model *m, const json_t *ports, const json_t *diagnosis)
{
	int r = ports ? take_ports(m, ports) : 0;

	if (diagnosis)
		take_verdicts(m, diagnosis);
	return r;
}

void top_model_done(struct top_model *m)
{
	free(m->ports);
	*m = (struct top_model){0};
}

double top_use(const struct top_port *p)
{
	double received = p->wire[0], sent = p->wire[1];

	if (!(p->line > 0))
		return (double)NAN;
	return (isnan(sent) || received > sent ? received : sent) / p->line;
}

int64_t top_trouble_age(const struct top_model *m, const struct top_port *p)
{
	return p->level > 0 && p->onset_ms > 0 && m->time_ms >= p->onset_ms
		       ? (int64_t)(m->time_ms - p->onset_ms) / 1000
		       : -1;
}

/* The PF's port of a VF's port; NULL if it is not among those in `order`. */
static const struct top_port *top_head_of(const struct top_model *m, const size_t *order, size_t n,
					  const struct top_port *p)
{
	for (size_t i = 0; p->parent[0] && i < n; i++)
		if (strcmp(m->ports[order[i]].function, p->parent) == 0)
			return &m->ports[order[i]];
	return NULL;
}

static struct top_sum top_sum_of_vfs(const struct top_model *m, const size_t *order, size_t n,
				     const struct top_port *head, enum top_figure figure)
{
	struct top_sum sum = {.value = (double)NAN};

	for (size_t i = 0; head->function[0] && i < n; i++) {
		double value = m->ports[order[i]].now[figure];

		if (strcmp(m->ports[order[i]].parent, head->function) != 0)
			continue;
		sum.unseen += isnan(value);
		sum.value = top_add(sum.value, value);
	}
	return sum;
}

struct top_sum top_total(const struct top_model *m, const size_t *order, size_t n,
			 enum top_figure figure)
{
	const bool is_bytes = figure == TOP_RECEIVED || figure == TOP_SENT;
	struct top_sum sum = {.value = (double)NAN};

	for (size_t i = 0; i < n; i++) {
		const struct top_port *p = &m->ports[order[i]];
		double value = p->now[figure];

		if (is_bytes && top_head_of(m, order, n, p))
			continue;
		sum.unseen += isnan(value);
		sum.least |= p->least[figure];
		if (is_bytes && p->parent[0] == '\0') {
			struct top_sum vfs = top_sum_of_vfs(m, order, n, p, figure);

			if (p->vf_bytes != VF_BYTES_CONTAINED)
				sum.unseen += vfs.unseen;
			value = top_with_vfs(p, value, vfs.value, &sum.least);
		}
		sum.value = top_add(sum.value, value);
	}
	sum.least |= sum.unseen > 0 && !isnan(sum.value);
	return sum;
}

void top_model_identity(struct top_model *m, const json_t *index, uint64_t now_ms)
{
	const json_t *up = top_member(index, "upSeconds");

	top_take_text(m->node, sizeof(m->node), index, "node");
	top_take_text(m->version, sizeof(m->version), index, "version");
	m->up_s = json_is_integer(up) ? json_integer_value(up) : -1;
	m->up_at_ms = now_ms;
}
