// SPDX-License-Identifier: Apache-2.0
/* Decoders of RDMA netlink answers and events.
 *
 * proves: hw/netlink
 * when: core 2
 * when: turns 4
 * when: soak 120 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "datagram.h"
#include "nldev.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static int on_message(const struct nlmsghdr *h, void *arg)
{
	enum rdma_netns_mode mode;
	struct nldev_chardev chardev;
	struct nldev_event event;
	struct nldev_port port;
	struct nldev_dev dev;
	bool monitor;

	(void)arg;
	if (nldev_decode_dev(h, &dev) == 0 && (!dev.name[0] || strchr(dev.name, '/')))
		abort();
	if (nldev_decode_port(h, &port) == 0 && port.netdev_ifindex < 0)
		abort();
	if (nldev_decode_chardev(h, &chardev) == 0 && strchr(chardev.name, '/'))
		abort();
	if (nldev_decode_event(h, &event) == 0 && event.type > NLDEV_EVENT_OTHER)
		abort();
	nldev_decode_sys(h, &mode, &monitor);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	datagram_walk(data, n, on_message, NULL);
	return 0;
}
