/* qp_series.h - queue pairs on the metrics page: how many, and why they failed. Pure: values in,
 * text out. */
#pragma once

#include "page.h"
#include "qp_failures.h"

/* Devices beyond these are not on the page. */
#define QP_SERIES_DEVICES 128
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
};

void qp_summary_build(struct qp_summary *ret, const struct qp_table *, bool counted,
		      const struct qp_failures *);
/* The number of queue pairs is absent unless it was counted. */
void qp_series(struct page *, const struct qp_summary *);
