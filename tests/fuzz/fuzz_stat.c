/* Fuzzes the decoders of RDMA statistics with a datagram of messages. */
#include <rdma/rdma_netlink.h>
#include <stdlib.h>
#include <string.h>

#include "nldev_stat.h"
#include "nlsock.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Reads the whole name, so that one without its end is noticed. */
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
	/* A copy of exactly this size: aligned as a receive buffer is, and its end is guarded. */
	uint8_t *buf = malloc(n ? n : 1);
	size_t sum = 0;

	if (!buf)
		return 0;
	memcpy(buf, data, n);
	nlsock_walk(buf, n, on_message, &sum);
	free(buf);
	return 0;
}
