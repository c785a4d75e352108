// SPDX-License-Identifier: Apache-2.0
/* pool_config_selectors.c - "selectors" of every grammar: the allowed keys, the words of their
 * lists in the canonical form for comparison, and contradictions. Pure. */
#include <ctype.h>
#include <strings.h>

#include "array.h"
#include "cleanup.h"
#include "config_schema.h"
#include "pool_parse.h"

const char *const device_type_words[3] = {"netDevice", "auxNetDevice", "accelerator"};
const char *const vdpa_words[3] = {"", "virtio", "vhost"};

/* --- words ------------------------------------------------------------------------------------ */

/* VF numbers are 16 bits wide in the SR-IOV capability. */
#define VF_MAX UINT16_MAX

/* Parses up to four hex digits, with or without 0x; -1 = invalid. */
static int hex16(const char *word)
{
	unsigned value = 0;
	size_t n = 0;

	if (word[0] == '0' && (word[1] | 0x20) == 'x')
		word += 2;
	for (; n < 5 && isxdigit((unsigned char)word[n]); n++)
		value = value * 16 + (unsigned)(isdigit((unsigned char)word[n])
							? word[n] - '0'
							: (word[n] | 0x20) - 'a' + 10);
	return n == 0 || n > 4 || word[n] ? -1 : (int)value;
}

static const char *pci_id_word(const char *word, char *canonical)
{
	int id = hex16(word);

	if (id < 0)
		return "is not a PCI id of four hex digits";
	snprintf(canonical, PARSE_WORD_SIZE, "%04x", (unsigned)id);
	return NULL;
}

static const char *pkey_word(const char *word, char *canonical)
{
	int pkey = hex16(word);

	if (pkey < 0)
		return "is not a partition key of four hex digits";
	snprintf(canonical, PARSE_WORD_SIZE, "0x%04x", (unsigned)pkey);
	return NULL;
}

static const char *pci_address_word(const char *word, char *canonical)
{
	char full[PARSE_WORD_SIZE];
	struct pci_addr a;

	/* lspci(8) omits domain 0. */
	snprintf(full, sizeof(full), "0000:%.32s", word);
	if (!pci_addr_parse(word, &a) && !pci_addr_parse(full, &a))
		return "is not a PCI address like 0000:03:00.1";
	snprintf(canonical, PARSE_WORD_SIZE, "%04x:%02x:%02x.%x", a.domain, a.bus, a.dev, a.fn);
	return NULL;
}

static const char *acpi_index_word(const char *word, char *canonical)
{
	(void)canonical;
	return strspn(word, "0123456789") == strlen(word) && strlen(word) <= 10 ? NULL
										: "is not a number";
}

static const char *link_type_word(const char *word, char *canonical)
{
	static const char *const known[] = {"ether", "infiniband"};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (strcasecmp(known[i], word) == 0) {
			strcpy(canonical, known[i]);
			return NULL;
		}
	return "is none of ether, infiniband";
}

#define WORD_READER(name, check)                                                                   \
	static int name(struct parse *p, const struct json_place *at, const json_t *value,         \
			void *field)                                                               \
	{                                                                                          \
		return parse_word_list(p, at, value, field, check);                                \
	}
WORD_READER(parse_pci_ids, pci_id_word)
WORD_READER(parse_pci_addresses, pci_address_word)
WORD_READER(parse_acpi_indexes, acpi_index_word)
WORD_READER(parse_link_types, link_type_word)
WORD_READER(parse_pkeys, pkey_word)

/* --- "name#0,2-5" ----------------------------------------------------------------------------- */

/* Parses decimal digits up to the first other character; NULL = none, or too large. */
static const char *vf_number(const char *s, uint32_t *ret)
{
	uint32_t value = 0;
	const char *start = s;

	for (; isdigit((unsigned char)*s) && value <= VF_MAX; s++)
		value = value * 10 + (uint32_t)(*s - '0');
	*ret = value;
	return s == start || value > VF_MAX ? NULL : s;
}

/* Parses one item of the list, "3" or "2-5". */
static int range_parse(const char *word, size_t len, struct pf_range *ret, struct err *e)
{
	struct pf_range range;
	const char *end = vf_number(word, &range.first);

	range.last = range.first;
	if (end && *end == '-')
		end = vf_number(end + 1, &range.last);
	if (len == 0)
		return err_set(e, -EINVAL, "a comma without a number on both sides");
	if (end != word + len)
		return err_set(e, -EINVAL, "'%.*s' is neither a VF number nor a range like 2-5",
			       len > 20 ? 20 : (int)len, word);
	if (range.first > range.last)
		return err_set(e, -EINVAL, "the range %u-%u is empty", range.first, range.last);
	*ret = range;
	return 0;
}

/* Handles an invalid range: sriov-network-device-plugin ignores it. */
static int bad_range(struct parse *p, const struct json_place *at, const char *text,
		     const struct err *e)
{
	if (!p->forgiving)
		return parse_fail(p, at, "'%.40s': %s", text, e->msg);
	parse_warn(p, at, "'%.40s': %s, ignoring it", text, e->msg);
	return 0;
}

static int read_ranges(struct parse *p, const struct json_place *at, const char *text,
		       const char *ranges, struct pf_selector *pf)
{
	struct pf_range range = {0}, *slot;
	struct err e = {0};

	for (const char *s = ranges;; s++) {
		size_t len = strcspn(s, ",");
		int r = range_parse(s, len, &range, &e);

		if (r < 0 && bad_range(p, at, text, &e) < 0)
			return -EINVAL;
		slot = r == 0 ? array_push(pf->ranges, pf->n_ranges) : NULL;
		if (r == 0 && !slot)
			return parse_no_memory(p);
		if (slot)
			*slot = range;
		s += len;
		if (*s == '\0')
			break;
	}
	return pf->n_ranges ? 0 : parse_fail(p, at, "'%.40s': %s", text, e.msg);
}

/* Reads a PF and its VF ranges. The caller frees pf's contents, also on failure. */
static int pool_config_selectors_read_pf(struct parse *p, const struct json_place *at,
					 const char *text, struct pf_selector *pf)
{
	const char *hash = strchr(text, '#');

	if (*text == '\0' || hash == text)
		return parse_fail(p, at, "'%.40s': names no PF", text);
	if (hash && hash[1] == '\0')
		return parse_fail(p, at, "'%.40s': names no VF after '#'", text);
	pf->name = hash ? strndup(text, (size_t)(hash - text)) : strdup(text);
	if (!pf->name)
		return parse_no_memory(p);
	return hash ? read_ranges(p, at, text, hash + 1, pf) : 0;
}

/* Converts the PF's name in "rootDevices" to a canonical PCI address. */
static int make_root(struct parse *p, const struct json_place *at, const char *text,
		     struct pf_selector *pf)
{
	char canonical[PARSE_WORD_SIZE];
	const char *wrong = pci_address_word(pf->name, canonical);
	char *name;

	if (wrong)
		return parse_fail(p, at, "'%.40s': '%.40s' %s", text, pf->name, wrong);
	name = strdup(canonical);
	if (!name)
		return parse_no_memory(p);
	free(pf->name);
	pf->name = name;
	return 0;
}

static int pool_config_selectors_add_pf(struct parse *p, const struct json_place *at,
					const json_t *value, void *field)
{
	const char *text = json_string_value(value);
	struct pf_selectors *pfs = field;
	struct pf_selector *pf;

	if (!text)
		return parse_fail(p, at, "is not a string");
	pf = array_push(pfs->list, pfs->n);
	return pf ? pool_config_selectors_read_pf(p, at, text, pf) : parse_no_memory(p);
}

static int add_root(struct parse *p, const struct json_place *at, const json_t *value, void *field)
{
	struct pf_selectors *pfs = field;
	int r = pool_config_selectors_add_pf(p, at, value, field);

	return r < 0 ? r : make_root(p, at, json_string_value(value), &pfs->list[pfs->n - 1]);
}

static int parse_pfs(struct parse *p, const struct json_place *at, const json_t *value, void *field)
{
	return parse_each(p, at, value, "a list of strings", pool_config_selectors_add_pf, field);
}

static int parse_roots(struct parse *p, const struct json_place *at, const json_t *value,
		       void *field)
{
	return parse_each(p, at, value, "a list of strings", add_root, field);
}

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

/* Rejects DDP profiles, which are not supported: ignoring the key would select devices with other
 * profiles. */
static int reject_ddp(struct parse *p, const struct json_place *at, const json_t *value,
		      void *field)
{
	(void)field;
	if (json_is_array(value) && json_array_size(value) == 0)
		return 0;
	return parse_fail(p, at, "DDP profiles are not supported");
}

/* Ignores a key for another device type, as sriov-network-device-plugin does. */
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
		KEY("ddpProfiles", reject_ddp, vendors)

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
			   "selects auxiliary devices of every type; write \"auxTypes\": [\"sf\"]");
	s->is_rdma |= pool->kind != POOL_EXCLUSIVE; /* a shared pool is always for RDMA */
	return r < 0 ? r : check_contradictions(p, at, s);
}

static int pool_config_selectors_read_all(struct parse *p, const struct json_place *at,
					  const json_t *value, struct pool *pool,
					  const struct parse_key *keys)
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
	const json_t *value = json_find(item, "selectors", &here.key);
	int r;

	if (!value)
		return parse_fail(p, at, "\"selectors\" is missing; {} selects every device");
	p->strict = strict; /* a misspelt selector would offer every device */
	r = pool_config_selectors_read_all(p, &here, value, pool, keys);
	p->strict = false;
	return r;
}

/* --- schema ----------------------------------------------------------------------------------- */

#define SELECTORS_LIST(item) "{\"type\": \"array\", \"items\": {\"type\": \"string\", " item "}}"

/* "#0,2-5" or nothing. */
#define SELECTORS_VFS "(#[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*)?"

static json_t *selectors_vdpa_schema(const struct parse_key *key)
{
	(void)key;
	return config_schema_words(vdpa_words + 1, 2);
}

json_t *config_schema_of_selectors(const struct parse_key *keys)
{
	static const struct config_schema_shape shapes[] = {
		{parse_pci_ids, NULL, SELECTORS_LIST("\"pattern\": \"^(0[xX])?[0-9a-fA-F]{1,4}$\""),
		 NULL},
		{parse_pkeys, NULL, SELECTORS_LIST("\"pattern\": \"^(0[xX])?[0-9a-fA-F]{1,4}$\""),
		 NULL},
		{parse_pci_addresses, NULL,
		 SELECTORS_LIST("\"pattern\": \"^[0-9a-fA-F:]+[.][0-7]$\""), NULL},
		{parse_acpi_indexes, NULL, SELECTORS_LIST("\"pattern\": \"^[0-9]{1,10}$\""), NULL},
		{parse_link_types, NULL,
		 SELECTORS_LIST(
			 "\"pattern\": "
			 "\"^([eE][tT][hH][eE][rR]|[iI][nN][fF][iI][nN][iI][bB][aA][nN][dD])$\""),
		 NULL},
		{parse_pfs, NULL, SELECTORS_LIST("\"pattern\": \"^[^#]+" SELECTORS_VFS "$\""),
		 NULL},
		{parse_roots, NULL,
		 SELECTORS_LIST("\"pattern\": \"^[0-9a-fA-F:]+[.][0-7]" SELECTORS_VFS "$\""), NULL},
		{parse_vdpa, NULL, NULL, selectors_vdpa_schema},
		{reject_ddp, NULL, "{\"type\": \"array\", \"maxItems\": 0}", NULL},
		{ignore_key, NULL, SCHEMA_ANY, NULL},
	};
	json_t *one;
	size_t n = 0;

	while (keys[n].name)
		n++;
	one = config_schema_table(keys, n, shapes, ARRAY_SIZE(shapes));
	return config_schema_either(config_schema_list(json_deep_copy(one), 1), one);
}
