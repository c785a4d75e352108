// SPDX-License-Identifier: Apache-2.0
/* pool_config_peers.c - the grammars of other device plugins. "resourceList" is
 * sriov-network-device-plugin's. "configList" is k8s-rdma-shared-dev-plugin's: every slot of a pool
 * grants all of the pool's HCAs. "mode" and "pfNetdevices" are k8s-rdma-sriov-dev-plugin's: one
 * pool with a fixed name, whose containers get all of /dev/infiniband. Pure. */
#include <strings.h>

#include "array.h"
#include "cleanup.h"
#include "config_schema.h"
#include "pool_parse.h"

int parse_device_type(struct parse *p, const struct json_place *at, const json_t *value,
		      void *field)
{
	unsigned type;
	int r;

	if (json_is_string(value) && *json_string_value(value) == '\0')
		return 0;
	r = parse_choice(p, at, value, device_type_words, 3, &type);
	if (r == 0)
		*(enum device_type *)field = (enum device_type)type;
	return r;
}

/* --- additionalInfo: {"*" or a device ID: {key: value}} --------------------------------------- */

static int add_extra(struct parse *p, const struct json_place *at, const char *device,
		     const json_t *value, struct pool *pool)
{
	struct extra_info *extra;

	if (!json_is_string(value))
		return parse_fail(p, at, "of \"%.40s\" in \"additionalInfo\" is not a string",
				  device);
	extra = array_push(pool->extra, pool->n_extra);
	if (!extra)
		return parse_no_memory(p);
	extra->device = strdup(device);
	extra->key = strdup(at->key);
	extra->value = strdup(json_string_value(value));
	return extra->device && extra->key && extra->value ? 0 : parse_no_memory(p);
}

/* True for "*" or a device ID; a key with a colon must be a PCI address. */
static bool is_device_key(const char *key)
{
	struct pci_addr a;

	return strchr(key, ':') ? pci_addr_parse(key, &a) : *key != '\0';
}

static int read_extra_of(struct parse *p, const struct json_place *at, const json_t *object,
			 struct pool *pool)
{
	const char *key;
	json_t *value;
	int r = 0;

	if (!is_device_key(at->key))
		return parse_fail(p, at,
				  "in \"additionalInfo\" is neither \"*\" nor a device ID like "
				  "0000:03:00.1");
	if (!json_is_object(object))
		return parse_fail(p, at, "in \"additionalInfo\" is not an object");
	json_object_foreach ((json_t *)object, key, value) {
		struct json_place here = {at, key, 0};

		if (r == 0 && !json_is_null(value))
			r = add_extra(p, &here, at->key, value, pool);
	}
	return r;
}

int parse_extra(struct parse *p, const struct json_place *at, const json_t *object, void *field)
{
	const char *device;
	json_t *value;
	int r = 0;

	if (!json_is_object(object))
		return parse_fail(p, at, "is not an object");
	json_object_foreach ((json_t *)object, device, value) {
		struct json_place here = {at, device, 0};

		if (r == 0 && !json_is_null(value))
			r = read_extra_of(p, &here, value, field);
	}
	return r;
}

/* --- one resource ----------------------------------------------------------------------------- */

static const struct parse_key *selector_keys(enum device_type type)
{
	switch (type) {
	case DEVICE_NET:
		return selector_keys_net;
	case DEVICE_AUX_NET:
		return selector_keys_aux;
	case DEVICE_ACCELERATOR:
		return selector_keys_accelerator;
	}
	return selector_keys_net;
}

/* Ignores "isRdma" next to "selectors", where very old versions of the plugin had it. */
static int warn_misplaced(struct parse *p, const struct json_place *at, const json_t *value,
			  void *field)
{
	(void)value, (void)field;
	parse_warn(p, at, "belongs in \"selectors\", ignoring it");
	return 0;
}

static const struct parse_key keys[] = {
	{"resourceName", NULL, 0},
	{"resourcePrefix", NULL, 0},
	PARSE_KEY("deviceType", parse_device_type, struct pool, type),
	PARSE_KEY("excludeTopology", parse_bool, struct pool, exclude_topology),
	{"additionalInfo", parse_extra, 0},
	{"selectors", NULL, 0},
	{"isRdma", warn_misplaced, 0},
};

static int parse_read_resource(struct parse *p, const struct json_place *at, const json_t *item,
			       struct pool *pool)
{
	int r;

	pool->device_info = true;
	r = parse_object(p, at, item, keys, ARRAY_SIZE(keys), pool);
	return r < 0 ? r : parse_selectors(p, at, item, pool, selector_keys(pool->type), false);
}

const struct pool_grammar grammar_resource_list = {"intel.com", true, parse_read_resource};

/* --- configList ------------------------------------------------------------------------------- */

static int pool_config_peers_parse_slots(struct parse *p, const struct json_place *at,
					 const json_t *value, void *field)
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

static const struct parse_key shared_keys[] = {
	{"resourceName", NULL, 0},
	{"resourcePrefix", NULL, 0},
	{"rdmaHcaMax", pool_config_peers_parse_slots, 0},
	{"devices", NULL, 0},
	{"selectors", NULL, 0},
	PARSE_KEY("subFunctions", parse_sub_functions, struct pool, nics_only),
};

/* True for {} and objects with only empty lists, which select nothing in this grammar. */
static bool selects_nothing(const json_t *selectors)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)selectors, key, value)
		if (!json_is_null(value) && !(json_is_array(value) && json_array_size(value) == 0))
			return false;
	return !json_is_array(selectors);
}

/* Reads "devices", the older spelling of selectors.ifNames. */
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
	const json_t *devices = json_find(item, "devices", &here.key);
	const json_t *selectors = json_find(item, "selectors", NULL);
	bool by_name = devices && !(json_is_array(devices) && json_array_size(devices) == 0);
	bool by_selectors = selectors && !selects_nothing(selectors);

	if (by_name && by_selectors)
		return parse_fail(p, &here, "excludes \"selectors\": give only one of them");
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
	r = parse_object(p, at, item, shared_keys, ARRAY_SIZE(shared_keys), pool);
	return r < 0 ? r : read_selection(p, at, item, pool);
}

const struct pool_grammar grammar_config_list = {"rdma", true, read_config};

/* Checks the plugin's interval for rescans, which is not used, because rocelet uses events. */
int parse_interval(struct parse *p, const struct json_place *at, const json_t *value, void *unused)
{
	uint32_t seconds;

	(void)unused;
	return parse_count(p, at, value, 0, INT32_MAX, &seconds);
}

/* --- mode ------------------------------------------------------------------------------------- */

#define MODE_HCA_SLOTS 1000

/* Selects all VFs of the PF, but not the PF itself. */
static int parse_add_pf(struct parse *p, const struct json_place *at, const json_t *value,
			void *field)
{
	struct selector *s = field;
	struct pf_selector *pf;

	/* '#' would start VF numbers in the other grammars. */
	if (!json_is_string(value) || *json_string_value(value) == '\0' ||
	    strchr(json_string_value(value), '#'))
		return parse_fail(p, at, "is not the name of a netdev");
	pf = array_push(s->pf_names.list, s->pf_names.n);
	if (!pf)
		return parse_no_memory(p);
	pf->name = strdup(json_string_value(value));
	pf->ranges = malloc(sizeof(*pf->ranges));
	if (!pf->name || !pf->ranges)
		return parse_no_memory(p);
	pf->ranges[pf->n_ranges++] = (struct pf_range){0, UINT16_MAX};
	return 0;
}

static int read_pf_netdevices(struct parse *p, const struct json_place *at, const json_t *list,
			      struct selector *s)
{
	if (!list)
		return parse_fail(p, at, "sriov needs \"pfNetdevices\", whose VFs are offered");
	if (json_is_array(list) && json_array_size(list) == 0)
		return parse_fail(p, at, "is not a list of netdevs");
	return parse_each(p, at, list, "a list of netdevs", parse_add_pf, s);
}

static void set_hca(struct pool *pool)
{
	pool->kind = POOL_SHARED_ALL;
	pool->ids = ID_NUMBER;
	pool->slots = MODE_HCA_SLOTS;
	pool->slots_given = true;
	pool->fixed_slots = true;
}

int parse_mode(struct parse *p, const struct json_place *at, const json_t *root, struct pool *pool)
{
	static const char *const modes[] = {"hca", "sriov"};
	struct json_place pfs_at = {p->top, at->key, 0};
	const json_t *pfs = json_find(root, "pfNetdevices", &pfs_at.key);
	struct selector *s;
	unsigned mode;
	int r = parse_choice(p, at, json_object_get(root, at->key), modes, 2, &mode);

	if (r < 0)
		return r;
	if (mode == 0 && pfs)
		parse_warn(p, &pfs_at, "has no meaning in mode hca, ignoring it");
	s = array_push(pool->selectors, pool->n_selectors);
	pool->prefix = strdup("rdma");
	pool->name = strdup(mode == 0 ? "hca" : "vhca");
	if (!s || !pool->prefix || !pool->name)
		return parse_no_memory(p);
	s->is_rdma = true;
	pool->whole_directory = true;
	strcpy(pool->permissions, "rwm");
	if (mode == 1)
		return read_pf_netdevices(p, &pfs_at, pfs, s);
	set_hca(pool);
	return 0;
}

/* --- schema ----------------------------------------------------------------------------------- */

static json_t *peers_type_schema(const struct parse_key *key)
{
	(void)key;
	return config_schema_words(device_type_words, ARRAY_SIZE(device_type_words));
}

json_t *config_schema_of_resource(void)
{
	static const struct config_schema_shape shapes[] = {
		{NULL, "resourceName", SCHEMA_NAME, NULL},
		{NULL, "resourcePrefix", SCHEMA_PREFIX, NULL},
		{NULL, "selectors", SCHEMA_ANY, NULL}, /* replaced below */
		{parse_device_type, NULL, NULL, peers_type_schema},
		{parse_extra, NULL, SCHEMA_EXTRA, NULL},
		{warn_misplaced, NULL, SCHEMA_ANY, NULL},
	};
	json_t *pool = config_schema_table(keys, ARRAY_SIZE(keys), shapes, ARRAY_SIZE(shapes));

	config_schema_property(pool, "selectors", config_schema_of_selectors(selector_keys_net));
	config_schema_require(pool, "resourceName");
	config_schema_require(pool, "selectors");
	return pool;
}

static json_t *peers_slots_schema(const struct parse_key *key)
{
	(void)key;
	return config_schema_integer(0, POOL_SLOTS_MAX);
}

json_t *config_schema_of_shared(void)
{
	static const struct config_schema_shape shapes[] = {
		{NULL, "resourceName", SCHEMA_NAME, NULL},
		{NULL, "resourcePrefix", SCHEMA_PREFIX, NULL},
		{NULL, "devices", SCHEMA_WORDS, NULL},
		{NULL, "selectors", SCHEMA_ANY, NULL}, /* replaced below */
		{pool_config_peers_parse_slots, NULL, NULL, peers_slots_schema},
		{parse_sub_functions, NULL, SCHEMA_BOOL, NULL},
	};
	json_t *pool = config_schema_table(shared_keys, ARRAY_SIZE(shared_keys), shapes,
					   ARRAY_SIZE(shapes));

	config_schema_property(pool, "selectors", config_schema_of_selectors(selector_keys_shared));
	config_schema_require(pool, "resourceName");
	return pool;
}
