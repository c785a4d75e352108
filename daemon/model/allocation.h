/* allocation.h - which nodes, variables and files a container gets for its device IDs. Pure: values
 * in, values out; node files are looked at by a hook. */
#pragma once

#include "model.h"
#include "plugin.h"
#include "pools.h"

/* Whether a device node is there now, by its name below /dev ("infiniband/uverbs0", "vfio/12"). */
typedef bool dev_exists_fn(const char *name, void *arg);

struct allocation_input {
	const struct pool_view *view;
	const struct host *host;
	dev_exists_fn *exists;
	void *arg;
};

/* One container's grant for these IDs of one pool: nodes (/dev/infiniband/uverbsN ... by exact
 * match, rdma_cm, vfio, vhost), PCIDEVICE_<PREFIX>_<NAME> and ..._INFO as
 * sriov-network-device-plugin writes them, CDI names. Host paths are below /dev. -ENOENT: an ID
 * this pool does not have; -ENODEV: its device or a node of it is gone; the sentence names the ID.
 * *ret is empty then. */
int allocation_grant(struct container_grant *ret, const struct allocation_input *, struct id_list,
		     struct err *);
/* May a container start with these IDs? As allocation_grant(), without the answer. */
int allocation_check(const struct allocation_input *, struct id_list, struct err *);

/* NPWG device-info 1.1.0 of one ID, and its file name "<prefix>-<name>-<id>-device.json"; heap. */
int allocation_device_info(char **ret_json, char **ret_name, const struct allocation_input *,
			   const char *id);
/* The CDI specification (cdiVersion 0.5.0, kind <prefix>/<class>) with all devices of the pool, and
 * its file name; heap. */
int allocation_cdi_spec(char **ret_json, char **ret_name, const struct allocation_input *);

/* IDs to prefer: must_include first, then those that share its NUMA node and PCIe switch; with
 * nothing to go by, a NUMA node that has room for all, spread over PFs (the PF with most IDs left
 * first), lowest ID first. Deterministic. ret: `size` pointers into the request's lists. Returns
 * how many: fewer when there are not enough. -EINVAL: must_include does not fit. */
int allocation_prefer(const char **ret, const struct pool_view *, const struct host *,
		      const struct preference_request *);
