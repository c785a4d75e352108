// SPDX-License-Identifier: Apache-2.0
#include "netdev_state.h"

#include <stdio.h>
#include <string.h>

/* --- SipHash-2-4 (Aumasson, Bernstein 2012) --------------------------------------------------- */

static uint64_t rotate(uint64_t x, int n)
{
	return x << n | x >> (64 - n);
}

static void sip_round(uint64_t v[4])
{
	v[0] += v[1];
	v[2] += v[3];
	v[1] = rotate(v[1], 13) ^ v[0];
	v[3] = rotate(v[3], 16) ^ v[2];
	v[0] = rotate(v[0], 32);
	v[2] += v[1];
	v[0] += v[3];
	v[1] = rotate(v[1], 17) ^ v[2];
	v[3] = rotate(v[3], 21) ^ v[0];
	v[2] = rotate(v[2], 32);
}

static void sip_word(uint64_t v[4], uint64_t m)
{
	v[3] ^= m;
	sip_round(v);
	sip_round(v);
	v[0] ^= m;
}

static uint64_t siphash(uint64_t k0, uint64_t k1, const uint8_t *bytes, size_t len)
{
	uint64_t v[4] = {k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261,
			 k1 ^ 0x7465646279746573};
	uint64_t last = (uint64_t)len << 56, word;
	size_t i = 0;

	for (; i + 8 <= len; i += 8) {
		memcpy(&word, bytes + i, 8);
		sip_word(v, word);
	}
	for (int shift = 0; i < len; i++, shift += 8)
		last |= (uint64_t)bytes[i] << shift;
	sip_word(v, last);
	v[2] ^= 0xff;
	for (int k = 0; k < 4; k++)
		sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* --- snapshot --------------------------------------------------------------------------------- */

void netdev_state_begin(struct netdev_state *s)
{
	for (size_t i = 0; i < N_NETDEV_SECTIONS; i++)
		s->digest[i] = STATE_UNSET;
}

void netdev_state_unknown(struct netdev_state *s, enum netdev_section section)
{
	s->digest[section] = STATE_UNKNOWN;
}

void netdev_state_add(struct netdev_state *s, enum netdev_section section, uint32_t what,
		      const void *bytes, size_t len)
{
	uint64_t *d = &s->digest[section], head[3] = {*d, what, len};

	if (*d == STATE_UNKNOWN)
		return;
	head[0] = siphash(s->key[0], s->key[1], (const uint8_t *)head, sizeof(head));
	*d = siphash(s->key[0] ^ head[0], s->key[1], bytes, len);
	if (*d <= STATE_UNSET)
		*d = STATE_UNSET + 1;
}

/* --- comparison ------------------------------------------------------------------------------- */

uint32_t netdev_state_differ(const struct netdev_state *was, const struct netdev_state *is,
			     uint32_t *ret_unknown)
{
	uint32_t different = 0;

	*ret_unknown = 0;
	for (unsigned i = 0; i < N_NETDEV_SECTIONS; i++) {
		uint64_t a = was->digest[i], b = is->digest[i];

		if (a == STATE_UNKNOWN || b == STATE_UNKNOWN ||
		    (i == STATE_XPS && a == STATE_UNSET && b != a))
			*ret_unknown |= 1u << i;
		else if (a != b)
			different |= 1u << i;
	}
	return different;
}

#define NAME(id, key, words) [STATE_##id] = words
static const char *const names[N_NETDEV_SECTIONS] = {NETDEV_SECTIONS(NAME)};

void netdev_sections_text(uint32_t sections, char *text, size_t size)
{
	size_t n = 0;

	text[0] = '\0';
	for (unsigned i = 0; i < N_NETDEV_SECTIONS && n < size; i++)
		if (sections & 1u << i)
			n += (size_t)snprintf(text + n, size - n, "%s%s", n ? ", " : "", names[i]);
}
