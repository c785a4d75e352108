/* SPDX-License-Identifier: Apache-2.0 */
/* datagram.h - a fuzzer's input as one datagram of netlink messages. */
#pragma once

#include "exact_copy.h"
#include "nlsock.h"

/* Calls fn with each message. */
static inline void datagram_walk(const uint8_t *data, size_t n, nlsock_fn *fn, void *arg)
{
	void *copy = exact_copy(data, n);

	if (copy)
		nlsock_walk(copy, n, fn, arg);
	free(copy);
}
