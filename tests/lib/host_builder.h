/* SPDX-License-Identifier: Apache-2.0 */
/* host_builder.h - builds hosts for tests part by part. A returned part may be modified until the
 * next one is added. */
#pragma once

#include "model.h"

/* parent: of a VF or SF; number: the VF's index or the SF's number. */
struct function *build_function(struct host *, enum fn_kind, const char *id, const char *parent,
				int number);
/* An Ethernet netdev in the host's namespace with a new ifindex; function: "" = none. */
struct netdev *build_netdev(struct host *, const char *name, const char *function);
/* One ACTIVE Ethernet port, 128 GIDs, uverbs and umad nodes. */
struct rdma_dev *build_rdma(struct host *, const char *name, const char *function);
/* Makes `member` a member of `master`, such as a bond. */
void build_master(struct host *, const char *master, const char *member);
struct netdev *find_netdev(const struct host *, const char *name);
struct rdma_dev *find_rdma(const struct host *, const char *name);
struct function *find_function(const struct host *, const char *id);
