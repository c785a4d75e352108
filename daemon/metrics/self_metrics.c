// SPDX-License-Identifier: Apache-2.0
/* self_metrics.c - see self_metrics.h; the counters come from the list in self_counters.h. */
#include "self_metrics.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "cleanup.h"
#include "version.h"

struct self_series {
	const char *family, *labels, *help;
	uint64_t value;
};

static void self_metrics_add_counter(struct page *p, const char **family,
				     const struct self_series *s)
{
	if (*family == NULL || strcmp(*family, s->family) != 0) {
		if (*family)
			page_end(p);
		page_begin(p, s->family, "counter", s->help);
		*family = s->family;
	}
	text_addf(&p->text, "%s%s%s%s %" PRIu64 "\n", s->family, *s->labels ? "{" : "", s->labels,
		  *s->labels ? "}" : "", s->value);
}

static void self_metrics_add_counters(struct page *p, const struct self_counters *c)
{
	const struct self_series all[] = {
#define X(field, labels, family, help) {family, labels, help, c->field},
		SELF_COUNTERS(X)
#undef X
	};
	const char *family = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		self_metrics_add_counter(p, &family, &all[i]);
	page_end(p);
}

static void add_seconds(struct page *p, const char *name, const char *type, const char *help,
			uint64_t us)
{
	page_begin(p, name, type, help);
	text_addf(&p->text, "%s %" PRIu64 ".%06" PRIu64 "\n", name, us / 1000000, us % 1000000);
	page_end(p);
}

static void self_metrics_add_number(struct page *p, const char *name, const char *type,
				    const char *help, uint64_t value)
{
	page_begin(p, name, type, help);
	text_addf(&p->text, "%s %" PRIu64 "\n", name, value);
	page_end(p);
}

static void add_rescans(struct page *p, const struct self_metrics *m)
{
	static const char *const kinds[] = {"functions", "devices", "details", "reports"};

	page_begin(p, "rocelet_last_look_seconds", "gauge",
		   "Duration of the last rescan of the hardware.");
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		text_addf(&p->text,
			  "rocelet_last_look_seconds{kind=\"%s\"} %" PRIu64 ".%06" PRIu64 "\n",
			  kinds[i], m->rescan_us[i] / 1000000, m->rescan_us[i] % 1000000);
	page_end(p);
}

static void add_programs(struct page *p, const struct self_metrics *m)
{
	page_begin(p, "rocelet_bpf_program_loaded", "gauge",
		   "1 for an attached BPF program, 0 for one that the kernel rejected.");
	for (unsigned i = 0; i < m->n_programs; i++)
		text_addf(&p->text, "rocelet_bpf_program_loaded{program=\"%s\",hook=\"%s\"} %d\n",
			  m->programs[i].name, m->programs[i].hook,
			  strcmp(m->programs[i].hook, "none") != 0);
	page_end(p);
}

static void self_metrics_add_config(struct page *p, const struct self_metrics *m)
{
	page_begin(
		p, "rocelet_config_info", "info",
		"The configuration in use: hash of the file, node group, and number of configurations since the start.");
	text_addf(&p->text,
		  "rocelet_config_info{digest=\"%016" PRIx64 "\",group=\"%s\",generation=\"%" PRIu64
		  "\"} 1\n",
		  m->config_digest, m->config_group, m->config_generation);
	page_end(p);
	self_metrics_add_number(p, "rocelet_config_ok", "gauge",
				"1 while the whole configuration file is in use.", m->config_ok);
	self_metrics_add_number(
		p, "rocelet_config_held", "gauge",
		"1 while a change of the configuration waits for pods to release the devices that it withdraws.",
		m->config_held);
	self_metrics_add_number(
		p, "rocelet_config_last_good", "gauge",
		"1 while the last good configuration is in use because the file was wrong at the start.",
		m->config_last_good);
	self_metrics_add_number(
		p, "rocelet_config_unmatched", "gauge",
		"1 while the configuration has groups with match conditions and no group applies to this node.",
		m->config_unmatched);
}

static void add_compat(struct page *p, const struct self_metrics *m)
{
	page_begin(p, "node_scrape_collector_success", "gauge",
		   "1 if the host has RDMA devices, under node_exporter's name.");
	text_addf(&p->text, "node_scrape_collector_success{collector=\"infiniband\"} %d\n",
		  m->compat_success);
	page_end(p);
}

static void self_metrics_add_process(struct page *p, const struct self_metrics *m)
{
	add_seconds(p, "process_cpu_seconds_total", "counter",
		    "User and system CPU time of the daemon.", m->cpu_us);
	add_seconds(p, "process_start_time_seconds", "gauge", "Start time since the Unix epoch.",
		    m->start_unix_ms * 1000);
	if (m->rss_bytes > 0)
		self_metrics_add_number(p, "process_resident_memory_bytes", "gauge",
					"Resident memory.", m->rss_bytes);
	if (m->virtual_bytes > 0)
		self_metrics_add_number(p, "process_virtual_memory_bytes", "gauge",
					"Virtual memory.", m->virtual_bytes);
	if (m->open_fds > 0)
		self_metrics_add_number(p, "process_open_fds", "gauge", "Open file descriptors.",
					m->open_fds);
	self_metrics_add_number(p, "process_max_fds", "gauge",
				"Maximum number of open file descriptors.", m->open_fds_max);
}

static void add_build(struct page *p, const struct self_metrics *m)
{
	page_begin(p, "rocelet_build_info", "info",
		   "Version of the daemon, and the revision of its sources.");
	text_addf(&p->text,
		  "rocelet_build_info{version=\"" ROCELET_VERSION "\",revision=\"%s\"} 1\n",
		  m->revision ? m->revision : "unknown");
	page_end(p);
}

/* Appends the families. All counters here start with the process, so its start time is their
 * creation time. */
int self_metrics_render(struct page *p, const struct self_metrics *m)
{
	p->created_unix_ms = m->start_unix_ms;
	add_build(p, m);
	self_metrics_add_counters(p, &m->counters);
	self_metrics_add_number(p, "rocelet_log_lines_dropped_total", "counter",
				"Log lines dropped by rate limits.", m->log_lines_dropped);
	self_metrics_add_config(p, m);
	self_metrics_add_number(
		p, "rocelet_config_resources_refused", "gauge",
		"Invalid resources in the configuration file; rocelet leaves them out, or keeps their previous definition.",
		m->config_refusals);
	self_metrics_add_number(
		p, "rocelet_config_resources_unusable", "gauge",
		"Resources that no pod can use: their IPAM plugin is in no folder of cni-path.",
		m->config_unusable);
	self_metrics_add_number(
		p, "rocelet_config_resources_ignored", "gauge",
		"Resources of the configuration that are not offered because of --observe.",
		m->config_ignored);
	if (m->tls_expires_s > 0)
		self_metrics_add_number(
			p, "rocelet_tls_certificate_expires_seconds", "gauge",
			"When the certificate of the TCP listener expires, since the Unix epoch.",
			m->tls_expires_s);
	self_metrics_add_number(p, "rocelet_inventory_generation", "gauge",
				"Incremented by every change of the inventory.",
				m->inventory_generation);
	add_rescans(p, m);
	add_seconds(p, "rocelet_last_sample_seconds", "gauge",
		    "Duration of the last sample of all counters, rendering included.",
		    m->sample_us);
	add_seconds(p, "rocelet_sample_timestamp_seconds", "gauge",
		    "Time of the sample on this page, since the Unix epoch.",
		    m->sample_unix_ms * 1000);
	add_seconds(p, "rocelet_loop_lag_seconds", "gauge",
		    "Delay of the event loop at the last sampling tick.", m->loop_lag_us);
	add_seconds(
		p, "rocelet_oldest_work_seconds", "gauge",
		"Age of the oldest running job on a worker thread when the sample began; 0: none.",
		m->oldest_job_us);
	add_programs(p, m);
	if (m->compat)
		add_compat(p, m);
	attach_series(p, &m->attach);
	qp_series(p, &m->qps);
	event_series(p, &m->events);
	self_metrics_add_process(p, m);
	p->created_unix_ms = 0;
	return p->text.failed || p->heads.failed ? -ENOMEM : 0;
}
