/* SPDX-License-Identifier: Apache-2.0 */
/* lab_rdma.h - the function's RDMA device: one RoCE port on its netdev, with counters. No queue
 * pair can be made on it, and user space cannot open it. */
#pragma once

#include <rdma/ib_verbs.h>

#include "lab_function.h"

int rdma_make(struct lab_nic *, const char *name);
void rdma_unmake(struct lab_nic *);
/* The port's state is its netdev's carrier. */
void rdma_link_changed(struct lab_nic *);
