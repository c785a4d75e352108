/* SPDX-License-Identifier: Apache-2.0 */
/* lab_script.h - the changes of counters, step by step.
 *
 * A write to `script` is one step, as lines "hw|eth NAME OP AMOUNT": "=" set to AMOUNT, "+"
 * AMOUNT more at once, "~" AMOUNT more every second from here on. Counters that a step does not
 * name continue unchanged; after the last step all do. With 1 until 0: "0" it reads 0 but keeps
 * counting,
 * "-" (eth) it is not listed, "!" (hw, NAME is *) reads fail.
 *
 * The reads of the sampling process make the steps, so that each of its samples sees one step: the
 * function with `beat` must be the one whose RDMA counters it reads last. */
#pragma once

#include <linux/list.h>
#include <linux/sysfs.h>

struct lab_nic;

struct lab_script {
	struct list_head steps; /* pending */
	struct list_head nics;	/* all functions */
};

void script_init(struct lab_nic *);
void script_done(struct lab_nic *);
/* Called on each read of this function's RDMA counters. */
void script_beat(struct lab_nic *);

extern const struct attribute_group script_group;
