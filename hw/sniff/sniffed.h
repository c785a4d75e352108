/* SPDX-License-Identifier: Apache-2.0 */
/* sniffed.h - a captured packet, from any source. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An Ethernet frame with its VLAN tags, without FCS. */
struct sniffed {
	const uint8_t *bytes;	   /* borrowed, valid until the callback returns */
	uint32_t captured, length; /* captured bytes, and length on the wire */
	uint64_t time_ns;	   /* since 1970 */
};

/* False: stop capturing. */
typedef bool sniffed_fn(const struct sniffed *, void *arg);
