/* soft_roce_number.h - a soft-RoCE device gets no number of a device node that a container of
 * another pod may open.
 *
 * The kernel gives each new device the lowest number that is free. A pod can delete its device, and
 * its containers may still open the number, which the next pod's device would get. Numbers of that
 * kind are occupied while the device is made: by soft-RoCE devices on veths in the pod's namespace,
 * which go as soon as it has a number. */
#pragma once

#include "step_run.h"

#define PLACEHOLDERS_MAX 16

struct placeholder {
	int ifindex;	/* of a veth in the pod's namespace */
	uint32_t index; /* of the soft-RoCE device on it, RDMA_INDEX_NONE = it has none */
};

struct placeholders {
	struct step_run *run;
	struct placeholder items[PLACEHOLDERS_MAX];
	unsigned n;
};

bool soft_roce_number_is_taken(const struct attach_job *, const char *uverbs);
/* Occupies the lowest number that is free. -EBUSY: there are too many. */
int placeholders_add(struct placeholders *);
/* All go; what cannot be deleted ends with the pod's namespace. */
void placeholders_end(struct placeholders *);
