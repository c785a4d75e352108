/* counters_plan.c - the ports of a host that can be sampled from here, in the order of the host. */
#include <stdlib.h>

#include "array.h"
#include "counters_setup.h"
#include "label.h"

/* A device in another namespace shows us neither files nor answers. A name that is no file name
 * would lead elsewhere. */
static bool is_within_reach(const struct rdma_dev *dev)
{
	return dev->nsid == NSID_HOST && dev->name[0] && dev->name[0] != '.' &&
	       !strchr(dev->name, '/');
}

static enum nic nic_of(const struct rdma_dev *dev, const struct host *host)
{
	const struct function *fn = dev->function[0] ? host_function(host, dev->function) : NULL;

	/* A software device stands on someone else's function. */
	return dict_nic(dev->driver, fn && !dev->driver[0] ? fn->vendor : 0);
}

static bool add_label(char *labels, size_t size, const char *name, const char *value)
{
	size_t n = strlen(labels);
	int k = snprintf(labels + n, size - n, "%s%s=\"", n ? "," : "", name);

	if (k < 0 || n + (size_t)k + 1 >= size ||
	    !label_escape(labels + n + k, size - n - (size_t)k - 1, value)) {
		labels[n] = '\0';
		return false;
	}
	strcat(labels, "\"");
	return true;
}

static struct plan_port *add_port(struct plan *p, const struct rdma_dev *dev, uint32_t port,
				  enum nic nic)
{
	struct plan_port *pp = array_push(p->ports, p->n);

	if (!pp)
		return NULL;
	snprintf(pp->device, sizeof(pp->device), "%s", dev->name);
	pp->port = port;
	pp->nic = nic;
	for (size_t k = 0; k < N_POLL_KINDS; k++)
		pp->polls[k] = NO_SLOT;
	return pp;
}

static int add_device(struct plan *p, const struct rdma_dev *dev, enum nic nic)
{
	struct plan_port *pp = add_port(p, dev, 0, nic);

	if (!pp)
		return -ENOMEM;
	add_label(pp->info, sizeof(pp->info), "board_id", dev->board);
	add_label(pp->info, sizeof(pp->info), "firmware_version", dev->fw);
	add_label(pp->info, sizeof(pp->info), "hca_type", dev->hca_type);
	for (unsigned i = 0; i < dev->n_ports; i++) {
		const struct rdma_port *port = &dev->ports[i];

		pp = port->num ? add_port(p, dev, port->num, nic) : NULL;
		if (!pp)
			return port->num ? -ENOMEM : 0;
		snprintf(pp->netdev, sizeof(pp->netdev), "%s", port->netdev);
		pp->netdev_nsid = port->netdev_nsid;
		pp->netdev_ifindex = port->netdev_ifindex;
		pp->state = port->state;
		pp->phys_state = port->phys_state;
		pp->rate_bps = port->rate_bps;
	}
	return 0;
}

void plan_done(struct plan *p)
{
	free(p->ports);
	*p = (struct plan){0};
}

int plan_make(struct plan *p, const struct host *host)
{
	int r = 0;

	*p = (struct plan){0};
	for (size_t i = 0; i < host->n_rdma && r == 0; i++)
		if (is_within_reach(&host->rdma[i]))
			r = add_device(p, &host->rdma[i], nic_of(&host->rdma[i], host));
	if (r < 0)
		plan_done(p);
	return r;
}
