// SPDX-License-Identifier: Apache-2.0
/* rdma_netlink.c - queries RDMA netlink for devices, ports and drivers.
 *
 * Success: one dump of the devices, then all their ports in one datagram. Errors: the dump (no
 * devices are known then); a single port or driver (stays unknown: the device may have been removed
 * meanwhile). */
#include "rdma_netlink.h"

#include "array.h"
#include "nldev.h"
#include "nldev_list.h"
#include "search.h"

#define PORTS_MAX 256

/* --- mode --------------------------------------------------------------------------------- */

static int on_sys(const struct nlmsghdr *h, void *arg)
{
	return nldev_decode_sys(h, arg, NULL);
}

int rdma_netlink_mode(struct nlsock *s, enum rdma_netns_mode *ret, struct err *e)
{
	*ret = RDMA_NETNS_UNKNOWN;
	return nlsock_query(s, nldev_request(RDMA_NLDEV_CMD_SYS_GET, 0, NLDEV_ANY, NLDEV_ANY),
			    on_sys, ret, e);
}

/* --- devices ------------------------------------------------------------------------------ */

static bool rdma_netlink_is_known(const struct host *h, uint32_t index)
{
	return any_of(h->n_rdma, i, h->rdma[i].index == index);
}

static enum link_layer layer_of(const char *protocol)
{
	if (!protocol[0])
		return LINK_UNKNOWN;
	return strcmp(protocol, "ib") == 0 || strcmp(protocol, "opa") == 0 ? LINK_INFINIBAND
									   : LINK_ETHERNET;
}

static int rdma_netlink_add_ports(struct rdma_dev *d, uint32_t n, enum link_layer layer)
{
	if (n == 0 || n > PORTS_MAX)
		return 0;
	d->ports = calloc(n, sizeof(*d->ports));
	if (!d->ports)
		return -ENOMEM;
	d->n_ports = n;
	for (uint32_t i = 0; i < n; i++) {
		d->ports[i].num = i + 1;
		d->ports[i].link_layer = layer;
	}
	return 0;
}

static int rdma_netlink_add_device(struct host *h, int nsid, const struct nldev_dev *from)
{
	struct rdma_dev *d = array_push(h->rdma, h->n_rdma);

	if (!d)
		return -ENOMEM;
	d->nsid = nsid;
	d->index = from->index;
	memcpy(d->name, from->name, sizeof(d->name));
	memcpy(d->fw, from->fw, sizeof(d->fw));
	d->node_guid = from->node_guid;
	d->sys_image_guid = from->sys_image_guid;
	return rdma_netlink_add_ports(d, from->n_ports, layer_of(from->protocol));
}

/* --- ports -------------------------------------------------------------------------------- */

/* The port that a request of a batch is about. */
struct port_ref {
	struct rdma_dev *dev;
	struct rdma_port *port;
};

struct port_batch {
	struct nldev_batch requests;
	struct port_ref *refs;
	size_t n_refs;
	int nsid;
};

static int request_port(struct port_batch *b, struct rdma_dev *d, struct rdma_port *p)
{
	struct port_ref *ref = array_push(b->refs, b->n_refs);

	if (!ref)
		return -ENOMEM;
	*ref = (struct port_ref){d, p};
	return nldev_batch_add(&b->requests,
			       nldev_request(RDMA_NLDEV_CMD_PORT_GET, 0, d->index, p->num));
}

static void rdma_netlink_on_port(size_t i, const struct nlmsghdr *h, int error, void *arg)
{
	const struct port_batch *b = arg;
	struct rdma_port *p = b->refs[i].port;
	struct nldev_port got;

	if (error || !h || nldev_decode_port(h, &got) < 0 ||
	    got.dev_index != b->refs[i].dev->index || got.port != p->num)
		return;
	p->state = got.state;
	p->phys_state = got.phys_state;
	if (!got.netdev_ifindex)
		return;
	p->netdev_nsid = b->nsid;
	p->netdev_ifindex = got.netdev_ifindex;
	memcpy(p->netdev, got.netdev, sizeof(p->netdev));
}

/* Sends the collected requests unless r is an error, and frees them. */
static int run_ports(struct nlsock *s, struct port_batch *b, int r)
{
	if (r == 0 && b->requests.n)
		r = nlsock_batch(s, b->requests.buf, b->requests.len, b->requests.n,
				 rdma_netlink_on_port, b);
	nldev_batch_done(&b->requests);
	free(b->refs);
	return r;
}

static int read_ports(struct nlsock *s, int nsid, struct host *h, size_t first)
{
	struct port_batch b = {.nsid = nsid};
	int r = 0;

	for (size_t i = first; i < h->n_rdma; i++)
		for (unsigned k = 0; k < h->rdma[i].n_ports && r == 0; k++)
			r = request_port(&b, &h->rdma[i], &h->rdma[i].ports[k]);
	return run_ports(s, &b, r);
}

int rdma_netlink_devices(struct nlsock *s, int nsid, struct host *h, struct err *e)
{
	struct nldev_list list = {0};
	size_t first = h->n_rdma;
	int r = nldev_list_devices(s, &list, e);

	for (size_t i = 0; i < list.n && r == 0; i++)
		if (!rdma_netlink_is_known(h, list.items[i].index))
			r = rdma_netlink_add_device(h, nsid, &list.items[i]);
	free(list.items);
	if (r < 0)
		return r;
	r = read_ports(s, nsid, h, first);
	return r < 0 ? err_set(e, r, "rdma netlink: querying ports: %s", strerror(-r)) : 0;
}

int rdma_netlink_netdevs(struct nlsock *s, int nsid, struct host *h)
{
	struct port_batch b = {.nsid = nsid};
	int r = 0;

	for (size_t i = 0; i < h->n_rdma; i++) {
		struct rdma_dev *d = &h->rdma[i];

		for (unsigned k = 0; k < d->n_ports && !d->function[0] && r == 0; k++)
			if (!d->ports[k].netdev_ifindex)
				r = request_port(&b, d, &d->ports[k]);
	}
	return run_ports(s, &b, r);
}

/* --- drivers ------------------------------------------------------------------------------ */

static void rdma_netlink_on_chardev(size_t i, const struct nlmsghdr *h, int error, void *arg)
{
	struct rdma_dev *d = ((struct rdma_dev **)arg)[i];
	struct nldev_chardev c;

	if (error || !h || nldev_decode_chardev(h, &c) < 0 || strcmp(c.name, d->uverbs) != 0)
		return;
	snprintf(d->driver, sizeof(d->driver), "%s", nldev_driver_name(c.driver_id));
}

int rdma_netlink_drivers(struct nlsock *s, struct host *h)
{
	struct nldev_batch b = {0};
	struct rdma_dev **asked = calloc(h->n_rdma ? h->n_rdma : 1, sizeof(struct rdma_dev *));
	int r = asked ? 0 : -ENOMEM;

	for (size_t i = 0; i < h->n_rdma && r == 0; i++) {
		if (!h->rdma[i].uverbs[0])
			continue;
		asked[b.n] = &h->rdma[i];
		r = nldev_batch_add(&b, nldev_get_chardev(h->rdma[i].index, "uverbs"));
	}
	if (r == 0 && b.n)
		r = nlsock_batch(s, b.buf, b.len, b.n, rdma_netlink_on_chardev, asked);
	nldev_batch_done(&b);
	free(asked);
	return r;
}
