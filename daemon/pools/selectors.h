/* SPDX-License-Identifier: Apache-2.0 */
/* selectors.h - matches a function with a pool's selectors. Pure. */
#pragma once

#include "host_index.h"
#include "model.h"
#include "pool_config.h"

/* Why a function is not in a pool; WHY_NOT_NONE: it is. In the order of the tests. */
enum why_not {
	WHY_NOT_NONE,
	WHY_NOT_TYPE, /* of another device type */
	WHY_NOT_VENDOR,
	WHY_NOT_DEVICE,
	WHY_NOT_DRIVER,
	WHY_NOT_PCI_ADDRESS,
	WHY_NOT_ACPI_INDEX,
	WHY_NOT_AUX_TYPE,
	WHY_NOT_PF_NAME,
	WHY_NOT_ROOT_DEVICE,
	WHY_NOT_IF_NAME,
	WHY_NOT_LINK_TYPE,
	WHY_NOT_PKEY,
	WHY_NOT_RDMA_NAME,
	WHY_NOT_RDMA,	 /* no RDMA device; shared pools: none in the host's namespace */
	WHY_NOT_CHARDEV, /* shared pools: its RDMA device has no uverbs node yet, or no umad node */
	WHY_NOT_VDPA,
	WHY_NOT_LONG_NAME, /* its RDMA device's name is too long for an ID with a slot number */
	N_WHY_NOT
};

/* A function to be matched. */
struct candidate {
	const struct host_index *index;
	struct fn_parts self;
	/* VF: its PF. SF: its PCI function. Otherwise the function itself. This includes a VF in a
	 * virtual machine: it is of kind "pf", because its PF is not visible there. */
	struct fn_parts pf;
};

struct candidate candidate_of(const struct host_index *, const struct function *);

/* Returns the first test that a function fails, in the order above. Uses only the kind and the type
 * of the pool.
 *
 * Type: DEVICE_NET is PFs and VFs; in shared pools also sub-functions and RDMA devices without
 * hardware, unless the pool is nics_only; an exclusive pool gets those only if selected by name
 * (if_names, rdma_names). DEVICE_AUX_NET is sub-functions, DEVICE_ACCELERATOR is PCI class 12
 * (accelerators). A sub-function has the vendor and device id of its PCI function. */
enum why_not selector_match(const struct selector *, const struct pool *, const struct candidate *);
/* True if the function passes that one test, regardless of the others. False for reasons that are
 * not lists of the selector. */
bool selector_has(const struct selector *, enum why_not, const struct candidate *);
/* Returns why the pool's type excludes the function, "accepts sub-functions only, ..."; NULL: it
 * does not exclude it. */
const char *selector_type_wrong(const struct selector *, const struct pool *,
				const struct function *);
/* Returns a text for people, such as "requires other drivers". */
const char *why_not_name(enum why_not);
/* True if the netdev is the function's own. False for a port of the NIC's switch, i.e. a
 * representor
 * ("pf0vf3", "c1pf0sf2"; an uplink is "p0"), and for a netdev on top of another one, such as an
 * IPoIB child. */
bool netdev_is_own(const struct netdev *);
