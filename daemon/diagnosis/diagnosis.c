// SPDX-License-Identifier: Apache-2.0
/* diagnosis.c - adds, judges and removes the ports of a node, sample by sample. */
#include "diagnosis_report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "diagnosis_state.h"
#include "vf_bytes.h"

/* After this many samples in which a port is missing or unreadable, its verdicts are closed. A port
 * that is missing is also removed. */
#define GONE_AFTER    3
/* Two samples that are more than this many usual intervals apart have a gap between them. */
#define GAP_INTERVALS 4
/* Samples with rates that a port needs before it counts as judged. */
#define WARM_SAMPLES  3
#define ROOM_STEP     16
/* Share of the line: RDMA uses a port that carries more than this over a minute. */
#define USED_SHARE    1e-4

int diagnosis_new(struct diagnosis **ret, const struct thresholds *limits)
{
	struct diagnosis *d = calloc(1, sizeof(*d));

	if (!d)
		return -ENOMEM;
	d->limits = *limits;
	*ret = d;
	return 0;
}

static void free_port(struct watched_port *p)
{
	window_done(&p->window);
	port_rates_done(&p->rates);
	latches_done(&p->latches);
	free(p->sums);
	free(p);
}

static void free_removed(struct diagnosis *d)
{
	struct watched_port *p;

	while ((p = d->removed) != NULL) {
		d->removed = p->next_removed;
		free_port(p);
	}
}

void diagnosis_free(struct diagnosis *d)
{
	if (!d)
		return;
	free_removed(d);
	for (size_t i = 0; i < d->n_ports; i++)
		free_port(d->ports[i]);
	free(d->ports);
	free(d->loads);
	free(d->observed);
	free(d->verdicts);
	free(d->owners);
	undecided_done(&d->undecided);
	free(d);
}

void diagnosis_set_thresholds(struct diagnosis *d, const struct thresholds *limits)
{
	d->limits = *limits;
}

/* --- ports ------------------------------------------------------------------------------------ */

static bool diagnosis_is_port(const struct watched_port *p, const struct port_observation *o)
{
	return p->port == o->port && strncmp(p->device, o->device, sizeof(p->device)) == 0;
}

/* Finds a port in the sample. The order of the ports rarely changes, so the port is usually at the
 * hint. */
static struct watched_port *diagnosis_find_port(const struct diagnosis *d,
						const struct port_observation *o, size_t hint)
{
	if (hint < d->n_ports && diagnosis_is_port(d->ports[hint], o))
		return d->ports[hint];
	for (size_t i = 0; i < d->n_ports; i++)
		if (diagnosis_is_port(d->ports[i], o))
			return d->ports[i];
	return NULL;
}

/* Adds a port. NULL: out of memory. */
static struct watched_port *diagnosis_add_port(struct diagnosis *d,
					       const struct port_observation *o)
{
	struct watched_port *p;

	if (d->n_ports == d->room_ports) {
		void *more = reallocarray(d->ports, d->room_ports + ROOM_STEP, sizeof(void *));

		if (!more)
			return NULL;
		d->ports = more;
		d->room_ports += ROOM_STEP;
	}
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	memcpy(p->device, o->device, sizeof(p->device));
	p->device[sizeof(p->device) - 1] = '\0';
	p->port = o->port;
	p->index = RDMA_INDEX_NONE;
	p->id = ++d->next_id;
	port_rates_init(&p->rates);
	window_init(&p->window);
	d->ports[d->n_ports++] = p;
	return p;
}

static int diagnosis_make_room(struct diagnosis *d, size_t n)
{
	void *loads, *observed;

	if (n <= d->room_loads)
		return 0;
	loads = reallocarray(d->loads, n, sizeof(*d->loads));
	if (loads)
		d->loads = loads;
	observed = reallocarray(d->observed, n, sizeof(void *));
	if (observed)
		d->observed = observed;
	if (!loads || !observed)
		return -ENOMEM;
	d->room_loads = n;
	return 0;
}

static void diagnosis_close_all(struct diagnosis *d, struct watched_port *p,
				enum close_reason reason)
{
	for (struct latch *l = p->latches.first, *next; l; l = next) {
		next = l->next;
		if (latch_is_open(l))
			verdicts_close(d, p, l->cause, reason);
		latch_close(l);
		latches_settle(&p->latches, l, d->now_ms);
	}
}

static void count_port_as_missing(struct diagnosis *d, struct watched_port *p)
{
	window_skip(&p->window, &d->timeline);
	if (++p->unseen >= GONE_AFTER)
		diagnosis_close_all(d, p, CLOSE_GONE);
}

/* Handles the ports that the full sample did not contain; removes those missing for too long. */
static void count_others_as_missing(struct diagnosis *d)
{
	size_t kept = 0;

	for (size_t i = 0; i < d->n_ports; i++) {
		struct watched_port *p = d->ports[i];

		if (!p->seen_in_tick)
			count_port_as_missing(d, p);
		if (p->seen_in_tick || p->unseen < GONE_AFTER) {
			d->ports[kept++] = p;
			continue;
		}
		undecided_set(&d->undecided, &p->undecided, NULL, 0);
		p->next_removed = d->removed;
		d->removed = p;
	}
	d->n_ports = kept;
}

/* --- one sample of one port ------------------------------------------------------------------- */

/* Adds a sample to the window. row: also completes a row, the mean of the samples since the
 * previous one. -ENOMEM: the sample is not included. */
static int fill_window(struct diagnosis *d, struct watched_port *p, const double now[N_SIGNALS],
		       bool row)
{
	struct row_sums of_row = {0}, *sums = p->sums ? p->sums : &of_row;
	double mean[N_SIGNALS];

	if (!row && !p->sums)
		sums = p->sums = calloc(1, sizeof(*sums));
	if (!sums)
		return -ENOMEM;
	for (int s = 0; s < N_SIGNALS; s++) {
		if (!isnan(now[s])) {
			sums->sum[s] += now[s] * p->interval_s;
			sums->seconds[s] += p->interval_s;
		}
		mean[s] = sums->seconds[s] > 0 ? sums->sum[s] / sums->seconds[s] : (double)NAN;
	}
	if (!row)
		return 0;
	window_set(&p->window, &d->timeline, mean);
	free(take_ptr(p->sums));
	return 0;
}

/* Drops the counters' bases, so that the next sample only sets them: the first sample of a port, or
 * the first one after a gap, has no rates. */
static void restart_port(struct watched_port *p)
{
	port_rates_restart(&p->rates);
	p->history.watched_ms = 0;
	p->clear_ms = 0;
	for (struct latch *l = p->latches.first; l; l = l->next)
		latch_gap(l);
}

/* True if the sample is of a new device with the same name, whose counters have no relation to the
 * previous ones. */
static bool is_another_device(const struct watched_port *p, const struct port_observation *o)
{
	return p->index != RDMA_INDEX_NONE && o->index != RDMA_INDEX_NONE && p->index != o->index;
}

static int diagnosis_take_sample(struct diagnosis *d, struct watched_port *p,
				 const struct port_observation *o, bool row)
{
	double gap_s = (double)d->gap_ms / 1000, line = port_line(o);
	double signals[N_SIGNALS];
	struct rates *rates;
	int r;

	p->interval_s = p->seen_ms ? (double)(d->now_ms - p->seen_ms) / 1000 : 0;
	if (p->interval_s == 0 || p->interval_s > gap_s || is_another_device(p, o)) {
		restart_port(p);
		p->interval_s = p->seen_ms ? gap_s : 1;
	}
	if (o->index != RDMA_INDEX_NONE)
		p->index = o->index;
	p->seen_ms = d->now_ms;
	p->unseen = 0;
	rates = port_rates_update(&p->rates, &d->rates, o->value, p->interval_s, gap_s,
				  (double)o->rate_bps / 8, &r);
	rates_of_rdma(rates, rdma_priorities(o));
	p->bytes_received = rates->rate[SERIES_BYTES_RECEIVED];
	p->bytes_sent = rates->rate[SERIES_BYTES_SENT];
	history_update(&p->history, o, rates, &d->limits, d->now_ms, p->interval_s,
		       pause_contradicts(rates, line));
	signals_make(signals, rates, is_soft_roce(o), o->mtu);
	/* The unit of pause times depends on the line rate: unknown while the rate changes. */
	if (p->history.down || p->history.changed)
		signals[SIGNAL_PAUSE_RECEIVED] = signals[SIGNAL_PAUSE_SENT] = (double)NAN;
	/* A link that is still training has errors. */
	if (!history_is_settled(&p->history, &d->limits, d->now_ms))
		signals[SIGNAL_PHY_ERRORS] = (double)NAN;
	return fill_window(d, p, signals, row) < 0 ? -ENOMEM : r;
}

/* Sets the port's load. ce_share is for VFs only: only the rule about the VFs of a PF reads it. */
static void set_load(struct diagnosis *d, const struct port_observation *o, size_t i,
		     const struct watched_port *p)
{
	double received = (double)p->bytes_received, sent = (double)p->bytes_sent;

	d->loads[i].bytes = isnan(received) ? sent : isnan(sent) ? received : received + sent;
	d->loads[i].wire_received = window_mean(&p->window, &d->timeline, SIGNAL_BYTES_RECEIVED,
						d->span_ms[SPAN_RECENT]);
	d->loads[i].wire_sent = window_mean(&p->window, &d->timeline, SIGNAL_BYTES_SENT,
					    d->span_ms[SPAN_RECENT]);
	d->loads[i].minute = p->history.minute;
	d->loads[i].corrected = history_corrected(&p->history);
	d->loads[i].ce_share = o->parent[0] ? window_mean(&p->window, &d->timeline, SIGNAL_CE_SHARE,
							  d->span_ms[SPAN_RECENT])
					    : (double)NAN;
}

/* Adds a port's sample. -ENOMEM: a new port is not judged; the sample of a known port is
 * incomplete. */
static int observe(struct diagnosis *d, const struct observation *all, size_t i)
{
	const struct port_observation *o = &all->ports[i];
	struct watched_port *p = diagnosis_find_port(d, o, i);
	int r;

	d->observed[i] = NULL;
	d->loads[i] = (struct port_load){(double)NAN, (double)NAN, (double)NAN,
					 (double)NAN, (double)NAN, (double)NAN};
	/* If a port is listed twice, use its first entry. */
	if (p && p->seen_in_tick)
		return 0;
	if (!p && !o->visible)
		return 0;
	if (!p)
		p = diagnosis_add_port(d, o);
	if (!p)
		return -ENOMEM;
	p->seen_in_tick = true;
	p->held = o->n_pods > 0 && !o->pods[0].ended;
	p->applicable = o->link_layer != LINK_INFINIBAND;
	if (!o->visible) {
		if (!all->partial)
			count_port_as_missing(d, p);
		return 0;
	}
	memcpy(p->bytes_source, o->bytes_source, sizeof(p->bytes_source));
	p->mtu = o->mtu;
	r = diagnosis_take_sample(d, p, o, !all->partial);
	set_load(d, o, i, p);
	if (p->applicable)
		d->observed[i] = p;
	else
		diagnosis_close_all(d, p, CLOSE_GONE);
	return r;
}

/* Returns the watched port of a VF's PF. NULL: it is no VF, or that port is not in the sample. */
static const struct watched_port *diagnosis_pf_of(const struct diagnosis *d,
						  const struct observation *all, size_t port)
{
	const struct port_observation *vf = &all->ports[port];

	for (size_t i = 0; vf->parent[0] && i < all->n_ports; i++)
		if (strcmp(all->ports[i].function, vf->parent) == 0 &&
		    all->ports[i].port == vf->port)
			return d->observed[i];
	return NULL;
}

/* True if a pod has the port, or RDMA uses it. */
static bool diagnosis_is_used(const struct watched_port *p, const struct port_observation *o)
{
	return (o->n_pods > 0 && !o->pods[0].ended) ||
	       (!p->history.down && p->history.minute > USED_SHARE * (double)o->rate_bps / 8);
}

/* Sets when each port was last used. A VF's use is also that of its PF, whose wire it shares. */
static void diagnosis_set_used(struct diagnosis *d, const struct observation *all)
{
	for (size_t i = 0; i < all->n_ports; i++) {
		struct watched_port *p = d->observed[i], *pf;

		if (!p || !diagnosis_is_used(p, &all->ports[i]))
			continue;
		pf = (struct watched_port *)diagnosis_pf_of(d, all, i);
		p->history.used_ms = d->now_ms;
		if (pf)
			pf->history.used_ms = d->now_ms;
	}
}

/* Adds two numbers; an unknown one does not count. */
static double add_known(double a, double b)
{
	return isnan(a) ? b : isnan(b) ? a : a + b;
}

static bool is_vf_of(const struct port_observation *vf, const struct port_observation *pf)
{
	return vf->port == pf->port && strcmp(vf->parent, pf->function) == 0;
}

/* Replaces the bytes of a PF and of its VFs by those on their wire. */
static void share_wire(struct diagnosis *d, const struct observation *all, size_t at)
{
	const struct port_observation *pf = &all->ports[at];
	enum vf_bytes how = vf_bytes_of(pf->driver, pf->bytes_source);
	double received = (double)NAN, sent = (double)NAN;
	struct port_load *wire = &d->loads[at];

	for (size_t i = 0; i < all->n_ports; i++)
		if (is_vf_of(&all->ports[i], pf)) {
			received = add_known(received, d->loads[i].wire_received);
			sent = add_known(sent, d->loads[i].wire_sent);
		}
	wire->wire_received = vf_bytes_wire(how, wire->wire_received, received);
	wire->wire_sent = vf_bytes_wire(how, wire->wire_sent, sent);
	for (size_t i = 0; i < all->n_ports; i++)
		if (is_vf_of(&all->ports[i], pf)) {
			d->loads[i].wire_received = wire->wire_received;
			d->loads[i].wire_sent = wire->wire_sent;
		}
}

static void diagnosis_share_wires(struct diagnosis *d, const struct observation *all)
{
	for (size_t i = 0; i < all->n_ports; i++)
		if (d->observed[i] && all->ports[i].function[0] && !all->ports[i].parent[0])
			share_wire(d, all, i);
}

/* Sets how far apart samples must be for a gap: further than the usual interval, even if that is
 * long. */
static void update_gap(struct diagnosis *d)
{
	double longest_ms = 1000 * d->limits.value[LIMIT_longest_gap_seconds];
	double usual_ms = (double)timeline_interval(&d->timeline);

	d->gap_ms = (uint64_t)fmax(longest_ms, GAP_INTERVALS * usual_ms);
	timeline_add(&d->timeline, d->now_ms);
	spans_make(d->span_ms, &d->timeline, d->gap_ms);
}

int diagnosis_tick(struct diagnosis *d, const struct observation *all)
{
	int r = 0;

	if (all->now_ms <= d->now_ms)
		return 0;
	if (diagnosis_make_room(d, all->n_ports) < 0)
		return -ENOMEM;
	free_removed(d);
	undecided_sweep(&d->undecided);
	d->now_ms = all->now_ms;
	if (!d->first_ms)
		d->first_ms = all->now_ms;
	d->unix_ms = all->unix_ms;
	verdicts_begin(d);
	if (!all->partial)
		update_gap(d);
	for (size_t i = 0; i < d->n_ports; i++)
		d->ports[i]->seen_in_tick = false;
	for (size_t i = 0; i < all->n_ports; i++)
		if (observe(d, all, i) < 0)
			r = -ENOMEM;
	diagnosis_set_used(d, all);
	diagnosis_share_wires(d, all);
	siblings_make(&d->siblings, all, d->loads);
	for (size_t i = 0; i < all->n_ports; i++) {
		if (!d->observed[i])
			continue;
		if (judge_port(d, all, i, d->observed[i]) < 0)
			r = -ENOMEM;
	}
	for (size_t i = 0; i < all->n_ports; i++)
		if (d->observed[i] && d->observed[i]->latches.first)
			verdicts_explain(d, d->observed[i], diagnosis_pf_of(d, all, i));
	verdicts_gather(d);
	if (!all->partial)
		count_others_as_missing(d);
	return r;
}

/* --- results ---------------------------------------------------------------------------------- */

const struct verdict *diagnosis_verdicts(const struct diagnosis *d, size_t *ret_n)
{
	*ret_n = d->n_verdicts;
	return d->verdicts;
}

uint64_t diagnosis_onsets(const struct diagnosis *d, enum cause c)
{
	return d->onsets[c];
}

size_t diagnosis_n_ports(const struct diagnosis *d)
{
	return d->n_ports;
}

static enum port_watch watch_of(const struct diagnosis *d, const struct watched_port *p)
{
	double watched_s = (double)(d->now_ms - p->history.watched_ms) / 1000;

	if (!p->applicable)
		return WATCH_NOT_APPLICABLE;
	if (p->unseen)
		return WATCH_UNSEEN;
	if (p->history.down)
		return WATCH_DOWN;
	return watched_s < d->limits.value[LIMIT_warming_seconds] ||
			       p->history.samples <= WARM_SAMPLES
		       ? WATCH_WARMING
		       : WATCH_JUDGED;
}

void diagnosis_port(const struct diagnosis *d, size_t i, struct port_watched *ret)
{
	const struct watched_port *p = d->ports[i];
	bool clear = p->clear_ms && (double)(d->now_ms - p->clear_ms) >=
					    1000 * d->limits.value[LIMIT_clear_seconds];

	*ret = (struct port_watched){.device = p->device,
				     .port = p->port,
				     .bytes_source = p->bytes_source,
				     .watch = watch_of(d, p),
				     .watched_ms = p->history.watched_ms,
				     .held = p->held,
				     .mtu = p->mtu,
				     .clear_ms = clear && !p->unseen ? p->clear_ms : 0,
				     .ignored = port_rates_ignored(&p->rates),
				     .resets = port_rates_resets(&p->rates),
				     .undecided = p->undecided,
				     .window = p->window};
}

const struct timeline *diagnosis_timeline(const struct diagnosis *d)
{
	return &d->timeline;
}

bool diagnosis_undecided(const struct diagnosis *d, size_t port, enum cause c,
			 char ret[UNDECIDED_SIZE])
{
	const struct undecided_list *list = d->ports[port]->undecided;

	for (size_t i = 0; list && i < list->n; i++)
		if (list->items[i].cause == c) {
			undecided_text(&list->items[i], ret);
			return true;
		}
	return false;
}

const char *port_watch_name(enum port_watch w)
{
	static const char *const names[] = {
		[WATCH_WARMING] = "warming",
		[WATCH_JUDGED] = "judged",
		[WATCH_DOWN] = "down",
		[WATCH_UNSEEN] = "unseen",
		[WATCH_NOT_APPLICABLE] = "not applicable",
	};

	return names[w];
}

size_t diagnosis_memory(const struct diagnosis *d)
{
	size_t rows = 0, of_ports = 0;

	for (size_t i = 0; i < d->n_ports; i++) {
		const struct watched_port *p = d->ports[i];

		rows += p->window.rows ? WINDOW_ROWS : 0;
		of_ports += port_rates_memory(&p->rates) + (p->sums ? sizeof(*p->sums) : 0);
		for (const struct latch *l = p->latches.first; l; l = l->next)
			of_ports += sizeof(*l);
	}
	for (size_t i = 0; i < d->undecided.n; i++)
		of_ports += sizeof(*d->undecided.lists[i]) +
			    d->undecided.lists[i]->n * sizeof(*d->undecided.lists[i]->items);
	return rows * sizeof(*d->ports[0]->window.rows) + of_ports + sizeof(*d) +
	       d->room_ports * sizeof(void *) + d->n_ports * sizeof(**d->ports) +
	       d->room_loads * (sizeof(*d->loads) + sizeof(void *)) +
	       d->room_verdicts * (sizeof(*d->verdicts) + sizeof(*d->owners));
}
