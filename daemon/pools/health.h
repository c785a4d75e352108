/* health.h - is a device fit to be given to a container, and since when? Pure; time is an argument.
 *
 * Judged on what the host can see now, then damped: a reason counts once it has held for its down
 * time and stops counting once it has been gone for its up time. Recovers by itself. */
#pragma once

#include "host_index.h"
#include "model.h"
#include "plugin.h"
#include "pools.h"

#define HEALTH_BIT(reason) (1u << (reason))

/* Reasons (HEALTH_BIT) that speak against the functions of an offer now; none as long as one of
 * them is fit. held: a container has it; then what sits in its namespace, and cannot be seen from
 * the host, is no reason: what remains are its bus, its devlink and the PF that carries it. Slots
 * of shared pools are judged the same whoever holds them, because the device stays in the host. */
unsigned health_judge(const struct pool_view *, const struct offer *, const struct host_index *,
		      bool held);

/* What is remembered of one ID. */
struct health {
	unsigned seen;			     /* reasons as last judged */
	unsigned counted;		     /* reasons after damping: 0 = healthy */
	uint64_t since_ms[N_HEALTH_REASONS]; /* when `seen` last changed */
};

/* First judgement of a new ID: taken as it is, undamped. */
void health_start(struct health *, unsigned reasons, uint64_t now_ms);
/* True: `counted` has changed. Also to be called with the same reasons when a hold time has passed.
 */
bool health_update(struct health *, unsigned reasons, const struct pool *, uint64_t now_ms);
/* When `counted` will change unless something happens; UINT64_MAX = never. */
uint64_t health_deadline(const struct health *, const struct pool *);

/* "link_down, no_chardev", "" when healthy. */
void health_text(unsigned reasons, char *text, size_t size);
