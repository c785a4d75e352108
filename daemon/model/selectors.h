/* selectors.h - does a function match what a pool asks for? Pure. */
#pragma once

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
	WHY_NOT_RDMA, /* no RDMA device */
	WHY_NOT_VDPA,
	N_WHY_NOT
};

/* The first list that a function does not match, in this order. */
enum why_not selector_match(const struct selector *, enum device_type, const struct host *,
			    const struct function *);
/* "selector vendors": for people. */
const char *why_not_name(enum why_not);
