/* self_metrics.h - the daemon's own families on the metrics page. Pure: values in, text out. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "attach_series.h"
#include "event_series.h"
#include "page.h"
#include "qp_series.h"
#include "self_counters.h"

#define SELF_PROGRAMS_MAX 32

/* A copy of everything the daemon knows about itself, made on the loop's thread. */
struct self_metrics {
	struct self_counters counters;
	uint64_t log_lines_dropped;
	uint64_t oldest_job_us;	  /* how long the oldest work on a worker has been running; 0 = none
				     is */
	bool config_ok;		  /* the configuration file as it stands is the one in use */
	uint64_t config_refusals; /* resources of it whose text is wrong */
	uint64_t tls_expires_s;	  /* 0 = there is no certificate */
	/* --compat node_exporter: its series that tells whether the collector found anything. */
	bool compat, compat_success;
	uint64_t start_unix_ms;
	uint64_t inventory_generation;
	uint64_t
		rescan_us[4]; /* how long the last look at functions, devices, details, reports took
			       */
	uint64_t loop_lag_us; /* how late the loop was for the last sampling tick */
	uint64_t sample_us;   /* how long the last sample took, rendering included */
	uint64_t sample_unix_ms; /* when the sample on this page was taken */
	uint64_t cpu_us;	 /* user and system time of the process */
	uint64_t rss_bytes;	 /* 0 = unknown */
	unsigned open_fds_max;
	struct attach_summary attach;
	struct qp_summary qps;
	struct event_summary events;
	unsigned n_programs;
	struct {
		char name[32], hook[16];
	} programs[SELF_PROGRAMS_MAX]; /* BPF programs and what they hang on ("none": refused) */
};

/* -ENOMEM: the page is not to be used. */
int self_metrics_render(struct page *, const struct self_metrics *);
