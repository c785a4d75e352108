/* SPDX-License-Identifier: Apache-2.0 */
/* soft_roce_nodes.h - the device nodes of soft-RoCE devices, in a folder that containers get as
 * their /dev/infiniband (attachment.h, SOFT_ROCE_DIR). Internal to attach/. */
#pragma once

#include "hw.h"
#include "nldev.h"

/* Creates "uverbsN", the same node under the name of the plugin's device, and "rdma_cm" if the
 * kernel has it. Also copies the host's nodes of /dev/infiniband: a container may have one of those
 * devices, too, and the runtime, which cannot create a node in this folder, uses an existing
 * one. */
int soft_roce_nodes_make(const struct hw *, const char *id, const struct nldev_chardev *uverbs,
			 struct err *);
/* Checks that both uverbs nodes have its number. -EUCLEAN: one does not. */
int soft_roce_nodes_check(const struct hw *, const char *id, const struct nldev_chardev *uverbs,
			  struct err *);
/* Removes the nodes of this device, and stale ones: those that belong neither to a device's name
 * nor to the host's /dev/infiniband. Success if there are none. */
int soft_roce_nodes_remove(const struct hw *, const char *id, struct err *);
