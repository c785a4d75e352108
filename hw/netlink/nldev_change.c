/* nldev_change.c - see nldev_change.h. */
#include "nldev_change.h"

#include <netlink/attr.h>

#include "nldev.h"
#include "nlmsg_build.h"

struct nl_msg *nldev_move(uint32_t index, int netns_fd)
{
	struct nl_msg *msg = nldev_request(RDMA_NLDEV_CMD_SET, 0, index, NLDEV_ANY);

	return nlmsg_finished(msg, msg ? nla_put_u32(msg, RDMA_NLDEV_NET_NS_FD, (uint32_t)netns_fd)
				       : -1);
}

struct nl_msg *nldev_rename(uint32_t index, const char *name)
{
	struct nl_msg *msg = nldev_request(RDMA_NLDEV_CMD_SET, 0, index, NLDEV_ANY);

	return nlmsg_finished(msg, msg ? nla_put_string(msg, RDMA_NLDEV_ATTR_DEV_NAME, name) : -1);
}

struct nl_msg *nldev_new_link(const char *name, const char *kind, const char *ifname)
{
	struct nl_msg *msg = nldev_request(RDMA_NLDEV_CMD_NEWLINK, 0, NLDEV_ANY, NLDEV_ANY);
	int r = -1;

	if (msg)
		r = nla_put_string(msg, RDMA_NLDEV_ATTR_DEV_NAME, name) |
		    nla_put_string(msg, RDMA_NLDEV_ATTR_LINK_TYPE, kind) |
		    nla_put_string(msg, RDMA_NLDEV_ATTR_NDEV_NAME, ifname);
	return nlmsg_finished(msg, r);
}

struct nl_msg *nldev_delete_link(uint32_t index)
{
	return nldev_request(RDMA_NLDEV_CMD_DELLINK, 0, index, NLDEV_ANY);
}

struct nl_msg *nldev_get_chardev(uint32_t index, const char *kind)
{
	struct nl_msg *msg = nldev_request(RDMA_NLDEV_CMD_GET_CHARDEV, 0, index, NLDEV_ANY);

	return nlmsg_finished(msg,
			      msg ? nla_put_string(msg, RDMA_NLDEV_ATTR_CHARDEV_TYPE, kind) : -1);
}
