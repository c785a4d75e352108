/* sampler.c - one timer, one work item, two ticks never overlap.
 *
 * Happy path: tick -> lend or copy what the worker needs -> [worker: read counters, judge them,
 * render page] -> publish. Can fail by: the sample before still running (the tick is skipped and
 * counted; a wake asked for meanwhile is kept), out of memory (no page this time; the last one
 * stays), storms of changes (the pause before a sample that was woken is at least as long as the
 * last one took, so that laying out again and again costs at most half of a core).
 *
 * Between samples the worker looks at single ports while the diagnosis wants that (burst.h), and
 * takes at most a tenth of the time for it. */
#include "sampler.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cleanup.h"
#include "due.h"
#include "fnv.h"
#include "job.h"
#include "log.h"
#include "metrics.h"
#include "node_diagnosis.h"
#include "packet_ports.h"
#include "packet_visible.h"
#include "settings_table.h"
#include "unix_time.h"

/* So much longer than a look at single ports took is the time until the next. */
#define LOOK_PAUSE     10
/* Between two samples that are judged there is half an interval, or so much. */
#define JUDGE_PAUSE_MS 500
/* The same, when a link went down or came up since. */
#define LINK_PAUSE_MS  50

struct sampler {
	struct uv_loop_s *loop;
	const struct hw *hw;
	struct inventory *inventory;
	struct self_counters *self;
	struct sampler_opts opts;
	struct sampler_hooks hooks;

	struct due due;
	struct due look_due; /* at single ports */
	struct job work;
	uint64_t ended_ms;
	uint64_t due_ns; /* when the timer was meant to fire; 0 = not yet known */
	uint64_t lag_us;
	struct thresholds limits;
	int statm_fd;
	bool wake_again, closing;
	size_t n_rdma;	     /* RDMA devices when the inventory was last looked at */
	uint64_t links_down; /* links_down() of it */
	bool new_limits;     /* the diagnosis does not go by them yet */
	bool looking;	     /* the work in flight is a look at single ports */
	uint64_t look_us;    /* what the last one took */
	uint64_t looked_ms;  /* when it ended */

	/* The worker's own, untouched by the loop while it works. */
	struct counters *counters;
	struct metrics *metrics;
	struct node_diagnosis *diagnosis;      /* NULL: nothing is diagnosed */
	const struct diagnosis_report *report; /* the last one; NULL = none */
	uint64_t judged_ms;
	uint64_t judged_down; /* links_down() of what was judged */
	bool is_early;	      /* a link has changed too shortly after that to be judged */
	struct qp_ports qps;
	struct settings_table settings;
	uint64_t settings_generation; /* which settings these are */
	struct loan *loan;	      /* the host */
	uint64_t generation;	      /* of the host */
	struct resource_table resources;
	struct packet_view *packets; /* NULL = BPF counts nothing */
	struct packet_sample packet_sample;
	struct visible_table visible;
	bool relayout;	 /* the host is new to the counters */
	bool has_judged; /* the report is of this sample */
	bool wants_line, wants_counters;
	char *line; /* of this sample, if it is wanted */
	bool knows_qps;
	struct self_metrics about;
	struct page *page;	     /* its result, NULL = failed */
	struct page *last;	     /* the one before, which the next one is copied from */
	const struct sample *sample; /* the counters', NULL = there is none */
	unsigned looked_at;	     /* how many ports, in the last look */
	bool alarm;		     /* it has seen what cannot wait for the next sample */
	uint64_t sample_us;
	struct err optional; /* switching on optional counters */
	int optional_told;   /* code last logged */
};

static uint64_t cpu_us(void)
{
	struct rusage ru;

	getrusage(RUSAGE_SELF, &ru);
	return (uint64_t)(ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) * 1000000 +
	       (uint64_t)(ru.ru_utime.tv_usec + ru.ru_stime.tv_usec);
}

/* proc(5), statm: the second field is the resident set in pages. */
static uint64_t rss_bytes(int statm_fd)
{
	char buf[128];
	unsigned long pages;
	ssize_t n = statm_fd < 0 ? -1 : pread(statm_fd, buf, sizeof(buf) - 1, 0);

	if (n <= 0)
		return 0;
	buf[n] = '\0';
	if (sscanf(buf, "%*u %lu", &pages) != 1)
		return 0;
	return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* --- on the worker thread --------------------------------------------------------------------- */

/* NULL: nothing this time. */
static const struct packet_sample *read_packets(struct sampler *s, const struct sample *sample)
{
	if (!s->packets || packet_view_read(s->packets, false, &s->packet_sample) < 0 ||
	    visible_update(&s->visible, &s->packet_sample, sample, sample->taken_ms) < 0)
		return NULL;
	return &s->packet_sample;
}

/* NULL: there are none, or not of this sample's ports. */
static struct bursts *bursts_of(struct sampler *s, const struct sample *sample)
{
	struct bursts *bursts = s->diagnosis ? node_diagnosis_bursts(s->diagnosis) : NULL;

	return bursts && bursts_are_of(bursts, sample) ? bursts : NULL;
}

static struct page *render_page(struct sampler *s, const struct sample *sample,
				const struct packet_sample *packets)
{
	const struct metrics_scene scene = {
		.host = &s->loan->host,
		.host_generation = s->generation,
		.resources = &s->resources,
		.last = s->last,
		.packets = packets,
		.diagnosis = s->report,
		.bursts = bursts_of(s, sample),
	};
	struct page *page = page_new();

	if (!page)
		return NULL;
	s->about.cpu_us = cpu_us();
	s->about.rss_bytes = rss_bytes(s->statm_fd);
	if (metrics_render(s->metrics, page, sample, &scene, sample->taken_ms) == 0 &&
	    self_metrics_render(page, &s->about) == 0)
		return page;
	page_unref(page);
	return NULL;
}

/* Opens thousands of descriptors on a big host, and asks its firmware: not on the loop. Out of
 * memory keeps the old layout until the next tick. */
static void sampler_lay_out(struct sampler *s)
{
	s->optional = (struct err){0};
	if (s->opts.n_optional > 0)
		counters_enable_optional(s->hw, &s->loan->host, s->opts.optional,
					 s->opts.n_optional, &s->optional);
	if (counters_layout(s->counters, &s->loan->host) == 0)
		s->relayout = false;
	malloc_trim(0); /* lists of what every port has were many small pieces */
}

/* Over the ports that are down: devices that come and go with pods leave it as it is. */
static uint64_t links_down(const struct host *h)
{
	uint64_t digest = 0;

	for (size_t i = 0; i < h->n_rdma; i++) {
		const struct rdma_dev *dev = &h->rdma[i];
		uint64_t name = fnv1a(FNV1A_START, dev->name, strlen(dev->name));

		for (unsigned k = 0; k < dev->n_ports; k++)
			if (dev->ports[k].state == PORT_DOWN)
				digest += fnv1a(name, &dev->ports[k].num,
						sizeof(dev->ports[k].num));
	}
	return digest;
}

/* Rates over a moment say little, and a port that is missing in three samples is gone: those that a
 * storm of changes woke are not judged, and the last report stays. A link is not waited for. */
static bool is_to_be_judged(struct sampler *s, const struct sample *sample)
{
	uint64_t least = s->opts.interval_ms / 2, since = sample->taken_ms - s->judged_ms;
	bool changed = links_down(&s->loan->host) != s->judged_down;

	least = least < JUDGE_PAUSE_MS ? least : JUDGE_PAUSE_MS;
	if (changed && least > LINK_PAUSE_MS)
		least = LINK_PAUSE_MS;
	s->is_early = changed && since < least;
	return !s->report || s->alarm || since >= least;
}

static void sampler_judge(struct sampler *s, const struct sample *sample,
			  const struct packet_sample *packets)
{
	const struct diagnosis_report *report;
	const struct observer_scene scene = {
		.host = &s->loan->host,
		.host_generation = s->generation,
		.resources = &s->resources,
		.unix_ms = s->about.sample_unix_ms,
		.qps = s->knows_qps ? &s->qps : NULL,
		.settings = &s->settings,
		.settings_generation = s->settings_generation,
		.packets = packets,
		.events = &s->about.events,
	};

	s->has_judged = false;
	if (!s->diagnosis || !is_to_be_judged(s, sample))
		return;
	report = node_diagnosis_judge(s->diagnosis, sample, &scene, s->wants_counters);
	if (!report)
		return;
	s->report = report;
	s->judged_ms = sample->taken_ms;
	s->judged_down = links_down(&s->loan->host);
	s->has_judged = true;
	s->alarm = false;
	if (s->wants_line)
		s->line = node_diagnosis_line(s->diagnosis);
}

static void sampler_take_sample(void *arg)
{
	struct sampler *s = arg;
	uint64_t start_ns = uv_hrtime();
	const struct packet_sample *packets;
	const struct sample *sample;

	if (s->relayout)
		sampler_lay_out(s);
	s->about.sample_unix_ms = unix_ms();
	sample = counters_read(s->counters, &s->loan->host, start_ns / 1000000);
	s->sample = sample;
	packets = read_packets(s, sample);
	sampler_judge(s, sample, packets);
	s->page = render_page(s, sample, packets);
	packet_sample_done(&s->packet_sample);
	s->sample_us = (uv_hrtime() - start_ns) / 1000;
}

/* Ports that are no longer what was laid out are left to the next sample. */
static void sampler_look_at_ports(void *arg)
{
	struct sampler *s = arg;
	uint64_t start_ns = uv_hrtime();
	struct bursts *bursts = bursts_of(s, s->sample);

	s->looked_at = 0;
	for (size_t i = 0; bursts && i < s->sample->n_ports; i++) {
		int asked = bursts_looks_at(bursts, i) ? counters_read_port(s->counters, i)
						       : -ENODATA;

		if (asked < 0)
			continue;
		s->looked_at++;
		node_diagnosis_look(s->diagnosis, s->sample, i, (unsigned)asked, uv_hrtime());
	}
	s->alarm = bursts && bursts_alarm(bursts);
	s->look_us = (uv_hrtime() - start_ns) / 1000;
}

/* --- on the loop's thread --------------------------------------------------------------------- */

static void sampler_free(void *arg)
{
	struct sampler *s = arg;

	counters_free(s->counters);
	metrics_free(s->metrics);
	node_diagnosis_free(s->diagnosis);
	qp_ports_done(&s->qps);
	settings_done(&s->settings);
	visible_table_done(&s->visible);
	page_unref(s->last);
	if (s->statm_fd >= 0)
		close(s->statm_fd);
	free(s);
}

static void tell_optional(struct sampler *s)
{
	if (s->optional.code != s->optional_told && s->optional.code != 0)
		log_warn("sampler", 0, "%s, going on with the counters there are", s->optional.msg);
	s->optional_told = s->optional.code;
}

static void wake_after_pause(struct sampler *s);
static void await_look(struct sampler *s);

static void on_look_closed(void *arg)
{
	struct sampler *s = arg;

	due_close(&s->due, sampler_free);
}

/* Once nothing is in flight. */
static void sampler_end(struct sampler *s)
{
	due_close(&s->look_due, on_look_closed);
}

/* Without a page the last one goes on being served. */
static void keep_page(struct sampler *s)
{
	if (!s->page)
		return;
	page_unref(s->last);
	s->last = s->page;
	s->page = NULL;
}

/* What the worker was given. */
static void sampler_take_back(struct sampler *s)
{
	loan_return(s->loan);
	s->loan = NULL;
	resource_table_done(&s->resources);
	packet_view_put(take_ptr(s->packets));
}

static void on_sampled(void *arg)
{
	struct sampler *s = arg;

	sampler_take_back(s);
	s->ended_ms = uv_now(s->loop);
	s->self->samples++;
	tell_optional(s);
	if (s->closing) {
		free(s->line);
		page_unref(s->page);
		sampler_end(s);
		return;
	}
	if (s->has_judged && s->wants_line)
		s->hooks.line(s->line, s->hooks.arg);
	free(take_ptr(s->line));
	if (s->has_judged && s->hooks.diagnosed)
		s->hooks.diagnosed(s->report, s->hooks.arg);
	if (s->page)
		s->hooks.done(s->page, s->hooks.arg);
	else
		log_warn("sampler", -ENOMEM, "no page from this sample, keeping the last one");
	keep_page(s);
	if (s->closing)
		return;
	await_look(s);
	if (s->is_early)
		due_within(&s->due, LINK_PAUSE_MS);
	if (s->wake_again)
		wake_after_pause(s);
}

static int borrow_host(struct sampler *s)
{
	s->loan = inventory_lend(s->inventory);
	if (!s->loan)
		return -ENOMEM;
	s->relayout |= s->generation != s->inventory->generation;
	s->generation = s->inventory->generation;
	return 0;
}

/* Gives the worker its own copy of what is offered. It is small beside the host, and made for each
 * sample: between samples it would be memory for nothing. */
static int copy_resources(struct sampler *s)
{
	const struct resource_table *now = s->hooks.resources ? s->hooks.resources(s->hooks.arg)
							      : NULL;

	return now ? resource_table_copy(&s->resources, now) : 0;
}

/* What cannot be copied is not known this time. */
static void copy_queue_pairs(struct sampler *s)
{
	const struct qp_ports *now = s->hooks.queue_pairs ? s->hooks.queue_pairs(s->hooks.arg)
							  : NULL;

	s->knows_qps = now && qp_ports_copy(&s->qps, now) == 0;
}

/* They seldom change: their copy stays where it is, and known by the same number, as long as they
 * are the same. */
static void copy_settings(struct sampler *s)
{
	static const struct settings_table none;
	const struct settings_table *now = s->hooks.settings ? s->hooks.settings(s->hooks.arg)
							     : NULL;

	now = now ? now : &none;
	if (settings_equal(&s->settings, now))
		return;
	settings_copy(&s->settings, now);
	s->settings_generation++;
}

static int queue_sample(struct sampler *s)
{
	int r = borrow_host(s);

	if (r == 0)
		r = copy_resources(s);
	if (r < 0) {
		sampler_take_back(s);
		return r;
	}
	s->about = (struct self_metrics){
		.counters = *s->self,
		.sample_us = s->sample_us,
		.loop_lag_us = s->lag_us,
	};
	s->hooks.describe(&s->about, s->hooks.arg);
	copy_queue_pairs(s);
	copy_settings(s);
	s->wants_line = s->hooks.wants_line && s->hooks.wants_line(s->hooks.arg);
	s->wants_counters = s->hooks.wants_counters && s->hooks.wants_counters(s->hooks.arg);
	if (s->new_limits && s->diagnosis)
		node_diagnosis_follow(s->diagnosis, &s->limits);
	s->new_limits = false;
	s->packets = s->hooks.packets ? s->hooks.packets(s->hooks.arg) : NULL;
	job_begin(&s->work, s->loop, "the sample of counters", sampler_take_sample, on_sampled, s);
	return 0;
}

static void start_sample(struct sampler *s)
{
	int r = queue_sample(s);

	s->wake_again = false;
	if (r < 0)
		log_warn("sampler", r, "cannot start a sample, trying again at the next tick");
}

static void sampler_on_tick(void *arg)
{
	struct sampler *s = arg;
	uint64_t now = uv_hrtime(), lag = s->due_ns && now > s->due_ns ? now - s->due_ns : 0;

	due_in(&s->due, s->opts.interval_ms);
	s->due_ns = now + (uint64_t)s->opts.interval_ms * 1000000;
	/* A look is short: the sample follows it. One that hangs keeps samples waiting. */
	if (s->looking && !s->wake_again) {
		s->wake_again = true;
		return;
	}
	if (s->work.running) {
		s->self->samples_late++;
		return;
	}
	s->lag_us = lag / 1000;
	start_sample(s);
}

/* Starts a sample, or brings the timer forward to the end of the pause. */
static void wake_after_pause(struct sampler *s)
{
	uint64_t since = uv_now(s->loop) - s->ended_ms, took = s->sample_us / 1000;

	if (since >= took) {
		start_sample(s);
		return;
	}
	s->wake_again = false;
	s->due_ns = uv_hrtime() + (took - since) * 1000000;
	due_in(&s->due, took - since);
}

static void on_looked(void *arg)
{
	struct sampler *s = arg;

	s->looking = false;
	s->looked_ms = uv_now(s->loop);
	s->self->burst_reads += s->looked_at;
	if (s->closing)
		sampler_end(s);
	else if (s->alarm)
		start_sample(s);
	else if (s->wake_again)
		wake_after_pause(s);
	else
		await_look(s);
}

static void on_look_due(void *arg)
{
	struct sampler *s = arg;

	/* The end of a sample makes the next one due. */
	if (s->work.running)
		return;
	s->looking = true;
	job_begin(&s->work, s->loop, "a look at single ports", sampler_look_at_ports, on_looked, s);
}

/* Also after a sample that was not judged: the turns go on. Counted from the end of the last look,
 * so that samples between two looks do not postpone the second. */
static void await_look(struct sampler *s)
{
	unsigned interval_ms = s->diagnosis
				       ? bursts_interval_ms(node_diagnosis_bursts(s->diagnosis))
				       : 0;
	uint64_t pause_ms = s->look_us * LOOK_PAUSE / 1000;

	if (interval_ms)
		due_at(&s->look_due,
		       s->looked_ms + (pause_ms > interval_ms ? pause_ms : interval_ms));
	else
		due_at(&s->look_due, DUE_NEVER);
}

void sampler_wake(struct sampler *s)
{
	if (s->work.running)
		s->wake_again = true;
	else
		wake_after_pause(s);
}

void sampler_follow(struct sampler *s)
{
	const struct host *h = &s->inventory->host;
	uint64_t down = links_down(h);

	if (h->n_rdma == s->n_rdma && down == s->links_down)
		return;
	s->n_rdma = h->n_rdma;
	s->links_down = down;
	sampler_wake(s);
}

void sampler_judge_by(struct sampler *s, const struct thresholds *limits)
{
	s->limits = *limits;
	s->new_limits = true;
}

static int make_parts(struct sampler *s)
{
	s->counters = counters_new(s->hw, &s->opts.counters);
	s->metrics = metrics_new();
	if (s->opts.limits)
		s->diagnosis = node_diagnosis_new(s->opts.limits);
	if (!s->counters || !s->metrics || (s->opts.limits && !s->diagnosis))
		return -ENOMEM;
	s->opts.limits = NULL;
	s->statm_fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	return 0;
}

int sampler_open(struct sampler **ret, struct uv_loop_s *loop, const struct hw *hw,
		 struct inventory *inventory, struct self_counters *self,
		 const struct sampler_opts *opts, const struct sampler_hooks *hooks, struct err *e)
{
	struct sampler *s = calloc(1, sizeof(*s));

	if (!s)
		return err_set(e, -ENOMEM, "sampler: out of memory");
	s->loop = loop;
	s->hw = hw;
	s->inventory = inventory;
	s->n_rdma = SIZE_MAX; /* not looked at yet */
	s->self = self;
	s->opts = *opts;
	s->hooks = *hooks;
	s->statm_fd = -1;
	if (make_parts(s) < 0) {
		counters_free(s->counters);
		metrics_free(s->metrics);
		node_diagnosis_free(s->diagnosis);
		free(s);
		return err_set(e, -ENOMEM, "sampler: out of memory");
	}
	due_init(&s->due, loop, sampler_on_tick, s);
	due_init(&s->look_due, loop, on_look_due, s);
	due_in(&s->due, opts->interval_ms);
	*ret = s;
	return 0;
}

void sampler_close(struct sampler *s)
{
	if (!s)
		return;
	s->closing = true;
	due_at(&s->due, DUE_NEVER);
	due_at(&s->look_due, DUE_NEVER);
	if (!s->work.running) /* else at its end */
		sampler_end(s);
}
