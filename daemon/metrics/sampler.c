// SPDX-License-Identifier: Apache-2.0
/* sampler.c - one timer and one job; ticks never overlap.
 *
 * Success: tick -> lend or copy the worker's inputs -> [worker: read counters, judge them, render
 * the page] -> publish. Failures: the previous sample still runs (the tick is skipped and counted;
 * a wake is kept); out of memory (no page from this sample; the last one is still served); storms
 * of changes (the pause before a woken sample is at least as long as the last sample, so repeated
 * layouts use at most half a core).
 *
 * Between samples, the worker reads single ports if the diagnosis requests that (burst.h), for at
 * most a tenth of the time. */
#include "sampler.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "fnv.h"
#include "job.h"
#include "log.h"
#include "metrics.h"
#include "node_diagnosis.h"
#include "packet_ports.h"
#include "packet_visible.h"
#include "port_counters.h"
#include "report_reader.h"
#include "settings_table.h"
#include "timer.h"
#include "unix_time.h"

/* The pause after a burst reading, as a multiple of its duration. */
#define BURST_PAUSE    10
/* Minimum time between two judged samples; half an interval if that is shorter. */
#define JUDGE_PAUSE_MS 500
/* The minimum time if a link has changed since the last judged sample. */
#define LINK_PAUSE_MS  50
/* Minimum time that rates of single ports cover, because people compare them by eye. */
#define PORT_PAUSE_MS  900

struct sampler {
	struct uv_loop_s *loop;
	const struct hw *hw;
	struct inventory *inventory;
	struct self_counters *self;
	struct sampler_opts opts;
	struct sampler_hooks hooks;

	struct timer timer;
	struct timer burst_timer; /* for burst readings */
	struct job work;
	struct job reading;	       /* the first reader reads the report */
	struct report_reader *readers; /* in order of arrival */
	const struct diagnosis_report
		*published_report;		    /* report of the last sample that has ended */
	const struct diagnosis_report *read_report; /* the report that the running reader reads */
	uint64_t ended_ms;
	uint64_t due_ns; /* when the timer was expected to fire; 0 = not known yet */
	uint64_t lag_us;
	struct thresholds limits;
	int statm_fd;
	bool wake_again, closing;
	size_t n_rdma;	       /* RDMA devices at the last sampler_follow(); SIZE_MAX = none yet */
	uint64_t links_down;   /* links_down() at that time */
	bool new_limits;       /* the diagnosis does not use the limits yet */
	bool burst_running;    /* the running job is a burst reading */
	uint64_t burst_us;     /* duration of the last burst reading */
	uint64_t burst_end_ms; /* when the last burst reading ended */

	/* Owned by the worker while it runs. */
	struct counters *counters;
	struct metrics *metrics;
	struct node_diagnosis *diagnosis;      /* NULL: no diagnosis */
	const struct diagnosis_report *report; /* the last one; NULL = none */
	uint64_t judged_ms;
	uint64_t judged_down; /* links_down() of the last judged sample */
	bool is_early;	      /* a link has changed, but too soon after the last judgement */
	struct qp_ports qps;
	struct settings_table settings;
	uint64_t settings_generation; /* identifies the version of `settings` */
	struct host_ref *host_ref;    /* reference to the host */
	uint64_t generation;	      /* identifies the version of the host */
	struct resource_table resources;
	struct packet_view *packets; /* NULL = BPF counts nothing */
	struct packet_sample packet_sample;
	struct visible_table visible;
	bool relayout;	 /* the counters have to be laid out for a new host */
	bool has_judged; /* the report is of this sample */
	bool wants_line, wants_counters, wants_page;
	char *line; /* line of this sample, if requested */
	bool knows_qps;
	struct port_counters_set port_counters; /* of the ports that clients show */
	struct self_metrics about;
	struct page *page;	     /* the result, NULL = failed */
	struct page *last;	     /* the previous page, which the next one copies from */
	const struct sample *sample; /* borrowed from the counters, NULL = none */
	unsigned n_burst_ports;	     /* ports read in the last burst reading */
	bool alarm; /* a burst reading found something that cannot wait for the next sample */
	uint64_t sample_us;
	struct err optional; /* error of enabling optional counters */
	int optional_logged; /* code last logged */
};

static uint64_t cpu_us(void)
{
	struct rusage ru;

	getrusage(RUSAGE_SELF, &ru);
	return (uint64_t)(ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) * 1000000 +
	       (uint64_t)(ru.ru_utime.tv_usec + ru.ru_stime.tv_usec);
}

/* Reads statm of proc(5): virtual memory and the resident set, in pages. */
static void read_memory(int statm_fd, struct self_metrics *ret)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	char buf[128];
	unsigned long all, resident;
	ssize_t n = statm_fd < 0 ? -1 : pread(statm_fd, buf, sizeof(buf) - 1, 0);

	if (n <= 0)
		return;
	buf[n] = '\0';
	if (sscanf(buf, "%lu %lu", &all, &resident) != 2)
		return;
	ret->virtual_bytes = all * page;
	ret->rss_bytes = resident * page;
}

/* Returns the number of open descriptors, 0 = unknown. Since Linux 6.2 it is the size of
 * /proc/PID/fd (proc(5)), which was 0 before. Counting the entries would cost a walk over thousands
 * on a large host. */
static unsigned open_fds(void)
{
	struct stat st;

	return stat("/proc/self/fd", &st) == 0 && st.st_size > 0 ? (unsigned)st.st_size : 0;
}

/* --- on the worker thread --------------------------------------------------------------------- */

/* Reads the counts of the packet programs. NULL: this failed, or nothing is counted. */
static const struct packet_sample *read_packets(struct sampler *s, const struct sample *sample)
{
	if (!s->packets || packet_view_read(s->packets, false, &s->packet_sample) < 0 ||
	    visible_update(&s->visible, &s->packet_sample, sample, sample->taken_ms) < 0)
		return NULL;
	return &s->packet_sample;
}

/* Returns the burst sampling of this sample's ports; NULL: none. */
static struct bursts *bursts_of(struct sampler *s, const struct sample *sample)
{
	struct bursts *bursts = s->diagnosis ? node_diagnosis_bursts(s->diagnosis) : NULL;

	return bursts && bursts_are_of(bursts, sample) ? bursts : NULL;
}

static struct page *render_page(struct sampler *s, const struct sample *sample,
				const struct packet_sample *packets)
{
	const struct metrics_inputs inputs = {
		.host = &s->host_ref->host,
		.host_generation = s->generation,
		.resources = &s->resources,
		.last = s->last,
		.packets = packets,
		.diagnosis = s->report,
		.bursts = bursts_of(s, sample),
		.few = s->opts.few_series,
	};
	struct page *page = page_new();

	if (!page)
		return NULL;
	s->about.cpu_us = cpu_us();
	read_memory(s->statm_fd, &s->about);
	s->about.open_fds = open_fds();
	if (metrics_render(s->metrics, page, sample, &inputs, sample->taken_ms) == 0 &&
	    self_metrics_render(page, &s->about) == 0)
		return page;
	page_unref(page);
	return NULL;
}

/* Lays the counters out for a new host, on the worker: this opens thousands of descriptors on a
 * large host, and queries firmware. If out of memory, the old layout is used until the next tick.
 */
static void sampler_lay_out(struct sampler *s)
{
	s->optional = (struct err){0};
	if (s->opts.n_optional > 0)
		counters_enable_optional(s->hw, &s->host_ref->host, s->opts.optional,
					 s->opts.n_optional, &s->optional);
	if (counters_layout(s->counters, &s->host_ref->host) == 0)
		s->relayout = false;
	malloc_trim(0); /* building the lists of ports leaves many small free blocks */
}

/* Returns a digest of the ports that are down. It does not change when devices are moved to pods
 * and back. */
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

/* True if the sample is to be judged; otherwise the last report is kept. Samples in quick
 * succession, caused by a storm of changes, are not judged: rates over such short times are
 * inaccurate, and a port that is missing in three judged samples counts as removed. After a link
 * change the pause is shorter. */
static bool should_judge(struct sampler *s, const struct sample *sample)
{
	uint64_t least = s->opts.interval_ms / 2, since = sample->taken_ms - s->judged_ms;
	bool changed = links_down(&s->host_ref->host) != s->judged_down;

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
	const struct observer_inputs inputs = {
		.host = &s->host_ref->host,
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
	if (!s->diagnosis || !should_judge(s, sample))
		return;
	report = node_diagnosis_judge(s->diagnosis, sample, &inputs, s->wants_counters);
	if (!report)
		return;
	s->report = report;
	s->judged_ms = sample->taken_ms;
	s->judged_down = links_down(&s->host_ref->host);
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
	sample = counters_read(s->counters, &s->host_ref->host, start_ns / 1000000);
	s->sample = sample;
	port_counters_take(&s->port_counters, sample, s->about.sample_unix_ms, PORT_PAUSE_MS);
	packets = read_packets(s, sample);
	sampler_judge(s, sample, packets);
	s->page = s->wants_page ? render_page(s, sample, packets) : NULL;
	packet_sample_done(&s->packet_sample);
	s->sample_us = (uv_hrtime() - start_ns) / 1000;
}

/* Reads single ports for burst sampling. Ports that have changed since the layout was built are
 * left to the next sample. */
static void sampler_read_ports(void *arg)
{
	struct sampler *s = arg;
	uint64_t start_ns = uv_hrtime();
	struct bursts *bursts = bursts_of(s, s->sample);

	s->n_burst_ports = 0;
	for (size_t i = 0; bursts && i < s->sample->n_ports; i++) {
		int asked = bursts_is_running(bursts, i) ? counters_read_port(s->counters, i)
							 : -ENODATA;

		if (asked < 0)
			continue;
		s->n_burst_ports++;
		node_diagnosis_add_reading(s->diagnosis, s->sample, i, (unsigned)asked,
					   uv_hrtime());
	}
	s->alarm = bursts && bursts_alarm(bursts);
	s->burst_us = (uv_hrtime() - start_ns) / 1000;
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
	port_counters_done(&s->port_counters);
	visible_table_done(&s->visible);
	page_unref(s->last);
	if (s->statm_fd >= 0)
		close(s->statm_fd);
	free(s);
}

static void log_optional(struct sampler *s)
{
	if (s->optional.code != s->optional_logged && s->optional.code != 0)
		log_warn("sampler", 0, "%s, going on with the available counters", s->optional.msg);
	s->optional_logged = s->optional.code;
}

static void wake_after_pause(struct sampler *s);
static void await_burst(struct sampler *s);

static void on_burst_timer_closed(void *arg)
{
	struct sampler *s = arg;

	timer_close(&s->timer, sampler_free);
}

/* Ends a closing sampler when no job is running. */
static void sampler_end(struct sampler *s)
{
	if (!s->work.running && !s->reading.running)
		timer_close(&s->burst_timer, on_burst_timer_closed);
}

/* Keeps the new page as the last one. If no page could be made, the previous one is still served.
 */
static void keep_page(struct sampler *s)
{
	if (!s->page && s->wants_page)
		return;
	page_unref(s->last);
	s->last = s->page;
	s->page = NULL;
}

/* Returns the inputs that the worker has borrowed. */
static void sampler_return_inputs(struct sampler *s)
{
	host_ref_put(s->host_ref);
	s->host_ref = NULL;
	resource_table_done(&s->resources);
	packet_view_put(take_ptr(s->packets));
}

static void on_sampled(void *arg)
{
	struct sampler *s = arg;

	sampler_return_inputs(s);
	s->ended_ms = uv_now(s->loop);
	s->self->samples++;
	log_optional(s);
	s->published_report = s->report;
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
	if (s->port_counters.n > 0)
		s->hooks.ports_read(&s->port_counters, s->hooks.arg);
	if (s->page || !s->wants_page)
		s->hooks.done(s->page, s->hooks.arg);
	else
		log_warn("sampler", -ENOMEM,
			 "cannot render a page from this sample, keeping the last one");
	keep_page(s);
	if (s->closing)
		return;
	await_burst(s);
	if (s->is_early)
		timer_within(&s->timer, LINK_PAUSE_MS);
	if (s->wake_again)
		wake_after_pause(s);
}

static int borrow_host(struct sampler *s)
{
	s->host_ref = inventory_borrow(s->inventory);
	if (!s->host_ref)
		return -ENOMEM;
	s->relayout |= s->generation != s->inventory->generation;
	s->generation = s->inventory->generation;
	return 0;
}

/* Copies the resource table for the worker. It is small compared to the host, and freed after each
 * sample to save memory. */
static int copy_resources(struct sampler *s)
{
	const struct resource_table *now = s->hooks.resources ? s->hooks.resources(s->hooks.arg)
							      : NULL;

	return now ? resource_table_copy(&s->resources, now) : 0;
}

/* Copies the queue pairs. If out of memory, they are unknown in this sample. */
static void copy_queue_pairs(struct sampler *s)
{
	const struct qp_ports *now = s->hooks.queue_pairs ? s->hooks.queue_pairs(s->hooks.arg)
							  : NULL;

	s->knows_qps = now && qp_ports_copy(&s->qps, now) == 0;
}

/* Copies the settings of ports. They seldom change, so the copy and its generation are kept while
 * they are equal. */
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

/* Follows the ports that clients request. */
static void follow_ports(struct sampler *s)
{
	struct port_name names[PORT_COUNTERS_MAX];

	if (s->hooks.wants_ports)
		port_counters_follow(&s->port_counters, names,
				     s->hooks.wants_ports(names, s->hooks.arg));
}

static int queue_sample(struct sampler *s)
{
	int r = borrow_host(s);

	if (r == 0)
		r = copy_resources(s);
	if (r < 0) {
		sampler_return_inputs(s);
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
	follow_ports(s);
	s->wants_line = s->hooks.wants_line && s->hooks.wants_line(s->hooks.arg);
	s->wants_page = !s->hooks.wants_page || s->hooks.wants_page(s->hooks.arg);
	s->wants_counters = s->hooks.wants_counters && s->hooks.wants_counters(s->hooks.arg);
	if (s->new_limits && s->diagnosis)
		node_diagnosis_follow(s->diagnosis, &s->limits);
	s->new_limits = false;
	s->packets = s->hooks.packets ? s->hooks.packets(s->hooks.arg) : NULL;
	job_begin(&s->work, s->loop, "sampling counters", sampler_take_sample, on_sampled, s);
	return 0;
}

static void start_sample(struct sampler *s)
{
	int r;

	if (s->reading.running) { /* the sample is started when the reader has ended */
		s->wake_again = true;
		return;
	}
	r = queue_sample(s);
	s->wake_again = false;
	if (r < 0)
		log_warn("sampler", r, "cannot start a sample, retrying at the next tick");
}

static void sampler_on_tick(void *arg)
{
	struct sampler *s = arg;
	uint64_t now = uv_hrtime(), lag = s->due_ns && now > s->due_ns ? now - s->due_ns : 0;

	timer_in(&s->timer, s->opts.interval_ms);
	s->due_ns = now + (uint64_t)s->opts.interval_ms * 1000000;
	/* A burst reading is short: take the sample after it. If the reading hangs, samples are
	 * skipped. */
	if (s->burst_running && !s->wake_again) {
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

/* Starts a sample, or sets the timer to the end of the pause. */
static void wake_after_pause(struct sampler *s)
{
	uint64_t since = uv_now(s->loop) - s->ended_ms, took = s->sample_us / 1000;

	if (since >= took) {
		start_sample(s);
		return;
	}
	s->wake_again = false;
	s->due_ns = uv_hrtime() + (took - since) * 1000000;
	timer_in(&s->timer, took - since);
}

static void on_burst_read(void *arg)
{
	struct sampler *s = arg;

	s->burst_running = false;
	s->burst_end_ms = uv_now(s->loop);
	s->self->burst_reads += s->n_burst_ports;
	if (s->closing)
		sampler_end(s);
	else if (s->alarm)
		start_sample(s);
	else if (s->wake_again)
		wake_after_pause(s);
	else
		await_burst(s);
}

static void on_burst_timer(void *arg)
{
	struct sampler *s = arg;

	/* the timer is set again at the end of the sample */
	if (s->work.running)
		return;
	s->burst_running = true;
	job_begin(&s->work, s->loop, "burst reading of ports", sampler_read_ports, on_burst_read,
		  s);
}

/* Sets the timer of the next burst reading, counted from the end of the last one, so that samples
 * in between do not delay it. Called after every sample, judged or not. */
static void await_burst(struct sampler *s)
{
	unsigned interval_ms = s->diagnosis
				       ? bursts_interval_ms(node_diagnosis_bursts(s->diagnosis))
				       : 0;
	uint64_t pause_ms = s->burst_us * BURST_PAUSE / 1000;

	if (interval_ms)
		timer_at(&s->burst_timer,
			 s->burst_end_ms + (pause_ms > interval_ms ? pause_ms : interval_ms));
	else
		timer_at(&s->burst_timer, TIMER_NEVER);
}

/* --- readers of the report -------------------------------------------------------------------- */

static void read_report_on_worker(void *arg)
{
	struct sampler *s = arg;

	s->readers->read(s->readers, s->read_report);
}

static void read_next(struct sampler *s);

static void on_report_read(void *arg)
{
	struct sampler *s = arg;
	struct report_reader *reader = s->readers;

	s->readers = reader->next;
	reader->done(reader);
	if (s->closing) {
		sampler_end(s);
		return;
	}
	/* Readers take turns with samples. */
	if (s->wake_again && !s->work.running)
		wake_after_pause(s);
	read_next(s);
}

static void read_next(struct sampler *s)
{
	if (!s->readers || s->reading.running)
		return;
	s->read_report = s->published_report;
	job_begin(&s->reading, s->loop, "reading the diagnosis report", read_report_on_worker,
		  on_report_read, s);
}

void sampler_read_report(struct sampler *s, struct report_reader *reader)
{
	struct report_reader **last = &s->readers;

	reader->next = NULL;
	while (*last)
		last = &(*last)->next;
	*last = reader;
	read_next(s);
}

/* Ends the waiting readers, without a report. */
static void answer_readers(struct sampler *s)
{
	struct report_reader *reader,
		**first = s->reading.running ? &s->readers->next : &s->readers;

	while ((reader = *first) != NULL) {
		*first = reader->next;
		reader->read(reader, NULL);
		reader->done(reader);
	}
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
	s->n_rdma = SIZE_MAX; /* no inventory yet */
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
	timer_init(&s->timer, loop, sampler_on_tick, s);
	timer_init(&s->burst_timer, loop, on_burst_timer, s);
	timer_in(&s->timer, opts->interval_ms);
	*ret = s;
	return 0;
}

void sampler_close(struct sampler *s)
{
	if (!s)
		return;
	s->closing = true;
	timer_at(&s->timer, TIMER_NEVER);
	timer_at(&s->burst_timer, TIMER_NEVER);
	answer_readers(s);
	sampler_end(s); /* called again when the last job ends */
}
