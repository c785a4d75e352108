/* pool_config_selectors.c - "selectors" of every grammar: which keys each has, and what cannot be
 * meant together. Pure. */
#include "array.h"
#include "pool_parse.h"

const char *const device_type_words[3] = {"netDevice", "auxNetDevice", "accelerator"};
const char *const vdpa_words[3] = {"", "virtio", "vhost"};

/* --- other values ----------------------------------------------------------------------------- */

static int parse_vdpa(struct parse *p, const struct json_place *at, const json_t *value,
		      void *field)
{
	unsigned kind;
	int r = parse_choice(p, at, value, vdpa_words + 1, 2, &kind);

	if (r == 0)
		*(enum vdpa_kind *)field = (enum vdpa_kind)(kind + 1);
	return r;
}

/* A pool that asks for a DDP profile would get devices with any other one. */
static int refuse_ddp(struct parse *p, const struct json_place *at, const json_t *value,
		      void *field)
{
	(void)field;
	if (json_is_array(value) && json_array_size(value) == 0)
		return 0;
	return parse_fail(p, at, "DDP profiles cannot be read here");
}

/* Of another device type; sriov-network-device-plugin does not look at it either. */
static int ignore_key(struct parse *p, const struct json_place *at, const json_t *value,
		      void *field)
{
	(void)value, (void)field;
	parse_warn(p, at, "has no meaning for this deviceType, ignoring it");
	return 0;
}

#define KEY(name, read, field) PARSE_KEY(name, read, struct selector, field)
#define IGNORED(name)                                                                              \
	{                                                                                          \
		name, ignore_key, 0                                                                \
	}
#define END                                                                                        \
	{                                                                                          \
		NULL, NULL, 0                                                                      \
	}
#define COMMON_KEYS                                                                                \
	KEY("vendors", parse_pci_ids, vendors), KEY("devices", parse_pci_ids, devices),            \
		KEY("drivers", parse_words, drivers)
#define NET_KEYS                                                                                   \
	KEY("pfNames", parse_pfs, pf_names), KEY("rootDevices", parse_roots, root_devices),        \
		KEY("linkTypes", parse_link_types, link_types),                                    \
		KEY("isRdma", parse_bool, is_rdma),                                                \
		KEY("acpiIndexes", parse_acpi_indexes, acpi_indexes)
#define PCI_NET_KEYS                                                                               \
	KEY("pciAddresses", parse_pci_addresses, pci_addresses), KEY("pKeys", parse_pkeys, pkeys), \
		KEY("vdpaType", parse_vdpa, vdpa),                                                 \
		KEY("needVhostNet", parse_bool, need_vhost_net),                                   \
		KEY("ddpProfiles", refuse_ddp, vendors)

const struct parse_key selector_keys_net[] = {COMMON_KEYS, NET_KEYS, PCI_NET_KEYS,
					      IGNORED("auxTypes"), END};
const struct parse_key selector_keys_aux[] = {COMMON_KEYS,
					      NET_KEYS,
					      KEY("auxTypes", parse_words, aux_types),
					      IGNORED("pciAddresses"),
					      IGNORED("pKeys"),
					      IGNORED("vdpaType"),
					      IGNORED("needVhostNet"),
					      IGNORED("ddpProfiles"),
					      END};
const struct parse_key selector_keys_accelerator[] = {
	COMMON_KEYS,
	KEY("pciAddresses", parse_pci_addresses, pci_addresses),
	IGNORED("pfNames"),
	IGNORED("rootDevices"),
	IGNORED("linkTypes"),
	IGNORED("isRdma"),
	IGNORED("acpiIndexes"),
	IGNORED("pKeys"),
	IGNORED("vdpaType"),
	IGNORED("needVhostNet"),
	IGNORED("ddpProfiles"),
	IGNORED("auxTypes"),
	END};
const struct parse_key selector_keys_shared[] = {
	KEY("vendors", parse_pci_ids, vendors),		KEY("deviceIDs", parse_pci_ids, devices),
	KEY("drivers", parse_words, drivers),		KEY("ifNames", parse_words, if_names),
	KEY("linkTypes", parse_link_types, link_types), END};
const struct parse_key selector_keys_native[] = {COMMON_KEYS,
						 NET_KEYS,
						 PCI_NET_KEYS,
						 KEY("auxTypes", parse_words, aux_types),
						 KEY("ifNames", parse_words, if_names),
						 KEY("rdmaNames", parse_words, rdma_names),
						 END};

/* --- one selector, all selectors -------------------------------------------------------------- */

static bool is_user_space(const char *driver)
{
	return strcmp(driver, "vfio-pci") == 0 || strcmp(driver, "igb_uio") == 0 ||
	       strcmp(driver, "uio_pci_generic") == 0;
}

const char *user_space_driver(const struct word_list *drivers)
{
	for (size_t i = 0; i < drivers->n; i++)
		if (is_user_space(drivers->words[i]))
			return drivers->words[i];
	return NULL;
}

static bool only_user_space(const struct word_list *drivers)
{
	for (size_t i = 0; i < drivers->n; i++)
		if (!is_user_space(drivers->words[i]))
			return false;
	return drivers->n > 0;
}

static int check_contradictions(struct parse *p, const struct json_place *at,
				const struct selector *s)
{
	if (s->is_rdma && s->vdpa != VDPA_NONE)
		return parse_fail(p, at, "isRdma and vdpaType exclude each other");
	if (s->is_rdma && only_user_space(&s->drivers))
		return parse_fail(p, at, "isRdma: with driver %s a device has no RDMA device",
				  s->drivers.words[0]);
	return 0;
}

static int read_selector(struct parse *p, const struct json_place *at, const json_t *value,
			 struct pool *pool, const struct parse_key *keys)
{
	struct selector *s = array_push(pool->selectors, pool->n_selectors);
	size_t n = 0;
	int r;

	if (!s)
		return parse_no_memory(p);
	while (keys[n].name)
		n++;
	r = parse_object(p, at, value, keys, n, s);
	if (r == 0 && pool->type == DEVICE_AUX_NET && s->aux_types.n == 0)
		parse_warn(p, at,
			   "selects auxiliary devices of every type; say \"auxTypes\": [\"sf\"]");
	s->is_rdma |= pool->kind != POOL_EXCLUSIVE; /* there is nothing else to share */
	return r < 0 ? r : check_contradictions(p, at, s);
}

static int read_all(struct parse *p, const struct json_place *at, const json_t *value,
		    struct pool *pool, const struct parse_key *keys)
{
	const json_t *item;
	size_t i;
	int r = 0;

	if (json_is_object(value))
		return read_selector(p, at, value, pool, keys);
	if (!json_is_array(value))
		return parse_fail(p, at, "is neither an object nor a list of objects");
	if (json_array_size(value) == 0)
		return parse_fail(p, at, "is an empty list, which selects nothing");
	json_array_foreach (value, i, item) {
		struct json_place here = {at, NULL, i};

		if (r == 0)
			r = read_selector(p, &here, item, pool, keys);
	}
	return r;
}

int parse_selectors(struct parse *p, const struct json_place *at, const json_t *item,
		    struct pool *pool, const struct parse_key *keys, bool strict)
{
	struct json_place here = {at, "selectors", 0};
	const json_t *value = parse_find(item, "selectors", &here.key);
	int r;

	if (!value)
		return parse_fail(p, at, "\"selectors\" is missing; {} selects every device");
	p->strict = strict; /* a misspelt selector would offer every device */
	r = read_all(p, &here, value, pool, keys);
	p->strict = false;
	return r;
}
