// SPDX-License-Identifier: Apache-2.0
/* Framing of a datagram, which any local process could send: no message may reach past its end.
 *
 * proves: hw/netlink
 * when: core 2
 * when: turns 4
 * when: soak 120 */
#include <stdint.h>
#include <stdlib.h>

#include "exact_copy.h"
#include "nlsock.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

struct range {
	const uint8_t *start, *end;
};

static int on_message(const struct nlmsghdr *h, void *arg)
{
	const struct range *r = arg;
	const uint8_t *p = (const uint8_t *)h;

	if (p < r->start || p > r->end || h->nlmsg_len > (size_t)(r->end - p))
		abort();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	uint8_t *copy = exact_copy(data, n);
	struct range r;

	if (!copy)
		return 0;
	r = (struct range){copy, copy + n};
	nlsock_walk(copy, n, on_message, &r);
	free(copy);
	return 0;
}
