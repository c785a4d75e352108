/* allocation.h - which nodes, variables and files a container gets for its device IDs. Pure: values
 * in, values out; node files are looked at by a hook. docs/reference/containers.md says the same
 * for those who use it. */
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
	const struct pools *pools; /* to say whose a foreign ID is; NULL = not to be told */
};

/* One container's grant for these IDs of one pool: nodes (/dev/infiniband/uverbsN ... by exact
 * match, rdma_cm, vfio, vhost), PCIDEVICE_<PREFIX>_<NAME> and ..._INFO as
 * sriov-network-device-plugin writes them (exclusive pools and shared pools of our own grammar),
 * CDI names. Host paths are below /dev.
 *
 * Nodes are always in the grant, whether there are CDI names or not: who does not know CDI gets
 * them so, and who does replaces them by the same.
 *
 * -EINVAL: no ID, or one twice; -ENOENT: an ID this pool does not have; -ENODEV: its device or a
 * node of it is gone; -ENOMEM. The sentence names the ID. *ret is empty then. */
int allocation_grant(struct container_grant *ret, const struct allocation_input *, struct id_list,
		     struct err *);
/* May a container start with these IDs? As allocation_grant(), without the answer. */
int allocation_check(const struct allocation_input *, struct id_list, struct err *);

/* NPWG device-info 1.1.0 of one ID, and its file name "<prefix>-<name>-<id>-device.json"; heap.
 * Without text (NULL): the specification has no form for such a device (sub-functions, shared
 * pools). -ENOENT, -ENODEV, -ENOMEM. */
int allocation_device_info(char **ret_json, char **ret_name, const struct allocation_input *,
			   const char *id);
/* The CDI specification (cdiVersion 0.5.0, kind <prefix>/<class>) with all functions of the pool
 * that have all their nodes, and its file name "rocelet-<prefix>_<name>.json"; heap. Without text
 * (NULL): nothing to tell, and an empty specification is invalid, so there shall be no file.
 * -ENOMEM. To be on disk before a grant with its names is. */
int allocation_cdi_spec(char **ret_json, char **ret_name, const struct allocation_input *);

/* The name of that file, whether there is one or not; heap, NULL when out of memory. */
char *allocation_cdi_name(const struct pool *);

/* Files of ours that nothing stands for any more, by their names: device-info of this pool for an
 * ID it does not have; any CDI specification of rocelet (keep what was just written). */
bool allocation_device_info_is_stale(const struct pool_view *, const char *file_name);
bool allocation_cdi_spec_is_ours(const char *file_name);

/* Whether an ID still is with somebody, or on its way back: the kubelet has it to give, but the
 * container that gets it waits. */
typedef bool id_busy_fn(const char *id, void *arg);

/* IDs to prefer: must_include first, then those that nobody waits for, then those that share its
 * NUMA node and PCIe switch; with nothing to go by, the NUMA node with most IDs. Among equals
 * spread over PFs (shared pools: HCAs), the one with most IDs left first, lowest ID first.
 * Deterministic: the order of the request's lists does not matter. ret: has room for `size`, or for
 * all that are available where those are fewer; gets pointers into the request's lists. Returns how
 * many: fewer when there are not enough. -EINVAL: must_include does not fit, in size or in what is
 * available. -ENOMEM. */
int allocation_prefer(const char **ret, const struct pool_view *, const struct host *,
		      const struct preference_request *, id_busy_fn *is_busy, void *arg);
