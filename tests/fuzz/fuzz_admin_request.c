// SPDX-License-Identifier: Apache-2.0
/* Any bytes as the body of an admin request; the first byte selects its kind.
 *
 * proves: daemon/api
 * when: core 2
 * when: turns 4
 * when: soak 120 */
#include <stdint.h>
#include <stdlib.h>

#include "admin_request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct admin_request o;
	struct err e = {0};
	enum admin_request_kind kind;

	if (n == 0)
		return 0;
	kind = (enum admin_request_kind)(data[0] % 3);
	if (admin_request_parse(&o, kind, (const char *)data + 1, n - 1, &e) < 0) {
		if (e.code != -EINVAL || e.msg[0] == '\0')
			abort();
		return 0;
	}
	if (kind != ADMIN_FIX && o.device[0] == '\0')
		abort();
	if (kind == ADMIN_ATTACH &&
	    (!o.owner.netns.path[0] == !o.owner.pod[0] || !o.plan.ifname[0] ||
	     o.plan.n_ips > PLAN_IPS_MAX || o.plan.vf.vlan > 4094))
		abort();
	return 0;
}
