// SPDX-License-Identifier: Apache-2.0
/* pool_config_native.c - "pools", our own grammar, parsed and printed: the keys of a resourceList,
 * and all other settings of a pool. Wrong selectors are errors in this grammar: there are no
 * existing files that rely on them being ignored. Pure. */
#include "array.h"
#include "cleanup.h"
#include "config_schema.h"
#include "pool_idle.h"

static const char *const kind_words[] = {"exclusive", "shared"};
static const char *const per_slot_words[] = {"one", "all"};
static const char *const id_words[] = {"function", "number", "deviceSlot"};

/* --- health reasons, and their hold times ----------------------------------------------------- */

/* One hour. A longer time would in effect disable a reason; ignoreLink is the key for that. */
#define HOLD_MAX_MS 3600000

/* A removed device is unhealthy at once. A link that is down for less than a second is usually
 * caused by the switch and no reason to reschedule; one that was down for longer must stay up for a
 * while. A device that is leaving its pod may be allocated, because the next container's start
 * waits for it. */
static const struct {
	const char *name, *key;
	struct hold_times hold;
} reasons[N_HEALTH_REASONS] = {
	[HEALTH_GONE] = {"gone", "gone", {0, 1000}},
	[HEALTH_NO_DRIVER] = {"no_driver", "noDriver", {0, 1000}},
	[HEALTH_NO_CHARDEV] = {"no_chardev", "noChardev", {0, 1000}},
	[HEALTH_NO_RDMA] = {"no_rdma", "noRdma", {0, 1000}},
	[HEALTH_LINK_DOWN] = {"link_down", "linkDown", {1000, 3000}},
	[HEALTH_PORT_DOWN] = {"port_down", "portDown", {1000, 3000}},
	[HEALTH_PCI] = {"pci", "pci", {0, 5000}},
	[HEALTH_DEVLINK] = {"devlink", "devlink", {1000, 5000}},
	[HEALTH_NOT_CLEAN] = {"not_clean", "notClean", {0, 0}},
	[HEALTH_LEAVING] = {"leaving", "leaving", {HOLD_MAX_MS, 0}},
	[HEALTH_NODE_CHANGED] = {"node_changed", "nodeChanged", {0, 0}},
	[HEALTH_NODE_HELD] = {"node_held", "nodeHeld", {0, 0}},
};

const char *health_reason_name(enum health_reason reason)
{
	return reason < N_HEALTH_REASONS ? reasons[reason].name : "unknown";
}

void hold_defaults(struct hold_times hold[N_HEALTH_REASONS])
{
	for (size_t i = 0; i < N_HEALTH_REASONS; i++)
		hold[i] = reasons[i].hold;
}

static int parse_ms(struct parse *p, const struct json_place *at, const json_t *value, void *field)
{
	return parse_count(p, at, value, 0, HOLD_MAX_MS, field);
}

static int parse_times(struct parse *p, const struct json_place *at, const json_t *value,
		       void *field)
{
	static const struct parse_key keys[] = {
		PARSE_KEY("downMs", parse_ms, struct hold_times, down_ms),
		PARSE_KEY("upMs", parse_ms, struct hold_times, up_ms),
	};

	return parse_object(p, at, value, keys, ARRAY_SIZE(keys), field);
}

static int parse_hold(struct parse *p, const struct json_place *at, const json_t *value,
		      void *field)
{
	struct parse_key keys[N_HEALTH_REASONS];

	for (size_t i = 0; i < N_HEALTH_REASONS; i++)
		keys[i] = (struct parse_key){reasons[i].key, parse_times,
					     i * sizeof(struct hold_times)};
	return parse_object(p, at, value, keys, N_HEALTH_REASONS, field);
}

/* --- keys ------------------------------------------------------------------------------------- */

/* The values of the file before contradictions are checked. */
struct draft {
	struct pool pool;
	bool shared, all;
	bool per_slot_given, ids_given;
	unsigned ids;
};

static int parse_kind(struct parse *p, const struct json_place *at, const json_t *value,
		      void *field)
{
	unsigned kind;
	int r = parse_choice(p, at, value, kind_words, ARRAY_SIZE(kind_words), &kind);

	if (r == 0)
		*(bool *)field = kind == 1;
	return r;
}

static int parse_per_slot(struct parse *p, const struct json_place *at, const json_t *value,
			  void *target)
{
	struct draft *d = target;
	unsigned word;
	int r = parse_choice(p, at, value, per_slot_words, ARRAY_SIZE(per_slot_words), &word);

	if (r == 0) {
		d->all = word == 1;
		d->per_slot_given = true;
	}
	return r;
}

static int parse_ids(struct parse *p, const struct json_place *at, const json_t *value,
		     void *target)
{
	struct draft *d = target;

	d->ids_given = true;
	return parse_choice(p, at, value, id_words, ARRAY_SIZE(id_words), &d->ids);
}

static int pool_config_native_parse_slots(struct parse *p, const struct json_place *at,
					  const json_t *value, void *target)
{
	struct draft *d = target;

	d->pool.slots_given = true;
	return parse_count(p, at, value, 0, POOL_SLOTS_MAX, &d->pool.slots);
}

/* Access to device nodes: some of r, w and m(knod), each at most once. */
static int parse_permissions(struct parse *p, const struct json_place *at, const json_t *value,
			     void *field)
{
	const char *word = json_string_value(value);
	size_t n = word ? strlen(word) : 0;

	if (!word)
		return parse_fail(p, at, "is not a string");
	if (n == 0 || strspn(word, "rwm") != n)
		return parse_fail(p, at, "'%.20s' must consist of r, w and m", word);
	for (size_t i = 1; i < n; i++)
		if (memchr(word, word[i], i)) /* no duplicates, so at most three letters */
			return parse_fail(p, at, "'%s' has '%c' twice", word, word[i]);
	strcpy(field, word);
	return 0;
}

#define KEY(name, read, field) PARSE_KEY(name, read, struct draft, field)

static const struct parse_key keys[] = {
	{"resourceName", NULL, 0},
	{"resourcePrefix", NULL, 0},
	KEY("kind", parse_kind, shared),
	{"hcaPerSlot", parse_per_slot, 0},
	{"slots", pool_config_native_parse_slots, 0},
	{"ids", parse_ids, 0},
	KEY("deviceType", parse_device_type, pool.type),
	{"selectors", NULL, 0},
	KEY("excludeTopology", parse_bool, pool.exclude_topology),
	KEY("additionalInfo", parse_extra, pool),
	KEY("permissions", parse_permissions, pool.permissions),
	KEY("issm", parse_bool, pool.issm),
	KEY("umad", parse_bool, pool.umad),
	KEY("requireUmad", parse_bool, pool.require_umad),
	KEY("wholeDirectory", parse_bool, pool.whole_directory),
	KEY("fixedSlots", parse_bool, pool.fixed_slots),
	KEY("subFunctions", parse_sub_functions, pool.nics_only),
	KEY("cdi", parse_bool, pool.cdi),
	KEY("deviceInfo", parse_bool, pool.device_info),
	KEY("podStatus", parse_bool, pool.pod_status),
	KEY("ignoreLink", parse_bool, pool.ignore_link),
	KEY("hold", parse_hold, pool.hold),
	{"network", NULL, 0},
	{"softRoce", NULL, 0},
	{"interface", NULL, 0},
	{"clean", NULL, 0},
};

size_t pool_key_names(const char *ret[POOL_KEYS_MAX])
{
	_Static_assert(ARRAY_SIZE(keys) <= POOL_KEYS_MAX, "room for all keys");
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		ret[i] = keys[i].name;
	return ARRAY_SIZE(keys);
}

/* --- contradictions --------------------------------------------------------------------------- */

static enum pool_kind pool_config_native_kind_of(const struct draft *d)
{
	if (!d->shared)
		return POOL_EXCLUSIVE;
	return d->all ? POOL_SHARED_ALL : POOL_SHARED_ONE;
}

static enum id_style default_ids(enum pool_kind kind)
{
	switch (kind) {
	case POOL_EXCLUSIVE:
		return ID_FUNCTION;
	case POOL_SHARED_ALL:
		return ID_NUMBER;
	case POOL_SHARED_ONE:
		return ID_DEVICE_SLOT;
	}
	return ID_FUNCTION;
}

static int pool_config_native_check_kind(struct parse *p, const struct json_place *at,
					 const json_t *item, const struct draft *d)
{
	if (!d->shared && d->per_slot_given)
		return parse_reject(p, at, item, "hcaPerSlot",
				    "only a pool of kind shared has slots");
	if (!d->shared && d->pool.slots_given)
		return parse_reject(p, at, item, "slots", "only a pool of kind shared has slots");
	if (!d->shared && d->pool.fixed_slots)
		return parse_reject(p, at, item, "fixedSlots",
				    "only a pool of kind shared has slots");
	if (!d->shared && json_find(item, "subFunctions", NULL))
		return parse_reject(
			p, at, item, "subFunctions",
			"in kind exclusive, sub-functions need a separate pool, see deviceType");
	if (d->pool.fixed_slots && !d->pool.slots_given)
		return parse_reject(p, at, item, "fixedSlots", "needs \"slots\"");
	if (d->pool.fixed_slots && !d->all)
		return parse_reject(p, at, item, "fixedSlots", "needs \"hcaPerSlot\": \"all\"");
	if (d->shared && d->pool.type == DEVICE_ACCELERATOR)
		return parse_reject(p, at, item, "deviceType", "an accelerator cannot be shared");
	if (d->pool.pod_status && d->shared)
		return parse_reject(p, at, item, "podStatus",
				    "the counters of a shared device include those of other pods");
	if (d->pool.pod_status && d->pool.type == DEVICE_ACCELERATOR)
		return parse_reject(p, at, item, "podStatus", "an accelerator has no ports");
	return 0;
}

static int pool_config_native_check_ids(struct parse *p, const struct json_place *at,
					const json_t *item, const struct draft *d)
{
	if (!d->ids_given || d->ids == default_ids(pool_config_native_kind_of(d)))
		return 0;
	if (d->shared && !d->all && d->ids == ID_NUMBER)
		return 0;
	return parse_reject(
		p, at, item, "ids",
		d->shared ? d->all ? "a slot of all HCAs has ids \"number\""
				   : "a slot of one HCA has ids \"deviceSlot\" or \"number\""
			  : "a pool of kind exclusive has ids \"function\"");
}

/* Rejects keys of a selector that do not exist for the pool's type of device. */
static int check_selector(struct parse *p, const struct json_place *at, const struct draft *d,
			  const struct selector *s)
{
	if (d->pool.type != DEVICE_AUX_NET && s->aux_types.n > 0)
		return parse_fail(p, at, "auxTypes needs \"deviceType\": \"auxNetDevice\"");
	if (d->pool.type != DEVICE_NET &&
	    (s->pkeys.n > 0 || s->vdpa != VDPA_NONE || s->need_vhost_net))
		return parse_fail(
			p, at,
			"pKeys, vdpaType and needVhostNet need \"deviceType\": \"netDevice\"");
	if (d->pool.type == DEVICE_AUX_NET && s->pci_addresses.n > 0)
		return parse_fail(p, at, "an auxNetDevice has no PCI address, see rootDevices");
	if (d->pool.type == DEVICE_ACCELERATOR &&
	    (s->is_rdma || s->pf_names.n || s->if_names.n || s->link_types.n || s->rdma_names.n))
		return parse_fail(p, at, "an accelerator has no netdev and no RDMA device");
	if (d->shared && s->vdpa != VDPA_NONE)
		return parse_fail(p, at, "vdpaType needs \"kind\": \"exclusive\"");
	return 0;
}

/* Rejects a selector of devices that cannot become a pod's interface, in a pool with a network. */
static int check_native(struct parse *p, const struct json_place *at, const struct draft *d,
			const struct selector *s)
{
	const char *driver = user_space_driver(&s->drivers);

	if (!d->pool.network)
		return 0;
	if (driver)
		return parse_fail(
			p, at,
			"drivers: with driver %s a device has no netdev that could become a "
			"pod's interface",
			driver);
	if (s->vdpa == VDPA_VHOST)
		return parse_fail(
			p, at,
			"vdpaType: a vhost device has no netdev that could become a pod's "
			"interface");
	if (d->pool.network->plan.soft_roce && (s->is_rdma || s->rdma_names.n > 0))
		return parse_fail(
			p, at,
			"%s: softRoce creates an RDMA device where there is none, but this selects "
			"devices that have one",
			s->is_rdma ? "isRdma" : "rdmaNames");
	return 0;
}

static int check_selectors(struct parse *p, const struct json_place *at, const struct draft *d)
{
	struct json_place here = {at, "selectors", 0};
	int r = 0;

	for (size_t i = 0; i < d->pool.n_selectors && r == 0; i++) {
		r = check_selector(p, &here, d, &d->pool.selectors[i]);
		if (r == 0)
			r = check_native(p, &here, d, &d->pool.selectors[i]);
	}
	return r;
}

/* Reads the keys of a pool. Unknown ones are errors: with "network" misspelt, for example, the pool
 * would not attach its devices. */
static int pool_config_native_read_keys(struct parse *p, const struct json_place *at,
					const json_t *item, struct draft *d)
{
	bool before = p->strict;
	int r;

	p->strict = true;
	r = parse_object(p, at, item, keys, ARRAY_SIZE(keys), d);
	p->strict = before;
	return r;
}

static int read_native(struct parse *p, const struct json_place *at, const json_t *item,
		       struct pool *pool)
{
	struct draft d = {.pool = *pool};
	int r = pool_config_native_read_keys(p, at, item, &d);

	if (r == 0)
		r = pool_config_native_check_kind(p, at, item, &d);
	if (r == 0)
		r = pool_config_native_check_ids(p, at, item, &d);
	d.pool.kind = pool_config_native_kind_of(&d);
	if (r == 0)
		r = parse_network(p, at, item, &d.pool);
	if (r == 0 && d.pool.whole_directory && d.pool.network && d.pool.network->plan.soft_roce)
		r = parse_reject(p, at, item, "wholeDirectory",
				 "with softRoce the container's /dev/infiniband is the folder of "
				 "the soft-RoCE devices");
	if (r == 0)
		r = parse_selectors(p, at, item, &d.pool, selector_keys_native, true);
	if (r == 0)
		r = check_selectors(p, at, &d);
	if (!json_find(item, "deviceInfo", NULL))
		d.pool.device_info = !d.shared; /* a slot is not a PCI device in the container */
	d.pool.ids = d.ids_given ? (enum id_style)d.ids : default_ids(d.pool.kind);
	*pool = d.pool;
	return r < 0 ? r : pool_idle_check(p, at, item, pool);
}

const struct pool_grammar grammar_native = {"rocelet.dev", false, read_native};

/* --- printing: with every default; parsing the result yields the same pools ------------------- */

/* --- selectors -------------------------------------------------------------------------------- */

static void put_words(struct json_writer *w, const char *key, const struct word_list *list)
{
	json_t *array;

	if (list->n == 0)
		return;
	array = json_array();
	for (size_t i = 0; i < list->n; i++)
		json_append(w, array, json_string(list->words[i]));
	json_put(w, key, array);
}

/* Prints "name#0,2-5"; NULL when out of memory. */
static json_t *pf_json(const struct pf_selector *pf)
{
	AUTO_FREE char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	fputs(pf->name, f);
	for (size_t i = 0; i < pf->n_ranges; i++) {
		fprintf(f, "%c%u", i ? ',' : '#', pf->ranges[i].first);
		if (pf->ranges[i].last != pf->ranges[i].first)
			fprintf(f, "-%u", pf->ranges[i].last);
	}
	return fclose(f) == 0 ? json_string(text) : NULL;
}

static void put_pfs(struct json_writer *w, const char *key, const struct pf_selectors *pfs)
{
	json_t *array;

	if (pfs->n == 0)
		return;
	array = json_array();
	for (size_t i = 0; i < pfs->n; i++)
		json_append(w, array, pf_json(&pfs->list[i]));
	json_put(w, key, array);
}

static json_t *selector_json(const struct pool *pool, const struct selector *s)
{
	struct json_writer w = {json_object(), false};

	put_words(&w, "vendors", &s->vendors);
	put_words(&w, "devices", &s->devices);
	put_words(&w, "drivers", &s->drivers);
	put_words(&w, "pciAddresses", &s->pci_addresses);
	put_words(&w, "acpiIndexes", &s->acpi_indexes);
	put_words(&w, "auxTypes", &s->aux_types);
	put_pfs(&w, "pfNames", &s->pf_names);
	put_pfs(&w, "rootDevices", &s->root_devices);
	put_words(&w, "ifNames", &s->if_names);
	put_words(&w, "linkTypes", &s->link_types);
	put_words(&w, "pKeys", &s->pkeys);
	put_words(&w, "rdmaNames", &s->rdma_names);
	if (s->is_rdma)
		json_put(&w, "isRdma", json_true());
	if (s->need_vhost_net && !pool_idle_why(pool, "selectors", "needVhostNet"))
		json_put(&w, "needVhostNet", json_true());
	if (s->vdpa != VDPA_NONE)
		json_put(&w, "vdpaType", json_string(vdpa_words[s->vdpa]));
	return json_finish(&w);
}

static json_t *selectors_json(const struct pool *pool)
{
	json_t *array = json_array();
	int r = 0;

	for (size_t i = 0; i < pool->n_selectors && r == 0; i++)
		r = json_array_append_new(array, selector_json(pool, &pool->selectors[i]));
	if (r == 0)
		return array;
	json_decref(array);
	return NULL;
}

/* --- the rest of a pool ----------------------------------------------------------------------- */

static void pool_config_native_put_kind(struct json_writer *w, const struct pool *pool)
{
	bool shared = pool->kind != POOL_EXCLUSIVE;

	json_put(w, "kind", json_string(kind_words[shared]));
	if (shared)
		json_put(w, "hcaPerSlot",
			 json_string(per_slot_words[pool->kind == POOL_SHARED_ALL]));
	if (pool->slots_given)
		json_put(w, "slots", json_integer(pool->slots));
	if (pool->fixed_slots)
		json_put(w, "fixedSlots", json_true());
	json_put(w, "ids", json_string(id_words[pool->ids]));
	json_put(w, "deviceType", json_string(device_type_words[pool->type]));
}

/* Adds a key that may have no effect in this pool, and is then left out: when the printed
 * configuration is read, it must cause no warning. Takes ownership of the value. */
static void put_effective(struct json_writer *w, const struct pool *pool, const char *key,
			  json_t *value)
{
	if (pool_idle_why(pool, NULL, key))
		json_decref(value);
	else
		json_put(w, key, value);
}

static void put_extra(struct json_writer *w, const struct pool *pool)
{
	json_t *all = json_object();

	for (size_t i = 0; i < pool->n_extra; i++) {
		const struct extra_info *extra = &pool->extra[i];
		json_t *of_device = json_object_get(all, extra->device);

		if (!of_device) {
			of_device = json_object();
			w->failed |= json_object_set_new(all, extra->device, of_device) < 0;
		}
		w->failed |= json_object_set_new(of_device, extra->key, json_string(extra->value)) <
			     0;
	}
	put_effective(w, pool, "additionalInfo", all);
}

static void put_hold(struct json_writer *w, const struct pool *pool)
{
	json_t *all = json_object();

	for (unsigned i = 0; i < N_HEALTH_REASONS; i++) {
		if (pool_idle_why(pool, "hold", reasons[i].key))
			continue;
		w->failed |= json_object_set_new(all, reasons[i].key,
						 json_pack("{s:I, s:I}", "downMs",
							   (json_int_t)pool->hold[i].down_ms,
							   "upMs",
							   (json_int_t)pool->hold[i].up_ms)) < 0;
	}
	json_put(w, "hold", all);
}

static json_t *pool_json(const struct pool *pool)
{
	struct json_writer w = {json_object(), false};

	json_put(&w, "resourceName", json_string(pool->name));
	json_put(&w, "resourcePrefix", json_string(pool->prefix));
	pool_config_native_put_kind(&w, pool);
	json_put(&w, "selectors", selectors_json(pool));
	put_effective(&w, pool, "permissions", json_string(pool->permissions));
	if (pool->nics_only)
		put_effective(&w, pool, "subFunctions", json_false());
	put_effective(&w, pool, "issm", json_boolean(pool->issm));
	put_effective(&w, pool, "umad", json_boolean(pool->umad));
	put_effective(&w, pool, "requireUmad", json_boolean(pool->require_umad));
	json_put(&w, "wholeDirectory", json_boolean(pool->whole_directory));
	json_put(&w, "excludeTopology", json_boolean(pool->exclude_topology));
	put_effective(&w, pool, "cdi", json_boolean(pool->cdi));
	put_effective(&w, pool, "deviceInfo", json_boolean(pool->device_info));
	json_put(&w, "podStatus", json_boolean(pool->pod_status));
	put_effective(&w, pool, "ignoreLink", json_boolean(pool->ignore_link));
	put_hold(&w, pool);
	if (pool->n_extra > 0)
		put_extra(&w, pool);
	if (pool->network)
		network_print(&w, pool->network);
	return json_finish(&w);
}

json_t *pool_config_tree(const struct pool_config *c)
{
	json_t *array = json_array();
	int r = 0;

	for (size_t i = 0; i < c->n_pools && r == 0; i++)
		r = json_array_append_new(array, pool_json(&c->pools[i]));
	if (r == 0)
		return array;
	json_decref(array);
	return NULL;
}

/* --- schema ----------------------------------------------------------------------------------- */

#define NATIVE_WORDS(words) config_schema_words(words, ARRAY_SIZE(words))

static json_t *native_words_schema(const struct parse_key *key)
{
	if (key->read == parse_kind)
		return NATIVE_WORDS(kind_words);
	if (key->read == parse_per_slot)
		return NATIVE_WORDS(per_slot_words);
	if (key->read == parse_ids)
		return NATIVE_WORDS(id_words);
	return NATIVE_WORDS(device_type_words);
}

static json_t *native_slots_schema(const struct parse_key *key)
{
	(void)key;
	return config_schema_integer(0, POOL_SLOTS_MAX);
}

static json_t *native_hold_schema(const struct parse_key *key)
{
	json_t *hold = config_schema_object();

	(void)key;
	for (size_t i = 0; i < N_HEALTH_REASONS; i++) {
		json_t *times = config_schema_object();

		config_schema_property(times, "downMs", config_schema_integer(0, HOLD_MAX_MS));
		config_schema_property(times, "upMs", config_schema_integer(0, HOLD_MAX_MS));
		config_schema_property(hold, reasons[i].key, times);
	}
	return hold;
}

json_t *config_schema_of_native(void)
{
	static const struct config_schema_shape shapes[] = {
		{NULL, "resourceName", SCHEMA_NAME, NULL},
		{NULL, "resourcePrefix", SCHEMA_PREFIX, NULL},
		{NULL, "selectors", SCHEMA_ANY, NULL}, /* these five are replaced below */
		{NULL, "network", SCHEMA_ANY, NULL},
		{NULL, "softRoce", SCHEMA_ANY, NULL},
		{NULL, "interface", SCHEMA_ANY, NULL},
		{NULL, "clean", SCHEMA_ANY, NULL},
		{parse_kind, NULL, NULL, native_words_schema},
		{parse_per_slot, NULL, NULL, native_words_schema},
		{parse_ids, NULL, NULL, native_words_schema},
		{parse_device_type, NULL, NULL, native_words_schema},
		{pool_config_native_parse_slots, NULL, NULL, native_slots_schema},
		{parse_extra, NULL, SCHEMA_EXTRA, NULL},
		{parse_permissions, NULL, "{\"type\": \"string\", \"pattern\": \"^[rwm]{1,3}$\"}",
		 NULL},
		{parse_sub_functions, NULL, SCHEMA_BOOL, NULL},
		{parse_hold, NULL, NULL, native_hold_schema},
	};
	json_t *pool = config_schema_table(keys, ARRAY_SIZE(keys), shapes, ARRAY_SIZE(shapes));

	config_schema_property(pool, "selectors", config_schema_of_selectors(selector_keys_native));
	config_schema_add_network(pool);
	config_schema_require(pool, "resourceName");
	config_schema_require(pool, "selectors");
	return pool;
}
