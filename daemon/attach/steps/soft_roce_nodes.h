/* SPDX-License-Identifier: Apache-2.0 */
/* soft_roce_nodes.h - the device nodes of soft-RoCE devices, in a folder that containers get as
 * their /dev/infiniband (attachment.h, SOFT_ROCE_DIR). Internal to attach/. */
#pragma once

#include "hw.h"
#include "nldev.h"
#include "step_run.h"

/* Creates "uverbsN", the same node under the name of the plugin's device, and "rdma_cm" if the
 * kernel has it. Also copies the host's nodes of /dev/infiniband, because a container may have one
 * of those devices, too. The runtime cannot create a node in this folder, but uses an existing one.
 */
int soft_roce_nodes_make(const struct hw *, const char *id, const struct nldev_chardev *uverbs,
			 struct err *);
/* Checks that both uverbs nodes have its number. -EUCLEAN: one does not. */
int soft_roce_nodes_check(const struct hw *, const char *id, const struct nldev_chardev *uverbs,
			  struct err *);
/* Removes the nodes of this device, and stale ones: those that have neither a device's name nor a
 * counterpart in the host's /dev/infiniband. Succeeds if there are none. */
int soft_roce_nodes_remove(const struct hw *, const char *id, struct err *);

/* Keeps a soft-RoCE device from getting a device node number that a container of another pod may
 * open.
 *
 * The kernel gives each new device the lowest free number. If a pod deletes its device, the next
 * pod's device would get that number, which containers of the first pod may still open. So such
 * numbers are occupied while a device is created: by soft-RoCE devices on veths in the pod's
 * namespace, which are deleted as soon as the device has its number. */

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
/* Occupies the lowest free number. -EBUSY: PLACEHOLDERS_MAX are already used. */
int placeholders_add(struct placeholders *);
/* Deletes all placeholders; those that cannot be deleted disappear with the pod's namespace. */
void placeholders_end(struct placeholders *);
