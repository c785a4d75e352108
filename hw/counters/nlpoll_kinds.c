/* nlpoll_kinds.c - request, socket and decoder of every kind of target. Pure. */
#include "nlpoll_kinds.h"

#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <stdio.h>

#include "dcb.h"
#include "genl.h"
#include "rtnl.h"

static struct nl_msg *stat_request(const struct nlpoll_id *id, uint16_t family)
{
	(void)family;
	return nldev_request(RDMA_NLDEV_CMD_STAT_GET, 0, id->dev, id->port);
}

static int decode_stat(const struct nlmsghdr *h, uint16_t family, named_value_fn *fn, void *arg)
{
	(void)family;
	return nldev_decode_stat(h, fn, arg);
}

static struct nl_msg *resource_request(const struct nlpoll_id *id, uint16_t family)
{
	(void)family;
	return nldev_request(RDMA_NLDEV_CMD_RES_GET, 0, id->dev, NLDEV_ANY);
}

static int decode_resources(const struct nlmsghdr *h, uint16_t family, named_value_fn *fn,
			    void *arg)
{
	(void)family;
	return nldev_decode_resources(h, fn, arg);
}

static struct nl_msg *pause_frames_request(const struct nlpoll_id *id, uint16_t family)
{
	return pause_request(family, id->ifindex);
}

static struct nl_msg *dcb_request(const struct nlpoll_id *id, uint16_t family)
{
	(void)family;
	return dcb_ieee_request(id->ifname);
}

static void deliver_pfc(const char *what, int priority, uint64_t value, named_value_fn *fn,
			void *arg)
{
	char name[32];

	snprintf(name, sizeof(name), "%s%d", what, priority);
	fn(name, value, arg);
}

static int decode_dcb(const struct nlmsghdr *h, uint16_t family, named_value_fn *fn, void *arg)
{
	struct pfc pfc;
	int r = dcb_decode_pfc(h, &pfc);

	(void)family;
	for (int i = 0; r == 0 && i < N_PRIORITIES; i++)
		deliver_pfc("enabled", i, pfc.enabled >> i & 1, fn, arg);
	return r;
}

static int decode_dcb_frames(const struct nlmsghdr *h, uint16_t family, named_value_fn *fn,
			     void *arg)
{
	struct pfc pfc;
	int r = decode_dcb(h, family, fn, arg);

	if (r < 0 || dcb_decode_pfc(h, &pfc) < 0)
		return r;
	for (int i = 0; i < N_PRIORITIES; i++) {
		deliver_pfc("requests", i, pfc.requests[i], fn, arg);
		deliver_pfc("indications", i, pfc.indications[i], fn, arg);
	}
	return 0;
}

static struct nl_msg *link_request(const struct nlpoll_id *id, uint16_t family)
{
	struct ifinfomsg ifi = {.ifi_family = AF_UNSPEC, .ifi_index = id->ifindex};
	struct nl_msg *msg = nlmsg_alloc_simple(RTM_GETLINK, NLM_F_REQUEST);

	(void)family;
	if (msg && (nlmsg_append(msg, &ifi, sizeof(ifi), NLMSG_ALIGNTO) < 0 ||
		    (id->nsid >= 0 && nla_put_s32(msg, IFLA_TARGET_NETNSID, id->nsid) < 0))) {
		nlmsg_free(msg);
		return NULL;
	}
	return msg;
}

static int decode_link(const struct nlmsghdr *h, uint16_t family, named_value_fn *fn, void *arg)
{
	struct rtnl_link link;
	struct rtnl_stats stats;
	int r = rtnl_decode_link(h, &link, &stats);

	(void)family;
	if (r < 0 || !stats.known)
		return r;
	fn("rx_bytes", stats.rx_bytes, arg);
	fn("tx_bytes", stats.tx_bytes, arg);
	return 0;
}

const struct nlpoll_kind_ops nlpoll_kinds[N_POLL_KINDS] = {
	[POLL_STAT] = {NETLINK_RDMA, SOURCE_NETLINK, false, stat_request, decode_stat},
	[POLL_RESOURCES] = {NETLINK_RDMA, SOURCE_NETLINK, true, resource_request, decode_resources},
	[POLL_PAUSE] = {NETLINK_GENERIC, SOURCE_PAUSE, false, pause_frames_request, pause_decode},
	[POLL_DCB] = {NETLINK_ROUTE, SOURCE_DCB, true, dcb_request, decode_dcb},
	[POLL_DCB_FRAMES] = {NETLINK_ROUTE, SOURCE_DCB, false, dcb_request, decode_dcb_frames},
	[POLL_LINK] = {NETLINK_ROUTE, SOURCE_NETDEV, false, link_request, decode_link},
};
