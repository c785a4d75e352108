/* Ports that come, stay and go; each sample's way through rates, window, rules and verdicts. */
#include "diagnosis_report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diagnosis_state.h"

/* Samples in which a port may be missing or unreadable before it is gone. */
#define GONE_AFTER    3
/* Of samples that are called a gap when one is missing. */
#define GAP_INTERVALS 4
/* With rates, before a port is called judged. */
#define WARM_SAMPLES  3
#define ROOM_STEP     16

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
	free(p);
}

static void free_gone(struct diagnosis *d)
{
	struct watched_port *p;

	while ((p = d->gone) != NULL) {
		d->gone = p->next_gone;
		free_port(p);
	}
}

void diagnosis_free(struct diagnosis *d)
{
	if (!d)
		return;
	free_gone(d);
	for (size_t i = 0; i < d->n_ports; i++)
		free_port(d->ports[i]);
	free(d->ports);
	free(d->loads);
	free(d->observed);
	free(d->verdicts);
	free(d->owners);
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

/* Mostly ports come in the same order each time. */
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

/* NULL: out of memory. */
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
	rates_init(&p->rates);
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
	for (int c = 0; c < N_CAUSES; c++) {
		if (latch_is_open(&p->latch[c]))
			verdicts_close(d, p, (enum cause)c, reason);
		latch_close(&p->latch[c]);
	}
}

static void miss_port(struct diagnosis *d, struct watched_port *p)
{
	window_skip(&p->window, &d->timeline);
	if (++p->unseen >= GONE_AFTER)
		diagnosis_close_all(d, p, CLOSE_GONE);
}

/* Those that were not looked at by a full sample; what is gone leaves nothing. */
static void miss_others(struct diagnosis *d)
{
	size_t kept = 0;

	for (size_t i = 0; i < d->n_ports; i++) {
		struct watched_port *p = d->ports[i];

		if (!p->looked_at)
			miss_port(d, p);
		if (p->looked_at || p->unseen < GONE_AFTER) {
			d->ports[kept++] = p;
			continue;
		}
		p->next_gone = d->gone;
		d->gone = p;
	}
	d->n_ports = kept;
}

/* --- one sample of one port ------------------------------------------------------------------- */

/* Rows of the window hold the mean of everything since the row before. */
static void fill_window(struct diagnosis *d, struct watched_port *p, const double now[N_SIGNALS],
			bool row)
{
	double mean[N_SIGNALS];

	for (int s = 0; s < N_SIGNALS; s++) {
		if (!isnan(now[s])) {
			p->sum[s] += now[s] * p->interval_s;
			p->sum_s[s] += p->interval_s;
		}
		mean[s] = p->sum_s[s] > 0 ? p->sum[s] / p->sum_s[s] : (double)NAN;
	}
	if (!row)
		return;
	window_set(&p->window, &d->timeline, mean);
	memset(p->sum, 0, sizeof(p->sum));
	memset(p->sum_s, 0, sizeof(p->sum_s));
}

/* The first sample, or the first after a gap, is a base for others and nothing more. */
static void begin_anew(struct watched_port *p)
{
	rates_restart(&p->rates);
	p->history.watched_ms = 0;
	p->clear_ms = 0;
	for (int c = 0; c < N_CAUSES; c++)
		latch_gap(&p->latch[c]);
}

/* Of the same name: its counters go on from nowhere. */
static bool is_another_device(const struct watched_port *p, const struct port_observation *o)
{
	return p->index != RDMA_INDEX_NONE && o->index != RDMA_INDEX_NONE && p->index != o->index;
}

static void diagnosis_take_sample(struct diagnosis *d, struct watched_port *p,
				  const struct port_observation *o, bool row)
{
	double gap_s = (double)d->gap_ms / 1000, line = port_line(o);
	double signals[N_SIGNALS];

	p->interval_s = p->seen_ms ? (double)(d->now_ms - p->seen_ms) / 1000 : 0;
	if (p->interval_s == 0 || p->interval_s > gap_s || is_another_device(p, o)) {
		begin_anew(p);
		p->interval_s = p->seen_ms ? gap_s : 1;
	}
	if (o->index != RDMA_INDEX_NONE)
		p->index = o->index;
	p->seen_ms = d->now_ms;
	p->unseen = 0;
	rates_update(&p->rates, o->value, p->interval_s, gap_s, (double)o->rate_bps / 8);
	rates_of_rdma(&p->rates, rdma_priorities(o));
	history_update(&p->history, o, &p->rates, &d->limits, d->now_ms, p->interval_s,
		       pause_contradicts(&p->rates, line));
	signals_make(signals, &p->rates, is_soft_roce(o), o->mtu);
	/* Pause is counted in times of the line's rate: of a line that changed it says nothing. */
	if (p->history.down || p->history.changed)
		signals[SIGNAL_PAUSE_RECEIVED] = signals[SIGNAL_PAUSE_SENT] = (double)NAN;
	/* Nor do errors of a link that is still training. */
	if (!history_is_settled(&p->history, &d->limits, d->now_ms))
		signals[SIGNAL_PHY_ERRORS] = (double)NAN;
	fill_window(d, p, signals, row);
}

/* Only VFs are asked for their marks, by their PF. */
static void weigh(struct diagnosis *d, const struct port_observation *o, size_t i,
		  const struct watched_port *p)
{
	double received = (double)p->rates.rate[SERIES_BYTES_RECEIVED];
	double sent = (double)p->rates.rate[SERIES_BYTES_SENT];

	d->loads[i].bytes = isnan(received) ? sent : isnan(sent) ? received : received + sent;
	d->loads[i].received = received;
	d->loads[i].minute = p->history.minute;
	d->loads[i].corrected = history_corrected(&p->history);
	d->loads[i].ce_share = o->parent[0] ? window_mean(&p->window, &d->timeline, SIGNAL_CE_SHARE,
							  d->span_ms[SPAN_RECENT])
					    : (double)NAN;
}

/* -ENOMEM: the port is not judged. */
static int observe(struct diagnosis *d, const struct observation *all, size_t i)
{
	const struct port_observation *o = &all->ports[i];
	struct watched_port *p = diagnosis_find_port(d, o, i);

	d->observed[i] = NULL;
	d->loads[i] = (struct port_load){(double)NAN, (double)NAN, (double)NAN, (double)NAN,
					 (double)NAN};
	/* The same port twice: the first counts. */
	if (p && p->looked_at)
		return 0;
	if (!p && !o->visible)
		return 0;
	if (!p)
		p = diagnosis_add_port(d, o);
	if (!p)
		return -ENOMEM;
	p->looked_at = true;
	p->held = o->n_pods > 0 && !o->pods[0].ended;
	p->applicable = o->link_layer != LINK_INFINIBAND;
	if (!o->visible) {
		if (!all->partial)
			miss_port(d, p);
		return 0;
	}
	diagnosis_take_sample(d, p, o, !all->partial);
	weigh(d, o, i, p);
	if (p->applicable)
		d->observed[i] = p;
	else
		diagnosis_close_all(d, p, CLOSE_GONE);
	return 0;
}

/* Samples that are as far apart as always are no gap. */
static void follow_time(struct diagnosis *d)
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
	free_gone(d);
	d->now_ms = all->now_ms;
	d->unix_ms = all->unix_ms;
	verdicts_begin(d);
	if (!all->partial)
		follow_time(d);
	for (size_t i = 0; i < d->n_ports; i++)
		d->ports[i]->looked_at = false;
	for (size_t i = 0; i < all->n_ports; i++)
		if (observe(d, all, i) < 0)
			r = -ENOMEM;
	siblings_make(&d->siblings, all, d->loads);
	for (size_t i = 0; i < all->n_ports; i++) {
		if (!d->observed[i])
			continue;
		if (judge_port(d, all, i, d->observed[i]) < 0)
			r = -ENOMEM;
		verdicts_explain(d, d->observed[i]);
	}
	if (!all->partial)
		miss_others(d);
	return r;
}

/* --- what it says ----------------------------------------------------------------------------- */

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
				     .watch = watch_of(d, p),
				     .held = p->held,
				     .clear_ms = clear && !p->unseen ? p->clear_ms : 0,
				     .ignored = p->rates.ignored,
				     .resets = p->rates.resets,
				     .window = p->window};
}

const struct timeline *diagnosis_timeline(const struct diagnosis *d)
{
	return &d->timeline;
}

bool diagnosis_undecided(const struct diagnosis *d, size_t port, enum cause c,
			 char ret[UNDECIDED_SIZE])
{
	const struct latch *l = &d->ports[port]->latch[c];

	if (!l->why)
		return false;
	undecided_text(&(struct undecided){port, c, l->why, l->missing}, ret);
	return true;
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
	size_t rows = 0;

	for (size_t i = 0; i < d->n_ports; i++)
		rows += d->ports[i]->window.rows ? WINDOW_ROWS : 0;
	return rows * sizeof(*d->ports[0]->window.rows) + sizeof(*d) +
	       d->room_ports * sizeof(void *) + d->n_ports * sizeof(**d->ports) +
	       d->room_loads * (sizeof(*d->loads) + sizeof(void *)) +
	       d->room_verdicts * (sizeof(*d->verdicts) + sizeof(*d->owners));
}
