/* pool_config_native.c - "pools", our own grammar: the keys of a resourceList, and all else that a
 * pool can be told. Here a bad selector is an error: nobody depends on its being ignored. Pure. */
#include "pool_parse.h"

#include "array.h"
#include "cleanup.h"

static const char *const kind_words[] = {"exclusive", "shared"};
static const char *const per_slot_words[] = {"one", "all"};
static const char *const id_words[] = {"function", "number", "deviceSlot"};

/* What stands in the file before it is known what goes together. */
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

static int parse_slots(struct parse *p, const struct json_place *at, const json_t *value,
		       void *target)
{
	struct draft *d = target;

	d->pool.slots_given = true;
	return parse_count(p, at, value, 0, POOL_SLOTS_MAX, &d->pool.slots);
}

/* Access to device nodes: some of r, w and m(knod), each once. */
static int parse_permissions(struct parse *p, const struct json_place *at, const json_t *value,
			     void *field)
{
	const char *word = json_string_value(value);
	size_t n = word ? strlen(word) : 0;

	if (!word)
		return parse_fail(p, at, "is not a string");
	if (n == 0 || strspn(word, "rwm") != n)
		return parse_fail(p, at, "'%.20s' is not made of r, w and m", word);
	for (size_t i = 1; i < n; i++)
		if (memchr(word, word[i], i)) /* so it has three at most */
			return parse_fail(p, at, "'%s' says '%c' twice", word, word[i]);
	strcpy(field, word);
	return 0;
}

#define KEY(name, read, field) PARSE_KEY(name, read, struct draft, field)

static const struct parse_key keys[] = {
	{"resourceName", NULL, 0},
	{"resourcePrefix", NULL, 0},
	KEY("kind", parse_kind, shared),
	{"hcaPerSlot", parse_per_slot, 0},
	{"slots", parse_slots, 0},
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
	KEY("ignoreLink", parse_bool, pool.ignore_link),
	KEY("hold", parse_hold, pool.hold),
	{"network", NULL, 0},
	{"softRoce", NULL, 0},
	{"interface", NULL, 0},
	{"clean", NULL, 0},
};

/* --- what goes together ----------------------------------------------------------------------- */

static enum pool_kind kind_of(const struct draft *d)
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

static int check_kind(struct parse *p, const struct json_place *at, const json_t *item,
		      const struct draft *d)
{
	if (!d->shared && d->per_slot_given)
		return parse_refuse(p, at, item, "hcaPerSlot",
				    "only a pool of kind shared has slots");
	if (!d->shared && d->pool.slots_given)
		return parse_refuse(p, at, item, "slots", "only a pool of kind shared has slots");
	if (!d->shared && d->pool.fixed_slots)
		return parse_refuse(p, at, item, "fixedSlots",
				    "only a pool of kind shared has slots");
	if (!d->shared && parse_find(item, "subFunctions", NULL))
		return parse_refuse(
			p, at, item, "subFunctions",
			"of kind exclusive they are a pool of their own, see deviceType");
	if (d->pool.fixed_slots && !d->pool.slots_given)
		return parse_refuse(p, at, item, "fixedSlots", "needs \"slots\"");
	if (d->pool.fixed_slots && !d->all)
		return parse_refuse(p, at, item, "fixedSlots", "needs \"hcaPerSlot\": \"all\"");
	if (d->shared && d->pool.type == DEVICE_ACCELERATOR)
		return parse_refuse(p, at, item, "deviceType", "an accelerator cannot be shared");
	return 0;
}

static int check_ids(struct parse *p, const struct json_place *at, const json_t *item,
		     const struct draft *d)
{
	if (!d->ids_given || d->ids == default_ids(kind_of(d)))
		return 0;
	if (d->shared && !d->all && d->ids == ID_NUMBER)
		return 0;
	return parse_refuse(
		p, at, item, "ids",
		d->shared ? d->all ? "a slot of all HCAs has ids \"number\""
				   : "a slot of one HCA has ids \"deviceSlot\" or \"number\""
			  : "a pool of kind exclusive has ids \"function\"");
}

/* What a selector asks for must exist on the type of device. */
static int check_selector(struct parse *p, const struct json_place *at, const struct draft *d,
			  const struct selector *s)
{
	if (d->pool.type != DEVICE_AUX_NET && s->aux_types.n > 0)
		return parse_fail(p, at, "auxTypes needs \"deviceType\": \"auxNetDevice\"");
	if (d->pool.type != DEVICE_NET && (s->pkeys.n > 0 || s->vdpa != VDPA_NONE))
		return parse_fail(p, at, "pKeys and vdpaType need \"deviceType\": \"netDevice\"");
	if (d->pool.type == DEVICE_AUX_NET && s->pci_addresses.n > 0)
		return parse_fail(p, at, "an auxNetDevice has no PCI address, see rootDevices");
	if (d->pool.type == DEVICE_ACCELERATOR &&
	    (s->is_rdma || s->pf_names.n || s->if_names.n || s->link_types.n || s->rdma_names.n))
		return parse_fail(p, at, "an accelerator has no netdev and no RDMA device");
	if (d->shared && s->vdpa != VDPA_NONE)
		return parse_fail(p, at, "vdpaType needs \"kind\": \"exclusive\"");
	return 0;
}

/* What a native pool offers must be able to become a pod's interface. */
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
			"%s: softRoce makes an RDMA device where there is none, this selects "
			"what has one",
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

static int read_native(struct parse *p, const struct json_place *at, const json_t *item,
		       struct pool *pool)
{
	struct draft d = {.pool = *pool};
	int r;

	r = parse_object(p, at, item, keys, ARRAY_SIZE(keys), &d);
	if (r == 0)
		r = check_kind(p, at, item, &d);
	if (r == 0)
		r = check_ids(p, at, item, &d);
	d.pool.kind = kind_of(&d);
	if (r == 0)
		r = parse_network(p, at, item, &d.pool);
	if (r == 0)
		r = parse_selectors(p, at, item, &d.pool, selector_keys_native, true);
	if (r == 0)
		r = check_selectors(p, at, &d);
	if (!parse_find(item, "deviceInfo", NULL))
		d.pool.device_info = !d.shared; /* a slot is no PCI device of its container */
	d.pool.ids = d.ids_given ? (enum id_style)d.ids : default_ids(d.pool.kind);
	*pool = d.pool;
	return r;
}

int parse_native_pools(struct parse *p, const struct json_place *at, const json_t *list,
		       void *unused)
{
	static const struct pool_grammar grammar = {"rocelet.dev", false, read_native};

	(void)unused;
	return parse_pools(p, at, list, &grammar);
}
