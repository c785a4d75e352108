/* link_fields.h - what a pool's "network" can set on a netdev itself and is one number to the
 * kernel, one row each. All that happens to such a field is made of its row: the members below, the
 * key of pools, annotations, requests and journal records, who may set it, the attributes that are
 * sent and decoded, comparison, drift, restore and verification. A new one is a row here and one in
 * the table of docs/reference/pools.md. Pure. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* name: the key, and the member. attribute: IFLA_*, 32 bits. file: in the netdev's folder in sysfs.
 * least, most: what a configuration may say, never 0. initial: what drivers of Ethernet netdevs
 * start with. every_pod: an annotation may set it up to the pool's value, else only where the
 * pool's "allow" names it. words: for sentences. */
/* clang-format off */
#define LINK_FIELDS(X) \
	/* id     name    attribute    file            least most       initial every_pod words */ \
	X(MTU,    mtu,    IFLA_MTU,    "mtu",          68,   65535,     1500,   true,     "MTU"), \
	X(TXQLEN, txqlen, IFLA_TXQLEN, "tx_queue_len", 1,    100000,    1000,   false,    "queue length")
/* clang-format on */

#define LINK_FIELD_ID(id, ...)		 LINK_##id
#define LINK_FIELD_MEMBER(id, name, ...) name

enum link_field { LINK_FIELDS(LINK_FIELD_ID), N_LINK_FIELDS };

/* Members of a struct, by name and by enum link_field. 0: not wanted, or not known. */
#define LINK_VALUES                                                                                \
	union {                                                                                    \
		uint32_t link[N_LINK_FIELDS];                                                      \
		struct {                                                                           \
			uint32_t LINK_FIELDS(LINK_FIELD_MEMBER);                                   \
		};                                                                                 \
	}

struct link_field_row {
	const char *name, *file, *words;
	int attribute;
	uint32_t least, most, initial;
	bool every_pod;
};

extern const struct link_field_row link_fields[N_LINK_FIELDS];
