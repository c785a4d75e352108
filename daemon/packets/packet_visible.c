// SPDX-License-Identifier: Apache-2.0
/* packet_visible.c - compares the counters of NIC and packet program in consecutive windows; each
 * window can change the verdict. */
#include "packet_visible.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "search.h"

/* --- one interface ---------------------------------------------------------------------------- */

static void begin_watch(struct visible_watch *w, uint64_t now_ms, bool nic_known, uint64_t nic,
			uint64_t seen)
{
	w->begun = true;
	w->begin_ms = now_ms;
	w->nic_known = nic_known;
	w->nic = nic;
	w->seen = seen;
}

static void set_visible(struct visible_watch *w, bool visible)
{
	if (visible) {
		w->verdict = PACKET_VISIBLE_YES;
		w->against = 0;
		return;
	}
	w->against++;
	if (w->verdict != PACKET_VISIBLE_YES || w->against >= VISIBLE_WINDOWS_AGAINST)
		w->verdict = PACKET_VISIBLE_NO;
}

void visible_judge(struct visible_watch *w, uint64_t now_ms, bool nic_known, uint64_t nic,
		   uint64_t seen)
{
	uint64_t nic_packets, seen_packets;

	if (!w->begun && seen)
		w->verdict =
			PACKET_VISIBLE_YES; /* packets were seen since the program was attached */
	if (!w->begun || seen < w->seen || nic_known != w->nic_known || nic < w->nic) {
		begin_watch(w, now_ms, nic_known, nic, seen);
		return;
	}
	nic_packets = nic - w->nic;
	seen_packets = seen - w->seen;
	if (w->verdict == PACKET_VISIBLE_UNKNOWN && seen_packets)
		w->verdict = PACKET_VISIBLE_YES;
	if (now_ms - w->begin_ms < VISIBLE_WINDOW_MS)
		return;
	if (nic_packets >= VISIBLE_PACKETS)
		set_visible(w, seen_packets >= nic_packets / VISIBLE_ONE_OF);
	else if (seen_packets >= VISIBLE_PACKETS || (seen_packets && !nic_known))
		set_visible(w, true);
	begin_watch(w, now_ms, nic_known, nic, seen);
}

/* --- all interfaces --------------------------------------------------------------------------- */

void visible_table_done(struct visible_table *t)
{
	free(t->items);
	*t = (struct visible_table){0};
}

static bool visible_is_of(const struct visible_item *item, const struct packet_port *p)
{
	return item->ifindex == p->ifindex && strcmp(item->netdev, p->netdev) == 0 &&
	       strcmp(item->netns, p->netns) == 0;
}

/* Finds the item of a port. The ports rarely change, so it is usually at its previous index. */
static const struct visible_item *find_visible(const struct visible_table *t,
					       const struct packet_port *p, size_t i)
{
	if (i < t->n && visible_is_of(&t->items[i], p))
		return &t->items[i];
	for (i = 0; i < t->n; i++)
		if (visible_is_of(&t->items[i], p))
			return &t->items[i];
	return NULL;
}

static bool visible_is_watched(const struct packet_port *p)
{
	return p->hook != PACKET_HOOK_NONE && p->error == 0;
}

/* Rebuilds the items in the order of the sample's ports; the measurement of a port that is not
 * watched is reset. */
static int follow(struct visible_table *t, const struct packet_sample *s)
{
	struct visible_item *items = calloc(s->n_ports + 1, sizeof(*items));

	if (!items)
		return -ENOMEM;
	for (size_t i = 0; i < s->n_ports; i++) {
		const struct packet_port *p = &s->ports[i];
		const struct visible_item *old = find_visible(t, p, i);

		memcpy(items[i].netns, p->netns, sizeof(p->netns));
		memcpy(items[i].netdev, p->netdev, sizeof(p->netdev));
		items[i].ifindex = p->ifindex;
		if (old && visible_is_watched(p))
			items[i].watch = old->watch;
	}
	visible_table_done(t);
	*t = (struct visible_table){items, s->n_ports};
	return 0;
}

/* True if the NIC's counters apply to this interface. */
static bool has_nic(const struct packet_port *p)
{
	return p->device_port && p->role != PACKET_MIRROR && visible_is_watched(p);
}

static bool any_has_nic(const struct packet_sample *s)
{
	return any_of(s->n_ports, i, has_nic(&s->ports[i]));
}

struct nic_count {
	bool known;
	uint64_t packets;
};

static void add_reading(struct nic_count *counts, const struct packet_sample *s,
			const struct sampled_port *port, uint64_t value)
{
	for (size_t i = 0; i < s->n_ports; i++) {
		const struct packet_port *p = &s->ports[i];

		if (!has_nic(p) || p->device_port != port->port ||
		    strcmp(p->device, port->device) != 0)
			continue;
		counts[i].known = true;
		counts[i].packets += value;
	}
}

/* Adds the NIC's packets. The readings are grouped by family. */
static void add_readings(struct nic_count *counts, const struct packet_sample *s,
			 const struct sample *nic)
{
	const struct family *family = NULL;
	struct reading_pos pos = {0};
	bool packets = false;
	struct reading r;

	while (sample_next(nic, &pos, &r)) {
		if (r.family != family) {
			if (packets)
				return;
			family = r.family;
			packets = strcmp(family->name, "roce_packets_total") == 0;
		}
		if (packets && r.state == READING_OK)
			add_reading(counts, s, &nic->ports[r.port], r.value);
	}
}

/* Returns the number of RoCE packets that the program has counted, including incomplete and
 * malformed ones. */
static uint64_t seen(const struct roce_counts counts[N_ROCE_DIRECTIONS])
{
	const struct roce_counts *in = &counts[ROCE_RECEIVED], *out = &counts[ROCE_SENT];

	return in->packets + in->fragments + in->malformed + out->packets + out->fragments +
	       out->malformed;
}

int visible_update(struct visible_table *t, struct packet_sample *s, const struct sample *nic,
		   uint64_t now_ms)
{
	struct nic_count *counts = calloc(s->n_ports + 1, sizeof(*counts));

	if (!counts || follow(t, s) < 0) {
		free(counts);
		return -ENOMEM;
	}
	if (any_has_nic(s))
		add_readings(counts, s, nic);
	for (size_t i = 0; i < s->n_ports; i++) {
		if (!visible_is_watched(&s->ports[i]))
			continue;
		visible_judge(&t->items[i].watch, now_ms, counts[i].known, counts[i].packets,
			      seen(s->counts[i]));
		s->ports[i].visible = t->items[i].watch.verdict;
	}
	free(counts);
	return 0;
}
