// SPDX-License-Identifier: Apache-2.0
/* capture_file.c - see capture_file.h. First pcap, then pcapng. */
#include "capture_file.h"

#include <endian.h>
#include <inttypes.h>
#include <string.h>

#define PCAP_HEADER	     24
#define PCAP_RECORD	     16
#define PCAP_RECORD_MODIFIED 24

#define MAGIC_MICRO 0xa1b2c3d4
#define MAGIC_NANO  0xa1b23c4d
#define MAGIC_MODIFIED                                                                             \
	0xa1b2cd34 /* "Kuznetzov's": microseconds, with 8 more bytes of record header */
#define MAGIC_SECTION 0x0a0d0d0a /* the same in both byte orders */

/* The upper bits of a link type word: whether there is an FCS, and its length in 16-bit words. */
#define FCS_PRESENT  0x04000000u
#define FCS_WORDS(w) ((w) >> 28)
#define LINK_OF(w)   ((w)&0x0000ffffu)

/* The remaining bytes. */
struct capture_cursor {
	const uint8_t *at;
	size_t n;
};

static void capture_advance(struct capture *c, struct capture_cursor *in, size_t n)
{
	in->at += n;
	in->n -= n;
	c->offset += n;
}

static uint32_t capture_u32(const struct capture *c, const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return c->big_endian ? be32toh(v) : le32toh(v);
}

static uint16_t capture_u16(const struct capture *c, const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return c->big_endian ? be16toh(v) : le16toh(v);
}

/* Converts units of the interface's clock to nanoseconds. */
static uint64_t capture_time(const struct capture_interface *i, uint64_t units)
{
	uint64_t ns = units * i->multiply / i->divide;

	if (i->shift)
		ns = (uint64_t)((unsigned __int128)units * 1000000000 >> i->shift);
	return ns + (uint64_t)i->offset_s * 1000000000;
}

/* Returns a packet of interface i with the lengths in the file and the bytes, without the FCS. */
static struct capture_packet capture_packet(struct capture *c, const struct capture_interface *i,
					    uint32_t captured, uint32_t length,
					    const uint8_t *bytes)
{
	struct capture_packet p = {.bytes = bytes, .link = i->link, .offset = c->record};

	p.length = length > captured ? length : captured;
	p.length -= i->fcs < p.length ? i->fcs : p.length;
	p.captured = captured < p.length ? captured : p.length;
	p.number = ++c->n_packets;
	return p;
}

/* --- pcap ------------------------------------------------------------------------------------- */

static bool is_pcap(uint32_t magic)
{
	return magic == MAGIC_MICRO || magic == MAGIC_NANO || magic == MAGIC_MODIFIED;
}

static int pcap_begin(struct capture *c, struct capture_cursor *in, uint32_t magic, struct err *e)
{
	struct capture_interface *i = &c->interfaces[0];
	uint32_t link;

	if (in->n < PCAP_HEADER)
		return 0;
	if (capture_u16(c, in->at + 4) != 2)
		return err_set(e, -EBADMSG,
			       "at byte 4: version %u.%u of pcap, only 2.4 is supported",
			       capture_u16(c, in->at + 4), capture_u16(c, in->at + 6));
	link = capture_u32(c, in->at + 20);
	*i = (struct capture_interface){.link = LINK_OF(link), .divide = 1};
	i->fcs = link & FCS_PRESENT ? FCS_WORDS(link) * 2 : 0;
	i->multiply = magic == MAGIC_NANO ? 1 : 1000;
	c->record_header = magic == MAGIC_MODIFIED ? PCAP_RECORD_MODIFIED : PCAP_RECORD;
	c->format = CAPTURE_PCAP;
	capture_advance(c, in, PCAP_HEADER);
	return 1;
}

static int pcap_next(struct capture *c, struct capture_cursor *in, struct capture_packet *ret,
		     struct err *e)
{
	const struct capture_interface *i = &c->interfaces[0];
	uint32_t captured;

	c->record = c->offset;
	if (in->n < c->record_header)
		return 0;
	captured = capture_u32(c, in->at + 8);
	if (captured > CAPTURE_PACKET_MAX)
		return err_set(e, -EBADMSG,
			       "at byte %" PRIu64 ": a packet of %" PRIu32
			       " bytes, which is impossible",
			       c->offset, captured);
	if (in->n - c->record_header < captured)
		return 0;
	*ret = capture_packet(c, i, captured, capture_u32(c, in->at + 12),
			      in->at + c->record_header);
	ret->time_ns = (uint64_t)capture_u32(c, in->at) * 1000000000 +
		       capture_u32(c, in->at + 4) * i->multiply;
	capture_advance(c, in, c->record_header + captured);
	return 1;
}

/* --- pcapng ----------------------------------------------------------------------------------- */

/* The block's header has its type and length. A packet block returns its packet, an interface block
 * is stored, and a section header clears the interfaces; other blocks are skipped. The length is
 * repeated at the block's end. Failures: contradictory lengths, packets of undescribed interfaces.
 */

enum {
	BLOCK_INTERFACE = 1,
	BLOCK_PACKET = 2, /* obsolete */
	BLOCK_SIMPLE_PACKET = 3,
	BLOCK_ENHANCED_PACKET = 6,
	BLOCK_SECTION = 0x0a0d0d0a,
};

enum { OPTION_END, OPTION_TIME_RESOLUTION = 9, OPTION_FCS = 13, OPTION_TIME_OFFSET = 14 };

#define BLOCK_MIN	   12 /* type, length, length */
#define SECTION_HEAD	   16 /* type, length, byte order, version */
#define SECTION_MIN	   28
#define INTERFACE_HEAD	   16
#define INTERFACE_MIN	   20
#define PACKET_HEAD	   28
#define SIMPLE_PACKET_HEAD 12
#define BYTE_ORDER_MAGIC   0x1a2b3c4d
/* Longer interface blocks are rejected: valid options never need as many bytes. */
#define INTERFACE_MAX	   CAPTURE_PACKET_MAX

struct block {
	uint32_t type, length;
};

static int block_error(const struct capture *c, struct err *e, const char *what, uint32_t number)
{
	return err_set(e, -EBADMSG, "at byte %" PRIu64 ": %s (%" PRIu32 ")", c->record, what,
		       number);
}

/* Consumes the bytes used, and skips the rest of the block up to the repeated length. */
static void skip_rest(struct capture *c, struct capture_cursor *in, const struct block *b,
		      size_t used)
{
	capture_advance(c, in, used);
	c->skip = b->length - 4 - used;
	c->trailer = b->length;
}

/* Skips the rest of the current block. 1: the block has ended; 0: needs more bytes. */
static int end_block(struct capture *c, struct capture_cursor *in, struct err *e)
{
	size_t n = in->n < c->skip ? in->n : (size_t)c->skip;

	capture_advance(c, in, n);
	c->skip -= n;
	if (c->trailer == 0)
		return 1;
	if (c->skip > 0 || in->n < 4)
		return 0;
	if (capture_u32(c, in->at) != c->trailer)
		return block_error(c, e, "the two lengths of a block differ", c->trailer);
	capture_advance(c, in, 4);
	c->trailer = 0;
	return 1;
}

/* --- sections and interfaces ------------------------------------------------------------------ */

static int block_section(struct capture *c, struct capture_cursor *in, struct block *b,
			 struct err *e)
{
	if (in->n < SECTION_HEAD)
		return 0;
	c->big_endian = false;
	if (capture_u32(c, in->at + 8) != BYTE_ORDER_MAGIC)
		c->big_endian = true;
	if (capture_u32(c, in->at + 8) != BYTE_ORDER_MAGIC)
		return block_error(c, e, "a section without a valid byte-order mark",
				   capture_u32(c, in->at + 8));
	b->length = capture_u32(c, in->at + 4);
	if (b->length < SECTION_MIN || b->length % 4)
		return block_error(c, e, "invalid length of a section", b->length);
	if (capture_u16(c, in->at + 12) != 1)
		return block_error(c, e, "unsupported version of pcapng",
				   capture_u16(c, in->at + 12));
	c->n_interfaces = 0;
	skip_rest(c, in, b, SECTION_HEAD);
	return 1;
}

static uint64_t power_of_10(unsigned n)
{
	uint64_t v = 1;

	for (; n > 0; n--)
		v *= 10;
	return v;
}

/* Parses a time resolution: the highest bit selects the base of the negative power, 2 or 10. */
static int set_resolution(struct capture_interface *i, uint8_t resolution)
{
	unsigned n = resolution & 0x7f;

	*i = (struct capture_interface){i->link, i->snaplen, i->fcs, 1, 1, 0, i->offset_s};
	if (resolution & 0x80 && n < 64 && n > 0)
		i->shift = n;
	else if (resolution & 0x80 && n == 0)
		i->multiply = 1000000000;
	else if (!(resolution & 0x80) && n <= 9)
		i->multiply = power_of_10(9 - n);
	else if (!(resolution & 0x80) && n <= 28)
		i->divide = power_of_10(n - 9);
	else
		return -EBADMSG;
	return 0;
}

static int read_option(const struct capture *c, struct capture_interface *i, unsigned option,
		       const uint8_t *value, unsigned n, struct err *e)
{
	uint64_t first, second;

	if (option == OPTION_TIME_RESOLUTION && n == 1 && set_resolution(i, value[0]) < 0)
		return block_error(c, e, "unsupported time resolution", value[0]);
	if (option == OPTION_FCS && n == 1)
		i->fcs = value[0] > 8 ? value[0] / 8 : value[0]; /* some writers use bits */
	if (option == OPTION_TIME_OFFSET && n == 8) {
		first = capture_u32(c, value), second = capture_u32(c, value + 4);
		i->offset_s = (int64_t)(c->big_endian ? first << 32 | second
						      : second << 32 | first);
	}
	return 0;
}

static int read_options(const struct capture *c, struct capture_interface *i, const uint8_t *at,
			size_t n, struct err *e)
{
	while (n >= 4) {
		unsigned option = capture_u16(c, at), len = capture_u16(c, at + 2);
		size_t whole = 4 + ((size_t)len + 3) / 4 * 4;
		int r;

		if (option == OPTION_END)
			break;
		if (whole > n)
			return block_error(c, e, "an interface's option is longer than its block",
					   len);
		r = read_option(c, i, option, at + 4, len, e);
		if (r < 0)
			return r;
		at += whole;
		n -= whole;
	}
	return 0;
}

static int block_interface(struct capture *c, struct capture_cursor *in, const struct block *b,
			   struct err *e)
{
	struct capture_interface i = {.multiply = 1000, .divide = 1};
	int r;

	if (b->length < INTERFACE_MIN || b->length > INTERFACE_MAX)
		return block_error(c, e, "invalid length of an interface block", b->length);
	if (c->n_interfaces == CAPTURE_INTERFACES_MAX)
		return block_error(c, e, "too many interfaces", CAPTURE_INTERFACES_MAX);
	if (in->n < b->length)
		return 0;
	i.link = capture_u16(c, in->at + 8);
	i.snaplen = capture_u32(c, in->at + 12);
	r = read_options(c, &i, in->at + INTERFACE_HEAD, b->length - INTERFACE_MIN, e);
	if (r < 0)
		return r;
	c->interfaces[c->n_interfaces++] = i;
	skip_rest(c, in, b, b->length - 4);
	return 1;
}

/* --- packets ---------------------------------------------------------------------------------- */

/* Checks that the captured bytes fit between the head and the trailer. */
static int check_captured(const struct capture *c, const struct block *b, uint32_t head,
			  uint32_t captured, struct err *e)
{
	if (captured > CAPTURE_PACKET_MAX)
		return block_error(c, e, "a packet exceeds the maximum length", captured);
	if (b->length < head + 4 || b->length - head - 4 < captured)
		return block_error(c, e, "a packet is longer than its block", captured);
	return 0;
}

/* Parses a packet block; the obsolete one differs only in the width of the interface's number. 2:
 * *ret is a packet. */
static int block_packet(struct capture *c, struct capture_cursor *in, const struct block *b,
			struct capture_packet *ret, struct err *e)
{
	const uint8_t *at = in->at;
	uint32_t captured, number;
	int r;

	if (b->length < PACKET_HEAD + 4)
		return block_error(c, e, "a packet block is too short", b->length);
	if (in->n < PACKET_HEAD)
		return 0;
	number = b->type == BLOCK_PACKET ? capture_u16(c, at + 8) : capture_u32(c, at + 8);
	if (number >= c->n_interfaces)
		return block_error(c, e, "a packet of an unknown interface", number);
	captured = capture_u32(c, at + 20);
	r = check_captured(c, b, PACKET_HEAD, captured, e);
	if (r < 0 || in->n - PACKET_HEAD < captured)
		return r;
	*ret = capture_packet(c, &c->interfaces[number], captured, capture_u32(c, at + 24),
			      at + PACKET_HEAD);
	ret->time_ns = capture_time(&c->interfaces[number], (uint64_t)capture_u32(c, at + 12)
									    << 32 |
								    capture_u32(c, at + 16));
	skip_rest(c, in, b, PACKET_HEAD + captured);
	return 2;
}

/* Parses a simple packet block: it is of the first interface and has no time; the captured length
 * is derived from the other lengths. */
static int block_simple_packet(struct capture *c, struct capture_cursor *in, const struct block *b,
			       struct capture_packet *ret, struct err *e)
{
	const struct capture_interface *i = &c->interfaces[0];
	uint32_t captured, length;
	int r;

	if (b->length < SIMPLE_PACKET_HEAD + 4)
		return block_error(c, e, "a packet block is too short", b->length);
	if (c->n_interfaces == 0)
		return block_error(c, e, "a packet of an unknown interface", 0);
	if (in->n < SIMPLE_PACKET_HEAD)
		return 0;
	captured = length = capture_u32(c, in->at + 8);
	if (i->snaplen && i->snaplen < captured)
		captured = i->snaplen;
	r = check_captured(c, b, SIMPLE_PACKET_HEAD, captured, e);
	if (r < 0 || in->n - SIMPLE_PACKET_HEAD < captured)
		return r;
	*ret = capture_packet(c, i, captured, length, in->at + SIMPLE_PACKET_HEAD);
	skip_rest(c, in, b, SIMPLE_PACKET_HEAD + captured);
	return 2;
}

/* Parses the start of a block. 2: *ret is a packet. 1: another block. 0: needs more bytes. */
static int begin_block(struct capture *c, struct capture_cursor *in, struct capture_packet *ret,
		       struct err *e)
{
	struct block b;

	c->record = c->offset;
	if (in->n < BLOCK_MIN)
		return 0;
	b.type = capture_u32(c, in->at);
	b.length = capture_u32(c, in->at + 4);
	if (b.type == BLOCK_SECTION)
		return block_section(c, in, &b, e);
	if (b.length < BLOCK_MIN || b.length % 4)
		return block_error(c, e, "invalid length of a block", b.length);
	if (b.type == BLOCK_INTERFACE)
		return block_interface(c, in, &b, e);
	if (b.type == BLOCK_PACKET || b.type == BLOCK_ENHANCED_PACKET)
		return block_packet(c, in, &b, ret, e);
	if (b.type == BLOCK_SIMPLE_PACKET)
		return block_simple_packet(c, in, &b, ret, e);
	skip_rest(c, in, &b, 8);
	return 1;
}

static int pcapng_next(struct capture *c, struct capture_cursor *in, struct capture_packet *ret,
		       struct err *e)
{
	int r;

	do {
		r = end_block(c, in, e);
		if (r == 1)
			r = begin_block(c, in, ret, e);
	} while (r == 1);
	return r == 2 ? 1 : r;
}

/* --- both formats ----------------------------------------------------------------------------- */

static int wrong_magic(const uint8_t *at, struct err *e)
{
	if (at[0] == 0x1f && at[1] == 0x8b)
		return err_set(e, -EBADMSG,
			       "at byte 0: gzip data; unpack it first (zcat FILE | ... -)");
	return err_set(e, -EBADMSG,
		       "at byte 0: neither pcap nor pcapng, it begins with %02x %02x %02x %02x",
		       at[0], at[1], at[2], at[3]);
}

static int capture_begin(struct capture *c, struct capture_cursor *in, struct err *e)
{
	uint32_t magic;

	if (in->n < 4)
		return 0;
	c->big_endian = false;
	magic = capture_u32(c, in->at);
	if (magic == MAGIC_SECTION) {
		c->format = CAPTURE_PCAPNG;
		return 1;
	}
	c->big_endian = !is_pcap(magic);
	magic = capture_u32(c, in->at);
	return is_pcap(magic) ? pcap_begin(c, in, magic, e) : wrong_magic(in->at, e);
}

int capture_next(struct capture *c, const uint8_t *bytes, size_t n, size_t *ret_used,
		 struct capture_packet *ret, struct err *e)
{
	struct capture_cursor in = {bytes, n};
	int r = c->format == CAPTURE_UNKNOWN ? capture_begin(c, &in, e) : 1;

	if (r == 1)
		r = c->format == CAPTURE_PCAP ? pcap_next(c, &in, ret, e)
					      : pcapng_next(c, &in, ret, e);
	*ret_used = n - in.n;
	return r;
}

int capture_end(const struct capture *c, size_t n, struct err *e)
{
	uint64_t end = c->offset + n;

	if (end == 0)
		return err_set(e, -ENODATA, "at byte 0: the file is empty");
	if (c->format == CAPTURE_UNKNOWN || (c->format == CAPTURE_PCAPNG && c->offset == 0))
		return err_set(e, -ENODATA, "at byte %" PRIu64 ": the file ends within its header",
			       end);
	if (n > 0 || c->trailer)
		return err_set(e, -ENODATA,
			       "at byte %" PRIu64 ": the file ends within the %s that begins at "
			       "byte %" PRIu64,
			       end, c->format == CAPTURE_PCAP ? "packet" : "block", c->record);
	return 0;
}
