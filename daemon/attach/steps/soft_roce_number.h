/* SPDX-License-Identifier: Apache-2.0 */
/* soft_roce_number.h - keeps a soft-RoCE device from getting a device node number that a container
 * of another pod may open.
 *
 * The kernel gives each new device the lowest free number. A pod can delete its device, and its
 * containers may still open the number, which the next pod's device would get. So such numbers are
 * occupied while the device is created: by soft-RoCE devices on veths in the pod's namespace, which
 * are deleted as soon as the device has its number. */
#pragma once

#include "step_run.h"

#define PLACEHOLDERS_MAX 16

struct placeholder {
	int ifindex;	/* of a veth in the pod's namespace */
	uint32_t index; /* of the soft-RoCE device on it, RDMA_INDEX_NONE = none */
};

struct placeholders {
	struct step_run *run;
	struct placeholder items[PLACEHOLDERS_MAX];
	unsigned n;
};

bool soft_roce_number_is_taken(const struct attach_job *, const char *uverbs);
/* Occupies the lowest free number. -EBUSY: PLACEHOLDERS_MAX are occupied already. */
int placeholders_add(struct placeholders *);
/* Deletes all placeholders; those that cannot be deleted disappear with the pod's namespace. */
void placeholders_end(struct placeholders *);
