/* qp_series.h - queue pairs on the metrics page: how many, and why they failed. Pure: values in,
 * text out.
 *
 * A reason whose failures would be seen on a device has a series from the start, so that the first
 * one is a rise from 0; where nobody looks, there is none until something was counted. */
#pragma once

#include "model.h"
#include "page.h"
#include "qp_failures.h"

/* Devices beyond these are not on the page. */
#define QP_SERIES_DEVICES 256
#define QP_SERIES_STATES  7 /* enum ib_qp_state */

/* A copy, made on the loop's thread. Zero-initialised: nobody knows the queue pairs. */
struct qp_summary {
	bool known, counted; /* counted: the table is as it is now */
	size_t n_devices;
	struct {
		char name[RDMA_NAME_SIZE];
		uint32_t n[QP_SERIES_STATES];
	} devices[QP_SERIES_DEVICES];
	size_t n_failures;
	struct qp_failure_count failures[QP_FAILURE_KINDS];
	bool watched[N_QP_FAILURE_SOURCES];
	size_t n_watched;
	struct {
		char name[RDMA_NAME_SIZE];
		bool soft;
	} watched_devices[QP_SERIES_DEVICES];
};

void qp_summary_build(struct qp_summary *ret, const struct qp_table *, bool counted,
		      const struct qp_failures *);
/* Where failures would be seen; [0] to [N_QP_FAILURE_SOURCES - 1]. */
void qp_summary_watch(struct qp_summary *, const struct host *, const bool *watched);
/* The number of queue pairs is absent unless it was counted. */
void qp_series(struct page *, const struct qp_summary *);
