/* SPDX-License-Identifier: Apache-2.0 */
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

/* A copy of the daemon's own state, made on the loop's thread. */
struct self_metrics {
	const char *revision; /* revision of the sources; NULL = unknown */
	struct self_counters counters;
	uint64_t log_lines_dropped;
	uint64_t oldest_job_us;	    /* run time of the oldest running job; 0 = none is running */
	bool config_ok;		    /* the current configuration file is in use */
	bool config_last_good;	    /* config.good is in use */
	bool config_held;	    /* an edit waits for pods to release devices */
	uint64_t config_digest;	    /* of the file in use; 0 = none */
	uint64_t config_generation; /* number of configurations used since the start */
	char config_group[64];	    /* the group in use; "" = none */
	bool config_unmatched;	    /* there are groups with "match", and none applies */
	uint64_t config_refusals;   /* resources of the file that were rejected */
	uint64_t config_unusable;   /* resources whose IPAM plugin is missing */
	uint64_t config_ignored;    /* resources that --observe does not offer */
	uint64_t tls_expires_s;	    /* 0 = there is no certificate */
	/* compat: --compat node_exporter is set. compat_success: the host has RDMA devices, which
	 * node_exporter's collector reports as success. */
	bool compat, compat_success;
	uint64_t start_unix_ms;
	uint64_t inventory_generation;
	uint64_t rescan_us[4];	 /* duration of the last rescan of functions, devices, details,
				    reports */
	uint64_t loop_lag_us;	 /* delay of the last sampling tick */
	uint64_t sample_us;	 /* duration of the last sample, including rendering */
	uint64_t sample_unix_ms; /* time of the sample on this page */
	uint64_t cpu_us;	 /* user and system time of the process */
	uint64_t rss_bytes;	 /* 0 = unknown */
	uint64_t virtual_bytes;	 /* 0 = unknown */
	unsigned open_fds;	 /* 0 = unknown */
	unsigned open_fds_max;
	struct attach_summary attach;
	struct qp_summary qps;
	struct event_summary events;
	unsigned n_programs;
	struct {
		char name[32], hook[16];
	} programs[SELF_PROGRAMS_MAX]; /* BPF programs and their hooks ("none": not loaded) */
};

/* Appends the families. -ENOMEM: the page must not be used. */
int self_metrics_render(struct page *, const struct self_metrics *);
