/* SPDX-License-Identifier: Apache-2.0 */
/* allocation.h - the device nodes, variables and files that a container gets for its device IDs.
 * Pure, except that node files are checked by a hook. For users: docs/reference/containers.md. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "model.h"
#include "plugin.h"
#include "pool_config.h"
#include "pools.h"

/* True if the device node with this name below /dev exists ("infiniband/uverbs0", "vfio/12"). */
typedef bool dev_exists_fn(const char *name, void *arg);

struct allocation_input {
	const struct pool_view *view;
	const struct host *host;
	dev_exists_fn *exists;
	void *arg;
	const struct pools *pools; /* for errors that name the owner of another pool's ID; NULL: it
				    * is not named */
};

/* Builds one container's grant for these IDs of one pool: device nodes (only the functions' own
 * /dev/infiniband/uverbsN, umadN and issmN; rdma_cm, vfio, vhost), PCIDEVICE_<PREFIX>_<NAME> and
 * ..._INFO in the format of sriov-network-device-plugin (exclusive pools, and shared pools of our
 * own grammar), CDI names. Host paths are below /dev.
 *
 * The grant always has the nodes, even with CDI names: a runtime without CDI needs them, and a
 * runtime with CDI replaces them by identical nodes.
 *
 * -EINVAL: no ID, or a repeated ID; -ENOENT: the pool does not have the ID; -ENODEV: the ID's
 * device or a node of it was removed; -ENOMEM. The message names the ID. On failure *ret is empty.
 */
int allocation_grant(struct container_grant *ret, const struct allocation_input *, struct id_list,
		     struct err *);
/* Checks whether a container may start with these IDs, like allocation_grant() but without a grant.
 */
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

/* True for our stale files, by name: device-info of this pool for an ID that it does not have; any
 * CDI specification of rocelet (the caller keeps the files that it has just written). */
bool allocation_device_info_is_stale(const struct pool_view *, const char *file_name);
bool allocation_cdi_spec_is_ours(const char *file_name);

/* True if the ID is in use by a container, or returning. The kubelet may allocate it, but the next
 * container has to wait for it. */
typedef bool id_busy_fn(const char *id, void *arg);

/* Chooses the preferred IDs: must_include first, then IDs that are not busy, then IDs that share
 * the NUMA node and PCIe switch of must_include; without must_include, IDs of the NUMA node with
 * the most IDs. Equal IDs are spread over PFs (shared pools: HCAs): the PF with the most IDs left
 * first, then the lowest ID. Deterministic: the order of the request's lists has no effect. ret:
 * room for `size` pointers, or for all available IDs if these are fewer; receives pointers into the
 * request's lists. Returns their number, which is smaller than `size` if there are not enough.
 * -EINVAL: must_include exceeds the size or is not available. -ENOMEM. */
int allocation_prefer(const char **ret, const struct pool_view *, const struct host *,
		      const struct preference_request *, id_busy_fn *is_busy, void *arg);

/* Names of the Container Device Interface: kinds "vendor/class" and devices "vendor/class=name".
 * Naming rules: "Kind" and "CDI Devices" in the specification. */

/* A kind, '=', a pool's name, '-' and a bus name. */
#define CDI_NAME_SIZE (RESOURCE_NAME_SIZE + 64 + DEV_ID_SIZE)

/* Writes the kind, "intel.com/net-pci", as in sriov-network-device-plugin ("net-sf", "net-accel" by
 * type); shared pools: "rdma/net-rdma". False: the pool does not use CDI, or its prefix is not a
 * valid vendor name (these start with a letter, while DNS names may start with a digit). */
bool cdi_kind(const struct pool *, char ret[RESOURCE_NAME_SIZE]);
/* Writes the device's name within its kind: the bus name, prefixed with the pool's name if other
 * pools may have the same function. False: not a valid CDI name. */
bool cdi_device(const struct pool *, const char *function, char ret[CDI_NAME_SIZE]);
