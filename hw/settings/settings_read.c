// SPDX-License-Identifier: Apache-2.0
/* settings_read.c - reads the settings of all RoCE ports.
 *
 * Success: find the netdev and function that have each port's settings, each pair once; query all
 * netdevs for DCB in one datagram, for pause in another; read PCIe of each function; then, for each
 * port, the defaults of rdma_cm. Errors, which leave parts unknown: a tree of another machine
 * (netlink is not used), a kernel or driver without one of these settings, a device that is removed
 * meanwhile. */
#include "settings_read.h"

#include <errno.h>
#include <linux/dcbnl.h>
#include <linux/ethtool_netlink.h>
#include <linux/netlink.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "dcb.h"
#include "genl.h"
#include "nldev.h"
#include "nlsock.h"
#include "pcie.h"
#include "sysfs.h"

/* Settings shared by several ports. */
struct settings_source {
	const struct netdev *netdev;	 /* NULL: none that can be queried */
	const struct function *function; /* the physical function; NULL: none */
	struct port_settings settings;
};

/* A port and the index of its source. */
struct settings_port {
	const struct rdma_dev *dev;
	const struct rdma_port *port;
	size_t source;
};

struct reading {
	const struct hw *hw;
	struct settings_port *ports;
	size_t n_ports;
	struct settings_source *sources;
	size_t n;
};

/* --- sources of a port ------------------------------------------------------------------------ */

static bool is_part(const struct function *f)
{
	return f->kind == FN_VF || f->kind == FN_SF;
}

/* Returns the physical function of a function. Loops twice, because a sub-function's parent may be
 * a VF. */
static const struct function *physical_function(const struct host *h, const struct function *f)
{
	for (int i = 0; i < 2 && f && is_part(f); i++)
		f = host_function(h, f->parent);
	return f && f->kind == FN_PF ? f : NULL;
}

/* Returns the netdev of a PF's port, not a representor of a VF or SF ("pf0vf3"). NULL if the
 * function has several ports, because it is unknown which of them a VF uses. */
static const struct netdev *uplink_of(const struct host *h, const struct function *pf)
{
	const struct netdev *found = NULL;

	for (size_t i = 0; i < h->n_netdevs; i++) {
		const struct netdev *d = &h->netdevs[i];

		if (d->nsid != NSID_HOST || strcmp(d->function, pf->id) != 0 ||
		    strstr(d->port_name, "pf"))
			continue;
		if (found)
			return NULL;
		found = d;
	}
	return found;
}

static struct settings_source settings_source_of(const struct host *h, const struct rdma_dev *dev,
						 const struct rdma_port *port)
{
	const struct function *own = host_function(h, dev->function);
	struct settings_source s = {.function = physical_function(h, own)};

	if (own && is_part(own))
		s.netdev = s.function ? uplink_of(h, s.function) : NULL;
	else if (port->netdev_nsid == NSID_HOST && port->netdev_ifindex > 0)
		s.netdev = host_netdev(h, NSID_HOST, port->netdev_ifindex);
	return s;
}

/* Returns the index of an equal source, which is added if there is none; -ENOMEM. */
static ssize_t find_source(struct reading *rd, const struct settings_source *like)
{
	struct settings_source *s;

	for (size_t i = 0; i < rd->n; i++)
		if (rd->sources[i].netdev == like->netdev &&
		    rd->sources[i].function == like->function)
			return (ssize_t)i;
	s = array_push(rd->sources, rd->n);
	if (!s)
		return -ENOMEM;
	*s = *like;
	return (ssize_t)rd->n - 1;
}

static int list_ports(struct reading *rd, const struct host *h)
{
	for (size_t i = 0; i < h->n_rdma; i++) {
		const struct rdma_dev *dev = &h->rdma[i];

		for (unsigned k = 0; k < dev->n_ports; k++) {
			struct settings_source like = settings_source_of(h, dev, &dev->ports[k]);
			ssize_t found = find_source(rd, &like);
			struct settings_port *p = found < 0 ? NULL
							    : array_push(rd->ports, rd->n_ports);

			if (!p)
				return -ENOMEM;
			*p = (struct settings_port){dev, &dev->ports[k], (size_t)found};
		}
	}
	return 0;
}

/* --- netlink ---------------------------------------------------------------------------------- */

/* Requests of one kind to all sources with a netdev. */
struct settings_requests {
	struct settings_source *sources;
	size_t *of; /* request number to source index */
	struct nldev_batch batch;
	uint16_t family; /* id of ethtool; 0: DCB requests */
};

static void requests_done(struct settings_requests *q)
{
	nldev_batch_done(&q->batch);
	free(q->of);
}

static int requests_make(struct settings_requests *q, struct reading *rd)
{
	int r = 0;

	q->of = calloc(rd->n + 1, sizeof(*q->of));
	if (!q->of)
		return -ENOMEM;
	for (size_t i = 0; i < rd->n && r == 0; i++) {
		const struct netdev *d = rd->sources[i].netdev;

		if (!d)
			continue;
		q->of[q->batch.n] = i;
		r = nldev_batch_add(&q->batch, q->family
						       ? pause_request(q->family, d->ifindex, false)
						       : dcb_ieee_request(d->name));
	}
	return r;
}

static void settings_on_answer(size_t index, const struct nlmsghdr *h, int error, void *arg)
{
	const struct settings_requests *q = arg;
	struct port_settings *settings = &q->sources[q->of[index]].settings;

	(void)error;
	if (h && q->family)
		pause_decode_settings(h, q->family, settings);
	else if (h)
		dcb_decode_settings(h, settings);
}

static int settings_query(struct reading *rd, struct nlsock *s, uint16_t family)
{
	struct settings_requests q = {.sources = rd->sources, .family = family};
	int r = requests_make(&q, rd);

	if (r == 0 && q.batch.n > 0)
		r = nlsock_batch(s, q.batch.buf, q.batch.len, q.batch.n, settings_on_answer, &q);
	requests_done(&q);
	return r == -ENOMEM ? r : 0;
}

static int query_dcb(struct reading *rd)
{
	struct nlsock s;
	int r;

	if (nlsock_open(&s, NETLINK_ROUTE, NULL) < 0)
		return 0;
	r = settings_query(rd, &s, 0);
	nlsock_close(&s);
	return r;
}

static int query_pause(struct reading *rd)
{
	uint16_t family;
	struct nlsock s;
	int r = 0;

	if (nlsock_open(&s, NETLINK_GENERIC, NULL) < 0)
		return 0;
	family = nlsock_family(&s, ETHTOOL_GENL_NAME);
	if (family)
		r = settings_query(rd, &s, family);
	nlsock_close(&s);
	return r;
}

/* --- corrections of the answers --------------------------------------------------------------- */

/* Marks zeros of bnxt_en as unknown: it reports zeros until the host has set something, even if the
 * firmware has other settings (bnxt_dcbnl_ieee_getpfc() and ..._getets() in
 * linux/drivers/net/ethernet/broadcom/bnxt/ bnxt_dcb.c). */
static void drop_unset(const struct settings_source *src, struct port_settings *s)
{
	static const struct port_settings zeros;

	if (!src->function || strcmp(src->function->driver, "bnxt_en") != 0 ||
	    !(s->dcbx & DCB_CAP_DCBX_HOST))
		return;
	if (s->pfc == 0)
		s->seen &= ~(uint32_t)SETTINGS_PFC;
	if (memcmp(s->ets_class, zeros.ets_class, sizeof(zeros.ets_class)) == 0 &&
	    memcmp(s->ets_algorithm, zeros.ets_algorithm, sizeof(zeros.ets_algorithm)) == 0 &&
	    memcmp(s->ets_percent, zeros.ets_percent, sizeof(zeros.ets_percent)) == 0)
		s->seen &= ~(uint32_t)SETTINGS_ETS;
}

/* Reads the trust mode from a file that mlx5 of MLNX_OFED and DOCA has. It takes precedence over
 * the application table. */
static void read_driver_trust(const struct hw *hw, const struct netdev *d, struct port_settings *s)
{
	char trust[16];

	if (!(s->seen & SETTINGS_DSCP) ||
	    sysfs_str(hw->sys_fd, trust, sizeof(trust), "class/net/%s/qos/trust", d->name) < 0)
		return;
	if (strcmp(trust, "dscp") == 0)
		s->dscp_trusted = true;
	else if (strcmp(trust, "pcp") == 0)
		s->dscp_trusted = false;
}

static int read_sources(struct reading *rd)
{
	int r = rd->hw->live ? query_dcb(rd) : 0;

	if (r == 0 && rd->hw->live)
		r = query_pause(rd);
	for (size_t i = 0; i < rd->n && r == 0; i++) {
		struct settings_source *s = &rd->sources[i];

		drop_unset(s, &s->settings);
		if (s->netdev)
			read_driver_trust(rd->hw, s->netdev, &s->settings);
		if (s->function)
			pcie_read(rd->hw, s->function, &s->settings);
	}
	return r;
}

/* --- rdma_cm ---------------------------------------------------------------------------------- */

/* Reads the defaults of rdma_cm, if their folder in configfs exists: a program must have created
 * it, and creating it would change the host. InfiniBand is skipped, because its ports report
 * "IB/RoCE v1", too. */
static void read_rdma_cm(const struct hw *hw, const struct rdma_dev *dev,
			 const struct rdma_port *port, struct port_settings *ret)
{
	AUTO_FD dir = port->link_layer == LINK_INFINIBAND
			      ? -1
			      : sysfs_open_dir(hw->sys_fd, "kernel/config/rdma_cm/%s/ports/%u",
					       dev->name, port->num);
	char mode[32] = "";
	uint32_t tos;

	if (dir < 0)
		return;
	sysfs_str(dir, mode, sizeof(mode), "default_roce_mode");
	ret->cm_roce_v2 = strcmp(mode, "RoCE v2") == 0;
	if (ret->cm_roce_v2 || strcmp(mode, "IB/RoCE v1") == 0)
		ret->seen |= SETTINGS_CM_TYPE;
	if (sysfs_u32(dir, &tos, "default_roce_tos") == 0 && tos <= UINT8_MAX) {
		ret->cm_tos = (uint8_t)tos;
		ret->seen |= SETTINGS_CM_TOS;
	}
}

/* --- all settings ----------------------------------------------------------------------------- */

static void fill_rows(const struct reading *rd, struct settings_table *t)
{
	for (size_t i = 0; i < rd->n_ports; i++) {
		const struct settings_port *p = &rd->ports[i];
		struct settings_row *row = &t->rows[t->n++];

		memcpy(row->device, p->dev->name, sizeof(row->device));
		row->port = p->port->num;
		row->settings = rd->sources[p->source].settings;
		read_rdma_cm(rd->hw, p->dev, p->port, &row->settings);
	}
	settings_sort(t);
}

int settings_read(const struct hw *hw, const struct host *h, struct settings_table *ret)
{
	struct reading rd = {.hw = hw};
	int r = list_ports(&rd, h);

	*ret = (struct settings_table){0};
	if (r == 0)
		r = read_sources(&rd);
	if (r == 0)
		ret->rows = calloc(rd.n_ports + 1, sizeof(*ret->rows));
	if (ret->rows)
		fill_rows(&rd, ret);
	else
		r = -ENOMEM;
	free(rd.ports);
	free(rd.sources);
	return r;
}
