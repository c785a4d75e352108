/* network_keys.h - reads the keys of a pool's "network", of an annotation's entries and of orders:
 * one table, of which each takes its part. For networks.c, pool_config_network.c and order.c. Pure.
 */
#pragma once

#include "networks.h"
#include "pool_parse.h"

/* What an object says; zero-initialised it says nothing. */
struct network_values {
	struct network_request request;
	enum drift_policy drift;
	uint32_t timeout_ms;
	unsigned allow;
	struct ip_prefix subnets[POOL_SUBNETS_MAX];
	size_t n_subnets;
};

/* A pool's, an entry's, an order's. Routes of "gateway" are among the plan's. */
int network_keys_of_pool(struct parse *, const struct json_place *, const json_t *,
			 struct network_values *ret);
int network_keys_of_entry(struct parse *, const struct json_place *, const json_t *,
			  struct network_values *ret);

int network_keys_of_order(struct parse *, const struct json_place *, const json_t *,
			  struct network_values *ret);

/* As files spell it. */
const char *network_key_name(enum network_key);

/* Keys that a pool's "allow" may name. */
#define NETWORK_ALLOWABLE                                                                          \
	(NETWORK_SETTINGS | NETWORK_BIT(NETWORK_ROUTES) | NETWORK_BIT(NETWORK_GATEWAY) |           \
	 NETWORK_BIT(NETWORK_MAC) | NETWORK_BIT(NETWORK_GUID))

/* In the order of their values. */
extern const char *const drift_words[2];
