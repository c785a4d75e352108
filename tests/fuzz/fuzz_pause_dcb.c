// SPDX-License-Identifier: Apache-2.0
/* Decoders of pause and DCB (frame counts and settings), with a datagram of messages.
 *
 * proves: hw/netlink hw/counters
 * when: turns 4
 * when: soak 120 */
#include <stdlib.h>
#include <string.h>

#include "datagram.h"
#include "dcb.h"
#include "genl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void on_named(const char *name, uint64_t value, void *arg)
{
	size_t *sum = arg;

	*sum += strlen(name) + (size_t)value;
}

/* Decoded values may be used as an index. */
static void check_settings(const struct port_settings *s)
{
	for (int i = 0; i < N_DSCP && s->seen & SETTINGS_DSCP; i++)
		if (s->dscp_priority[i] >= SETTINGS_PRIOS && s->dscp_priority[i] != NO_PRIORITY)
			abort();
	for (int i = 0; i < SETTINGS_PRIOS && s->seen & SETTINGS_ETS; i++)
		if (s->ets_class[i] >= SETTINGS_PRIOS || s->ets_percent[i] > 100)
			abort();
}

/* Takes the message's type for the family's. */
static int on_message(const struct nlmsghdr *h, void *arg)
{
	struct port_settings settings = {0};
	uint16_t family;
	struct pfc pfc;

	pause_decode(h, h->nlmsg_type, on_named, arg);
	genl_decode_family(h, &family);
	dcb_decode_pfc(h, &pfc);
	pause_decode_settings(h, h->nlmsg_type, &settings);
	dcb_decode_settings(h, &settings);
	check_settings(&settings);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	size_t sum = 0;

	datagram_walk(data, n, on_message, &sum);
	return 0;
}
