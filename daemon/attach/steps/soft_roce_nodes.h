/* soft_roce_nodes.h - the device nodes of soft-RoCE devices, in a folder that containers get as
 * their /dev/infiniband (attachment.h, SOFT_ROCE_DIR). Internal to attach/. */
#pragma once

#include "hw.h"
#include "nldev.h"

/* "uverbsN", the same under the name of the plugin's device, and "rdma_cm" where the kernel has it;
 * beside them what the host has in its /dev/infiniband: a container may have a device of those,
 * too, and the runtime, which cannot make a node in this folder, takes one that is there. */
int soft_roce_nodes_make(const struct hw *, const char *id, const struct nldev_chardev *uverbs,
			 struct err *);
/* Both uverbs nodes have its number. -EUCLEAN: one has not. */
int soft_roce_nodes_check(const struct hw *, const char *id, const struct nldev_chardev *uverbs,
			  struct err *);
/* Those of this device, and any other that neither a device's name nor the host's /dev/infiniband
 * stands for. Fine if there are none. */
int soft_roce_nodes_remove(const struct hw *, const char *id, struct err *);
