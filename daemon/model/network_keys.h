/* network_keys.h - reads the keys of a pool's "network" and of an annotation's entries: one table,
 * of which each takes its part. For networks.c and pool_config_network.c. */
#pragma once

#include "networks.h"
#include "pool_parse.h"

/* What an object says; zero-initialised it says nothing. */
struct network_values {
	struct network_request request;
	enum drift_policy drift;
	uint32_t timeout_ms;
};

/* A pool's, or an entry's. Routes of "gateway" are among the plan's. */
int network_keys_of_pool(struct parse *, const struct json_place *, const json_t *,
			 struct network_values *ret);
int network_keys_of_entry(struct parse *, const struct json_place *, const json_t *,
			  struct network_values *ret);

/* network_keys_ip.c; the last is char[PLAN_IPAM_SIZE], the others a struct net_plan. */
parse_read_fn network_read_ips, network_read_routes, network_read_gateway, network_read_ipam;

/* Words in the order of their values; vf_link_words from VF_LINK_AUTO on. */
extern const char *const drift_words[2], *const vlan_proto_words[2], *const vf_link_words[3];
