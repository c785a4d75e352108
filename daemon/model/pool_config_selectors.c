/* pool_config_selectors.c - "selectors" of every grammar: which keys each has, the words in their
 * lists, and what cannot be meant together. */
#include <ctype.h>
#include <strings.h>

#include "array.h"
#include "cleanup.h"
#include "pool_parse.h"

/* VF numbers are 16 bits wide in the SR-IOV capability. */
#define VF_MAX UINT16_MAX

const char *const device_type_words[3] = {"netDevice", "auxNetDevice", "accelerator"};
const char *const vdpa_words[3] = {"", "virtio", "vhost"};

/* --- words ------------------------------------------------------------------------------------ */

/* Up to four hex digits, with or without 0x; -1 = no such number. */
static int hex16(const char *word)
{
	unsigned value = 0;
	size_t n = 0;

	if (word[0] == '0' && (word[1] | 0x20) == 'x')
		word += 2;
	for (; isxdigit((unsigned char)word[n]) && n < 5; n++)
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

	/* lspci(8) leaves out domain 0. */
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

/* Decimal digits up to the first other character; NULL = none, or too large. */
static const char *vf_number(const char *s, uint32_t *ret)
{
	uint32_t value = 0;
	const char *start = s;

	for (; isdigit((unsigned char)*s) && value <= VF_MAX; s++)
		value = value * 10 + (uint32_t)(*s - '0');
	*ret = value;
	return s == start || value > VF_MAX ? NULL : s;
}

static int add_range(const char **s, struct pf_selector *pf, struct err *e)
{
	struct pf_range range, *slot;
	const char *end = vf_number(*s, &range.first);

	range.last = range.first;
	if (end && *end == '-')
		end = vf_number(end + 1, &range.last);
	if (!end || (*end && *end != ','))
		return err_set(e, -EINVAL, "'%.20s' is neither a VF number nor a range like 2-5",
			       *s);
	if (range.first > range.last)
		return err_set(e, -EINVAL, "the range %u-%u is empty", range.first, range.last);
	slot = array_push(pf->ranges, pf->n_ranges);
	if (!slot)
		return err_set(e, -ENOMEM, "out of memory");
	*slot = range;
	*s = *end ? end + 1 : end;
	return *end && !*(end + 1) ? err_set(e, -EINVAL, "ends with a comma") : 0;
}

int pf_selector_parse(const char *word, struct pf_selector *ret, struct err *e)
{
	const char *hash = strchr(word, '#');
	struct pf_selector pf = {0};
	int r = 0;

	if (*word == '\0' || hash == word)
		return err_set(e, -EINVAL, "names no PF");
	if (hash && hash[1] == '\0')
		return err_set(e, -EINVAL, "names no VF after '#'");
	pf.name = hash ? strndup(word, (size_t)(hash - word)) : strdup(word);
	if (!pf.name)
		return err_set(e, -ENOMEM, "out of memory");
	for (const char *s = hash ? hash + 1 : ""; *s && r == 0;)
		r = add_range(&s, &pf, e);
	if (r < 0) {
		free(pf.name);
		free(pf.ranges);
		return r;
	}
	*ret = pf;
	return 0;
}

/* rootDevices: the PF by its address. */
static int make_root(struct pf_selector *pf, struct err *e)
{
	char canonical[PARSE_WORD_SIZE];
	const char *wrong = pci_address_word(pf->name, canonical);
	char *name;

	if (wrong)
		return err_set(e, -EINVAL, "'%.40s' %s", pf->name, wrong);
	name = strdup(canonical);
	if (!name)
		return err_set(e, -ENOMEM, "out of memory");
	free(pf->name);
	pf->name = name;
	return 0;
}

static int add_pf(struct parse *p, const struct json_place *at, const json_t *value,
		  struct pf_selectors *pfs, bool root)
{
	struct pf_selector *pf;
	struct err e = {0};
	int r;

	if (!json_is_string(value))
		return parse_fail(p, at, "is not a string");
	pf = array_push(pfs->list, pfs->n);
	if (!pf)
		return parse_no_memory(p);
	r = pf_selector_parse(json_string_value(value), pf, &e);
	if (r == 0 && root)
		r = make_root(pf, &e);
	if (r == -ENOMEM)
		return parse_no_memory(p);
	return r < 0 ? parse_fail(p, at, "'%.40s': %s", json_string_value(value), e.msg) : 0;
}

static int parse_pf_list(struct parse *p, const struct json_place *at, const json_t *value,
			 struct pf_selectors *pfs, bool root)
{
	const json_t *item;
	size_t i;

	if (!json_is_array(value))
		return parse_fail(p, at, "is not a list of strings");
	json_array_foreach (value, i, item) {
		struct json_place here = {at, NULL, i};
		int r = add_pf(p, &here, item, pfs, root);

		if (r < 0)
			return r;
	}
	return 0;
}

static int parse_pfs(struct parse *p, const struct json_place *at, const json_t *value, void *field)
{
	return parse_pf_list(p, at, value, field, false);
}

static int parse_roots(struct parse *p, const struct json_place *at, const json_t *value,
		       void *field)
{
	return parse_pf_list(p, at, value, field, true);
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

/* A function that such a driver holds has no RDMA device. */
static bool user_space_driver(const char *driver)
{
	return strcmp(driver, "vfio-pci") == 0 || strcmp(driver, "igb_uio") == 0 ||
	       strcmp(driver, "uio_pci_generic") == 0;
}

static bool only_user_space(const struct word_list *drivers)
{
	for (size_t i = 0; i < drivers->n; i++)
		if (!user_space_driver(drivers->words[i]))
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
	struct err bad = {0}, *err = p->err;
	char sentence[sizeof(bad.msg) + RESOURCE_NAME_SIZE + 32], resource[RESOURCE_NAME_SIZE];
	int r;

	if (!value)
		return parse_fail(p, at, "\"selectors\" is missing; {} selects every device");
	p->err = strict ? err : &bad;
	p->strict = strict; /* a misspelt selector would offer every device */
	r = read_all(p, &here, value, pool, keys);
	p->strict = false;
	p->err = err;
	if (r == 0)
		return 1;
	if (strict || r != -EINVAL)
		return strict ? r : parse_no_memory(p);
	pool_resource(pool, resource);
	snprintf(sentence, sizeof(sentence), "%s, leaving out resource %s", bad.msg, resource);
	parse_warn_text(p, sentence);
	return 0;
}
