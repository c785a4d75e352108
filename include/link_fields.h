/* SPDX-License-Identifier: Apache-2.0 */
/* link_fields.h - the numeric settings of a netdev itself that a pool's "network" can set, one row
 * each. Everything about such a field is generated from its row: the members below, the key in
 * pools, annotations, requests and journal records, whether a pod may set it, the attributes sent
 * and decoded, comparison, drift, restore and verification. A new field needs a row here and one in
 * the table of docs/reference/pools.md. Pure. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* name: the key and the member. attribute: IFLA_*, 32 bits. file: in the netdev's sysfs folder.
 * least, most: the range a configuration may use, never 0. initial: default of Ethernet drivers.
 * every_pod: any pod's annotation may set it up to the pool's value; if false, only where the
 * pool's "allow" lists it. words: name in messages. */
/* clang-format off */
#define LINK_FIELDS(X) \
	/* id     name    attribute    file            least most       initial every_pod words */ \
	X(MTU,    mtu,    IFLA_MTU,    "mtu",          68,   65535,     1500,   true,     "MTU"), \
	X(TXQLEN, txqlen, IFLA_TXQLEN, "tx_queue_len", 1,    100000,    1000,   false,    "queue length")
/* clang-format on */

#define LINK_FIELD_ID(id, ...)		 LINK_##id
#define LINK_FIELD_MEMBER(id, name, ...) name

enum link_field { LINK_FIELDS(LINK_FIELD_ID), N_LINK_FIELDS };

/* Struct members, accessible by name and by enum link_field. 0: not desired, or unknown. */
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
