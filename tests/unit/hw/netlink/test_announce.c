// SPDX-License-Identifier: Apache-2.0
/* Frames that announce and probe addresses, byte for byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <arpa/inet.h>

#include "netns_announce.h"
#include "test_group.h"

static const uint8_t mac[6] = {2, 0, 0, 0, 7, 7};

static struct ip_prefix ip(int family, const char *text)
{
	struct ip_prefix p = {.family = family};

	assert_int_equal(inet_pton(family, text, p.addr), 1);
	return p;
}

static void test_an_arp_announcement(void **state)
{
	static const uint8_t expected[42] = {
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2,	 0, 0, 0, 7, 7, 0x08, 0x06, /* broadcast */
		0,    1,    8,	  0,	6,    4,    0,	 1,			    /* request */
		2,    0,    0,	  0,	7,    7,    192, 0, 2, 7,		    /* sender */
		0,    0,    0,	  0,	0,    0,    192, 0, 2, 7,		    /* target */
	};
	struct ip_prefix addr = ip(AF_INET, "192.0.2.7");
	uint8_t frame[ANNOUNCE_FRAME_MAX];
	(void)state;

	assert_int_equal(announce_frame(mac, &addr, frame), sizeof(expected));
	assert_memory_equal(frame, expected, sizeof(expected));
}

/* The sum over pseudo header and message, including the checksum, is all ones (RFC 1071). */
static void assert_checksum(const uint8_t *frame)
{
	const uint8_t *ip6 = frame + 14;
	uint32_t sum = 32 + 58;

	for (unsigned i = 8; i < 40 + 32; i += 2)
		sum += (uint32_t)ip6[i] << 8 | ip6[i + 1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	assert_int_equal(sum, 0xffff);
}

static void test_a_neighbour_advertisement(void **state)
{
	static const char *const addrs[] = {"2001:db8::7", "fd00::ffff:ffff:ffff:ffff",
					    "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "::"};
	uint8_t frame[ANNOUNCE_FRAME_MAX];
	(void)state;

	for (size_t i = 0; i < 4; i++) {
		struct ip_prefix addr = ip(AF_INET6, addrs[i]);

		assert_int_equal(announce_frame(mac, &addr, frame), 86);
		assert_memory_equal(frame, "\x33\x33\0\0\0\1\2\0\0\0\7\7\x86\xdd", 14);
		assert_memory_equal(frame + 14, "\x60\0\0\0\0\x20\x3a\xff", 8);
		assert_memory_equal(frame + 22, addr.addr, 16);
		assert_memory_equal(frame + 54, "\x88\0", 2);
		assert_memory_equal(frame + 58, "\x20\0\0\0", 4); /* only the override flag */
		assert_memory_equal(frame + 62, addr.addr, 16);
		assert_memory_equal(frame + 78, "\2\1\2\0\0\0\7\7", 8);
		assert_checksum(frame);
	}
}

static void test_an_arp_probe(void **state)
{
	static const uint8_t expected[42] = {
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2,	 0, 0, 0, 7, 7, 0x08, 0x06, /* broadcast */
		0,    1,    8,	  0,	6,    4,    0,	 1,			    /* request */
		2,    0,    0,	  0,	7,    7,    0,	 0, 0, 0,		    /* no IP */
		0,    0,    0,	  0,	0,    0,    192, 0, 2, 7,		    /* target */
	};
	struct ip_prefix addr = ip(AF_INET, "192.0.2.7");
	uint8_t frame[ANNOUNCE_FRAME_MAX];
	(void)state;

	assert_int_equal(probe_frame(mac, &addr, frame), sizeof(expected));
	assert_memory_equal(frame, expected, sizeof(expected));
	addr.family = AF_UNIX;
	assert_int_equal(probe_frame(mac, &addr, frame), 0);
}

static void test_a_neighbour_solicitation(void **state)
{
	struct ip_prefix addr = ip(AF_INET6, "2001:db8::7:1234");
	uint8_t frame[ANNOUNCE_FRAME_MAX], none[16] = {0};
	uint32_t sum = 24 + 58;
	(void)state;

	assert_int_equal(probe_frame(mac, &addr, frame), 78);
	assert_memory_equal(frame, "\x33\x33\xff\x07\x12\x34\2\0\0\0\7\7\x86\xdd", 14);
	assert_memory_equal(frame + 14, "\x60\0\0\0\0\x18\x3a\xff", 8);
	assert_memory_equal(frame + 22, none, 16);
	assert_memory_equal(frame + 38, "\xff\2\0\0\0\0\0\0\0\0\0\1\xff\x07\x12\x34", 16);
	assert_memory_equal(frame + 54, "\x87\0", 2);
	assert_memory_equal(frame + 62, addr.addr, 16);
	for (unsigned i = 8; i < 40 + 24; i += 2)
		sum += (uint32_t)frame[14 + i] << 8 | frame[14 + i + 1];
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	assert_int_equal(sum, 0xffff);
}

/* Only complete answers of other stations count. */
static void test_answers_to_a_probe(void **state)
{
	static const uint8_t other[6] = {2, 0, 0, 0, 9, 9};
	const struct ip_prefix four = ip(AF_INET, "192.0.2.7"), another = ip(AF_INET, "192.0.2.8"),
			       six = ip(AF_INET6, "2001:db8::7");
	uint8_t frame[ANNOUNCE_FRAME_MAX], by[6] = {0};
	size_t len;
	(void)state;

	len = announce_frame(other, &four, frame);
	assert_true(probe_is_answered(frame, len, mac, &four, by));
	assert_memory_equal(by, other, 6);
	assert_false(probe_is_answered(frame, len, other, &four, by));
	assert_false(probe_is_answered(frame, len, mac, &another, by));
	assert_false(probe_is_answered(frame, len, mac, &six, by));
	for (size_t i = 0; i < len; i++)
		assert_false(probe_is_answered(frame, i, mac, &four, by));
	len = announce_frame(other, &six, frame);
	assert_true(probe_is_answered(frame, len, mac, &six, by));
	for (size_t i = 0; i < 14 + 40 + 24; i++)
		assert_false(probe_is_answered(frame, i, mac, &six, by));
	frame[21] = 64; /* hop limit below 255: from behind a router */
	assert_false(probe_is_answered(frame, len, mac, &six, by));
	len = probe_frame(other, &four, frame); /* the probing station does not have the address */
	assert_false(probe_is_answered(frame, len, mac, &four, by));
}

static void test_other_families_have_no_frame(void **state)
{
	struct ip_prefix addr = {0};
	uint8_t frame[ANNOUNCE_FRAME_MAX];
	(void)state;

	assert_int_equal(announce_frame(mac, &addr, frame), 0);
	addr.family = AF_UNIX;
	assert_int_equal(announce_frame(mac, &addr, frame), 0);
}

TEST_GROUP(announce)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_arp_announcement),
		cmocka_unit_test(test_a_neighbour_advertisement),
		cmocka_unit_test(test_an_arp_probe),
		cmocka_unit_test(test_a_neighbour_solicitation),
		cmocka_unit_test(test_answers_to_a_probe),
		cmocka_unit_test(test_other_families_have_no_frame),
	};

	return test_group_run(tests, NULL, NULL);
}
