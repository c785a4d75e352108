/* SPDX-License-Identifier: Apache-2.0 */
/* nldev_list.h - lists RDMA devices over RDMA netlink. */
#pragma once

#include "nldev.h"
#include "nlsock.h"

/* The devices visible in the socket's namespace; the caller frees `items`. */
struct nldev_list {
	struct nldev_dev *items;
	size_t n;
};

/* Lists the devices; zero-initialise the list before. An interrupted dump is repeated a few times;
 * -EAGAIN: every attempt was interrupted. */
int nldev_list_devices(struct nlsock *, struct nldev_list *, struct err *);
