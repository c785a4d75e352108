/* SPDX-License-Identifier: Apache-2.0 */
/* doctor_ports.h - devices that are unhealthy for one common cause: the link of their PF's port is
 * down. Pure. */
#pragma once

#include "model.h"
#include "resource_table.h"

/* The PF whose link is down, if that alone makes the resource's k-th device unhealthy; NULL: it is
 * healthy, or has another reason. Borrowed from the host. */
const struct function *doctor_port_of(const struct host *, const struct resource_table *,
				      const struct resource_info *, size_t k);
/* True if no device before this one, in the order of the table, has the same PF. */
bool doctor_port_is_first(const struct host *, const struct resource_table *, size_t resource,
			  size_t k, const struct function *pf);
/* Writes "port ens1np0 is down since 2026-01-02T03:04:05Z: 17 devices of rocelet.dev/vf not offered
 * to new containers; pods: a/b, c/d and 3 more". */
void doctor_port_text(const struct host *, const struct resource_table *, const struct function *pf,
		      char *ret, size_t size);
