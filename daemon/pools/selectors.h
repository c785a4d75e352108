/* selectors.h - does a function match what a pool asks for? Pure. */
#pragma once

#include "host_index.h"
#include "model.h"
#include "pool_config.h"

/* Why a function is not in a pool; WHY_NOT_NONE: it is. */
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
	WHY_NOT_CHARDEV, /* shared pools: its RDMA device has no uverbs (or no umad) node yet */
	WHY_NOT_VDPA,
	WHY_NOT_LONG_NAME, /* its RDMA device's name leaves no room for a slot's number in an ID */
	N_WHY_NOT
};

/* A function that may go to a pool. */
struct candidate {
	const struct host_index *index;
	struct fn_parts self;
	/* VF: its PF. SF: its PCI function. Otherwise the function itself, which also holds for a
	 * VF in a virtual machine: no PF is to be seen there, and its kind is "pf". */
	struct fn_parts pf;
};

struct candidate candidate_of(const struct host_index *, const struct function *);

/* The first list that a function does not match, in the order above. Of the pool only kind and
 * type count here.
 *
 * Type: DEVICE_NET is PFs and VFs; in shared pools also sub-functions and RDMA devices without
 * hardware, unless the pool says nics_only; an exclusive pool gets those only by name (if_names,
 * rdma_names). DEVICE_AUX_NET is
 * sub-functions, DEVICE_ACCELERATOR the PCI class of that name. A sub-function has the vendor and
 * device id of its PCI function. */
enum why_not selector_match(const struct selector *, const struct pool *, const struct candidate *);
/* Does the function match that one list, whatever becomes of the others? False for reasons that are
 * no list's. */
bool selector_has(const struct selector *, enum why_not, const struct candidate *);
/* "takes sub-functions only, ...": why the pool's type leaves the function out; NULL: it does not.
 */
const char *selector_type_wrong(const struct selector *, const struct pool *,
				const struct function *);
/* "wants other drivers": for people. */
const char *why_not_name(enum why_not);
/* Is it the function's netdev itself? Not so: the NIC's switch's ports, the representors ("pf0vf3",
 * "c1pf0sf2"; an uplink is "p0"), and what stands on another netdev, as IPoIB's children do. */
bool netdev_is_own(const struct netdev *);
