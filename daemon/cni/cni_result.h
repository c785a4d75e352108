/* SPDX-License-Identifier: Apache-2.0 */
/* cni_result.h - the result of an ADD in the format of CNI 1.1.0 (specification, section 5).
 * Pure. */
#pragma once

#include "cni.h"

/* Makes the result: the record's interface and addresses, appended to prevResult if there is one.
 * ipam: the IPAM plugin's result, with gateways and "dns"; NULL: none. The gateway of an address is
 * the one that the plugin returned, else the gateway of a route that is in the address's network.
 * "dns" is taken from the configuration, else from the plugin, else from prevResult. The caller
 * owns the result; NULL: out of memory. */
struct json_t *cni_result(const struct attach_record *, const struct json_t *ipam,
			  const struct cni_request *);
/* Returns a copy of prevResult with cniVersion 1.1.0. */
struct json_t *cni_result_passed_on(const struct cni_request *);
