/* nldev_change.h - requests that change RDMA devices. Pure: values in, bytes out.
 *
 * All return NULL when out of memory, else the caller frees with nlmsg_free(). Wire facts:
 * linux/include/uapi/rdma/rdma_netlink.h; nldev_set_doit(), nldev_newlink(), nldev_dellink() in
 * linux/drivers/infiniband/core/nldev.c. */
#pragma once

#include <netlink/msg.h>
#include <stdint.h>

struct nl_msg *nldev_move(uint32_t index, int netns_fd);
struct nl_msg *nldev_rename(uint32_t index, const char *name);
/* A software device of that kind ("rxe") on a netdev of the socket's own namespace. */
struct nl_msg *nldev_new_link(const char *name, const char *kind, const char *ifname);
struct nl_msg *nldev_delete_link(uint32_t index);
/* Asks for the char device of that kind ("uverbs"). */
struct nl_msg *nldev_get_chardev(uint32_t index, const char *kind);
