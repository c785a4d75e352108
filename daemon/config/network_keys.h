/* SPDX-License-Identifier: Apache-2.0 */
/* network_keys.h - reads the keys of a pool's "network", of an annotation's entries and of admin
 * requests: one table, of which each of the three uses a part. For networks.c,
 * pool_config_network.c and admin_request.c. Pure. */
#pragma once

#include "networks.h"
#include "pool_parse.h"

/* The values of an object; all zero: none. */
struct network_values {
	struct network_request request;
	enum drift_policy drift;
	uint32_t timeout_ms;
	unsigned allow;
	struct ip_prefix subnets[POOL_SUBNETS_MAX];
	size_t n_subnets;
};

/* Read the keys of a pool, of an annotation's entry, of an admin request. "gateway" is added to the
 * plan's routes as a default route. */
int network_keys_of_pool(struct parse *, const struct json_place *, const json_t *,
			 struct network_values *ret);
int network_keys_of_entry(struct parse *, const struct json_place *, const json_t *,
			  struct network_values *ret);

int network_keys_of_admin_request(struct parse *, const struct json_place *, const json_t *,
				  struct network_values *ret);

/* Returns the key as spelt in files. */
const char *network_key_name(enum network_key);

/* Keys that a pool's "allow" may contain. */
#define NETWORK_ALLOWABLE                                                                          \
	(NETWORK_SETTINGS | NETWORK_BIT(NETWORK_ROUTES) | NETWORK_BIT(NETWORK_GATEWAY) |           \
	 NETWORK_BIT(NETWORK_MAC) | NETWORK_BIT(NETWORK_GUID))

/* Indexed by enum drift_policy. */
extern const char *const drift_words[2];
