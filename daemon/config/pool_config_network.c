// SPDX-License-Identifier: Apache-2.0
/* pool_config_network.c - "network", "softRoce" and "interface": a pool whose devices rocelet
 * attaches to pods itself. Pure. */
#include "network_keys.h"

#include "cleanup.h"
#include "config_schema.h"
#include "json_text.h"
#include "member.h"
#include "network_text.h"

static const char *const interface_words[] = {"macvlan", "ipvlan"};
static const char *const clean_words[] = {"auto", "always-reset", "restore"};

/* --- parsing ---------------------------------------------------------------------------------- */

/* The keys and their places; NULL = absent. */
struct found {
	const json_t *network, *soft_roce, *interface, *clean;
	struct json_place network_at, soft_roce_at, interface_at, clean_at;
};

static bool network_find(const json_t *item, const struct json_place *at, struct found *f)
{
	f->network_at = (struct json_place){at, "network", 0};
	f->soft_roce_at = (struct json_place){at, "softRoce", 0};
	f->interface_at = (struct json_place){at, "interface", 0};
	f->clean_at = (struct json_place){at, "clean", 0};
	f->clean = json_find(item, "clean", &f->clean_at.key);
	f->network = json_find(item, "network", &f->network_at.key);
	f->soft_roce = json_find(item, "softRoce", &f->soft_roce_at.key);
	f->interface = json_find(item, "interface", &f->interface_at.key);
	return f->network || f->soft_roce || f->interface;
}

static int pool_config_network_check_kind(struct parse *p, const struct found *f,
					  const struct pool *pool)
{
	const struct json_place *at = f->network ? &f->network_at : &f->soft_roce_at;

	if (pool->kind != POOL_EXCLUSIVE && f->clean)
		return parse_fail(
			p, &f->clean_at,
			"is only for exclusive pools; a slot's interface is deleted on return");
	if (pool->kind == POOL_EXCLUSIVE && f->interface)
		return parse_fail(
			p, &f->interface_at,
			"is only for pools of kind shared; an exclusive pool's own netdevs go "
			"into the pods");
	if (pool->kind != POOL_EXCLUSIVE && !f->interface && !f->network)
		return parse_fail(p, at, "is not for slots; a slot uses its HCA's RDMA device");
	if (pool->kind != POOL_EXCLUSIVE && !f->interface)
		return parse_fail(p, at,
				  "needs \"interface\": \"macvlan\" or \"ipvlan\", because a slot "
				  "has no netdev of its own");
	if (pool->type == DEVICE_ACCELERATOR)
		return parse_fail(p, at, "is not for accelerators, which have no netdev");
	return 0;
}

static int pool_config_network_read_interface(struct parse *p, const struct found *f,
					      struct net_plan *plan)
{
	unsigned word;
	int r = parse_choice(p, &f->interface_at, f->interface, interface_words,
			     ARRAY_SIZE(interface_words), &word);

	if (r == 0)
		plan->kind = word ? PLAN_IPVLAN : PLAN_MACVLAN;
	return r;
}

static int read_clean(struct parse *p, const struct found *f, struct net_plan *plan)
{
	unsigned word;
	int r = parse_choice(p, &f->clean_at, f->clean, clean_words, ARRAY_SIZE(clean_words),
			     &word);

	if (r == 0)
		plan->clean = (enum clean_mode)word;
	return r;
}

/* Reads "network". Unknown keys are errors here, in every grammar, because a misspelt key would put
 * pods on the wrong network. */
static int read_strictly(struct parse *p, const struct found *f, struct network_values *ret)
{
	bool strict = p->strict;
	int r;

	p->strict = true;
	r = network_keys_of_pool(p, &f->network_at, f->network, ret);
	p->strict = strict;
	return r;
}

static int pool_config_network_check_plan(struct parse *p, const struct found *f,
					  const struct pool *pool, const struct net_plan *plan)
{
	const char *key, *wrong = network_wrong(plan, &key);
	struct json_place at = {&f->network_at, key, 0};

	if (wrong && strcmp(key, "softRoce") == 0)
		return parse_fail(p, &f->soft_roce_at, "%s", wrong);
	if (wrong)
		return parse_reject(p, &f->network_at, f->network, key, wrong);
	at.key = "ips";
	if (plan->n_ips && !(pool->kind == POOL_SHARED_ALL && pool->slots == 1)) {
		json_find(f->network, "ips", &at.key);
		parse_warn(p, &at, "apply to every pod, so only one pod at a time can start");
	}
	return 0;
}

static int pool_config_network_read_all(struct parse *p, const struct found *f,
					const struct pool *pool, struct network_values *ret)
{
	struct net_plan *plan = &ret->request.plan;
	int r = pool_config_network_check_kind(p, f, pool);

	if (r == 0 && f->interface)
		r = pool_config_network_read_interface(p, f, plan);
	if (r == 0 && f->clean)
		r = read_clean(p, f, plan);
	if (r == 0 && f->soft_roce)
		r = parse_bool(p, &f->soft_roce_at, f->soft_roce, &plan->soft_roce);
	if (r == 0 && f->network)
		r = read_strictly(p, f, ret);
	return r < 0 ? r : pool_config_network_check_plan(p, f, pool, plan);
}

/* Warns if an option prevents the attach. Only for this node's own file: the options of other
 * groups' nodes may differ. */
static void pool_config_network_check_options(struct parse *p, const struct found *f)
{
	const struct json_place *at = f->network ? &f->network_at : &f->soft_roce_at;

	if (p->options && !p->group_only && p->options->unprivileged)
		parse_warn(
			p, at,
			"needs capabilities and unprivileged keeps none, no pod gets a device of "
			"the pool");
}

int parse_network(struct parse *p, const struct json_place *at, const json_t *item,
		  struct pool *pool)
{
	struct network_values values = {.timeout_ms = POOL_ATTACH_MS};
	struct found f;
	int r;

	if (!network_find(item, at, &f))
		return f.clean ? parse_fail(
					 p, &f.clean_at,
					 "needs \"network\": without it the pool's devices are not put "
					 "into pods")
			       : 0;
	r = pool_config_network_read_all(p, &f, pool, &values);
	if (r < 0)
		return r;
	pool_config_network_check_options(p, &f);
	pool->network = calloc(1, sizeof(*pool->network));
	if (!pool->network)
		return parse_no_memory(p);
	pool->network->plan = values.request.plan;
	pool->network->drift = values.drift;
	pool->network->timeout_ms = values.timeout_ms;
	pool->network->allow = values.allow;
	memcpy(pool->network->subnets, values.subnets, sizeof(values.subnets));
	pool->network->n_subnets = values.n_subnets;
	return 0;
}

/* --- printing --------------------------------------------------------------------------------- */

static const char *pool_config_network_word_of(const struct vf_words *words, uint32_t value)
{
	size_t i = 0;

	while (i + 1 < words->n && words->values[i] != value)
		i++;
	return words->words[i];
}

static void print_vf(struct json_writer *w, const struct vf_settings *vf)
{
	for (const struct vf_key_row *row = vf_keys; row < vf_keys + N_VF_KEYS; row++) {
		uint32_t n = member_load((const char *)vf + row->at, row->size);

		if (vf->fields & row->bit)
			json_put(w, row->key,
				 row->words
					 ? json_string(pool_config_network_word_of(row->words, n))
					 : json_integer(n));
	}
}

static json_t *route_json(const struct net_route *route)
{
	struct json_writer w = {json_object(), false};
	char text[IP_TEXT_SIZE];

	ip_prefix_text(&route->dst, text);
	json_put(&w, "dst", json_string(text));
	ip_address_text(&route->gateway, text);
	if (*text)
		json_put(&w, "gw", json_string(text));
	if (route->priority)
		json_put(&w, "priority", json_integer(route->priority));
	return json_finish(&w);
}

static void print_prefixes(struct json_writer *w, const char *key, const struct ip_prefix *list,
			   size_t n)
{
	json_t *array = json_array();
	char text[IP_TEXT_SIZE];

	for (size_t i = 0; i < n; i++) {
		ip_prefix_text(&list[i], text);
		json_append(w, array, json_string(text));
	}
	json_put(w, key, array);
}

static void print_settings(struct json_writer *w, const struct pool_network *network)
{
	const struct net_plan *plan = &network->plan;
	json_t *allow = json_array(), *routes = json_array();

	json_put(w, "drift", json_string(drift_words[network->drift]));
	json_put(w, "timeoutMs", json_integer(network->timeout_ms));
	for (size_t i = 0; i < N_LINK_FIELDS; i++)
		if (plan->link[i])
			json_put(w, link_fields[i].name, json_integer(plan->link[i]));
	for (unsigned key = 0; key < N_NETWORK_KEYS; key++)
		if (network->allow & NETWORK_BIT(key))
			json_append(w, allow, json_string(network_key_name((enum network_key)key)));
	json_put(w, "allow", allow);
	print_prefixes(w, "subnets", network->subnets, network->n_subnets);
	print_vf(w, &plan->vf);
	print_prefixes(w, "ips", plan->ips, plan->n_ips);
	for (size_t i = 0; i < plan->n_routes; i++)
		json_append(w, routes, route_json(&plan->routes[i]));
	json_put(w, "routes", routes);
	if (plan->ipam[0])
		json_put(w, "ipam", json_text_load(plan->ipam, strlen(plan->ipam), 0, NULL));
}

void network_print(struct json_writer *pool, const struct pool_network *network)
{
	struct json_writer w = {json_object(), false};
	enum plan_kind kind = network->plan.kind;

	print_settings(&w, network);
	json_put(pool, "network", json_finish(&w));
	json_put(pool, "softRoce", json_boolean(network->plan.soft_roce));
	if (kind == PLAN_VF)
		json_put(pool, "clean", json_string(clean_words[network->plan.clean]));
	else
		json_put(pool, "interface", json_string(interface_words[kind == PLAN_IPVLAN]));
}

/* --- schema ----------------------------------------------------------------------------------- */

void config_schema_add_network(json_t *object)
{
	config_schema_property(object, "network", config_schema_of_network());
	config_schema_property(object, "softRoce", config_schema_json(SCHEMA_BOOL));
	config_schema_property(object, "interface",
			       config_schema_words(interface_words, ARRAY_SIZE(interface_words)));
	config_schema_property(object, "clean",
			       config_schema_words(clean_words, ARRAY_SIZE(clean_words)));
}
