/* soft_roce_nodes.h - device nodes of one soft-RoCE device, in a folder that its container gets as
 * /dev/infiniband (soft_roce_dir()). Internal to attach/. */
#pragma once

#include "hw.h"
#include "nldev.h"

/* "uverbsN" under its own name, a second node "uverbs" for those who cannot know it, and "rdma_cm"
 * where the kernel has it. The folder itself is kept if it is there: a container may have it
 * mounted already. */
int soft_roce_nodes_make(const struct hw *, const char *id, const struct nldev_chardev *uverbs,
			 struct err *);
/* With the folder. Fine if there is none. */
int soft_roce_nodes_remove(const struct hw *, const char *id, struct err *);
