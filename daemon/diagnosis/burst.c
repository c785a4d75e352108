// SPDX-License-Identifier: Apache-2.0
#include "burst.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rules.h"

#define FASTEST_MS	  20
#define SLOWEST_MS	  100
/* Assumed reads per round for a port that was not sampled yet: hw counters, statistics, pause
 * frames. */
#define USUAL_COST	  3
/* A window that grew longer than this is discarded: it no longer shows bursts. */
#define LONGEST_WINDOW_NS 2500000000
/* Tolerance for a time counter and the clock not being read at the same instant: above this share,
 * wait for a longer window. */
#define MOST_SHARE	  1.05
/* A storm's share is checked over its whole length; a single window may have a slightly smaller
 * share. */
#define STORM_WINDOW	  0.9
#define PEAK_SLOT_MS	  30000

const double burst_bounds[BURST_BOUNDS] = {0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 1};

/* Consecutive windows in which one priority was paused and moved no data. */
struct stall {
	int priority; /* -1: the whole link */
	double paused_s;
	uint64_t length_ns;
	bool reported;
};

/* A window starts when a counter moves: if the driver refreshes counters rarely, that is right
 * after a refresh. */
enum window_state { WINDOW_NONE, WINDOW_AWAITED, WINDOW_OPEN };

struct burst_watch {
	struct rates rates;
	enum window_state state;
	uint64_t base_ns; /* time of the last read in which a counter had moved */
	struct burst_windows windows[N_BURST_RATIOS];
	double peaks[N_BURST_RATIOS][2]; /* of the current 30 s slot and the one before */
	uint64_t slot;
	struct stall stall[2]; /* received, sent */
	double stalled_s[2];   /* for bursts_take_stalled() */
};

struct burst_port {
	char device[RDMA_NAME_SIZE];
	uint32_t port;
	unsigned reasons;     /* in the last sample of all ports */
	bool wanted;	      /* in the queue for a burst */
	uint64_t wanted_ms;   /* when it was queued */
	uint64_t until_ms;    /* end of its burst; 0: no burst is running */
	uint64_t last_end_ms; /* end of its last burst; 0: there was none */
	unsigned cost;
	struct burst_watch *watch; /* NULL: no burst yet */
};

struct bursts {
	struct thresholds limits;
	uint64_t layout;
	struct burst_port *ports;
	size_t n_ports;
	unsigned interval_ms;
};

struct bursts *bursts_new(const struct thresholds *limits)
{
	struct bursts *b = calloc(1, sizeof(*b));

	if (b)
		b->limits = *limits;
	return b;
}

static void forget_ports(struct burst_port *ports, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(ports[i].watch);
	free(ports);
}

void bursts_free(struct bursts *b)
{
	if (!b)
		return;
	forget_ports(b->ports, b->n_ports);
	free(b);
}

void bursts_set_thresholds(struct bursts *b, const struct thresholds *limits)
{
	b->limits = *limits;
}

/* --- choice of the ports ---------------------------------------------------------------------- */

static struct burst_port *bursts_find_port(struct bursts *b, const struct sampled_port *p,
					   size_t hint)
{
	for (size_t i = 0; i < b->n_ports; i++) {
		struct burst_port *found = &b->ports[(hint + i) % b->n_ports];

		if (found->port == p->port && strcmp(found->device, p->device) == 0)
			return found;
	}
	return NULL;
}

bool bursts_are_of(const struct bursts *b, const struct sample *s)
{
	return b->layout == s->layout && b->n_ports == s->n_ports;
}

int bursts_follow(struct bursts *b, const struct sample *s)
{
	struct burst_port *ports;

	if (bursts_are_of(b, s))
		return 0;
	ports = calloc(s->n_ports + 1, sizeof(*ports));
	if (!ports)
		return -ENOMEM;
	for (size_t i = 0; i < s->n_ports; i++) {
		struct burst_port *before = bursts_find_port(b, &s->ports[i], i);

		if (before) {
			ports[i] = *before;
			*before = (struct burst_port){0};
			/* The port's counters may have been replaced. */
			if (ports[i].watch)
				ports[i].watch->state = WINDOW_NONE;
			continue;
		}
		memcpy(ports[i].device, s->ports[i].device, sizeof(ports[i].device));
		ports[i].port = s->ports[i].port;
		ports[i].cost = USUAL_COST;
	}
	forget_ports(b->ports, b->n_ports);
	b->ports = ports;
	b->n_ports = s->n_ports;
	b->layout = s->layout;
	return 0;
}

static uint64_t limit_ms(const struct bursts *b, enum threshold t)
{
	return (uint64_t)(b->limits.value[t] * 1000);
}

void bursts_want(struct bursts *b, size_t port, unsigned reasons, uint64_t now_ms)
{
	struct burst_port *p = &b->ports[port];
	bool is_new = reasons & ~p->reasons;
	bool rested = reasons && now_ms - p->last_end_ms >= limit_ms(b, LIMIT_burst_rest_seconds);

	p->reasons = reasons;
	if (!p->until_ms && !p->wanted && (is_new || rested)) {
		p->wanted = true;
		p->wanted_ms = now_ms;
	}
	/* A port whose congestion ended before its burst began leaves the queue. */
	p->wanted &= reasons != 0;
}

static struct burst_port *longest_waiting(struct bursts *b)
{
	struct burst_port *found = NULL;

	for (size_t i = 0; i < b->n_ports; i++)
		if (b->ports[i].wanted && (!found || b->ports[i].wanted_ms < found->wanted_ms))
			found = &b->ports[i];
	return found;
}

static int bursts_begin(struct burst_port *p, uint64_t until_ms)
{
	if (!p->watch) {
		p->watch = calloc(1, sizeof(*p->watch));
		if (!p->watch)
			return -ENOMEM;
		for (int r = 0; r < N_BURST_RATIOS; r++)
			p->watch->peaks[r][0] = p->watch->peaks[r][1] = (double)NAN;
		p->watch->stalled_s[0] = p->watch->stalled_s[1] = (double)NAN;
	}
	p->watch->state = WINDOW_NONE;
	memset(p->watch->stall, 0, sizeof(p->watch->stall));
	p->wanted = false;
	p->until_ms = until_ms;
	return 0;
}

static bool has_budget(const struct bursts *b)
{
	return b->limits.value[LIMIT_burst_reads] > 0;
}

/* Ends bursts whose time is up, and returns the number of driver reads that one round over the
 * other bursts needs. */
static unsigned cost_of_turns(struct bursts *b, uint64_t now_ms)
{
	unsigned cost = 0;

	for (size_t i = 0; i < b->n_ports; i++) {
		struct burst_port *p = &b->ports[i];

		if (p->until_ms && (now_ms >= p->until_ms || !has_budget(b))) {
			p->until_ms = 0;
			p->last_end_ms = now_ms;
		}
		cost += p->until_ms ? p->cost : 0;
	}
	return cost;
}

/* Returns the shortest round that keeps `cost` reads within the budget. */
static double round_ms(const struct bursts *b, unsigned cost)
{
	return 1000 * cost / b->limits.value[LIMIT_burst_reads];
}

void bursts_admit(struct bursts *b, uint64_t now_ms)
{
	unsigned cost = cost_of_turns(b, now_ms);
	struct burst_port *p;

	while (has_budget(b) && (p = longest_waiting(b)) &&
	       round_ms(b, cost + p->cost) <= SLOWEST_MS &&
	       bursts_begin(p, now_ms + limit_ms(b, LIMIT_burst_seconds)) == 0)
		cost += p->cost;
	b->interval_ms = cost ? (unsigned)ceil(fmax(round_ms(b, cost), FASTEST_MS)) : 0;
}

unsigned bursts_interval_ms(const struct bursts *b)
{
	return b->interval_ms;
}

bool bursts_is_running(const struct bursts *b, size_t port)
{
	return b->ports[port].until_ms != 0;
}

/* --- windows ---------------------------------------------------------------------------------- */

static double seconds(uint64_t ns)
{
	return (double)ns / 1e9;
}

static bool any_moved(const struct rates *r, const double value[N_SERIES], int first, int last)
{
	for (int i = first; i <= last; i++)
		if (value[i] > r->last[i])
			return true;
	return false;
}

/* True if any counter of packets or pause frames increased. */
static bool has_moved(const struct rates *r, const double value[N_SERIES])
{
	return any_moved(r, value, SERIES_BYTES_RECEIVED, SERIES_CNP_RECEIVED) ||
	       any_moved(r, value, SERIES_GLOBAL_PAUSE_RECEIVED, SERIES_GLOBAL_FRAMES_SENT) ||
	       any_moved(r, value, SERIES_PAUSE_RECEIVED, SERIES_PRIORITY_SENT_LAST);
}

static bool is_too_short(const struct rates *r, const double value[N_SERIES], double interval_s)
{
	for (int i = 0; i < N_SERIES; i++)
		if (series_kind(i) == SERIES_SECONDS &&
		    value[i] - r->last[i] > MOST_SHARE * interval_s)
			return true;
	return false;
}

static void begin_window(struct burst_watch *w, enum window_state state,
			 const double value[N_SERIES], uint64_t now_ns)
{
	rates_restart(&w->rates);
	rates_update(&w->rates, value, 1, (double)INFINITY, 0);
	w->state = state;
	w->base_ns = now_ns;
}

static void count_ratio(struct burst_watch *w, enum burst_ratio r, double ratio)
{
	struct burst_windows *seen = &w->windows[r];
	unsigned at = 0;

	if (isnan(ratio))
		return;
	while (at < BURST_BOUNDS - 1 && ratio > burst_bounds[at])
		at++;
	seen->n[at]++;
	seen->sum += ratio;
	w->peaks[r][0] = fmax(w->peaks[r][0], ratio);
}

static void turn_slots(struct burst_watch *w, uint64_t now_ms)
{
	uint64_t slot = now_ms / PEAK_SLOT_MS;

	if (slot == w->slot)
		return;
	for (int r = 0; r < N_BURST_RATIOS; r++) {
		w->peaks[r][1] = slot == w->slot + 1 ? w->peaks[r][0] : (double)NAN;
		w->peaks[r][0] = (double)NAN;
	}
	w->slot = slot;
}

/* --- storms ----------------------------------------------------------------------------------- */

static const struct pause_way *const ways[2] = {&pause_received, &pause_sent};

/* most.share is capped at 1; paused_s is not, because small overshoots even out over windows. */
struct paused_window {
	struct paused most;
	double paused_s;
};

static struct paused_window paused_in(const struct rates *r, const struct pause_way *way,
				      uint64_t interval_ns)
{
	struct paused most = paused_most(r, way->pause);
	double global = (double)r->rate[way->global];

	if (global > most.share || (isnan(most.share) && !isnan(global)))
		most = (struct paused){fmin(global, 1), -1};
	else if (most.priority >= 0)
		global = (double)r->rate[(int)way->pause + most.priority];
	return (struct paused_window){most, global * seconds(interval_ns)};
}

static void update_stall(struct bursts *b, struct burst_watch *w, unsigned i,
			 const struct paused_window *p, double line, uint64_t interval_ns)
{
	double most = b->limits.value[LIMIT_storm_bytes] * line;
	struct stall *s = &w->stall[i];

	if (isnan(w->stalled_s[i]))
		w->stalled_s[i] = 0;
	if (!(p->most.share >= STORM_WINDOW && line > 0 &&
	      pause_bytes(&w->rates, ways[i], p->most.priority) <= most)) {
		*s = (struct stall){0};
		return;
	}
	if (s->priority != p->most.priority)
		*s = (struct stall){.priority = p->most.priority};
	s->paused_s += p->paused_s;
	s->length_ns += interval_ns;
	if (s->paused_s >= b->limits.value[LIMIT_storm_share] * seconds(s->length_ns))
		w->stalled_s[i] = fmax(w->stalled_s[i], seconds(s->length_ns));
}

static bool is_storm(const struct bursts *b, double stalled_s)
{
	return stalled_s >= b->limits.value[LIMIT_storm_burst_seconds];
}

bool bursts_alarm(const struct bursts *b)
{
	for (size_t i = 0; i < b->n_ports; i++) {
		const struct burst_watch *w = b->ports[i].watch;

		for (unsigned k = 0; w && k < 2; k++)
			if (is_storm(b, w->stalled_s[k]) && !w->stall[k].reported)
				return true;
	}
	return false;
}

double bursts_take_stalled(struct bursts *b, size_t port, enum burst_ratio ratio)
{
	struct burst_watch *w = b->ports[port].watch;
	unsigned i = ratio == BURST_PAUSE_SENT;
	double stalled_s = w ? w->stalled_s[i] : (double)NAN;

	if (w) {
		w->stall[i].reported |= is_storm(b, stalled_s);
		w->stalled_s[i] = (double)NAN;
	}
	return stalled_s;
}

/* --- reads ------------------------------------------------------------------------------------ */

static double ce_of(const struct rates *r, unsigned mtu)
{
	double signals[N_SIGNALS];

	signals_make(signals, r, false, mtu);
	/* The share of no packets is unknown. */
	return signals[SIGNAL_CE_SHARE] == 0 && signals[SIGNAL_BYTES_RECEIVED] == 0
		       ? (double)NAN
		       : signals[SIGNAL_CE_SHARE];
}

static void close_window(struct bursts *b, struct burst_watch *w, const double value[N_SERIES],
			 double line, unsigned mtu, uint64_t interval_ns)
{
	rates_update(&w->rates, value, seconds(interval_ns), (double)INFINITY, line);
	for (unsigned i = 0; i < 2; i++) {
		struct paused_window p = paused_in(&w->rates, ways[i], interval_ns);

		count_ratio(w, i ? BURST_PAUSE_SENT : BURST_PAUSE_RECEIVED, p.most.share);
		update_stall(b, w, i, &p, line, interval_ns);
	}
	count_ratio(w, BURST_CE, ce_of(&w->rates, mtu));
}

/* Adds a read to the current window; closes the window if counters moved and it is long enough. */
static void burst_add_reading(struct bursts *b, struct burst_watch *w, const double value[N_SERIES],
			      double line, unsigned mtu, uint64_t now_ns)
{
	uint64_t interval_ns = now_ns - w->base_ns;

	if (w->state == WINDOW_NONE || interval_ns > LONGEST_WINDOW_NS) {
		begin_window(w, WINDOW_AWAITED, value, now_ns);
		return;
	}
	if (!has_moved(&w->rates, value))
		return;
	if (w->state == WINDOW_AWAITED) {
		begin_window(w, WINDOW_OPEN, value, now_ns);
		return;
	}
	if (is_too_short(&w->rates, value, seconds(interval_ns)))
		return;
	close_window(b, w, value, line, mtu, interval_ns);
	w->base_ns = now_ns;
}

void bursts_add_reading(struct bursts *b, size_t port, const double value[N_SERIES], double line,
			unsigned mtu, unsigned n_calls, uint64_t now_ns)
{
	struct burst_port *p = &b->ports[port];

	if (!p->until_ms)
		return;
	p->cost = n_calls ? n_calls : 1;
	turn_slots(p->watch, now_ns / 1000000);
	burst_add_reading(b, p->watch, value, line, mtu, now_ns);
}

const struct burst_windows *bursts_windows(struct bursts *b, size_t port, uint64_t now_ms)
{
	struct burst_watch *w = b->ports[port].watch;

	if (!w)
		return NULL;
	turn_slots(w, now_ms);
	for (int r = 0; r < N_BURST_RATIOS; r++)
		w->windows[r].peak = fmax(w->peaks[r][0], w->peaks[r][1]);
	return w->windows;
}
