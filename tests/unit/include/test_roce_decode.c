// SPDX-License-Identifier: Apache-2.0
/* Decoding and counting of frames: every supported header, truncation at every byte, and sequence
 * numbers that wrap. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "roce_account.h"
#include "roce_frames.h"
#include "test_group.h"

#define CE 3

static uint8_t buf[ROCE_FRAME_MAX];

/* Decodes a copy of exactly that size, so that sanitizers find a read past its end. */
static enum roce_verdict decode_part(const uint8_t *frame, size_t n, size_t length, unsigned type,
				     struct roce_packet *p)
{
	uint8_t *copy = malloc(n ? n : 1);
	struct roce_frame f = {copy, copy + n, (uint32_t)length, type, 0};
	enum roce_verdict verdict;

	assert_non_null(copy);
	memcpy(copy, frame, n);
	memset(p, 0xee, sizeof(*p));
	verdict = roce_decode(&f, p);
	free(copy);
	return verdict;
}

static enum roce_verdict decode(const struct roce_frame_spec *s, struct roce_packet *p)
{
	size_t n = roce_frame_make(buf, s);

	return decode_part(buf, n, n, 0, p);
}

static void every_field_of_a_write_is_read(void **state)
{
	const struct roce_frame_spec s = {.opcode = 0x0a,
					  .traffic_class = 106,
					  .se = 1,
					  .fecn = 1,
					  .becn = 1,
					  .ack_request = 1,
					  .from = 1,
					  .to = 2,
					  .source_port = 0xc123,
					  .qpn = 0x123456,
					  .psn = 0xfedcba,
					  .reth_length = 1 << 20,
					  .payload = 100};
	static const uint8_t from[16] = {[10] = 0xff, 0xff, 10, 0, 0, 1};
	struct roce_packet p;
	(void)state;

	assert_int_equal(decode(&s, &p), ROCE_PACKET);
	assert_memory_equal(p.saddr, from, 16);
	assert_int_equal(p.daddr[15], 2);
	assert_int_equal(p.version, 2);
	assert_int_equal(p.ip, 4);
	assert_int_equal(p.traffic_class, 106);
	assert_int_equal(p.transport, ROCE_RC);
	assert_int_equal(p.op, ROCE_WRITE);
	assert_true(p.has_reth && !p.has_aeth);
	assert_true(p.solicited && p.fecn && p.becn && p.ack_request && !p.cnp);
	assert_int_equal(p.pkey, 0xffff);
	assert_int_equal(p.source_port, 0xc123);
	assert_int_equal(p.qpn, 0x123456);
	assert_int_equal(p.psn, 0xfedcba);
	assert_int_equal(p.reth_length, 1 << 20);
	assert_int_equal(p.network_offset, 14);
	assert_int_equal(p.bth_offset, 42);
	assert_int_equal(p.icrc_offset, 42 + 12 + 16 + 100);
}

static void every_kind_of_frame_is_followed(void **state)
{
	static const uint8_t kinds[] = {0, 43, 44, 51, 60, 135, 139, 140};
	struct roce_packet p;
	(void)state;

	for (unsigned i = 0; i < 40; i++) {
		struct roce_frame_spec s = {.ip = i % 2 ? 6 : 4,
					    .vlans = i % 5,
					    .options = i % 11,
					    .extensions = kinds,
					    .n_extensions = i % 9,
					    .opcode = 0x04,
					    .qpn = i,
					    .traffic_class = (uint8_t)(i * 6)};

		assert_int_equal(decode(&s, &p), ROCE_PACKET);
		assert_int_equal(p.qpn, i);
		assert_int_equal(p.ip, s.ip);
		assert_int_equal(p.traffic_class, s.traffic_class);
		assert_int_equal(p.saddr[0], s.ip == 6 ? 0xfd : 0);
		s.version = 1;
		s.n_extensions = 0;
		assert_int_equal(decode(&s, &p), ROCE_PACKET);
		assert_int_equal(p.version, 1);
		assert_int_equal(p.ip, 6);
	}
}

static void too_many_headers_are_given_up(void **state)
{
	static const uint8_t kinds[20] = {0};
	struct roce_packet p;
	(void)state;

	assert_int_equal(decode(&(struct roce_frame_spec){.vlans = ROCE_VLANS_MAX}, &p),
			 ROCE_PACKET);
	assert_int_equal(decode(&(struct roce_frame_spec){.vlans = ROCE_VLANS_MAX + 1}, &p),
			 ROCE_OTHER);
	assert_int_equal(decode(&(struct roce_frame_spec){.ip = 6,
							  .extensions = kinds,
							  .n_extensions = ROCE_EXTENSIONS_MAX},
				&p),
			 ROCE_PACKET);
	assert_int_equal(decode(&(struct roce_frame_spec){.ip = 6,
							  .extensions = kinds,
							  .n_extensions = ROCE_EXTENSIONS_MAX + 1},
				&p),
			 ROCE_OTHER);
}

/* Opcode -> class, AETH, RETH, as in table 38 of volume 1 and in linux/include/rdma/ib_pack.h. */
static void opcodes_of_each_transport(void **state)
{
	static const struct {
		uint8_t opcode, op;
		bool aeth, reth;
	} known[] = {
		{0x00, ROCE_SEND, 0, 0},	  {0x05, ROCE_SEND, 0, 0},
		{0x06, ROCE_WRITE, 0, 1},	  {0x07, ROCE_WRITE, 0, 0},
		{0x09, ROCE_WRITE, 0, 0},	  {0x0b, ROCE_WRITE, 0, 1},
		{0x0c, ROCE_READ_REQUEST, 0, 1},  {0x0d, ROCE_READ_RESPONSE, 1, 0},
		{0x0e, ROCE_READ_RESPONSE, 0, 0}, {0x10, ROCE_READ_RESPONSE, 1, 0},
		{0x11, ROCE_ACK, 1, 0},		  {0x12, ROCE_ATOMIC_ACK, 1, 0},
		{0x13, ROCE_ATOMIC, 0, 0},	  {0x14, ROCE_ATOMIC, 0, 0},
		{0x15, ROCE_OP_OTHER, 0, 0},	  {0x17, ROCE_SEND, 0, 0},
		{0x18, ROCE_OP_OTHER, 0, 0},	  {0x2a, ROCE_WRITE, 0, 1},
		{0x2c, ROCE_OP_OTHER, 0, 0},	  {0x4c, ROCE_READ_REQUEST, 0, 1},
		{0x51, ROCE_ACK, 1, 0},		  {0x64, ROCE_SEND, 0, 0},
		{0x66, ROCE_OP_OTHER, 0, 0},	  {0xac, ROCE_READ_REQUEST, 0, 1},
		{0xb1, ROCE_ACK, 1, 0},		  {0x80, ROCE_OP_OTHER, 0, 0},
		{0x81, ROCE_OP_OTHER, 0, 0},	  {0xc5, ROCE_OP_OTHER, 0, 0},
	};
	struct roce_packet p;
	(void)state;

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct roce_frame_spec s = {.opcode = known[i].opcode,
					    .syndrome = 0x61,
					    .reth_length = 77,
					    .payload = 20};

		assert_int_equal(decode(&s, &p), ROCE_PACKET);
		assert_int_equal(p.op, known[i].op);
		assert_int_equal(p.has_aeth, known[i].aeth);
		assert_int_equal(p.has_reth, known[i].reth);
		assert_int_equal(p.syndrome_class, known[i].aeth ? ROCE_SYN_INVALID_REQUEST : 0);
		assert_int_equal(p.reth_length, known[i].reth ? 77 : 0);
		assert_int_equal(p.cnp, known[i].opcode == 0x81);
	}
}

static void truncated_frames_are_cut_or_malformed(void **state)
{
	const uint8_t ah = 51;
	const struct roce_frame_spec specs[] = {
		{.opcode = 0x0a, .vlans = 2, .options = 10, .payload = 8},
		{.opcode = 0x11, .ip = 6, .extensions = &ah, .n_extensions = 1},
		{.opcode = 0x06, .version = 1},
	};
	struct roce_packet p;
	(void)state;

	for (size_t i = 0; i < 3; i++) {
		size_t n = roce_frame_make(buf, &specs[i]);
		enum roce_verdict last = ROCE_OTHER;

		for (size_t k = 0; k < n; k++) {
			enum roce_verdict cut = decode_part(buf, k, n, 0, &p),
					  less = decode_part(buf, k, k, 0, &p);

			assert_true(cut == ROCE_CUT || cut == ROCE_PACKET);
			assert_true(less == ROCE_OTHER || less == ROCE_MALFORMED);
			assert_true(cut != ROCE_CUT || last != ROCE_PACKET);
			last = cut;
		}
		assert_int_equal(last, ROCE_PACKET);
		assert_int_equal(decode_part(buf, n, n, 0, &p), ROCE_PACKET);
	}
}

static void inconsistent_lengths_are_malformed(void **state)
{
	const struct roce_frame_spec s = {.opcode = 0x0a, .payload = 10};
	size_t n = roce_frame_make(buf, &s);
	struct roce_packet p;
	(void)state;

	memset(buf + n, 0, 8); /* padding of the frame does not belong to the packet */
	assert_int_equal(decode_part(buf, n + 8, n + 8, 0, &p), ROCE_PACKET);
	assert_int_equal(p.icrc_offset, n - 4);
	for (unsigned udp = 0; udp < n - 34 + 20; udp++) {
		buf[38] = 0;
		buf[39] = (uint8_t)udp;
		/* At least UDP, BTH, RETH and ICRC, and within the IP packet. */
		assert_int_equal(decode_part(buf, n, n, 0, &p),
				 udp >= 8 + 12 + 16 + 4 && udp <= n - 34 ? ROCE_PACKET
									 : ROCE_MALFORMED);
	}
	roce_frame_make(buf, &s);
	buf[17]++; /* the IP length exceeds the frame */
	assert_int_equal(decode_part(buf, n, n, 0, &p), ROCE_MALFORMED);
	assert_int_equal(decode_part(buf, n, n + 1, 0, &p), ROCE_PACKET);
}

static void fragments_count_once(void **state)
{
	struct roce_packet p;
	(void)state;

	assert_int_equal(decode(&(struct roce_frame_spec){.fragment = 0x2000}, &p), ROCE_FRAGMENT);
	assert_int_equal(decode(&(struct roce_frame_spec){.fragment = 0x2001}, &p), ROCE_OTHER);
	assert_int_equal(decode(&(struct roce_frame_spec){.fragment = 0x0010}, &p), ROCE_OTHER);
	assert_int_equal(decode(&(struct roce_frame_spec){.fragment = 0x4000}, &p), ROCE_PACKET);
	assert_int_equal(decode(&(struct roce_frame_spec){.fragment = 0x2000, .port = 53}, &p),
			 ROCE_OTHER);
}

static void other_protocols_are_not_roce(void **state)
{
	static const uint8_t pause[] = {1, 0x80, 0xc2, 0, 0, 1, 2, 2, 2, 2, 2, 2, 0x88, 8, 1, 1, 0};
	static const uint8_t other[] = {1, 0x80, 0xc2, 0, 0, 1, 2, 2, 2, 2, 2, 2, 0x88, 8, 2, 1, 0};
	struct roce_packet p;
	(void)state;

	assert_int_equal(decode(&(struct roce_frame_spec){.port = 4790}, &p), ROCE_OTHER);
	assert_int_equal(decode(&(struct roce_frame_spec){.port = 53, .source_port = 4791}, &p),
			 ROCE_OTHER);
	assert_int_equal(decode_part(pause, sizeof(pause), sizeof(pause), 0, &p), ROCE_PAUSE);
	assert_int_equal(decode_part(other, sizeof(other), sizeof(other), 0, &p), ROCE_OTHER);
}

static void a_type_skips_the_ethernet_header(void **state)
{
	size_t n = roce_frame_make(buf, &(struct roce_frame_spec){.opcode = 0x81, .qpn = 5});
	struct roce_packet p;
	(void)state;

	assert_int_equal(decode_part(buf + 14, n - 14, n - 14, 0x0800, &p), ROCE_PACKET);
	assert_true(p.cnp);
	assert_int_equal(p.bth_offset, 28);
}

/* --- counting ------------------------------------------------------------------------------- */

static bool sequence(struct roce_flow *f, uint32_t psn)
{
	struct roce_frame_spec s = {.opcode = 0x04, .psn = psn & 0xffffff};
	struct roce_packet p;

	assert_int_equal(decode(&s, &p), ROCE_PACKET);
	return roce_flow_count(f, &p, 100, 1);
}

static void going_back_is_a_retransmission(void **state)
{
	struct roce_flow f = {0};
	(void)state;

	assert_false(sequence(&f, 0xfffffe));
	assert_false(sequence(&f, 0xffffff));
	assert_false(sequence(&f, 0)); /* wrapped */
	assert_false(sequence(&f, 1));
	assert_true(sequence(&f, 0xffffff));
	assert_true(sequence(&f, 0));
	assert_true(sequence(&f, 1));
	assert_false(sequence(&f, 2));
	assert_false(sequence(&f, 10)); /* a read request uses several numbers */
	assert_true(sequence(&f, 10));
	assert_int_equal(f.retransmissions, 4);
	assert_int_equal(f.packets, 10);
	assert_int_equal(f.bytes, 1000);
	/* Far below the expected number: a new queue pair with the same QPN. */
	assert_false(sequence(&f, 11 - ROCE_PSN_BACK_MAX - 1));
	assert_false(sequence(&f, 11 - ROCE_PSN_BACK_MAX));
}

static void only_reliable_requests_have_a_sequence(void **state)
{
	static const uint8_t opcodes[] = {0x11, 0x10, 0x24, 0x64, 0x81, 0xb1};
	(void)state;

	for (size_t i = 0; i < sizeof(opcodes); i++) {
		struct roce_frame_spec s = {.opcode = opcodes[i], .ack_request = 1, .psn = 9};
		struct roce_flow f = {.psn_known = 1, .next_psn = 12};
		struct roce_packet p;

		assert_int_equal(decode(&s, &p), ROCE_PACKET);
		assert_false(roce_flow_count(&f, &p, 100, 1));
		assert_false(roce_requests_ack(&p));
		assert_int_equal(roce_is_ack(&p), opcodes[i] == 0x11 || opcodes[i] == 0xb1);
	}
}

static void kinds_of_naks_are_distinguished(void **state)
{
	struct roce_flow f = {0};
	struct roce_counts c = {0};
	(void)state;

	for (unsigned syndrome = 0; syndrome < 256; syndrome++) {
		struct roce_frame_spec s = {
			.opcode = 0x11, .syndrome = (uint8_t)syndrome, .traffic_class = CE};
		struct roce_packet p;

		assert_int_equal(decode(&s, &p), ROCE_PACKET);
		roce_count(&c, ROCE_PACKET, &p, 60);
		roce_flow_count(&f, &p, 60, 1);
		assert_int_equal(roce_is_ack(&p), syndrome < 0x20);
	}
	assert_int_equal(c.syndromes[ROCE_SYN_ACK], 32);
	assert_int_equal(c.syndromes[ROCE_SYN_RNR], 32);
	assert_int_equal(c.syndromes[ROCE_SYN_SEQUENCE], 1);
	assert_int_equal(c.syndromes[ROCE_SYN_INVALID_REQUEST], 1);
	assert_int_equal(c.syndromes[ROCE_SYN_REMOTE_ACCESS], 1);
	assert_int_equal(c.syndromes[ROCE_SYN_REMOTE_OPERATION], 1);
	assert_int_equal(c.syndromes[ROCE_SYN_INVALID_RD], 1);
	assert_int_equal(c.syndromes[ROCE_SYN_OTHER], 256 - 64 - 5);
	assert_int_equal(f.rnr_naks, 32);
	assert_int_equal(f.naks, 5);
	assert_int_equal(f.ce, 256);
	assert_int_equal(c.traffic_class[CE], 256);
	assert_int_equal(c.ops[ROCE_OP_INDEX(ROCE_RC, ROCE_ACK)], 256);
}

static void round_trips_fall_into_powers_of_two(void **state)
{
	struct roce_flow f = {0};
	(void)state;

	roce_flow_round_trip(&f, 0);
	roce_flow_round_trip(&f, 1023);
	roce_flow_round_trip(&f, 1024);
	roce_flow_round_trip(&f, 2047);
	roce_flow_round_trip(&f, 2048);
	roce_flow_round_trip(&f, (1ull << 32) - 1);
	roce_flow_round_trip(&f, 1ull << 32);
	roce_flow_round_trip(&f, ~0ull >> 1);
	assert_int_equal(f.rtt[0], 2);
	assert_int_equal(f.rtt[1], 2);
	assert_int_equal(f.rtt[2], 1);
	assert_int_equal(f.rtt[22], 1);
	assert_int_equal(f.rtt[23], 2);
	assert_int_equal(f.rtt_count, 8);
}

static void an_answer_finds_its_request(void **state)
{
	struct roce_pending_key asked, answered;
	struct roce_pending v = {.qpn = 7};
	struct roce_flow_key flow, request;
	struct roce_packet p;
	(void)state;

	decode(&(struct roce_frame_spec){.opcode = 0x0a, .from = 1, .to = 2, .qpn = 7, .psn = 3},
	       &p);
	roce_pending_key_of(&p, false, &asked);
	roce_flow_key_of(&p, &flow);
	decode(&(struct roce_frame_spec){.opcode = 0x11, .from = 2, .to = 1, .qpn = 9, .psn = 3},
	       &p);
	roce_pending_key_of(&p, true, &answered);
	roce_pending_flow(&answered, &v, &request);
	assert_memory_equal(&asked, &answered, sizeof(asked));
	assert_memory_equal(&flow, &request, sizeof(flow));
}

static void counts_are_of_complete_packets(void **state)
{
	static const uint8_t opcodes[] = {0x06, 0x07, 0x0c, 0x81, 0x0a};
	struct roce_counts c = {0};
	struct roce_packet p;
	(void)state;

	for (unsigned i = 0; i < 5; i++) {
		struct roce_frame_spec s = {.opcode = opcodes[i],
					    .reth_length = 1000,
					    .ip = i % 2 ? 6 : 4,
					    .becn = opcodes[i] == 0x81};

		roce_count(&c, decode(&s, &p), &p, 100);
	}
	roce_count(&c, ROCE_FRAGMENT, &p, 100);
	roce_count(&c, ROCE_MALFORMED, &p, 100);
	roce_count(&c, ROCE_PAUSE, &p, 100);
	roce_count(&c, ROCE_OTHER, &p, 100);
	roce_count(&c, ROCE_CUT, &p, 100);
	assert_int_equal(c.packets, 5);
	assert_int_equal(c.bytes, 500);
	assert_int_equal(c.cnp, 1);
	assert_int_equal(c.becn, 1);
	assert_int_equal(c.ip4, 3);
	assert_int_equal(c.ip6, 2);
	assert_int_equal(c.requested_write_bytes, 2000);
	assert_int_equal(c.requested_read_bytes, 1000);
	assert_int_equal(c.fragments + c.malformed + c.pauses, 3);
}

TEST_GROUP(roce_decode)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_field_of_a_write_is_read),
		cmocka_unit_test(every_kind_of_frame_is_followed),
		cmocka_unit_test(too_many_headers_are_given_up),
		cmocka_unit_test(opcodes_of_each_transport),
		cmocka_unit_test(truncated_frames_are_cut_or_malformed),
		cmocka_unit_test(inconsistent_lengths_are_malformed),
		cmocka_unit_test(fragments_count_once),
		cmocka_unit_test(other_protocols_are_not_roce),
		cmocka_unit_test(a_type_skips_the_ethernet_header),
		cmocka_unit_test(going_back_is_a_retransmission),
		cmocka_unit_test(only_reliable_requests_have_a_sequence),
		cmocka_unit_test(kinds_of_naks_are_distinguished),
		cmocka_unit_test(round_trips_fall_into_powers_of_two),
		cmocka_unit_test(an_answer_finds_its_request),
		cmocka_unit_test(counts_are_of_complete_packets),
	};

	return test_group_run(tests, NULL, NULL);
}
