// SPDX-License-Identifier: Apache-2.0
/* bench_verdicts.c - accuracy of diagnosis with imperfect samples.
 *
 *   bench_verdicts [HOURS=200 [FAULTS=1000 [SEED=1]]]
 *
 * Healthy node-hours have background events at a tenth to a third of every limit; faults begin on
 * such nodes. Both have failing reads, counters that read 0 once, uneven intervals, and intervals
 * of 1, 8, 15 and 60 s. Prints false verdicts of warning or more by cause, precision, recall,
 * severity and onset of the faults, and seconds until each was reported; fails below the bars. Runs
 * two threads; the result depends only on the seed. */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "imperfect.h"

#define HOUR_S	 3600.0
#define THREADS	 2
#define SETTLE_S 130

static double log_uniform(struct imperfect *i, double low, double high)
{
	return low * pow(high / low, world_random(&i->w));
}

/* --- traffic ---------------------------------------------------------------------------------- */

static double line_of(const struct world *w)
{
	return w->capacity * WORLD_LINE * 4096 / (4096 + 82);
}

/* Small and large messages: the packet size changes during the hour. */
static void small_messages(struct world *w, uint64_t second)
{
	struct world_port *p = &w->ports[0];
	double size = second % 20 < 10 ? 256 : 4096, rate = 0.02 * line_of(w);

	world_traffic(p, rate, rate);
	p->rate[SERIES_PACKETS_RECEIVED] = p->rate[SERIES_PACKETS_SENT] = rate / size;
}

/* Half a second at full rate, then three seconds of silence. */
static void bursts(struct world *w, uint64_t second)
{
	double rate = second % 4 ? 0 : 0.9 * line_of(w);

	world_traffic(&w->ports[0], rate, 0.1 * rate);
}

static void steady(struct world *w, uint64_t second)
{
	double share = 0.45 + 0.1 * sin((double)second / 50);

	world_traffic(&w->ports[0], share * line_of(w), share * line_of(w));
}

/* --- faults ----------------------------------------------------------------------------------- */

struct fault {
	const char *name;
	enum cause cause;
	enum severity severity;
	double low, high; /* limits of the fault's strength, which is drawn log-uniformly */
	void (*apply)(struct world_port *, double bad, double since_s);
	/* Whether it sets the traffic, in bytes of payload per second; the background events
	 * follow. */
	bool changes_traffic;
	double received, sent;
	bool unmarked; /* no background of marks and CNPs, which would hide it */
	double events; /* single events per second at strength 1; 0: a continuous effect */
};

static double packets_in(const struct world_port *p)
{
	return p->rate[SERIES_PACKETS_RECEIVED];
}

static void add_marks(struct world_port *p, double share, double since_s)
{
	(void)since_s;
	p->rate[SERIES_CE] = share * packets_in(p);
	p->rate[SERIES_CNP_SENT] = 0.1 * p->rate[SERIES_CE];
}

static void unanswered(struct world_port *p, double share, double since_s)
{
	add_marks(p, share, since_s);
	p->rate[SERIES_CNP_SENT] = 0;
}

static void fill_line(struct world_port *p, double share, double since_s)
{
	p->o.qps.peers = 32;
	add_marks(p, share, since_s);
}

static void pause_out(struct world_port *p, double share, double since_s)
{
	(void)since_s;
	p->rate[SERIES_PAUSE_SENT + WORLD_PRIORITY] = share;
}

static void pause_out_stalled(struct world_port *p, double share, double since_s)
{
	pause_out(p, share, since_s);
	p->rate[SERIES_PCIE_STALLED_WRITE] = 0.5;
}

static void pause_in(struct world_port *p, double share, double since_s)
{
	(void)since_s;
	p->rate[SERIES_PAUSE_RECEIVED + WORLD_PRIORITY] = share;
	p->rate[SERIES_CNP_RECEIVED] = p->rate[SERIES_CNP_HANDLED] = p->rate[SERIES_CNP_IGNORED] =
		0;
}

static void storm_out(struct world_port *p, double bad, double since_s)
{
	(void)bad;
	pause_out(p, 1, since_s);
}

static void storm_in(struct world_port *p, double bad, double since_s)
{
	(void)bad;
	pause_in(p, 1, since_s);
}

static void drop(struct world_port *p, double rate, double since_s)
{
	(void)since_s;
	p->rate[SERIES_DISCARDS_RECEIVED] = rate;
}

static void nak(struct world_port *p, double share, double since_s)
{
	(void)since_s;
	p->rate[SERIES_SEQUENCE_NAK] = share * p->rate[SERIES_PACKETS_SENT];
}

/* A tenth of the rate remains, since timeouts are expensive: 488,000 packets per second at 2
 * GB/s. */
static void time_out(struct world_port *p, double rate, double since_s)
{
	(void)since_s;
	p->rate[SERIES_SEQUENCE_NAK] = p->rate[SERIES_IMPLIED_NAK] = 0;
	p->rate[SERIES_ACK_TIMEOUTS] = rate;
}

static void not_ready(struct world_port *p, double rate, double since_s)
{
	(void)since_s;
	p->rate[SERIES_RNR_NAK] = rate;
}

static void dirty(struct world_port *p, double ratio, double since_s)
{
	(void)since_s;
	p->rate[SERIES_SYMBOL_ERRORS] = ratio * 8 * p->rate[SERIES_PHY_BYTES];
}

static void other_class(struct world_port *p, double share, double since_s)
{
	double moved = share * p->rate[SERIES_PRIORITY_SENT + WORLD_PRIORITY];

	(void)since_s;
	p->rate[SERIES_PRIORITY_SENT + WORLD_PRIORITY] -= moved;
	p->rate[SERIES_PRIORITY_SENT] += moved;
}

static void flap(struct world_port *p, double seconds, double since_s)
{
	bool down = since_s < seconds;

	p->o.state = down ? PORT_DOWN : PORT_ACTIVE;
	p->o.rate_bps = down ? 0 : (uint64_t)(WORLD_LINE * 8);
	if (down)
		world_traffic(p, 0, 0);
	if (since_s == 0)
		p->o.value[SERIES_LINK_DOWN]++;
}

static void lose_peer(struct world_port *p, double n, double since_s)
{
	if (since_s < 8)
		p->rate[SERIES_ACK_TIMEOUTS] += 8;
	if (floor(since_s) == 8)
		p->o.value[SERIES_RETRIES_EXCEEDED] += floor(n);
}

static void wrong_key(struct world_port *p, double n, double since_s)
{
	if (since_s == 0)
		p->o.value[SERIES_ACCESS_ERRORS] += floor(n);
}

static void ignore(struct world_port *p, double rate, double since_s)
{
	(void)since_s;
	p->rate[SERIES_CNP_IGNORED] = rate;
	p->rate[SERIES_CNP_RECEIVED] = p->rate[SERIES_CNP_HANDLED] + rate;
}

static void pause_all(struct world_port *p, double share, double since_s)
{
	(void)since_s;
	p->rate[SERIES_GLOBAL_PAUSE_RECEIVED] = share;
}

static void freeze(struct world_port *p, double bad, double since_s)
{
	(void)bad;
	(void)since_s;
	p->rate[SERIES_PACKETS_RECEIVED] = p->rate[SERIES_PACKETS_SENT] = 0;
}

static void lie(struct world_port *p, double times, double since_s)
{
	(void)since_s;
	p->rate[SERIES_CE] = 5000;
	p->rate[SERIES_CNP_SENT] = times * 5000;
}

#define FULL (0.99 * WORLD_LINE * 4096 / (4096 + 82))

/* Strengths are at least a factor of 1.5 away from every limit, so that chance does not decide. */
static const struct fault faults[] = {
	{"marks", CAUSE_FABRIC_CONGESTION, SEVERITY_WARNING, 0.015, 0.065, .apply = add_marks},
	{"many marks", CAUSE_FABRIC_CONGESTION, SEVERITY_CRITICAL, 0.15, 0.5, .apply = add_marks},
	{"incast", CAUSE_INCAST, SEVERITY_WARNING, 0.08, 0.08, .apply = fill_line,
	 .changes_traffic = true, .received = FULL, .sent = 1e9},
	{"bad incast", CAUSE_INCAST, SEVERITY_CRITICAL, 0.15, 0.5, .apply = fill_line,
	 .changes_traffic = true, .received = FULL, .sent = 1e9},
	{"unanswered", CAUSE_NOTIFICATION_POINT_OFF, SEVERITY_WARNING, 3e-4, 0.1,
	 .apply = unanswered, .unmarked = true},
	{"ignored", CAUSE_REACTION_POINT_OFF, SEVERITY_WARNING, 3, 5000, .apply = ignore,
	 .events = 1},
	{"pauses", CAUSE_SLOW_RECEIVER, SEVERITY_WARNING, 0.015, 0.065, .apply = pause_out},
	{"pauses long", CAUSE_SLOW_RECEIVER, SEVERITY_CRITICAL, 0.15, 0.8, .apply = pause_out},
	{"pauses for PCIe", CAUSE_SLOW_RECEIVER_PCIE, SEVERITY_CRITICAL, 0.15, 0.8,
	 .apply = pause_out_stalled},
	{"drops", CAUSE_SLOW_RECEIVER, SEVERITY_WARNING, 15, 5000, .apply = drop, .events = 1},
	{"paused", CAUSE_PAUSED_BY_NETWORK, SEVERITY_WARNING, 0.075, 0.8, .apply = pause_in,
	 .unmarked = true},
	{"storm", CAUSE_PAUSE_STORM_SOURCE, SEVERITY_CRITICAL, 1, 1, .apply = storm_out,
	 .changes_traffic = true, .received = 0, .sent = 1e9},
	{"stormed", CAUSE_PAUSE_STORM_VICTIM, SEVERITY_CRITICAL, 1, 1, .apply = storm_in,
	 .changes_traffic = true, .received = 1e9, .sent = 0, .unmarked = true},
	{"loss", CAUSE_PACKET_LOSS, SEVERITY_WARNING, 3e-6, 6e-5, .apply = nak, .events = 2.7e6},
	{"much loss", CAUSE_PACKET_LOSS, SEVERITY_CRITICAL, 1.5e-4, 1e-2, .apply = nak,
	 .events = 2.7e6},
	/* Up to 33 of 488,000 are below 1e-4; 73 are above. */
	{"timeouts", CAUSE_PACKET_LOSS, SEVERITY_WARNING, 6, 33, .apply = time_out,
	 .changes_traffic = true, .received = 2e9, .sent = 2e9},
	{"many timeouts", CAUSE_PACKET_LOSS, SEVERITY_CRITICAL, 73, 600, .apply = time_out,
	 .changes_traffic = true, .received = 2e9, .sent = 2e9},
	{"not ready", CAUSE_RECEIVER_NOT_READY, SEVERITY_WARNING, 15, 2000, .apply = not_ready,
	 .events = 1},
	{"dirty", CAUSE_BAD_LINK, SEVERITY_WARNING, 4e-12, 6e-11, .apply = dirty,
	 .events = 8 * 0.45 * WORLD_LINE},
	{"very dirty", CAUSE_BAD_LINK, SEVERITY_CRITICAL, 1.5e-10, 1e-8, .apply = dirty,
	 .events = 8 * 0.45 * WORLD_LINE},
	{"other class", CAUSE_WRONG_PRIORITY, SEVERITY_WARNING, 0.05, 1, .apply = other_class},
	{"flap", CAUSE_LINK_FLAP, SEVERITY_WARNING, 2, 100, .apply = flap},
	{"dead peer", CAUSE_PEER_GONE, SEVERITY_WARNING, 1, 8, .apply = lose_peer},
	{"wrong key", CAUSE_APPLICATION_ERROR, SEVERITY_WARNING, 1, 8, .apply = wrong_key},
	{"pause of all", CAUSE_GLOBAL_PAUSE, SEVERITY_WARNING, 0.002, 0.5, .apply = pause_all},
	{"frozen", CAUSE_NIC_STUCK, SEVERITY_WARNING, 1, 1, .apply = freeze},
	{"liar", CAUSE_CONTRADICTING_COUNTERS, SEVERITY_WARNING, 1.5, 5, .apply = lie},
};

/* --- one run ---------------------------------------------------------------------------------- */

struct result {
	double healthy_s;
	unsigned false_alarms, false_by_cause[N_CAUSES];
	unsigned faults, found, severe, begun, wrong;
	unsigned of[ARRAY_SIZE(faults)], missed[ARRAY_SIZE(faults)], misjudged[ARRAY_SIZE(faults)],
		misdated[ARRAY_SIZE(faults)], beside[ARRAY_SIZE(faults)];
	unsigned beside_by_cause[N_CAUSES];
	double late_s[ARRAY_SIZE(faults)]; /* sum of the delays of runs with a sample each second */
	unsigned late_n[ARRAY_SIZE(faults)];
};

struct run {
	struct imperfect i;
	struct diagnosis *d;
	struct result *r;
	/* only if the run has a fault */
	const struct fault *fault;
	double bad, begins_s;
	bool begun;
	const char *name; /* for VERBOSE */
	uint64_t seed;
};

static const unsigned intervals[] = {1, 8, 15, 60};

/* Half of all nodes have a sample each second. */
static void choose(struct imperfections *how, struct world *dice)
{
	static const double shares[] = {0, 1.0 / 500, 1.0 / 100};
	unsigned n = (unsigned)(6 * world_random(dice));

	*how = (struct imperfections){.failed_read = shares[(unsigned)(3 * world_random(dice))],
				      .zero_read = world_random(dice) < 0.3 ? 1.0 / 1000 : 0,
				      .skew_s = world_random(dice) < 0.5 ? 0.02 : 0,
				      .uneven = world_random(dice) < 0.5,
				      .interval_s = intervals[n < 3 ? 0 : n - 2]};
}

static void run_begin(struct run *run, struct world *dice, struct result *r, uint64_t seed,
		      enum congestion_control cc)
{
	struct imperfections how;
	struct thresholds limits;
	double noise;

	choose(&how, dice);
	if (world_random(dice) < 0.3)
		how.missing = 1u << (unsigned)(N_GROUPS * world_random(dice));
	noise = 0.1 + 0.233 * world_random(dice);
	*run = (struct run){.r = r, .seed = seed};
	imperfect_init(&run->i, seed, &how, noise);
	thresholds_init(&limits);
	limits.expected = cc;
	if (diagnosis_new(&run->d, &limits) < 0)
		abort();
}

static void run_end(struct run *run)
{
	diagnosis_free(run->d);
	imperfect_done(&run->i);
}

static bool is_alarm(const struct verdict *v)
{
	return v->opened_ms && !v->explained && v->severity >= SEVERITY_WARNING &&
	       (v->change == VERDICT_OPENED || v->change == VERDICT_SEVERITY);
}

static void verbose(const struct run *run, const char *what, const struct verdict *v)
{
	if (!getenv("VERBOSE"))
		return;
	printf("# %s: %s, seed %llu, every %u s%s, fail %g, zero %g, noise %.2f, bad %g: %s %s after %.0f s",
	       what, run->name, (unsigned long long)run->seed, run->i.how.interval_s,
	       run->i.how.uneven ? " unevenly" : "", run->i.how.failed_read, run->i.how.zero_read,
	       run->i.noise, run->bad, v ? cause_row(v->cause)->name : "",
	       v ? severity_name(v->severity) : "", imperfect_seconds(&run->i) - run->begins_s);
	for (unsigned i = 0; v && i < v->n_evidence; i++)
		printf(", %s %g (%g)", v->evidence[i].name, v->evidence[i].value,
		       v->evidence[i].threshold);
	printf("\n");
}

/* --- healthy ---------------------------------------------------------------------------------- */

static const struct world_pattern more_patterns[] = {
	{"small messages", small_messages}, {"bursts", bursts}, {"steady", steady}};

static void run_healthy(struct result *r, uint64_t seed)
{
	struct world dice;
	struct run run;
	unsigned n;

	world_init(&dice, 1, seed * 7919 + 13);
	for (int i = 0; i < 8; i++)
		world_random(&dice);
	run_begin(&run, &dice, r, seed, (enum congestion_control)(seed % N_CC));
	n = (unsigned)((WORLD_PATTERNS + 3) * world_random(&dice));
	run.i.traffic = n < WORLD_PATTERNS ? world_patterns[n].fn
					   : more_patterns[n - WORLD_PATTERNS].fn;
	run.name = n < WORLD_PATTERNS ? world_patterns[n].name
				      : more_patterns[n - WORLD_PATTERNS].name;
	while (imperfect_seconds(&run.i) < HOUR_S) {
		struct observation o = imperfect_step(&run.i);
		const struct verdict *v;
		size_t n_verdicts;

		diagnosis_tick(run.d, &o);
		v = diagnosis_verdicts(run.d, &n_verdicts);
		for (size_t k = 0; k < n_verdicts; k++) {
			if (!is_alarm(&v[k]))
				continue;
			r->false_alarms++;
			r->false_by_cause[v[k].cause]++;
			verbose(&run, "false", &v[k]);
		}
	}
	r->healthy_s += HOUR_S;
	run_end(&run);
	world_done(&dice);
}

/* --- faulty ----------------------------------------------------------------------------------- */

static void disturb(struct imperfect *i, void *arg)
{
	struct run *run = arg;
	double since_s = imperfect_seconds(i) - run->begins_s;

	if (since_s < 0)
		return;
	if (run->fault->changes_traffic) {
		world_traffic(&i->w.ports[0], run->fault->received, run->fault->sent);
		imperfect_background(i);
	}
	run->fault->apply(&i->w.ports[0], run->bad, run->begun ? fmax(since_s, 1e-3) : 0);
	run->begun = true;
}

struct found {
	bool reported;
	uint64_t beside; /* other causes that were reported, as CAUSE_BIT */
	enum severity worst;
	double onset_s, reported_s;
};

static void look(struct run *run, struct found *f)
{
	size_t n;
	const struct verdict *v = diagnosis_verdicts(run->d, &n);

	for (size_t k = 0; k < n; k++) {
		bool reported = v[k].opened_ms && !v[k].explained;

		if (reported && v[k].cause == run->fault->cause) {
			if (!f->reported)
				f->reported_s = imperfect_seconds(&run->i);
			if (!f->reported)
				f->onset_s = (double)(v[k].onset_ms - 1000000) / 1000;
			f->reported = true;
			if (v[k].severity > f->worst)
				f->worst = v[k].severity;
		} else if (is_alarm(&v[k])) {
			f->beside |= CAUSE_BIT(v[k].cause);
			verbose(run, "beside", &v[k]);
		} else if (v[k].change == VERDICT_CLOSED && v[k].closed == CLOSE_EXPLAINED) {
			/* It turned out to be a symptom of another cause. */
			f->beside &= ~CAUSE_BIT(v[k].cause);
		}
	}
}

static void count(struct run *run, const struct found *f)
{
	size_t k = (size_t)(run->fault - faults);
	double sample_s = run->i.how.interval_s * (run->i.how.uneven ? 2 : 1);
	struct result *r = run->r;
	double event_s = 0;

	r->faults++;
	r->of[k]++;
	for (int c = 0; c < N_CAUSES; c++)
		r->beside_by_cause[c] += (f->beside & CAUSE_BIT(c)) != 0;
	r->wrong += f->beside != 0;
	r->beside[k] += f->beside != 0;
	if (!f->reported) {
		r->missed[k]++;
		verbose(run, "missed", NULL);
		return;
	}
	r->found++;
	if (run->i.how.interval_s == 1) {
		r->late_s[k] += f->reported_s - run->begins_s;
		r->late_n[k]++;
	}
	if (f->worst == run->fault->severity)
		r->severe++;
	else {
		r->misjudged[k]++;
		verbose(run, "misjudged", NULL);
	}
	/* The first of rare events may come late. */
	if (run->fault->events > 0)
		event_s = 3 / (run->fault->events * run->bad);
	if (fabs(f->onset_s - run->begins_s) <= 2 * sample_s + event_s + 0.5)
		r->begun++;
	else {
		r->misdated[k]++;
		verbose(run, "misdated", NULL);
	}
}

static void run_faulty(struct result *r, uint64_t seed)
{
	struct world dice;
	struct found f = {0};
	struct run run;
	double end;

	world_init(&dice, 1, seed * 104729 + 7);
	for (int i = 0; i < 8; i++)
		world_random(&dice);
	run_begin(&run, &dice, r, seed, CC_DCQCN);
	run.fault = &faults[seed % ARRAY_SIZE(faults)];
	run.name = run.fault->name;
	run.bad = log_uniform(&run.i, run.fault->low, run.fault->high);
	/* The series that show the fault must exist. */
	run.i.how.missing = 0;
	run.i.unmarked = run.fault->unmarked;
	run.begins_s = floor(SETTLE_S + 10 * run.i.how.interval_s + 60 * world_random(&dice));
	run.i.traffic = steady;
	run.i.disturb = disturb;
	run.i.arg = &run;
	end = run.begins_s + 180 + 12 * run.i.how.interval_s;
	while (imperfect_seconds(&run.i) < end) {
		struct observation o = imperfect_step(&run.i);

		diagnosis_tick(run.d, &o);
		look(&run, &f);
	}
	count(&run, &f);
	run_end(&run);
	world_done(&dice);
}

/* --- all runs --------------------------------------------------------------------------------- */

static struct {
	atomic_ulong next;
	unsigned long hours, faults, seed;
} work;

static void *work_on(void *arg)
{
	struct result *r = arg;
	unsigned long at;

	while ((at = atomic_fetch_add(&work.next, 1)) < work.hours + work.faults)
		if (at < work.hours)
			run_healthy(r, work.seed * 1000003 + at);
		else
			run_faulty(r, work.seed * 1000003 + at - work.hours);
	return NULL;
}

static void add(unsigned *to, const unsigned *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] += from[i];
}

static void merge(struct result *to, const struct result *from)
{
	to->healthy_s += from->healthy_s;
	to->false_alarms += from->false_alarms;
	add(to->false_by_cause, from->false_by_cause, N_CAUSES);
	add(to->beside_by_cause, from->beside_by_cause, N_CAUSES);
	add(&to->faults, &from->faults, 5);
	add(to->of, from->of, ARRAY_SIZE(faults));
	add(to->missed, from->missed, ARRAY_SIZE(faults));
	add(to->misjudged, from->misjudged, ARRAY_SIZE(faults));
	add(to->misdated, from->misdated, ARRAY_SIZE(faults));
	add(to->beside, from->beside, ARRAY_SIZE(faults));
	add(to->late_n, from->late_n, ARRAY_SIZE(faults));
	for (size_t i = 0; i < ARRAY_SIZE(faults); i++)
		to->late_s[i] += from->late_s[i];
}

static double percent(unsigned part, unsigned of)
{
	return of ? 100.0 * part / of : 100;
}

static void print_causes(const char *what, const unsigned by_cause[N_CAUSES])
{
	for (int c = 0; c < N_CAUSES; c++)
		if (by_cause[c])
			printf("# %s: %u %s\n", what, by_cause[c], cause_row((enum cause)c)->name);
}

static int report(const struct result *r)
{
	double precision = percent(r->found, r->found + r->wrong);
	double recall = percent(r->found, r->faults), severity = percent(r->severe, r->found);
	double onset = percent(r->begun, r->found);

	printf("# %.0f healthy node-hours: %u verdicts of warning or more\n", r->healthy_s / HOUR_S,
	       r->false_alarms);
	print_causes("false", r->false_by_cause);
	printf("# %u faults: precision %.1f %%, recall %.1f %%, severity %.1f %%, onset %.1f %%\n",
	       r->faults, precision, recall, severity, onset);
	print_causes("beside", r->beside_by_cause);
	for (size_t i = 0; i < ARRAY_SIZE(faults); i++)
		printf("# %-16s %u: %u missed, %u of another severity, %u begun at another time, %u with others; reported after %.1f s\n",
		       faults[i].name, r->of[i], r->missed[i], r->misjudged[i], r->misdated[i],
		       r->beside[i], r->late_n[i] ? r->late_s[i] / r->late_n[i] : NAN);
	return r->false_alarms > 0 || precision < 98 || recall < 98 || severity < 97 || onset < 97;
}

int main(int argc, char *argv[])
{
	struct result results[THREADS] = {{0}};
	pthread_t threads[THREADS];

	work.hours = argc > 1 ? strtoul(argv[1], NULL, 10) : 200;
	work.faults = argc > 2 ? strtoul(argv[2], NULL, 10) : 1000;
	work.seed = argc > 3 ? strtoul(argv[3], NULL, 10) : 1;
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, work_on, &results[i]) != 0)
			return 2;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 1; i < THREADS; i++)
		merge(&results[0], &results[i]);
	return report(&results[0]);
}
