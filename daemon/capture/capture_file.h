/* SPDX-License-Identifier: Apache-2.0 */
/* capture_file.h - parses capture files as a stream. Pure; never needs more than CAPTURE_WINDOW
 * bytes at once, however long the file is.
 *
 * Supports pcap with micro- and nanoseconds and with the longer record header of old kernels, and
 * pcapng with any number of sections and interfaces, each in both byte orders. Ignores the maximum
 * packet length in the file, because some writers set it to 0 or too low.
 *
 * Sources: draft-ietf-opsawg-pcap, draft-ietf-opsawg-pcapng, the registry of link types at
 * tcpdump.org/linktypes.html. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"

/* Maximum length of a packet: libpcap's MAXIMUM_SNAPLEN, which no writer exceeds. */
#define CAPTURE_PACKET_MAX     262144
/* Number of bytes that is sufficient for any step: the longest packet and the part of a block
 * before it. */
#define CAPTURE_WINDOW	       (CAPTURE_PACKET_MAX + 64)
#define CAPTURE_INTERFACES_MAX 4096

enum link_type {
	LINKTYPE_ETHERNET = 1,
	LINKTYPE_RAW = 101,
	LINKTYPE_SLL = 113,
	LINKTYPE_IPV4 = 228,
	LINKTYPE_IPV6 = 229,
	LINKTYPE_SLL2 = 276,
};

struct capture_packet {
	const uint8_t *bytes; /* borrowed from the caller's buffer */
	uint32_t captured;    /* number of bytes */
	uint32_t length;      /* length on the wire, at least `captured`; without FCS */
	uint32_t link;	      /* enum link_type, or another number */
	uint64_t time_ns;     /* since 1970; 0: not in the file */
	uint64_t offset;      /* of its record in the file */
	uint64_t number;      /* from 1 */
};

/* Properties shared by the packets of one interface. */
struct capture_interface {
	uint32_t link, snaplen;		  /* 0: no limit */
	uint32_t fcs;			  /* bytes of FCS at the end of each packet */
	uint64_t multiply, divide, shift; /* ns = units * multiply / divide, or * 10^9 >> shift */
	int64_t offset_s;		  /* seconds added to each time */
};

/* The state of the parser. Zero-initialised: nothing read yet. Owns nothing. */
struct capture {
	enum { CAPTURE_UNKNOWN, CAPTURE_PCAP, CAPTURE_PCAPNG } format;
	bool big_endian;
	uint32_t record_header; /* bytes, of pcap */
	uint64_t offset;	/* of the next byte in the file */
	uint64_t record;	/* start of the current record or block */
	uint64_t skip;		/* bytes of the current block to skip */
	uint32_t trailer; /* length that is expected to be repeated at the block's end; 0: not in a
			     block */
	uint64_t n_packets;
	size_t n_interfaces;
	struct capture_interface interfaces[CAPTURE_INTERFACES_MAX];
};

/* Parses the next packet. *ret_used: the number of bytes consumed; the caller passes the rest
 * again, followed by further bytes. 1: *ret is the next packet. 0: needs more bytes. -EBADMSG:
 * malformed, with a message that has the offset; the rest cannot be parsed. */
int capture_next(struct capture *, const uint8_t *bytes, size_t n, size_t *ret_used,
		 struct capture_packet *ret, struct err *);
/* Checks whether the file is complete. Call at its end with the number of bytes left. -ENODATA with
 * a message: it is truncated or empty. */
int capture_end(const struct capture *, size_t n, struct err *);
