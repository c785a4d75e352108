#include "capture_file.h"

#include <inttypes.h>

#include "capture_cursor.h"

#define PCAP_HEADER	     24
#define PCAP_RECORD	     16
#define PCAP_RECORD_MODIFIED 24

#define MAGIC_MICRO 0xa1b2c3d4
#define MAGIC_NANO  0xa1b23c4d
#define MAGIC_MODIFIED                                                                             \
	0xa1b2cd34		 /* "Kuznetzov's": microseconds, 8 more bytes in front of packets */
#define MAGIC_SECTION 0x0a0d0d0a /* a palindrome: the same in both byte orders */

/* A link type word's upper bits: is there an FCS, and of how many 16-bit words? */
#define FCS_PRESENT  0x04000000u
#define FCS_WORDS(w) ((w) >> 28)
#define LINK_OF(w)   ((w)&0x0000ffffu)

uint64_t capture_time(const struct capture_interface *i, uint64_t units)
{
	uint64_t ns = units * i->multiply / i->divide;

	if (i->shift)
		ns = (uint64_t)((unsigned __int128)units * 1000000000 >> i->shift);
	return ns + (uint64_t)i->offset_s * 1000000000;
}

struct capture_packet capture_packet(struct capture *c, const struct capture_interface *i,
				     uint32_t captured, uint32_t length, const uint8_t *bytes)
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
		return err_set(e, -EBADMSG, "at byte 4: version %u.%u of pcap, only 2.4 is known",
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
			       " bytes, which cannot be",
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

/* --- both ------------------------------------------------------------------------------------- */

static int wrong_magic(const uint8_t *at, struct err *e)
{
	if (at[0] == 0x1f && at[1] == 0x8b)
		return err_set(e, -EBADMSG, "at byte 0: gzip; unpack it first (zcat FILE | ... -)");
	return err_set(e, -EBADMSG,
		       "at byte 0: neither pcap nor pcapng, it begins with %02x %02x %02x %02x",
		       at[0], at[1], at[2], at[3]);
}

static int begin(struct capture *c, struct capture_cursor *in, struct err *e)
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
	int r = c->format == CAPTURE_UNKNOWN ? begin(c, &in, e) : 1;

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
