/* SPDX-License-Identifier: Apache-2.0 */
/* allocation.h - the device nodes, variables and files that a container gets for its device IDs.
 * Pure, except that node files are checked by a hook. For users: docs/reference/containers.md. */
#pragma once

#include "model.h"
#include "plugin.h"
#include "pools.h"

/* Does this device node exist, given its name below /dev ("infiniband/uverbs0", "vfio/12")? */
typedef bool dev_exists_fn(const char *name, void *arg);

struct allocation_input {
	const struct pool_view *view;
	const struct host *host;
	dev_exists_fn *exists;
	void *arg;
	const struct pools *pools; /* for errors: to name the pool that owns an ID of another pool;
				      NULL: not named */
};

/* Builds one container's grant for these IDs of one pool: device nodes (only the functions' own
 * /dev/infiniband/uverbsN, umadN and issmN; rdma_cm, vfio, vhost), PCIDEVICE_<PREFIX>_<NAME> and
 * ..._INFO in the format of sriov-network-device-plugin (exclusive pools, and shared pools of our
 * own grammar), CDI names. Host paths are below /dev.
 *
 * The grant always has the nodes, even with CDI names: a runtime without CDI needs them, and one
 * with CDI replaces them by identical ones.
 *
 * -EINVAL: no ID, or one twice; -ENOENT: an ID this pool does not have; -ENODEV: its device or a
 * node of it was removed; -ENOMEM. The message names the ID. *ret is empty then. */
int allocation_grant(struct container_grant *ret, const struct allocation_input *, struct id_list,
		     struct err *);
/* May a container start with these IDs? The checks of allocation_grant(), without a grant. */
int allocation_check(const struct allocation_input *, struct id_list, struct err *);

/* Returns NPWG device-info 1.1.0 of one ID, and its file name "<prefix>-<name>-<id>-device.json",
 * on the heap. Text NULL: the specification has no format for such a device (sub-functions, shared
 * pools). -ENOENT, -ENODEV, -ENOMEM. */
int allocation_device_info(char **ret_json, char **ret_name, const struct allocation_input *,
			   const char *id);
/* As allocation_device_info(), for a function that a CNI plugin attaches. Uses the exclusive pool
 * that contains the function; if none does, describes its RDMA and vDPA devices. pools NULL: not
 * known. -ENODEV: no such function. */
int allocation_info_of_function(char **ret_json, const struct pools *, const struct host *,
				const char *function);
/* Returns the CDI specification (cdiVersion 0.5.0, kind <prefix>/<class>) with all functions of the
 * pool that have all their nodes, and its file name "rocelet-<prefix>_<name>.json", on the heap.
 * Text NULL: no devices, so no file should exist, because an empty specification is invalid.
 * -ENOMEM. The file must be written before a grant with its names is sent. */
int allocation_cdi_spec(char **ret_json, char **ret_name, const struct allocation_input *);

/* Returns the name of that file, whether it exists or not, on the heap; NULL when out of memory. */
char *allocation_cdi_name(const struct pool *);

/* Recognise our stale files by name: device-info of this pool for an ID that it does not have; any
 * CDI specification of rocelet (the caller keeps those it has just written). */
bool allocation_device_info_is_stale(const struct pool_view *, const char *file_name);
bool allocation_cdi_spec_is_ours(const char *file_name);

/* Is the ID still in use by a container, or returning? The kubelet may allocate it, but the next
 * container has to wait for it. */
typedef bool id_busy_fn(const char *id, void *arg);

/* Chooses the preferred IDs: must_include first, then IDs that are not busy, then those that share
 * its NUMA node and PCIe switch; without must_include, the NUMA node with the most IDs. Among
 * equals, spread over PFs (shared pools: HCAs), the one with the most IDs left first, lowest ID
 * first. Deterministic: the order of the request's lists has no effect. ret: room for `size`
 * pointers, or for all available IDs if these are fewer; receives pointers into the request's
 * lists. Returns their number, which is smaller than `size` if there are not enough. -EINVAL:
 * must_include exceeds the size or is not available. -ENOMEM. */
int allocation_prefer(const char **ret, const struct pool_view *, const struct host *,
		      const struct preference_request *, id_busy_fn *is_busy, void *arg);
