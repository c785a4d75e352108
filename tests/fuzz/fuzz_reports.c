// SPDX-License-Identifier: Apache-2.0
/* Decoders of link states of VFs and of devlink's health reporters.
 *
 * proves: hw/netlink
 * when: turns 4
 * when: soak 120 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "datagram.h"
#include "genl.h"
#include "rtnl_vf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static int on_vf(int vf, enum vf_link link, uint64_t settings, void *arg)
{
	(void)arg;
	if (vf < 0 || link == VF_LINK_UNKNOWN || settings == 0)
		abort();
	return 0;
}

/* Takes the message's type for the family's. */
static int on_message(const struct nlmsghdr *h, void *arg)
{
	struct devlink_reporter r;
	uint16_t family;
	uint32_t group;

	rtnl_decode_vfs(h, on_vf, arg);
	genl_decode_family(h, &family);
	genl_decode_group(h, "config", &group);
	if (devlink_decode_reporter(h, h->nlmsg_type, &r) == 0 &&
	    (strnlen(r.name, sizeof(r.name)) == sizeof(r.name) ||
	     strnlen(r.function, sizeof(r.function)) == sizeof(r.function)))
		abort();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	datagram_walk(data, n, on_message, NULL);
	return 0;
}
