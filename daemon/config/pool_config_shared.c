/* pool_config_shared.c - "configList", the grammar of k8s-rdma-shared-dev-plugin: every slot of a
 * pool gives all of the pool's HCAs. Pure. */
#include "pool_parse.h"

#include "array.h"
#include "cleanup.h"

static int parse_slots(struct parse *p, const struct json_place *at, const json_t *value,
		       void *field)
{
	struct pool *pool = field;

	pool->slots_given = true;
	return parse_count(p, at, value, 0, POOL_SLOTS_MAX, &pool->slots);
}

int parse_sub_functions(struct parse *p, const struct json_place *at, const json_t *value,
			void *field)
{
	bool wanted = false;
	int r = parse_bool(p, at, value, &wanted);

	if (r == 0)
		*(bool *)field = !wanted;
	return r;
}

static const struct parse_key keys[] = {
	{"resourceName", NULL, 0},
	{"resourcePrefix", NULL, 0},
	{"rdmaHcaMax", parse_slots, 0},
	{"devices", NULL, 0},
	{"selectors", NULL, 0},
	PARSE_KEY("subFunctions", parse_sub_functions, struct pool, nics_only),
};

/* {} and lists that are all empty select nothing there. */
static bool selects_nothing(const json_t *selectors)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)selectors, key, value)
		if (!json_is_null(value) && !(json_is_array(value) && json_array_size(value) == 0))
			return false;
	return !json_is_array(selectors);
}

/* The older spelling of selectors.ifNames. */
static int read_devices(struct parse *p, const struct json_place *at, const json_t *devices,
			struct pool *pool)
{
	struct selector *s = array_push(pool->selectors, pool->n_selectors);

	if (!s)
		return parse_no_memory(p);
	s->is_rdma = true;
	return parse_words(p, at, devices, &s->if_names);
}

static int read_selection(struct parse *p, const struct json_place *at, const json_t *item,
			  struct pool *pool)
{
	struct json_place here = {at, "devices", 0};
	const json_t *devices = parse_find(item, "devices", &here.key);
	const json_t *selectors = parse_find(item, "selectors", NULL);
	bool by_name = devices && !(json_is_array(devices) && json_array_size(devices) == 0);
	bool by_selectors = selectors && !selects_nothing(selectors);

	if (by_name && by_selectors)
		return parse_fail(p, &here, "stands beside \"selectors\", only one of them may");
	if (!by_name && !by_selectors)
		return parse_fail(p, at, "neither \"selectors\" nor \"devices\" selects anything");
	return by_name ? read_devices(p, &here, devices, pool)
		       : parse_selectors(p, at, item, pool, selector_keys_shared, false);
}

static int read_config(struct parse *p, const struct json_place *at, const json_t *item,
		       struct pool *pool)
{
	int r;

	pool->kind = POOL_SHARED_ALL;
	pool->ids = ID_NUMBER;
	pool->require_umad = true;
	pool->nics_only = true;
	strcpy(pool->permissions, "rwm");
	r = parse_object(p, at, item, keys, ARRAY_SIZE(keys), pool);
	return r < 0 ? r : read_selection(p, at, item, pool);
}

int parse_config_list(struct parse *p, const struct json_place *at, const json_t *list,
		      void *unused)
{
	static const struct pool_grammar grammar = {"rdma", true, read_config};

	(void)unused;
	return parse_pools(p, at, list, &grammar);
}

/* How often it looks for new devices. Events tell us. */
int parse_interval(struct parse *p, const struct json_place *at, const json_t *value, void *unused)
{
	uint32_t seconds;

	(void)unused;
	return parse_count(p, at, value, 0, INT32_MAX, &seconds);
}
