// SPDX-License-Identifier: Apache-2.0
/* Capture files of every format, in both byte orders and cut at every byte, and files of other
 * formats. */
#include "capture_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "frame.h"
#include "test_group.h"

#define PACKETS_MAX 16

/* --- writing files ---------------------------------------------------------------------------- */

struct file {
	uint8_t bytes[4096];
	size_t n;
	bool big;
	size_t ends[PACKETS_MAX * 2], n_ends; /* where a file may end */
};

static void put(struct file *f, uint64_t v, size_t size)
{
	for (size_t i = 0; i < size; i++)
		f->bytes[f->n + i] = (uint8_t)(v >> 8 * (f->big ? size - 1 - i : i));
	f->n += size;
}

static void put_u32s(struct file *f, size_t n, const uint32_t *v)
{
	for (size_t i = 0; i < n; i++)
		put(f, v[i], 4);
}

#define PUT(f, ...) put_u32s(f, sizeof((uint32_t[]){__VA_ARGS__}) / 4, (uint32_t[]){__VA_ARGS__})

/* Writes n bytes whose values show their position in the file. */
static void put_data(struct file *f, size_t n, uint8_t first)
{
	for (size_t i = 0; i < n; i++)
		f->bytes[f->n++] = (uint8_t)(first + i);
}

static void may_end(struct file *f)
{
	f->ends[f->n_ends++] = f->n;
}

static void pcap_header(struct file *f, uint32_t magic, uint32_t snaplen, uint32_t link)
{
	put(f, magic, 4);
	put(f, 2, 2);
	put(f, 4, 2);
	PUT(f, 0, 0, snaplen, link);
	may_end(f);
}

static void block(struct file *f, uint32_t type, size_t body)
{
	PUT(f, type, (uint32_t)(12 + body));
}

static void end_block(struct file *f, size_t body)
{
	put(f, 12 + body, 4);
	may_end(f);
}

static void section(struct file *f)
{
	block(f, 0x0a0d0d0a, 16);
	put(f, 0x1a2b3c4d, 4);
	put(f, 1, 2);
	put(f, 0, 2);
	PUT(f, 0xffffffff, 0xffffffff);
	end_block(f, 16);
}

/* Writes an interface block. option 0: none; its value has up to 8 bytes. */
static void interface(struct file *f, uint16_t link, uint32_t snaplen, uint16_t option, uint64_t v,
		      uint16_t n)
{
	size_t body = 8 + (option ? 8u + (n > 4 ? 8 : 4) : 0);

	block(f, 1, body);
	put(f, link, 2);
	put(f, 0, 2);
	put(f, snaplen, 4);
	if (option) {
		put(f, option, 2);
		put(f, n, 2);
		put(f, v, n);
		f->n += (size_t)(-n & 3);
		PUT(f, 0);
	}
	end_block(f, body);
}

static void enhanced(struct file *f, uint32_t interface_id, uint64_t time, uint32_t captured,
		     uint32_t length)
{
	size_t padded = (captured + 3) / 4 * 4;

	block(f, 6, 20 + padded + 8);
	PUT(f, interface_id, (uint32_t)(time >> 32), (uint32_t)time, captured, length);
	put_data(f, captured, 0x40);
	f->n += padded - captured;
	put(f, 2, 2); /* flags */
	put(f, 4, 2);
	PUT(f, 0);
	end_block(f, 20 + padded + 8);
}

/* --- reading ---------------------------------------------------------------------------------- */

struct got {
	struct capture c;
	struct capture_packet packets[PACKETS_MAX];
	uint8_t first[PACKETS_MAX];
	size_t n;
	int r;
	struct err e;
};

/* Copies member by member, so that padding compares equal later. */
static void note(struct capture_packet *to, const struct capture_packet *p)
{
	memset(to, 0, sizeof(*to));
	to->captured = p->captured;
	to->length = p->length;
	to->link = p->link;
	to->time_ns = p->time_ns;
	to->offset = p->offset;
	to->number = p->number;
}

/* The n bytes arrive `step` at a time; each call gets a block of exactly the available bytes, so
 * that sanitizers find a read past its end. */
static void read_file(struct got *g, const uint8_t *bytes, size_t n, size_t step)
{
	size_t done = 0, have = 0, used;
	struct capture_packet p;

	*g = (struct got){0};
	do {
		uint8_t *part = malloc(have - done + 1);

		memcpy(part, bytes + done, have - done);
		g->r = capture_next(&g->c, part, have - done, &used, &p, &g->e);
		if (g->r == 1) {
			assert_true(g->n < PACKETS_MAX);
			g->first[g->n] = p.captured ? p.bytes[0] : 0;
			note(&g->packets[g->n++], &p);
		}
		free(part);
		assert_true(used <= have - done);
		done += used;
		assert_int_equal(g->c.offset, done);
		if (g->r == 0 && have == n)
			break;
		if (g->r == 0)
			have += n - have < step ? n - have : step;
	} while (g->r >= 0);
	if (g->r == 0)
		g->r = capture_end(&g->c, n - done, &g->e);
}

static bool is_end(const struct file *f, size_t n)
{
	for (size_t i = 0; i < f->n_ends; i++)
		if (f->ends[i] == n)
			return true;
	return false;
}

/* The result does not depend on the sizes of the reads; a cut file gives every packet before the
 * cut. */
static void assert_cuts(const struct file *f)
{
	static struct got whole, g;

	read_file(&whole, f->bytes, f->n, f->n);
	assert_int_equal(whole.r, 0);
	for (size_t step = 1; step < 40; step++) {
		read_file(&g, f->bytes, f->n, step);
		assert_int_equal(g.r, 0);
		assert_int_equal(g.n, whole.n);
		assert_memory_equal(g.packets, whole.packets, sizeof(whole.packets));
	}
	for (size_t n = 0; n < f->n; n++) {
		read_file(&g, f->bytes, n, 7);
		if (is_end(f, n)) {
			assert_int_equal(g.r, 0);
			continue;
		}
		assert_int_equal(g.r, -ENODATA);
		assert_non_null(strstr(g.e.msg, "at byte "));
		assert_int_equal(strtoul(strstr(g.e.msg, "at byte ") + 8, NULL, 10), n);
		assert_true(g.n <= whole.n);
		assert_memory_equal(g.packets, whole.packets, g.n * sizeof(g.packets[0]));
	}
}

/* --- pcap ------------------------------------------------------------------------------------- */

static void pcap_of(struct file *f, bool big, uint32_t magic, uint32_t link)
{
	bool modified = magic == 0xa1b2cd34;

	*f = (struct file){.big = big};
	pcap_header(f, magic, 0, link);
	PUT(f, 1700000000, 999999, 20, 1500);
	if (modified)
		PUT(f, 7, 0);
	put_data(f, 20, 0x11);
	may_end(f);
	PUT(f, 1700000001, 5, 0, 0);
	if (modified)
		PUT(f, 7, 0);
	may_end(f);
	/* captured length above the original one, as some writers have it */
	PUT(f, 1700000002, 0, 64, 60);
	if (modified)
		PUT(f, 7, 0);
	put_data(f, 64, 0x22);
	may_end(f);
}

static void assert_pcap(bool big, uint32_t magic)
{
	static struct file f;
	static struct got g;
	uint64_t unit = magic == 0xa1b23c4d ? 1 : 1000, head = magic == 0xa1b2cd34 ? 24 : 16;

	pcap_of(&f, big, magic, LINKTYPE_ETHERNET);
	read_file(&g, f.bytes, f.n, f.n);
	assert_int_equal(g.r, 0);
	assert_int_equal(g.n, 3);
	assert_int_equal(g.packets[0].time_ns, 1700000000 * 1000000000ull + 999999 * unit);
	assert_int_equal(g.packets[0].captured, 20);
	assert_int_equal(g.packets[0].length, 1500);
	assert_int_equal(g.packets[0].link, LINKTYPE_ETHERNET);
	assert_int_equal(g.packets[0].offset, 24);
	assert_int_equal(g.first[0], 0x11);
	assert_int_equal(g.packets[1].captured, 0);
	assert_int_equal(g.packets[1].time_ns, 1700000001 * 1000000000ull + 5 * unit);
	assert_int_equal(g.packets[2].number, 3);
	assert_int_equal(g.packets[2].offset, 24 + 20 + 2 * head);
	assert_int_equal(g.packets[2].length, 64);
	assert_int_equal(g.first[2], 0x22);
	assert_cuts(&f);
}

static void test_pcap_of_every_kind(void **state)
{
	(void)state;
	for (int big = 0; big < 2; big++) {
		assert_pcap(big, 0xa1b2c3d4);
		assert_pcap(big, 0xa1b23c4d);
		assert_pcap(big, 0xa1b2cd34);
	}
}

/* The upper bits of the link type mean that an FCS of two 16-bit words follows each packet. */
static void test_fcs_is_removed(void **state)
{
	static struct file f;
	static struct got g;

	(void)state;
	pcap_of(&f, false, 0xa1b2c3d4, 0x24000000 | LINKTYPE_ETHERNET);
	read_file(&g, f.bytes, f.n, f.n);
	assert_int_equal(g.packets[0].link, LINKTYPE_ETHERNET);
	assert_int_equal(g.packets[0].length, 1496);
	assert_int_equal(g.packets[0].captured, 20);
	assert_int_equal(g.packets[1].length, 0);
	assert_int_equal(g.packets[2].captured, 60);
}

/* --- pcapng ----------------------------------------------------------------------------------- */

static void first_section(struct file *f)
{
	section(f);
	interface(f, LINKTYPE_ETHERNET, 8, 9, 9, 1); /* nanoseconds */
	interface(f, LINKTYPE_SLL, 65535, 0, 0, 0);  /* microseconds */
	enhanced(f, 0, 1700000000000000001, 30, 1500);
	block(f, 0x0bad, 8); /* unknown block type */
	PUT(f, 1, 2);
	end_block(f, 8);
	enhanced(f, 1, 1700000000000001, 33, 33);
	block(f, 3, 4 + 8); /* simple: 8 bytes of 1000, cut by the first interface's limit */
	PUT(f, 1000);
	put_data(f, 8, 0x33);
	end_block(f, 4 + 8);
	block(f, 2, 20 + 4); /* obsolete */
	put(f, 1, 2);
	put(f, 77, 2); /* number of dropped packets */
	PUT(f, (uint32_t)(1700000000000002 >> 32), (uint32_t)1700000000000002, 4, 4);
	put_data(f, 4, 0x44);
	end_block(f, 20 + 4);
}

/* In the other byte order; its interfaces are numbered from 0 again. */
static void second_section(struct file *f)
{
	f->big = !f->big;
	section(f);
	interface(f, LINKTYPE_RAW, 0, 9, 0x80 | 10, 1);	   /* 1/1024 s */
	interface(f, LINKTYPE_SLL2, 0, 14, 1700000000, 8); /* offset in seconds */
	interface(f, LINKTYPE_ETHERNET, 0, 13, 4, 1);	   /* FCS */
	interface(f, LINKTYPE_ETHERNET, 0, 9, 12, 1);	   /* picoseconds */
	enhanced(f, 0, 3 * 1024 + 512, 5, 5);
	enhanced(f, 1, 7, 1, 1);
	enhanced(f, 2, 0, 64, 64);
	enhanced(f, 3, 5000, 0, 0);
}

static void pcapng_of(struct file *f, bool big)
{
	*f = (struct file){.big = big};
	first_section(f);
	second_section(f);
}

static void assert_first_section(const struct got *g)
{
	assert_int_equal(g->packets[0].time_ns, 1700000000000000001);
	assert_int_equal(g->packets[0].captured, 30);
	assert_int_equal(g->packets[0].length, 1500);
	assert_int_equal(g->packets[0].offset, 28 + 32 + 20);
	assert_int_equal(g->first[0], 0x40);
	assert_int_equal(g->packets[1].link, LINKTYPE_SLL);
	assert_int_equal(g->packets[1].time_ns, 1700000000000001000);
	assert_int_equal(g->packets[2].captured, 8);
	assert_int_equal(g->packets[2].length, 1000);
	assert_int_equal(g->packets[2].time_ns, 0);
	assert_int_equal(g->first[2], 0x33);
	assert_int_equal(g->packets[3].link, LINKTYPE_SLL);
	assert_int_equal(g->packets[3].time_ns, 1700000000000002000);
	assert_int_equal(g->first[3], 0x44);
}

static void assert_second_section(const struct got *g)
{
	assert_int_equal(g->packets[4].link, LINKTYPE_RAW);
	assert_int_equal(g->packets[4].time_ns, 3500000000);
	assert_int_equal(g->packets[5].link, LINKTYPE_SLL2);
	assert_int_equal(g->packets[5].time_ns, 1700000000000007000);
	assert_int_equal(g->packets[6].captured, 60);
	assert_int_equal(g->packets[7].time_ns, 5);
	assert_int_equal(g->packets[7].number, 8);
}

static void test_pcapng(void **state)
{
	static struct file f;
	static struct got g;

	(void)state;
	for (int big = 0; big < 2; big++) {
		pcapng_of(&f, big);
		read_file(&g, f.bytes, f.n, f.n);
		assert_int_equal(g.r, 0);
		assert_int_equal(g.n, 8);
		assert_first_section(&g);
		assert_second_section(&g);
		assert_cuts(&f);
	}
}

/* --- invalid files ---------------------------------------------------------------------------- */

static void assert_bad(const struct file *f, size_t at, const char *says)
{
	static struct got g;
	char where[40];

	snprintf(where, sizeof(where), "at byte %zu:", at);
	read_file(&g, f->bytes, f->n, f->n);
	if (g.r != -EBADMSG || !strstr(g.e.msg, where) || !strstr(g.e.msg, says))
		fail_msg("%s %s: %d %s", where, says, g.r, g.e.msg);
}

static void test_wrong_magic(void **state)
{
	struct file f = {.bytes = "GET / HTTP", .n = 10};
	static struct file version;

	(void)state;
	assert_bad(&f, 0, "neither pcap nor pcapng, it begins with 47 45 54 20");
	memcpy(f.bytes, "\x1f\x8b\x08\x00", 4);
	assert_bad(&f, 0, "gzip");
	pcap_of(&version, true, 0xa1b2c3d4, 1);
	version.bytes[5] = 1;
	assert_bad(&version, 4, "version 1.4");
}

static void test_invalid_packets(void **state)
{
	struct file f = {0};

	(void)state;
	pcap_header(&f, 0xa1b2c3d4, 65535, 1);
	PUT(&f, 0, 0, 262145, 60);
	assert_bad(&f, 24, "262145 bytes");
	f.n = 24;
	PUT(&f, 0, 0, 0xffffffff, 60);
	assert_bad(&f, 24, "4294967295 bytes");
}

/* One block after a section and an interface; the caller gives its words. */
static void assert_bad_block(const char *says, size_t n, const uint32_t *words)
{
	struct file f = {0};
	size_t at;

	section(&f);
	interface(&f, 1, 0, 0, 0, 0);
	at = f.n;
	put_u32s(&f, n, words);
	assert_bad(&f, at, says);
}

#define BAD_BLOCK(says, ...)                                                                       \
	assert_bad_block(says, sizeof((uint32_t[]){__VA_ARGS__}) / 4, (uint32_t[]){__VA_ARGS__})

static void test_invalid_blocks(void **state)
{
	(void)state;
	BAD_BLOCK("length of a block (8)", 6, 8, 0);
	BAD_BLOCK("length of a block (0)", 99, 0, 0);
	BAD_BLOCK("length of a block (4294967295)", 99, 0xffffffff, 0);
	BAD_BLOCK("too short (28)", 6, 28, 0, 0, 0, 0, 28);
	BAD_BLOCK("unknown interface (1)", 6, 32, 1, 0, 0, 0, 0, 32);
	BAD_BLOCK("longer than its block (4)", 6, 32, 0, 0, 0, 4, 4, 32);
	BAD_BLOCK("exceeds the maximum length (262148)", 6, 0x80000, 0, 0, 0, 262148, 4);
	BAD_BLOCK("lengths of a block differ", 6, 32, 0, 0, 0, 0, 0, 36);
	BAD_BLOCK("lengths of a block differ", 99, 16, 0, 20);
	BAD_BLOCK("too short (12)", 3, 12, 12);
	BAD_BLOCK("longer than its block (4)", 3, 16, 4, 16);
	BAD_BLOCK("length of an interface block (16)", 1, 16, 1, 16);
	BAD_BLOCK("length of an interface block (1073741824)", 1, 0x40000000, 1);
	BAD_BLOCK("option is longer", 1, 28, 1, 0, 9 | 8 << 16, 9, 28);
	BAD_BLOCK("time resolution (127)", 1, 28, 1, 0, 9 | 1 << 16, 127, 28);
	BAD_BLOCK("without a valid byte-order mark", 0x0a0d0d0a, 28, 0, 0, 0);
	BAD_BLOCK("length of a section", 0x0a0d0d0a, 24, 0x1a2b3c4d, 1, 0);
	BAD_BLOCK("version of pcapng (2)", 0x0a0d0d0a, 28, 0x1a2b3c4d, 2, 0);
}

/* The number of interfaces in a file is limited, and a packet needs one in its own section. */
static void test_interfaces_are_bounded(void **state)
{
	static struct capture c;
	struct capture_packet p;
	struct file one = {0}, f = {0};
	struct err e = {0};
	size_t used;
	int r = 0;

	(void)state;
	section(&f);
	assert_int_equal(capture_next(&c, f.bytes, f.n, &used, &p, &e), 0);
	interface(&one, 1, 0, 0, 0, 0);
	for (size_t i = 0; i < CAPTURE_INTERFACES_MAX && r == 0; i++)
		r = capture_next(&c, one.bytes, one.n, &used, &p, &e);
	assert_int_equal(r, 0);
	assert_int_equal(capture_next(&c, one.bytes, one.n, &used, &p, &e), -EBADMSG);
	assert_non_null(strstr(e.msg, "too many interfaces"));
	section(&f);
	enhanced(&f, 0, 0, 0, 0);
	assert_bad(&f, 56, "unknown interface (0)");
	f.n = 28;
	PUT(&f, 3, 16, 0, 16);
	assert_bad(&f, 28, "unknown interface (0)");
}

/* --- links ------------------------------------------------------------------------------------ */

/* The offset at which the decoder begins, and the type there. */
static void assert_frame(uint32_t link, const char *bytes, uint32_t n, int at, uint32_t type,
			 uint32_t whole)
{
	struct capture_packet p = {
		.bytes = (const uint8_t *)bytes, .captured = n, .length = n + 100, .link = link};
	struct roce_frame f;
	uint32_t length;

	if (at < 0) {
		assert_false(frame_of(&f, &length, &p));
		return;
	}
	assert_true(frame_of(&f, &length, &p));
	assert_ptr_equal(f.start, bytes + at);
	assert_ptr_equal(f.end, bytes + n);
	assert_int_equal(f.length, n + 100 - (uint32_t)at);
	assert_int_equal(f.type, type);
	assert_int_equal(length, whole);
}

static void test_links(void **state)
{
	(void)state;
	assert_frame(LINKTYPE_ETHERNET, "0123456789ab\x08\0", 14, 0, 0, 114);
	assert_frame(LINKTYPE_ETHERNET, "0123456789ab\x08", 13, -1, 0, 0);
	assert_frame(LINKTYPE_SLL, "0123456789abcd\x08\0E", 17, 16, 0x0800, 115);
	assert_frame(LINKTYPE_SLL, "0123456789abcd\x81\0vv\x86\xdd`", 21, 20, 0x86dd, 119);
	assert_frame(LINKTYPE_SLL, "0123456789abcd\x81\0vv\x86", 19, -1, 0, 0);
	assert_frame(LINKTYPE_SLL, "0123456789abcd\x08", 15, -1, 0, 0);
	assert_frame(LINKTYPE_SLL2,
		     "\x89\x15"
		     "0123456789abcdefgh",
		     20, 20, 0x8915, 114);
	assert_frame(LINKTYPE_SLL2, "\x08\0", 2, -1, 0, 0);
	assert_frame(LINKTYPE_RAW, "E", 1, 0, 0x0800, 115);
	assert_frame(LINKTYPE_RAW, "`", 1, 0, 0x86dd, 115);
	assert_frame(LINKTYPE_IPV4, "E", 1, 0, 0x0800, 115);
	assert_frame(LINKTYPE_IPV6, "`", 1, 0, 0x86dd, 115);
	assert_frame(LINKTYPE_RAW, "", 0, -1, 0, 0);
	assert_frame(105, "0123456789abcdefgh", 18, -1, 0, 0);
}

TEST_GROUP(capture)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pcap_of_every_kind),
		cmocka_unit_test(test_fcs_is_removed),
		cmocka_unit_test(test_pcapng),
		cmocka_unit_test(test_wrong_magic),
		cmocka_unit_test(test_invalid_packets),
		cmocka_unit_test(test_invalid_blocks),
		cmocka_unit_test(test_interfaces_are_bounded),
		cmocka_unit_test(test_links),
	};

	return test_group_run(tests, NULL, NULL);
}
