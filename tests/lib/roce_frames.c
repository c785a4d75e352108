// SPDX-License-Identifier: Apache-2.0
#include "roce_frames.h"

#include <stdlib.h>
#include <string.h>

struct out {
	uint8_t *buf;
	size_t n;
};

static void put8(struct out *o, unsigned v)
{
	o->buf[o->n++] = (uint8_t)v;
}

static void put16(struct out *o, unsigned v)
{
	put8(o, v >> 8);
	put8(o, v & 0xff);
}

static void put32(struct out *o, uint32_t v)
{
	put16(o, v >> 16);
	put16(o, v & 0xffff);
}

static void put_zeros(struct out *o, size_t n)
{
	memset(o->buf + o->n, 0, n);
	o->n += n;
}

static void set16(struct out *o, size_t at, size_t v)
{
	o->buf[at] = (uint8_t)(v >> 8);
	o->buf[at + 1] = (uint8_t)v;
}

static void put_ethernet(struct out *o, const struct roce_frame_spec *s)
{
	put_zeros(o, 12);
	for (unsigned i = 0; i < s->vlans; i++) {
		put16(o, i + 1 < s->vlans ? 0x88a8 : 0x8100);
		put16(o, 100 + i);
	}
	put16(o, s->version == 1 ? 0x8915 : s->ip == 6 ? 0x86dd : 0x0800);
}

static void put_ip4(struct out *o, const struct roce_frame_spec *s)
{
	put8(o, 0x45 + s->options);
	put8(o, s->traffic_class);
	put16(o, 0); /* length */
	put16(o, 0);
	put16(o, s->fragment);
	put8(o, 64);
	put8(o, 17);
	put16(o, 0);
	put32(o, 0x0a000000u + s->from);
	put32(o, 0x0a000000u + s->to);
	for (unsigned i = 0; i < s->options; i++)
		put32(o, 0x01010101); /* no operation */
}

static void put_gid(struct out *o, uint8_t last)
{
	put8(o, 0xfd);
	put_zeros(o, 14);
	put8(o, last);
}

static void put_ip6(struct out *o, const struct roce_frame_spec *s)
{
	unsigned first = s->version == 1 ? 0x1b : s->n_extensions ? s->extensions[0] : 17;

	put16(o, 0x6000u | (unsigned)s->traffic_class << 4);
	put16(o, 0);
	put16(o, 0); /* length */
	put8(o, first);
	put8(o, 64);
	put_gid(o, s->from);
	put_gid(o, s->to);
	for (unsigned i = 0; i < s->n_extensions; i++) {
		put8(o, i + 1 < s->n_extensions ? s->extensions[i + 1] : 17);
		put8(o, s->extensions[i] == 51 ? 1 : 0);
		put_zeros(o, s->extensions[i] == 51 ? 10 : 6);
	}
}

/* The headers before an AETH or RETH: RDETH, DETH, XRCETH. */
static void put_before(struct out *o, const struct roce_frame_spec *s, int reth)
{
	unsigned transport = s->opcode >> 5;

	put_zeros(o, transport == 2 ? (reth ? 12 : 4) : transport == 5 && reth ? 4 : 0);
}

static void put_ib(struct out *o, const struct roce_frame_spec *s)
{
	unsigned low = s->opcode & 0x1f;

	put8(o, s->opcode);
	put8(o, s->se << 7);
	put16(o, 0xffff);
	put32(o, s->qpn);
	o->buf[o->n - 4] = (uint8_t)(s->fecn << 7 | s->becn << 6);
	put32(o, s->psn);
	o->buf[o->n - 4] = (uint8_t)(s->ack_request << 7);
	if (low == 0x06 || (low >= 0x0a && low <= 0x0c)) {
		put_before(o, s, 1);
		put_zeros(o, 12);
		put32(o, s->reth_length);
	} else if (low >= 0x0d && low <= 0x12 && low != 0x0e) {
		put_before(o, s, 0);
		put32(o, (uint32_t)s->syndrome << 24);
	}
	put_zeros(o, s->payload + 4);
}

size_t roce_frame_make(uint8_t *buf, const struct roce_frame_spec *s)
{
	struct out o = {buf, 0};
	int six = s->ip == 6 || s->version == 1;
	size_t network, udp;

	put_ethernet(&o, s);
	network = o.n;
	six ? put_ip6(&o, s) : put_ip4(&o, s);
	udp = o.n;
	if (s->version != 1) {
		put16(&o, s->source_port);
		put16(&o, s->port ? s->port : 4791);
		put32(&o, 0);
	}
	put_ib(&o, s);
	if (s->version != 1)
		set16(&o, udp + 4, o.n - udp);
	if (six)
		set16(&o, network + 4, o.n - network - 40);
	else
		set16(&o, network + 2, o.n - network);
	return o.n;
}

static unsigned below(unsigned *seed, unsigned n)
{
	return (unsigned)rand_r(seed) % n;
}

static uint8_t random_opcode(unsigned *seed)
{
	static const uint8_t transports[] = {0x00, 0x00, 0x00, 0x20, 0x40, 0x60, 0xa0};

	if (below(seed, 8) == 0)
		return 0x81;
	if (below(seed, 8) == 0)
		return (uint8_t)below(seed, 256);
	return (uint8_t)(transports[below(seed, 7)] | below(seed, 0x18));
}

size_t roce_frame_random(uint8_t *buf, unsigned *seed)
{
	static const uint8_t kinds[] = {0, 43, 60, 51, 44, 135, 139, 140, 60, 60};
	static const uint8_t syndromes[] = {0,	  0x1f, 0x20, 0x3f, 0x60,
					    0x61, 0x62, 0x63, 0x64, 0x7f};
	struct roce_frame_spec s = {
		.version = below(seed, 6) == 0 ? 1 : 2,
		.ip = below(seed, 2) ? 6 : 4,
		.vlans = below(seed, 6) ? below(seed, 3) : below(seed, 6),
		.options = below(seed, 4) ? 0 : below(seed, 11),
		.extensions = kinds + below(seed, 2),
		.n_extensions = below(seed, 4) ? 0 : below(seed, 10),
		.fragment = below(seed, 20)  ? 0
			    : below(seed, 2) ? 0x2000
					     : below(seed, 0x4000),
		.traffic_class = (uint8_t)below(seed, 256),
		.opcode = random_opcode(seed),
		.se = below(seed, 2),
		.fecn = below(seed, 2),
		.becn = below(seed, 2),
		.ack_request = below(seed, 2),
		.syndrome = syndromes[below(seed, 10)],
		.from = (uint8_t)below(seed, 3),
		.to = (uint8_t)below(seed, 3),
		.port = below(seed, 20) ? 4791 : 53,
		.source_port = (uint16_t)below(seed, 65536),
		.qpn = below(seed, 4),
		.psn = (0xfffff0u + below(seed, 32)) & 0xffffff,
		.reth_length = below(seed, 1u << 20),
		.payload = below(seed, 300),
	};
	size_t n;

	if (s.version == 1)
		s.n_extensions = 0;
	n = roce_frame_make(buf, &s);
	if (below(seed, 6) == 0)
		buf[below(seed, (unsigned)n)] = (uint8_t)below(seed, 256);
	if (below(seed, 6) == 0)
		n = below(seed, (unsigned)n);
	return n;
}
