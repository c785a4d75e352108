/* pool_config_sriov.c - "resourceList", the grammar of sriov-network-device-plugin. Pure. */
#include "pool_parse.h"

#include "array.h"
#include "cleanup.h"

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

/* "*" or a device ID: what has a colon is a PCI address. */
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

		if (r == 0)
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

		if (r == 0)
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

/* Very old versions had it beside the selectors; there it says nothing any more. */
static int warn_misplaced(struct parse *p, const struct json_place *at, const json_t *value,
			  void *field)
{
	(void)value, (void)field;
	parse_warn(p, at, "belongs into \"selectors\", ignoring it");
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

static int read_resource(struct parse *p, const struct json_place *at, const json_t *item,
			 struct pool *pool)
{
	int r;

	pool->device_info = true;
	r = parse_object(p, at, item, keys, ARRAY_SIZE(keys), pool);
	return r < 0 ? r : parse_selectors(p, at, item, pool, selector_keys(pool->type), false);
}

int parse_resource_list(struct parse *p, const struct json_place *at, const json_t *list,
			void *unused)
{
	static const struct pool_grammar grammar = {"intel.com", true, read_resource};

	(void)unused;
	return parse_pools(p, at, list, &grammar);
}
