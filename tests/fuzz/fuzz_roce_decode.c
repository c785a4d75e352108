// SPDX-License-Identifier: Apache-2.0
/* Decoder of frames. First two bytes: by how much the frame is longer than the available bytes, and
 * whether they begin at the network header.
 *
 * proves: include
 * when: core 2
 * when: turns 4
 * when: soak 120 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "exact_copy.h"
#include "roce_account.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static const uint32_t types[] = {0, 0x0800, 0x86dd, 0x8915};

/* Offsets and lengths of a packet are within the frame. */
static void check(const struct roce_frame *f, const struct roce_packet *p)
{
	if (p->icrc_offset + ROCE_ICRC_SIZE > f->length || p->bth_offset >= p->icrc_offset ||
	    p->network_offset >= p->bth_offset)
		abort();
	if (p->op >= N_ROCE_OPS || p->transport >= N_ROCE_TRANSPORTS ||
	    p->syndrome_class >= N_ROCE_SYNDROMES || p->qpn > 0xffffff || p->psn > 0xffffff)
		abort();
}

/* The fast path yields the same result as the full decoder, or leaves the frame to it. */
static void check_plain(const struct roce_frame *f)
{
	struct roce_found plain = {0}, any = {0};
	enum roce_verdict verdict = roce_find_plain(f, &plain);
	struct roce_packet p, q;

	if (verdict == ROCE_CUT)
		return;
	if (roce_find(f, &any) != verdict)
		abort();
	if (verdict != ROCE_PACKET)
		return;
	memset(&p, 0, sizeof(p));
	memset(&q, 0, sizeof(q));
	verdict = roce_decode_found(&plain, &p);
	if (verdict != roce_decode_found(&any, &q) || memcmp(&p, &q, sizeof(p)) != 0 ||
	    plain.ip.header != any.ip.header || plain.ip.end != any.ip.end)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static struct roce_counts counts;
	static struct roce_flow flow;
	struct roce_packet p;
	struct roce_frame f;
	enum roce_verdict verdict;
	uint8_t *copy;

	if (n < 2)
		return 0;
	copy = exact_copy(data + 2, n - 2);
	if (!copy)
		return 0;
	f = (struct roce_frame){copy, copy + n - 2, (uint32_t)(n - 2 + data[0]), types[data[1] & 3],
				0};
	check_plain(&f);
	verdict = roce_decode(&f, &p);
	if (verdict == ROCE_CUT && data[0] == 0)
		abort();
	if (verdict == ROCE_PACKET) {
		check(&f, &p);
		roce_flow_count(&flow, &p, f.length, 1);
		roce_flow_round_trip(&flow, (uint64_t)p.psn << data[0] % 40);
	}
	roce_count(&counts, verdict, &p, f.length);
	free(copy);
	return 0;
}
