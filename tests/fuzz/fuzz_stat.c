// SPDX-License-Identifier: Apache-2.0
/* Decoders of RDMA statistics, with a datagram of messages.
 *
 * proves: hw/netlink hw/counters
 * when: turns 4
 * when: soak 120 */
#include <rdma/rdma_netlink.h>
#include <string.h>

#include "datagram.h"
#include "nldev.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Reads the whole name, so that a missing terminating NUL is noticed. */
static void on_named(const char *name, uint64_t value, void *arg)
{
	size_t *sum = arg;

	*sum += strlen(name) + (size_t)value;
}

static void on_status(const struct nldev_stat_status *s, void *arg)
{
	on_named(s->name, s->index, arg);
}

static int on_message(const struct nlmsghdr *h, void *arg)
{
	nldev_decode_stat(h, on_named, arg);
	nldev_decode_resources(h, on_named, arg);
	nldev_decode_stat_status(h, on_status, arg);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	size_t sum = 0;

	datagram_walk(data, n, on_message, &sum);
	return 0;
}
