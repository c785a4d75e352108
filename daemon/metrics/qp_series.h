/* SPDX-License-Identifier: Apache-2.0 */
/* qp_series.h - queue pairs on the metrics page: their number, and the reasons of failures. Pure:
 * values in, text out.
 *
 * If failures with a reason can be detected on a device, their series exists from the start, so
 * that the first failure is an increase from 0; otherwise it appears with the first one. */
#pragma once

#include "model.h"
#include "page.h"
#include "qp_failures.h"

/* Maximum number of devices on the page. */
#define QP_SERIES_DEVICES 256
#define QP_SERIES_STATES  7 /* enum ib_qp_state */

/* A copy of the numbers, made on the loop's thread. Zero-initialised it means that queue pairs are
 * unknown. */
struct qp_summary {
	bool known, counted; /* counted: the table is current */
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
/* Sets the devices and sources by which failures are detected; `watched` has N_QP_FAILURE_SOURCES
 * elements. */
void qp_summary_watch(struct qp_summary *, const struct host *, const bool *watched);
/* Appends the families. The numbers of queue pairs are left out unless they were counted. */
void qp_series(struct page *, const struct qp_summary *);
