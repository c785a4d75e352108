/* SPDX-License-Identifier: Apache-2.0 */
/* lab_script.h - what counters do, step by step.
 *
 * A write to `script` is one step, as lines "hw|eth NAME OP AMOUNT": "=" it is AMOUNT now, "+"
 * AMOUNT more at once, "~" AMOUNT more every second from here on. Counters of which a step does not
 * speak go on as they do; after the last step all do. With 1 until 0: "0" it reads 0 and counts on,
 * "-" (eth) it is not listed, "!" (hw, NAME is *) looks fail.
 *
 * The looks of whoever samples make the steps, so that each of its samples sees one: the function
 * that beats has to be the one whose RDMA counters it reads last. */
#pragma once

#include <linux/list.h>
#include <linux/sysfs.h>

struct lab_nic;

struct lab_script {
	struct list_head steps; /* to come */
	struct list_head nics;	/* all that there are */
};

void script_init(struct lab_nic *);
void script_done(struct lab_nic *);
/* Somebody has looked at this function's RDMA counters. */
void script_beat(struct lab_nic *);

extern const struct attribute_group script_group;
