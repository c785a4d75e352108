// SPDX-License-Identifier: Apache-2.0
/* Any bytes as a capture file: read at once or in pieces, the result is the same, and it can be
 * written as JSON.
 *
 * proves: daemon/capture hw/sniff
 * when: turns 4
 * when: soak 120 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "summary.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Reads in steps; each call gets a block of exactly the available bytes. Returns how the file
 * ends. */
static int read_in(struct capture_summary *s, const uint8_t *data, size_t n, size_t step)
{
	static struct capture c;
	struct capture_packet p;
	size_t done = 0, have = 0, used;
	int r = 0;

	memset(&c, 0, sizeof(c));
	while (r == 1 || have < n) {
		uint8_t *part;

		if (r == 0)
			have += n - have < step ? n - have : step;
		part = malloc(have - done + 1);
		memcpy(part, data + done, have - done);
		r = capture_next(&c, part, have - done, &used, &p, NULL);
		if (r == 1)
			summary_add(s, &p);
		free(part);
		done += used;
		if (r < 0)
			return r;
		if (done > have || c.offset != done)
			abort();
	}
	return capture_end(&c, n - done, NULL);
}

static struct capture_summary whole, pieces;

static void empty(struct capture_summary *s)
{
	struct flow_table flows = s->flows;
	struct pending_table pending = s->pending;

	if (s->packets == 0)
		return;
	memset(flows.entries, 0, flows.n_sets * FLOW_WAYS * sizeof(flows.entries[0]));
	memset(pending.entries, 0, PENDING_TABLE_SIZE * sizeof(pending.entries[0]));
	*s = (struct capture_summary){.flows = {flows.entries, flows.n_sets, 0, 0, 0},
				      .pending = pending};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	json_t *document;
	int r;

	if (!whole.flows.entries && (summary_init(&whole) < 0 || summary_init(&pieces) < 0))
		abort();
	/* Small tables, because clearing large ones would dominate the run time. */
	whole.flows.n_sets = pieces.flows.n_sets = 4;
	empty(&whole);
	empty(&pieces);
	r = read_in(&whole, data, n, n + 1);
	if (read_in(&pieces, data, n, n / 3 + 1) != r || pieces.packets != whole.packets ||
	    memcmp(&pieces.counts, &whole.counts, sizeof(whole.counts)) != 0 ||
	    memcmp(pieces.icrc, whole.icrc, sizeof(whole.icrc)) != 0)
		abort();
	document = summary_json(&whole, 10);
	if (!document)
		abort();
	json_decref(document);
	return 0;
}
