/* SPDX-License-Identifier: Apache-2.0 */
/* attachments.h - a small list of attachments with one of every state. */
#pragma once

#include "attach_status.h"

#define N_ATTACHMENTS	  5
/* Matching unix time at the loop's time 0: 2026-01-02T03:04:05Z. */
#define ATTACHMENTS_EPOCH ((uint64_t)1767323045000)

struct attachments {
	struct attach_record records[N_ATTACHMENTS];
	struct attach_status status[N_ATTACHMENTS];
	struct attach_list list;
};

/* 0000:03:00.2 in train/job-7 (drifted), .3 being attached, .4 being returned, .5 bad, and a
 * macvlan "0" of rdma/hca_shared on 0000:04:00.0. Since 1, 2, 3 ... seconds. */
void attachments_small(struct attachments *);
/* A different number in each field. */
void attach_counters_small(struct attach_counters *);
