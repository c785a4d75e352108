// SPDX-License-Identifier: Apache-2.0
#include "gid_places.h"

#include <stdlib.h>

#include "array.h"
#include "fnv.h"
#include "model.h"
#include "search.h"

/* How long a moved GID counts as moved. At least as long as the verdict link_flap is reported. */
#define MOMENT_MS  60000
/* Maximum number of remembered GIDs. Exceeds the number of a port's addresses, even with one per
 * VLAN. */
#define PLACES_MAX 256

static uint64_t hash_of(const struct gid *g)
{
	uint64_t h = fnv1a(FNV1A_START, g->raw, sizeof(g->raw));

	h = fnv1a(h, &g->type, sizeof(g->type));
	return fnv1a(h, g->netdev, sizeof(g->netdev));
}

static struct gid_place *gid_places_place_of(struct gid_places *p, uint64_t gid)
{
	return find_first(p->items, p->n, i, p->items[i].gid == gid);
}

static void add_place(struct gid_places *p, uint64_t gid, uint32_t index)
{
	struct gid_place *place = p->n < PLACES_MAX ? array_push(p->items, p->n) : NULL;

	if (place)
		*place = (struct gid_place){gid, index};
}

void gid_places_see(struct gid_places *p, const struct rdma_port *port, uint64_t now_ms)
{
	for (unsigned i = 0; i < port->n_gids; i++) {
		const struct gid *g = &port->gids[i];
		uint64_t gid = hash_of(g);
		struct gid_place *place = gid_places_place_of(p, gid);

		if (!place) {
			add_place(p, gid, g->index);
		} else if (place->index != g->index) {
			place->index = g->index;
			p->moved_ms = now_ms;
		}
	}
}

bool gid_places_moved(const struct gid_places *p, uint64_t now_ms)
{
	return p->moved_ms && now_ms - p->moved_ms < MOMENT_MS;
}

void gid_places_done(struct gid_places *p)
{
	free(p->items);
	*p = (struct gid_places){0};
}
