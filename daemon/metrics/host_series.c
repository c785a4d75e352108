// SPDX-License-Identifier: Apache-2.0
/* host_series.c - one small writer per family.
 *
 * States are numbers, not one series per possible state: the InfiniBand specification defines the
 * numbers, dashboards made for node_exporter use them, an alert is `roce_port_state != 4`, and a
 * port has one series that never changes its labels. */
#include "host_series.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "label.h"

static const struct family families[N_HOST_FAMILIES] = {
	[HOST_PORT_INFO] = {"roce_port_info", "Identity of a port.", METRIC_GAUGE},
	[HOST_PORT_STATE] =
		{"roce_port_state",
		 "Logical port state: 1 down, 2 init, 3 armed, 4 active, 5 active_defer.",
		 METRIC_GAUGE},
	[HOST_PORT_PHYSICAL_STATE] = {"roce_port_physical_state",
				      "Physical port state: 1 sleep, 2 polling, 3 disabled, "
				      "4 training, 5 link up, 6 error recovery, 7 test.",
				      METRIC_GAUGE},
	[HOST_PORT_RATE] = {"roce_port_rate_bytes_per_second", "Rate of the port.", METRIC_GAUGE},
	[HOST_PORT_MTU] =
		{"roce_port_mtu_bytes",
		 "Active RDMA MTU of the port; absent in a container that is not privileged.",
		 METRIC_GAUGE},
	[HOST_PORT_NETDEV_MTU] =
		{"roce_port_netdev_mtu_bytes",
		 "MTU of the port's netdev, from which the kernel derives the active RDMA MTU.",
		 METRIC_GAUGE},
	[HOST_GID_ENTRIES] = {"roce_gid_table_entries", "Size of the port's GID table.",
			      METRIC_GAUGE},
	[HOST_GID_USED] = {"roce_gid_table_used", "Entries in use in the port's GID table.",
			   METRIC_GAUGE},
	[HOST_PF_VFS] = {"roce_pf_vfs", "Virtual functions of a physical function.", METRIC_GAUGE},
	[HOST_PF_VFS_MAX] = {"roce_pf_vfs_max",
			     "Maximum number of virtual functions of a physical function.",
			     METRIC_GAUGE},
};

const struct family *host_family(enum host_family f)
{
	return &families[f];
}

void text_add_label(struct text *t, const char *value)
{
	size_t size = strlen(value) * LABEL_GROWTH + 1;
	char *p;

	text_add(t, "\"", 1);
	p = text_reserve(t, size);
	if (!p)
		return;
	label_escape(p, size, value);
	t->len += strlen(p);
	text_add(t, "\"", 1);
}

static void host_series_add_named(struct text *t, const char *name, const char *value)
{
	text_addf(t, ",%s=", name);
	text_add_label(t, value);
}

void text_add_holder(struct text *t, const struct pod_device *d)
{
	if (!d || d->pod[0] == '\0')
		return;
	host_series_add_named(t, "namespace", d->namespace);
	host_series_add_named(t, "pod", d->pod);
	host_series_add_named(t, "container", d->container);
}

void text_add_port(struct text *t, const char *device, uint32_t port,
		   const struct pod_device *holder)
{
	text_addf(t, "{device=");
	text_add_label(t, device);
	if (port)
		text_addf(t, ",port=\"%" PRIu32 "\"", port);
	text_add_holder(t, holder);
}

const char *device_label(const struct host *h, const struct rdma_dev *dev,
			 char text[DEVICE_LABEL_SIZE])
{
	if (dev->nsid == NSID_HOST || host_rdma(h, dev->name))
		return dev->name;
	snprintf(text, DEVICE_LABEL_SIZE, "%s@%s", dev->name, dev->function);
	return text;
}

/* --- the port's identity ---------------------------------------------------------------------- */

static const char *bytes_source(const struct sample *s, const char *device, uint32_t port)
{
	for (size_t i = 0; s && i < s->n_ports; i++)
		if (s->ports[i].port == port && !strcmp(s->ports[i].device, device))
			return s->ports[i].bytes_source;
	return "";
}

/* Gets the name of the namespace of the port's netdev, else of the device; "" = ours. */
static void netns_name(const struct host *h, const struct rdma_dev *dev,
		       const struct rdma_port *port, char *ret, size_t size)
{
	int nsid = port->netdev_ifindex ? port->netdev_nsid : dev->nsid;
	const char *name = host_netns_name(h, nsid);

	if (nsid == NSID_ELSEWHERE)
		snprintf(ret, size, "elsewhere");
	else if (nsid >= 0 && !name[0])
		snprintf(ret, size, "id:%d", nsid);
	else
		snprintf(ret, size, "%s", name);
}

static void add_info(struct text *t, const struct host *h, const struct rdma_dev *dev,
		     const struct rdma_port *port, const struct sample *s,
		     const struct pod_device *holder)
{
	const struct function *fn = dev->function[0] ? host_function(h, dev->function) : NULL;
	char netns[NETNS_NAME_SIZE], vf[16] = "", label[DEVICE_LABEL_SIZE];

	if (fn && fn->vf >= 0)
		snprintf(vf, sizeof(vf), "%d", fn->vf);
	netns_name(h, dev, port, netns, sizeof(netns));
	text_addf(t, "roce_port_info");
	text_add_port(t, device_label(h, dev, label), port->num, holder);
	host_series_add_named(t, "netdev", port->netdev);
	host_series_add_named(t, "pci", dev->function);
	host_series_add_named(t, "driver", dev->driver);
	host_series_add_named(t, "fw", dev->fw);
	host_series_add_named(t, "board", dev->board);
	host_series_add_named(t, "link_layer", link_layer_name(port->link_layer));
	host_series_add_named(t, "function", fn ? fn_kind_name(fn->kind) : "");
	host_series_add_named(t, "parent", fn ? fn->parent : "");
	host_series_add_named(t, "vf", vf);
	host_series_add_named(t, "netns", netns);
	host_series_add_named(t, "bytes_source",
			      host_rdma_sampled(h, dev->name) == dev
				      ? bytes_source(s, dev->name, port->num)
				      : "");
	text_addf(t, "} 1\n");
}

/* --- numbers of ports and functions ----------------------------------------------------------- */

static uint64_t netdev_mtu(const struct host *h, const struct rdma_port *port)
{
	const struct netdev *nd = port->netdev_ifindex
					  ? host_netdev(h, port->netdev_nsid, port->netdev_ifindex)
					  : NULL;

	return nd ? nd->mtu : 0;
}

/* Returns a port's value for this family; 0 = unknown. */
static uint64_t port_number(enum host_family f, const struct host *h, const struct rdma_port *port)
{
	switch (f) {
	case HOST_PORT_STATE:
		return port->state;
	case HOST_PORT_PHYSICAL_STATE:
		return port->phys_state;
	case HOST_PORT_RATE:
		return port->rate_bps / 8;
	case HOST_PORT_MTU:
		return port->active_mtu;
	case HOST_PORT_NETDEV_MTU:
		return netdev_mtu(h, port);
	case HOST_GID_ENTRIES:
		return port->gid_table_len;
	case HOST_GID_USED:
		return port->n_gids;
	case HOST_PORT_INFO:
	case HOST_PF_VFS:
	case HOST_PF_VFS_MAX:
	case N_HOST_FAMILIES:
		break;
	}
	return 0;
}

static void host_series_add_port(struct text *t, enum host_family f, const struct host *h,
				 const struct rdma_dev *dev, const struct rdma_port *port,
				 const struct sample *s, const struct pod_device *holder)
{
	uint64_t v = port_number(f, h, port);
	/* 0 GIDs in use is a known value if the table is known. */
	bool known = v || (f == HOST_GID_USED && port->gid_table_len);
	char label[DEVICE_LABEL_SIZE];

	if (f == HOST_PORT_INFO) {
		add_info(t, h, dev, port, s, holder);
	} else if (known) {
		text_addf(t, "%s", families[f].name);
		text_add_port(t, device_label(h, dev, label), port->num, holder);
		text_addf(t, "} %" PRIu64 "\n", v);
	}
}

static void host_series_add_function(struct text *t, enum host_family f, const struct function *fn)
{
	if (!fn->sriov)
		return;
	text_addf(t, "%s{pci=", families[f].name);
	text_add_label(t, fn->id);
	text_addf(t, "} %u\n", f == HOST_PF_VFS ? fn->vfs : fn->vfs_total);
}

void host_series(struct text *t, enum host_family f, const struct host *h, const struct sample *s,
		 const struct resource_table *table, const struct series_choice *choice)
{
	bool detail = series_is_detail(families[f].name);

	if (f == HOST_PF_VFS || f == HOST_PF_VFS_MAX) {
		for (size_t i = 0; i < h->n_functions; i++)
			host_series_add_function(t, f, &h->functions[i]);
		return;
	}
	for (size_t i = 0; i < h->n_rdma; i++) {
		const struct rdma_dev *dev = &h->rdma[i];
		const struct pod_device *holder =
			table ? resource_table_holder(table, dev->function, dev->name) : NULL;

		if (series_is_idle(choice, h, dev, holder) ||
		    (detail && series_is_of_vf(choice, h, dev)))
			continue;
		for (unsigned k = 0; k < dev->n_ports; k++)
			host_series_add_port(t, f, h, dev, &dev->ports[k], s, holder);
	}
}
