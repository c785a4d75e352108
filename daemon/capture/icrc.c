#include "icrc.h"

#include <endian.h>
#include <stdint.h>
#include <string.h>
#include <zlib.h>

#define LINK_ONES 8

/* A GRH has the fields of an IPv6 header. */
static size_t header_size(const struct roce_packet *p)
{
	size_t ip = p->ip == 4 ? ROCE_IP4_SIZE : ROCE_IP6_SIZE;

	return ip + (p->version == 1 ? 0 : ROCE_UDP_SIZE) + ROCE_BTH_SIZE;
}

static void set_ones(uint8_t *at, const struct roce_packet *p, size_t headers)
{
	uint8_t *bth = at + headers - ROCE_BTH_SIZE;

	if (p->ip == 4) {
		at[1] = 0xff;
		at[8] = 0xff;
		memset(at + 10, 0xff, 2);
	} else {
		at[0] |= 0x0f;
		memset(at + 1, 0xff, 3);
		at[7] = 0xff;
	}
	if (p->version != 1)
		memset(bth - 2, 0xff, 2);
	bth[4] = 0xff;
}

static uint32_t icrc_of(const uint8_t *at, const struct roce_packet *p, size_t headers, size_t n)
{
	uint8_t ones[LINK_ONES + ROCE_IP6_SIZE + ROCE_UDP_SIZE + ROCE_BTH_SIZE];
	unsigned long crc;

	memset(ones, 0xff, LINK_ONES);
	memcpy(ones + LINK_ONES, at, headers);
	set_ones(ones + LINK_ONES, p, headers);
	crc = crc32_z(0, ones, LINK_ONES + headers);
	return (uint32_t)crc32_z(crc, at + headers, n - headers);
}

enum icrc_verdict icrc_check(const struct roce_frame *f, const struct roce_packet *p)
{
	const uint8_t *start = f->start, *at = start + p->network_offset;
	size_t headers = header_size(p), n = p->icrc_offset - p->network_offset;
	uint32_t said;

	if (p->bth_offset + ROCE_BTH_SIZE - p->network_offset != headers ||
	    p->icrc_offset + ROCE_ICRC_SIZE > (size_t)((const uint8_t *)f->end - start))
		return ICRC_UNVERIFIABLE;
	memcpy(&said, at + n, sizeof(said));
	return le32toh(said) == icrc_of(at, p, headers, n) ? ICRC_GOOD : ICRC_BAD;
}
