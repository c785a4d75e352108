/* SPDX-License-Identifier: Apache-2.0 */
/* roce_frames.h - builds RoCE packets for tests. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define ROCE_FRAME_MAX 1024

struct roce_frame_spec {
	unsigned version; /* 1, or 2 = 0 */
	unsigned ip;	  /* 6, or 4 = 0 */
	unsigned vlans;
	unsigned options; /* words after the IPv4 header, at most 10 */
	const uint8_t *extensions;
	unsigned n_extensions; /* IPv6, 8 bytes each (AH: 12); UDP follows the last */
	unsigned fragment;     /* IPv4: as in the header, 0x2000 = more follow */
	uint8_t traffic_class, opcode;
	uint8_t se, fecn, becn, ack_request;
	uint8_t syndrome;
	uint8_t from, to; /* last byte of the addresses */
	uint16_t port;	  /* 0 = 4791 */
	uint16_t source_port;
	uint32_t qpn, psn, reth_length;
	unsigned payload; /* bytes after the headers, at most 500 */
};

/* Writes to buf[ROCE_FRAME_MAX]; returns the length. */
size_t roce_frame_make(uint8_t *buf, const struct roce_frame_spec *);

/* A random packet, mostly RoCE, sometimes truncated or with a changed byte. */
size_t roce_frame_random(uint8_t *buf, unsigned *seed);
