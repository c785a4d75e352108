/* SPDX-License-Identifier: Apache-2.0 */
/* soft_roce_number.h - keeps a soft-RoCE device from getting a device node number that a container
 * of another pod may open.
 *
 * The kernel gives each new device the lowest free number. If a pod deletes its device, the next
 * pod's device would get that number, which containers of the first pod may still open. So such
 * numbers are occupied while a device is created: by soft-RoCE devices on veths in the pod's
 * namespace, which are deleted as soon as the device has its number. */
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

/* True if a container of another pod may open this device node. */
bool soft_roce_number_is_taken(const struct attach_job *, const char *uverbs);
/* Occupies the lowest free number. -EBUSY: it would be more than PLACEHOLDERS_MAX. */
int placeholders_add(struct placeholders *);
/* Deletes all placeholders; those that cannot be deleted disappear with the pod's namespace. */
void placeholders_end(struct placeholders *);
