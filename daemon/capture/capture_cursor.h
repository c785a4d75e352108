/* capture_cursor.h - the readers' way through the bytes that are there. Pure. */
#pragma once

#include <endian.h>
#include <string.h>

#include "capture_file.h"

struct capture_cursor {
	const uint8_t *at;
	size_t n;
};

static inline void capture_advance(struct capture *c, struct capture_cursor *in, size_t n)
{
	in->at += n;
	in->n -= n;
	c->offset += n;
}

static inline uint32_t capture_u32(const struct capture *c, const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return c->big_endian ? be32toh(v) : le32toh(v);
}

static inline uint16_t capture_u16(const struct capture *c, const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return c->big_endian ? be16toh(v) : le16toh(v);
}

/* A packet of interface i: its lengths as the file has them, its bytes. FCS is taken off. */
struct capture_packet capture_packet(struct capture *, const struct capture_interface *,
				     uint32_t captured, uint32_t length, const uint8_t *bytes);
/* Units of the interface's clock as nanoseconds. */
uint64_t capture_time(const struct capture_interface *, uint64_t units);

int pcapng_next(struct capture *, struct capture_cursor *, struct capture_packet *ret,
		struct err *);
