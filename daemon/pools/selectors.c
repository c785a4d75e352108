// SPDX-License-Identifier: Apache-2.0
/* selectors.c - has one test per list of a selector, and a table with the order in which they are
 * applied: the first that fails is reported. */
#include "selectors.h"

#include <net/if_arp.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "search.h"

/* linux/pci_ids.h */
#define CLASS_BASE_NETWORK     0x02
#define CLASS_BASE_ACCELERATOR 0x12

struct candidate candidate_of(const struct host_index *ix, const struct function *fn)
{
	struct candidate c = {.index = ix, .self = host_index_own_parts(ix, fn)};
	bool has_parent = (fn->kind == FN_VF || fn->kind == FN_SF) && fn->parent[0] != '\0';

	c.pf = has_parent ? host_index_parts(ix, fn->parent) : c.self;
	return c;
}

bool netdev_is_own(const struct netdev *nd)
{
	return !strstr(nd->port_name, "pf") && nd->lower == 0;
}

/* --- values ----------------------------------------------------------------------------------- */

/* True if the word ("15b3", "0x15B3") is this number. The value 0 means unknown and matches
 * nothing. */
static bool is_number(const char *word, int base, uint32_t value)
{
	char *end;
	unsigned long n;

	n = strtoul(word, &end, base);
	return *end == '\0' && value != 0 && n == value;
}

static bool same_bus_name(const char *a, const char *b)
{
	struct pci_addr x, y;

	if (pci_addr_parse(a, &x) && pci_addr_parse(b, &y))
		return pci_addr_cmp(&x, &y) == 0;
	return strcasecmp(a, b) == 0;
}

typedef int cmp_name_fn(const char *, const char *);

static bool selectors_has_name(const struct netdev *nd, const char *name, cmp_name_fn *cmp)
{
	if (nd->name[0] != '\0' && cmp(nd->name, name) == 0)
		return true;
	for (const char *alt = NULL; (alt = netdev_altname(nd, alt));)
		if (cmp(alt, name) == 0)
			return true;
	return false;
}

/* Names are only meaningful in the host's namespace. */
static bool selectors_netdev_named(const struct fn_parts *p, const char *name, cmp_name_fn *cmp)
{
	for (size_t i = 0; i < p->n_netdevs; i++) {
		const struct netdev *nd = part_netdev(p, i);

		if (nd->nsid == NSID_HOST && netdev_is_own(nd) && selectors_has_name(nd, name, cmp))
			return true;
	}
	return false;
}

static bool rdma_named(const struct fn_parts *p, const char *name, cmp_name_fn *cmp)
{
	return any_of(p->n_rdma, i, cmp(part_rdma(p, i)->name, name) == 0);
}

/* --- words ------------------------------------------------------------------------------------ */

static bool is_vendor(const char *word, const struct candidate *c)
{
	const struct fn_parts *p = c->self.fn->kind == FN_SF && c->pf.fn ? &c->pf : &c->self;

	return is_number(word, 16, p->fn->vendor);
}

static bool selectors_is_device(const char *word, const struct candidate *c)
{
	const struct fn_parts *p = c->self.fn->kind == FN_SF && c->pf.fn ? &c->pf : &c->self;

	return is_number(word, 16, p->fn->device);
}

static bool is_driver(const char *word, const struct candidate *c)
{
	return strcmp(c->self.fn->driver, word) == 0;
}

static bool is_address(const char *word, const struct candidate *c)
{
	return same_bus_name(c->self.fn->id, word);
}

static bool is_acpi_index(const char *word, const struct candidate *c)
{
	return is_number(word, 10, c->self.fn->acpi_index);
}

/* True if the auxiliary device is of that type. The name of an auxiliary device is
 * "<module>.<type>.<number>". */
static bool is_aux_type(const char *word, const struct candidate *c)
{
	const char *type = strchr(c->self.fn->id, '.');
	size_t n = strlen(word);

	return type && strncmp(type + 1, word, n) == 0 && type[1 + n] == '.';
}

/* True if the netdev of a port has that name. The netdev of a port need not belong to the function,
 * e.g. that of a soft-RoCE device on a bridge. */
static bool port_named(const struct candidate *c, const struct rdma_port *p, const char *name)
{
	const struct netdev *nd;

	if (p->netdev_nsid != NSID_HOST || p->netdev[0] == '\0')
		return false;
	if (strcmp(p->netdev, name) == 0)
		return true;
	nd = host_index_netdev(c->index, NSID_HOST, p->netdev_ifindex);
	return nd && selectors_has_name(nd, name, strcmp);
}

static bool is_if_name(const char *word, const struct candidate *c)
{
	if (selectors_netdev_named(&c->self, word, strcmp))
		return true;
	for (size_t i = 0; i < c->self.n_rdma; i++) {
		const struct rdma_dev *rd = part_rdma(&c->self, i);

		for (unsigned j = 0; j < rd->n_ports; j++)
			if (port_named(c, &rd->ports[j], word))
				return true;
	}
	return false;
}

static bool has_netdev_type(const struct fn_parts *p, unsigned type)
{
	return any_of(p->n_netdevs, i,
		      netdev_is_own(part_netdev(p, i)) && part_netdev(p, i)->type == type);
}

typedef bool port_fn(const struct rdma_port *, unsigned value);

static bool any_port(const struct fn_parts *p, port_fn *is, unsigned value)
{
	for (size_t i = 0; i < p->n_rdma; i++)
		for (unsigned j = 0; j < part_rdma(p, i)->n_ports; j++)
			if (is(&part_rdma(p, i)->ports[j], value))
				return true;
	return false;
}

static bool port_is_link(const struct rdma_port *p, unsigned layer)
{
	return p->link_layer == (enum link_layer)layer;
}

static bool is_link_type(const char *word, const struct candidate *c)
{
	bool ib = strcasecmp(word, "infiniband") == 0;

	if (!ib && strcasecmp(word, "ether") != 0)
		return false;
	return has_netdev_type(&c->self, ib ? ARPHRD_INFINIBAND : ARPHRD_ETHER) ||
	       any_port(&c->self, port_is_link, ib ? LINK_INFINIBAND : LINK_ETHERNET);
}

static bool is_pkey(const char *word, const struct candidate *c)
{
	for (size_t i = 0; i < c->self.n_rdma; i++)
		for (unsigned j = 0; j < part_rdma(&c->self, i)->n_ports; j++)
			if (is_number(word, 16, part_rdma(&c->self, i)->ports[j].pkey))
				return true;
	return false;
}

static bool is_rdma_name(const char *word, const struct candidate *c)
{
	return rdma_named(&c->self, word, strcmp);
}

/* --- PFs and ranges --------------------------------------------------------------------------- */

static bool is_pf_bus_name(const struct pf_selector *s, const struct candidate *c)
{
	const struct function *fn = c->self.fn;
	bool is_pf = c->pf.fn == fn;

	return same_bus_name(is_pf ? fn->id : fn->parent, s->name);
}

static bool is_pf_name(const struct pf_selector *s, const struct candidate *c)
{
	return selectors_netdev_named(&c->pf, s->name, strcasecmp) ||
	       rdma_named(&c->pf, s->name, strcasecmp) || is_pf_bus_name(s, c);
}

static bool in_ranges(const struct pf_selector *s, const struct function *fn)
{
	int index = fn->kind == FN_SF ? fn->sfnum : fn->vf;

	for (size_t i = 0; i < s->n_ranges; i++)
		if (index >= 0 && (uint32_t)index >= s->ranges[i].first &&
		    (uint32_t)index <= s->ranges[i].last)
			return true;
	return s->n_ranges == 0;
}

typedef bool pf_fn(const struct pf_selector *, const struct candidate *);

static bool any_pf(const struct pf_selectors *l, const struct candidate *c, pf_fn *is)
{
	for (size_t i = 0; i < l->n; i++)
		if (is(&l->list[i], c) && in_ranges(&l->list[i], c->self.fn))
			return true;
	return l->n == 0;
}

static bool pf_names(const struct selector *s, const struct candidate *c)
{
	return any_pf(&s->pf_names, c, is_pf_name);
}

static bool root_devices(const struct selector *s, const struct candidate *c)
{
	return any_pf(&s->root_devices, c, is_pf_bus_name);
}

/* --- flags ------------------------------------------------------------------------------------ */

static bool matches_rdma(const struct selector *s, const struct candidate *c)
{
	return !s->is_rdma || c->self.n_rdma > 0;
}

static bool matches_vdpa(const struct selector *s, const struct candidate *c)
{
	switch (s->vdpa) {
	case VDPA_NONE:
		break;
	case VDPA_VIRTIO:
		return strcmp(c->self.fn->vdpa_driver, "virtio_vdpa") == 0;
	case VDPA_VHOST:
		return strcmp(c->self.fn->vdpa_driver, "vhost_vdpa") == 0;
	}
	return true;
}

/* --- the table of tests ----------------------------------------------------------------------- */

/* A test is either a list of words, one of which must match, or a separate function. */
struct rule {
	size_t words; /* offset of the list in struct selector */
	bool (*is)(const char *word, const struct candidate *);
	bool (*matches)(const struct selector *, const struct candidate *);
};

#define WORDS(list, fn)                                                                            \
	{                                                                                          \
		.words = offsetof(struct selector, list), .is = (fn)                               \
	}

static const struct rule rules[N_WHY_NOT] = {
	[WHY_NOT_VENDOR] = WORDS(vendors, is_vendor),
	[WHY_NOT_DEVICE] = WORDS(devices, selectors_is_device),
	[WHY_NOT_DRIVER] = WORDS(drivers, is_driver),
	[WHY_NOT_PCI_ADDRESS] = WORDS(pci_addresses, is_address),
	[WHY_NOT_ACPI_INDEX] = WORDS(acpi_indexes, is_acpi_index),
	[WHY_NOT_AUX_TYPE] = WORDS(aux_types, is_aux_type),
	[WHY_NOT_PF_NAME] = {.matches = pf_names},
	[WHY_NOT_ROOT_DEVICE] = {.matches = root_devices},
	[WHY_NOT_IF_NAME] = WORDS(if_names, is_if_name),
	[WHY_NOT_LINK_TYPE] = WORDS(link_types, is_link_type),
	[WHY_NOT_PKEY] = WORDS(pkeys, is_pkey),
	[WHY_NOT_RDMA_NAME] = WORDS(rdma_names, is_rdma_name),
	[WHY_NOT_RDMA] = {.matches = matches_rdma},
	[WHY_NOT_VDPA] = {.matches = matches_vdpa},
};

static bool rule_holds(const struct rule *r, const struct selector *s, const struct candidate *c)
{
	const struct word_list *l = (const void *)((const char *)s + r->words);

	if (r->matches)
		return r->matches(s, c);
	if (!r->is || l->n == 0)
		return true;
	return any_of(l->n, i, r->is(l->words[i], c));
}

bool selector_has(const struct selector *s, enum why_not why, const struct candidate *c)
{
	const struct rule *r = &rules[why];

	return (r->is || r->matches) && rule_holds(r, s, c);
}

/* Checks a selector of DEVICE_NET for selector_type_wrong(). */
static const char *net_type_wrong(const struct selector *s, const struct pool *p,
				  const struct function *fn)
{
	bool soft = fn->kind == FN_SF || fn->kind == FN_VIRTUAL;

	if (p->nics_only && soft)
		return "accepts only PCI devices unless \"subFunctions\" is true";
	if (p->nics_only && fn->class >> 16 != CLASS_BASE_NETWORK)
		return "accepts only network controllers (PCI class 02) unless \"subFunctions\" "
		       "is true";
	if (soft && p->kind == POOL_EXCLUSIVE && !s->if_names.n && !s->rdma_names.n)
		return "accepts sub-functions and devices without hardware only if selected by name";
	if (!soft && fn->class >> 16 == CLASS_BASE_ACCELERATOR)
		return "accepts no accelerators (PCI class 12), because its deviceType is netDevice";
	return NULL;
}

const char *selector_type_wrong(const struct selector *s, const struct pool *p,
				const struct function *fn)
{
	switch (p->type) {
	case DEVICE_AUX_NET:
		return fn->kind == FN_SF
			       ? NULL
			       : "accepts sub-functions only, because its deviceType is auxNetDevice";
	case DEVICE_ACCELERATOR:
		return fn->class >> 16 == CLASS_BASE_ACCELERATOR
			       ? NULL
			       : "accepts PCI class 12 only, because its deviceType is accelerator";
	case DEVICE_NET:
		break;
	}
	return net_type_wrong(s, p, fn);
}

enum why_not selector_match(const struct selector *s, const struct pool *p,
			    const struct candidate *c)
{
	if (selector_type_wrong(s, p, c->self.fn))
		return WHY_NOT_TYPE;
	for (unsigned why = WHY_NOT_TYPE + 1; why < N_WHY_NOT; why++)
		if (!rule_holds(&rules[why], s, c))
			return why;
	return WHY_NOT_NONE;
}

const char *why_not_name(enum why_not why)
{
	static const char *const words[] = {
		[WHY_NOT_NONE] = "matches",
		[WHY_NOT_TYPE] = "requires another type of device",
		[WHY_NOT_VENDOR] = "requires other vendors",
		[WHY_NOT_DEVICE] = "requires other device ids",
		[WHY_NOT_DRIVER] = "requires other drivers",
		[WHY_NOT_PCI_ADDRESS] = "requires other PCI addresses",
		[WHY_NOT_ACPI_INDEX] = "requires other ACPI indexes",
		[WHY_NOT_AUX_TYPE] = "requires other types of auxiliary device",
		[WHY_NOT_PF_NAME] = "requires other PFs or VF numbers",
		[WHY_NOT_ROOT_DEVICE] = "requires other root devices or VF numbers",
		[WHY_NOT_IF_NAME] = "requires other interfaces",
		[WHY_NOT_LINK_TYPE] = "requires another link type",
		[WHY_NOT_PKEY] = "requires other pkeys",
		[WHY_NOT_RDMA_NAME] = "requires other RDMA devices",
		[WHY_NOT_RDMA] = "requires an RDMA device",
		[WHY_NOT_CHARDEV] = "requires an RDMA device with its character devices",
		[WHY_NOT_VDPA] = "requires another vDPA type",
		[WHY_NOT_LONG_NAME] = "requires a shorter RDMA device name",
	};

	return (size_t)why < ARRAY_SIZE(words) ? words[why] : "does not match it";
}
