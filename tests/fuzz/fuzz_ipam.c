// SPDX-License-Identifier: Apache-2.0
/* Any bytes as the output of an IPAM plugin: addresses or an error.
 *
 * proves: daemon/attach/ipam
 * when: core 2
 * when: turns 4
 * when: soak 120 */
#include <stdint.h>
#include <stdlib.h>

#include "ipam.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct attach_record r = {.n_ips = 0};
	struct err e = {0};
	struct ipam_needs needs;

	if (ipam_parse_result(&r, (const char *)data, n, &e) < 0) {
		if (e.code >= 0 || e.msg[0] == '\0' || r.n_ips != 0)
			abort();
	} else if (r.n_ips == 0 || r.n_ips > PLAN_IPS_MAX || r.n_routes > PLAN_ROUTES_MAX) {
		abort();
	}
	ipam_parse_error((const char *)data, n, 1, &e);
	if (n >= sizeof(r.plan.ipam))
		return 0;
	memcpy(r.plan.ipam, data, n);
	if (ipam_needs_of(&r, &needs, &e) == 0) {
		free(ipam_config(&r, IPAM_ADD, NULL));
		free(ipam_args(&r));
	}
	return 0;
}
