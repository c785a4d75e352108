/* packet_plan.h - which interfaces the packet programs are to watch: the inventory x what we
 * attached to pods x the configuration. Pure. */
#pragma once

#include "attach_status.h"
#include "model.h"
#include "options.h"
#include "packet_sample.h"

struct packet_wanted {
	char netdev[IFNAMSIZ];
	int nsid, ifindex;
	char netns_path[128]; /* of the pod, where nsid does not say; "" = not needed */
	char device[RDMA_NAME_SIZE];
	char function[DEV_ID_SIZE];
	enum packet_role role;
	bool xdp;
	uint32_t flows;
};

struct packet_plan {
	struct packet_wanted *items; /* sorted by (namespace, ifindex); each interface once */
	size_t n;
};

/* Replaces *plan. -ENOMEM leaves it as it was. */
int packet_plan_build(struct packet_plan *, const struct host *, const struct attach_list *,
		      const struct options *);
void packet_plan_done(struct packet_plan *);
