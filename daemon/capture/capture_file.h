/* capture_file.h - packets out of a capture file, as its bytes come. Pure: bytes in, packets out;
 * needs no more than CAPTURE_WINDOW of them at once, however long the file is.
 *
 * pcap with micro- and nanoseconds and with the longer record header of old kernels, pcapng with
 * any number of sections and interfaces, each in both byte orders. What the file says about its
 * longest packet is not believed, since writers say 0 or too little.
 *
 * Sources: draft-ietf-opsawg-pcap, draft-ietf-opsawg-pcapng, the registry of link types at
 * tcpdump.org/linktypes.html. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"

/* No packet is longer: libpcap's MAXIMUM_SNAPLEN, which everybody writes at most. */
#define CAPTURE_PACKET_MAX     262144
/* Bytes that are enough for any step: the longest packet and what precedes it in a block. */
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
	const uint8_t *bytes; /* borrowed from the caller's */
	uint32_t captured;    /* how many of them there are */
	uint32_t length;      /* how many there were on the wire, at least captured; without FCS */
	uint32_t link;	      /* enum link_type, or a number that is none of them */
	uint64_t time_ns;     /* since 1970; 0: the file does not say */
	uint64_t offset;      /* of its record in the file */
	uint64_t number;      /* from 1 */
};

/* What packets of one interface have in common. */
struct capture_interface {
	uint32_t link, snaplen;		  /* 0: without a limit */
	uint32_t fcs;			  /* bytes of it behind each packet */
	uint64_t multiply, divide, shift; /* ns = units * multiply / divide, or * 10^9 >> shift */
	int64_t offset_s;		  /* added to each time */
};

/* Zeroed: nothing read yet. Owns nothing. */
struct capture {
	enum { CAPTURE_UNKNOWN, CAPTURE_PCAP, CAPTURE_PCAPNG } format;
	bool big_endian;
	uint32_t record_header; /* bytes, pcap's */
	uint64_t offset;	/* of the next byte that is to come */
	uint64_t record;	/* where the present record or block begins */
	uint64_t skip;		/* bytes of the present block that nobody needs */
	uint32_t trailer;	/* then its length once more; 0: not in a block */
	uint64_t n_packets;
	size_t n_interfaces;
	struct capture_interface interfaces[CAPTURE_INTERFACES_MAX];
};

/* *ret_used: how many bytes are done with; what is left comes again in front of what follows.
 * 1: *ret is the next packet. 0: with these bytes there is nothing more to say.
 * -EBADMSG: a sentence with the offset; nothing further can be read. */
int capture_next(struct capture *, const uint8_t *bytes, size_t n, size_t *ret_used,
		 struct capture_packet *ret, struct err *);
/* The file has ended, with n bytes left: 0, or -ENODATA and where it was cut, or that it is empty.
 */
int capture_end(const struct capture *, size_t n, struct err *);
