/* SPDX-License-Identifier: Apache-2.0 */
/* resource_series.h - the series of the advertised devices, their health and their holders. Pure;
 * they change with the table, not with a sample. */
#pragma once

#include "page.h"
#include "resource_table.h"
#include "sample.h"

enum resource_family {
	RESOURCE_DEVICES,
	RESOURCE_ALLOCATED,
	RESOURCE_FREE,
	RESOURCE_GID_CAPACITY,
	RESOURCE_REGISTERED,
	RESOURCE_REGISTRATIONS,
	RESOURCE_REGISTRATION_FAILURES,
	RESOURCE_LISTS,
	RESOURCE_ALLOCATIONS,
	RESOURCE_DEVICE_HEALTHY,
	RESOURCE_DEVICE_UNHEALTHY,
	RESOURCE_DEVICE_ONSET_TIME,
	RESOURCE_DEVICE_INFO,
	N_RESOURCE_FAMILIES
};

const struct family *resource_family(enum resource_family);
/* Appends all samples of one family. few: leaves out the series of each healthy device and of the
 * slots of shared resources. */
void resource_series(struct text *, enum resource_family, const struct resource_table *, bool few);
