// SPDX-License-Identifier: Apache-2.0
#include "relevance.h"

#include <linux/rtnetlink.h>
#include <string.h>

#include "genl.h"
#include "hw.h"
#include "nldev.h"
#include "nlsock.h"
#include "rtnl_addr.h"
#include "search.h"

static bool carries_rdma_port(const struct host *h, int nsid, int ifindex)
{
	for (size_t d = 0; d < h->n_rdma; d++)
		for (unsigned p = 0; p < h->rdma[d].n_ports; p++)
			if (h->rdma[d].ports[p].netdev_ifindex == ifindex &&
			    h->rdma[d].ports[p].netdev_nsid == nsid)
				return true;
	return false;
}

static bool is_master_of_ours(const struct host *h, int nsid, int ifindex)
{
	return any_of(h->n_netdevs, i,
		      h->netdevs[i].master == ifindex && h->netdevs[i].nsid == nsid &&
			      h->netdevs[i].function[0] != '\0');
}

unsigned relevance_link(const struct host *h, int nsid, const struct rtnl_link *l)
{
	const struct netdev *known = host_netdev(h, nsid, l->netdev.ifindex);

	if (l->netdev.function[0] != '\0') {
		const struct function *f = host_function(h, l->netdev.function);

		/* A PF sends a link event when the setting of one of its VFs changes. */
		if (f)
			return SCAN_NETDEVS | SCAN_RDMA |
			       (f->kind == FN_PF && nsid == NSID_HOST ? SCAN_REPORTS : 0);
		/* Hardware that is not in the inventory yet. Ignore unknown devices of other
		 * namespaces (veth has no parent). */
		return nsid == NSID_HOST ? SCAN_ALL : 0;
	}
	if ((known && known->function[0] != '\0') || carries_rdma_port(h, nsid, l->netdev.ifindex))
		return SCAN_NETDEVS | SCAN_RDMA;
	/* A link that goes down loses its routes, and the kernel sends no event for the IPv4
	 * ones. */
	if ((known && known->default_route) || is_master_of_ours(h, nsid, l->netdev.ifindex))
		return SCAN_NETDEVS;
	return 0;
}

struct walk {
	const struct host *host;
	int nsid;
	struct relevance_tally *tally;
	relevance_address_fn *on_address;
	void *arg;
	unsigned parts;
};

/* Handles rtnetlink(7), RTM_NEWADDR and RTM_DELADDR: a struct ifaddrmsg, then attributes. */
static void on_address_message(const struct nlmsghdr *m, struct walk *w)
{
	const struct ifaddrmsg *address = nlmsg_data(m);

	if (!nlmsg_valid_hdr(m, sizeof(*address))) {
		w->tally->malformed++;
		return;
	}
	w->tally->events++;
	w->on_address(w->nsid, (int)address->ifa_index, w->arg);
}

/* Nodes that learn routes from a router get storms of route events, so only the header is checked.
 * A default route of any table counts; the scan then reads the details. */
static void on_one_route(const struct nlmsghdr *m, struct walk *w)
{
	w->tally->events++;
	if (w->nsid == NSID_HOST && rtnl_is_default_route(m))
		w->parts |= SCAN_NETDEVS;
}

static int on_route_message(const struct nlmsghdr *m, void *arg)
{
	struct walk *w = arg;
	struct rtnl_link link;

	if (m->nlmsg_type == RTM_NEWROUTE || m->nlmsg_type == RTM_DELROUTE) {
		on_one_route(m, w);
		return 0;
	}

	if (m->nlmsg_type == RTM_NEWADDR || m->nlmsg_type == RTM_DELADDR) {
		on_address_message(m, w);
		return 0;
	}
	if (m->nlmsg_type != RTM_NEWLINK && m->nlmsg_type != RTM_DELLINK) {
		w->parts |= SCAN_NETDEVS; /* unknown message type: assume a change */
		return 0;
	}
	if (rtnl_decode_link(m, &link, NULL) < 0) {
		w->tally->malformed++;
		return 0;
	}
	w->tally->events++;
	w->parts |= relevance_link(w->host, w->nsid, &link);
	return 0;
}

unsigned relevance_route_datagram(const struct host *h, int nsid, const void *buf, size_t n,
				  struct relevance_tally *tally, relevance_address_fn *on_address,
				  void *arg)
{
	struct walk w = {
		.host = h, .nsid = nsid, .tally = tally, .on_address = on_address, .arg = arg};

	if (nlsock_walk(buf, n, on_route_message, &w) < 0)
		tally->malformed++;
	return w.parts;
}

static int on_rdma_message(const struct nlmsghdr *m, void *arg)
{
	struct walk *w = arg;
	struct nldev_event event;

	if (nldev_decode_event(m, &event) < 0) {
		w->tally->malformed++;
		return 0;
	}
	w->tally->events++;
	w->parts |= SCAN_RDMA;
	return 0;
}

unsigned relevance_rdma_datagram(const void *buf, size_t n, struct relevance_tally *tally)
{
	struct walk w = {.tally = tally};

	if (nlsock_walk(buf, n, on_rdma_message, &w) < 0)
		tally->malformed++;
	return w.parts;
}

struct devlink_walk {
	struct relevance_tally *tally;
	uint16_t family;
	unsigned parts;
};

static int on_devlink_message(const struct nlmsghdr *m, void *arg)
{
	struct devlink_walk *w = arg;

	if (m->nlmsg_type != w->family) {
		w->tally->malformed++;
		return 0;
	}
	w->tally->events++;
	if (devlink_is_health_event(m, w->family))
		w->parts |= SCAN_REPORTS;
	return 0;
}

unsigned relevance_devlink_datagram(uint16_t family, const void *buf, size_t n,
				    struct relevance_tally *tally)
{
	struct devlink_walk w = {.tally = tally, .family = family};

	if (nlsock_walk(buf, n, on_devlink_message, &w) < 0)
		tally->malformed++;
	return w.parts;
}
