/* ledger.h - which IDs are given away: reserved by Allocate, then held by a container as the
 * kubelet tells. Pure; time is an argument.
 *
 * The kubelet says neither for which container it allocates nor when a device comes back, but its
 * list of containers' devices tells both. A reservation is made by Allocate and ends when a list
 * that was asked for after it does not name the ID. */
#pragma once

#include <stdint.h>

#include "pod_devices.h"

struct ledger;

enum ledger_state { LEDGER_FREE, LEDGER_RESERVED, LEDGER_HELD };

struct ledger *ledger_new(void);
void ledger_free(struct ledger *);

/* Given away now. -ENOMEM. */
int ledger_reserve(struct ledger *, const char *resource, const char *id, uint64_t now_ms);
/* A new list of what containers hold, asked for at asked_ms. True: something changed. -ENOMEM. */
int ledger_apply(struct ledger *, const struct pod_list *, uint64_t asked_ms);
enum ledger_state ledger_state(const struct ledger *, const char *resource, const char *id);
/* Everything that is reserved or held, sorted; those only reserved have no pod. Borrowed until the
 * next change. */
const struct pod_list *ledger_list(const struct ledger *);
/* Grows with every change. */
uint64_t ledger_generation(const struct ledger *);
