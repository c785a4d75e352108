// SPDX-License-Identifier: Apache-2.0
/* Decoders of VF settings reported by the PF's driver, and of a link's addresses and routes.
 *
 * proves: hw/netlink
 * when: turns 4
 * when: soak 120 */
#include <arpa/inet.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "datagram.h"
#include "rtnl.h"
#include "rtnl_addr.h"
#include "rtnl_vf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void read_vfs(const struct nlmsghdr *h)
{
	struct vf_settings s;

	for (int vf = 0; vf < 3; vf++)
		if (rtnl_decode_vf(h, vf, &s) == 0 &&
		    (s.vlan > 4095 || s.vlan_qos > 7 ||
		     (s.fields & VF_LINK_STATE && s.link_state == VF_LINK_UNKNOWN)))
			abort();
}

static void read_routes(const struct nlmsghdr *h)
{
	struct net_route v4 = {.dst = {.family = AF_INET, .addr = {198, 51, 100}, .len = 22},
			       .gateway = {.family = AF_INET, .addr = {192, 0, 2, 1}}};
	struct net_route v6 = {.dst = {.family = AF_INET6, .addr = {0x20, 1}, .len = 255}};

	rtnl_is_route(h, 7, &v4);
	rtnl_is_route(h, 7, &v6);
	v6.dst.len = 128;
	rtnl_is_route(h, 7, &v6);
}

static int on_message(const struct nlmsghdr *h, void *arg)
{
	char alias[ATTACH_ALIAS_SIZE];
	struct rtnl_addr a;

	(void)arg;
	read_vfs(h);
	read_routes(h);
	if (rtnl_decode_addr(h, &a) == 0 && (a.ifindex < 0 || a.ip.len > 128))
		abort();
	if (rtnl_decode_alias(h, alias) == 0 && strnlen(alias, sizeof(alias)) == sizeof(alias))
		abort();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	datagram_walk(data, n, on_message, NULL);
	return 0;
}
