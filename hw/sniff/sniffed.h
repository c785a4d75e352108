/* sniffed.h - a packet that passes right now, wherever it was caught. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An Ethernet frame, VLAN tags in place, without FCS. */
struct sniffed {
	const uint8_t *bytes;	   /* borrowed, valid until the callback returns */
	uint32_t captured, length; /* here, and on the wire */
	uint64_t time_ns;	   /* since 1970 */
};

/* False: no more packets are wanted. */
typedef bool sniffed_fn(const struct sniffed *, void *arg);
