/* SPDX-License-Identifier: Apache-2.0 */
/* grpc_bytes.h - feeds a fuzzer's bytes to a gRPC connection and reads its output. */
#pragma once

#include "exact_copy.h"
#include "grpc.h"

/* grpc_feed() with a copy of exactly this size. */
static inline int grpc_bytes_feed(struct grpc_conn *c, const uint8_t *bytes, size_t len,
				  uint64_t now)
{
	uint8_t *copy = exact_copy(bytes, len);
	int r = copy ? grpc_feed(c, copy, len, now, NULL) : 0;

	free(copy);
	return r;
}

/* Takes all output; reads both ends of each piece and adds them to *sum. */
static inline void grpc_bytes_take(struct grpc_conn *c, size_t *sum)
{
	const uint8_t *bytes;
	ssize_t n;

	while ((n = grpc_take(c, &bytes)) > 0)
		*sum += bytes[0] + bytes[n - 1];
}
