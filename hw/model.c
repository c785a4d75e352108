// SPDX-License-Identifier: Apache-2.0
/* model.c - PCI addresses, natural order, names of enum values, and struct host as a whole:
 * sorting, ownership, copies, look-ups. Pure. */
#include "model.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "search.h"

/* --- PCI addresses ------------------------------------------------------------------------ */

/* Parses 1 to max hex digits followed by `end`. Returns the rest, NULL if the text does not match.
 */
static const char *take_hex(const char *s, int max, char end, uint32_t *ret)
{
	uint32_t v = 0;
	int n = 0;

	for (; n < max && isxdigit((unsigned char)s[n]); n++) {
		char c = (char)tolower((unsigned char)s[n]);

		v = v << 4 | (uint32_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	}
	if (n == 0 || s[n] != end)
		return NULL;
	*ret = v;
	return s + n + 1;
}

bool pci_addr_parse(const char *s, struct pci_addr *ret)
{
	uint32_t domain, bus, dev, fn;

	s = take_hex(s, 8, ':', &domain);
	s = s ? take_hex(s, 2, ':', &bus) : NULL;
	s = s ? take_hex(s, 2, '.', &dev) : NULL;
	s = s ? take_hex(s, 1, '\0', &fn) : NULL;
	if (!s || dev > 31 || fn > 7)
		return false;
	*ret = (struct pci_addr){domain, (uint8_t)bus, (uint8_t)dev, (uint8_t)fn};
	return true;
}

static int cmp_u32(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

int pci_addr_cmp(const struct pci_addr *a, const struct pci_addr *b)
{
	uint32_t within_a = (uint32_t)a->bus << 16 | (uint32_t)a->dev << 8 | a->fn;
	uint32_t within_b = (uint32_t)b->bus << 16 | (uint32_t)b->dev << 8 | b->fn;

	return a->domain != b->domain ? cmp_u32(a->domain, b->domain) : cmp_u32(within_a, within_b);
}

bool is_function_id(const char *name)
{
	struct pci_addr a;
	const char *sf = strstr(name, ".sf.");

	return strlen(name) < DEV_ID_SIZE &&
	       (pci_addr_parse(name, &a) || (sf && sf != name && sf[4]));
}

/* --- order -------------------------------------------------------------------------------- */

/* Compares the numbers at the start of both strings and moves past them. */
static int cmp_digits(const char **a, const char **b)
{
	size_t na, nb;
	int r;

	*a += strspn(*a, "0");
	*b += strspn(*b, "0");
	na = strspn(*a, "0123456789");
	nb = strspn(*b, "0123456789");
	r = na != nb ? (na < nb ? -1 : 1) : strncmp(*a, *b, na);
	*a += na;
	*b += nb;
	return r;
}

int natural_cmp(const char *a, const char *b)
{
	const char *whole_a = a, *whole_b = b;

	while (*a && *b) {
		int r;

		if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
			r = cmp_digits(&a, &b);
		} else {
			r = (unsigned char)*a - (unsigned char)*b;
			a++;
			b++;
		}
		if (r)
			return r;
	}
	/* "eth01" and "eth1" are different names. */
	if (!*a && !*b)
		return strcmp(whole_a, whole_b);
	return *a ? 1 : -1;
}

/* --- names of values -------------------------------------------------------------------------- */

/* Returns the word for a value, "unknown" if there is none: a newer kernel may have values that
 * these tables lack. */
static const char *model_word_of(const char *const *words, size_t n, unsigned value)
{
	return value < n && words[value] ? words[value] : "unknown";
}

#define WORD(table, value)                                                                         \
	model_word_of(table, sizeof(table) / sizeof((table)[0]), (unsigned)(value))

const char *fn_kind_name(enum fn_kind k)
{
	static const char *const words[] = {
		[FN_PF] = "pf", [FN_VF] = "vf", [FN_SF] = "sf", [FN_VIRTUAL] = "virtual"};

	return WORD(words, k);
}

const char *vf_link_name(enum vf_link l)
{
	static const char *const words[] = {[VF_LINK_AUTO] = "auto",
					    [VF_LINK_ENABLE] = "enable",
					    [VF_LINK_DISABLE] = "disable"};

	return WORD(words, l);
}

const char *port_state_name(enum port_state s)
{
	static const char *const words[] = {[PORT_DOWN] = "down",
					    [PORT_INIT] = "init",
					    [PORT_ARMED] = "armed",
					    [PORT_ACTIVE] = "active",
					    [PORT_ACTIVE_DEFER] = "active_defer"};

	return WORD(words, s);
}

const char *phys_state_name(enum phys_state s)
{
	static const char *const words[] = {
		[PHYS_SLEEP] = "sleep",	      [PHYS_POLLING] = "polling",
		[PHYS_DISABLED] = "disabled", [PHYS_TRAINING] = "training",
		[PHYS_LINK_UP] = "link_up",   [PHYS_ERROR_RECOVERY] = "error_recovery",
		[PHYS_TEST] = "test"};

	return WORD(words, s);
}

const char *link_layer_name(enum link_layer l)
{
	static const char *const words[] = {
		[LINK_ETHERNET] = "Ethernet", [LINK_INFINIBAND] = "InfiniBand"};

	return WORD(words, l);
}

const char *gid_type_name(enum gid_type t)
{
	static const char *const words[] = {
		[GID_IB] = "IB", [GID_ROCE_V1] = "RoCE v1", [GID_ROCE_V2] = "RoCE v2"};

	return WORD(words, t);
}

const char *rdma_netns_mode_name(enum rdma_netns_mode m)
{
	static const char *const words[] = {
		[RDMA_NETNS_SHARED] = "shared", [RDMA_NETNS_EXCLUSIVE] = "exclusive"};

	return WORD(words, m);
}

/* --- sorting of struct host ------------------------------------------------------------------- */

static int cmp_function(const void *pa, const void *pb)
{
	const struct function *a = pa, *b = pb;
	struct pci_addr pci_a, pci_b;
	bool is_a = pci_addr_parse(a->id, &pci_a), is_b = pci_addr_parse(b->id, &pci_b);

	if (is_a && is_b)
		return pci_addr_cmp(&pci_a, &pci_b);
	return is_a != is_b ? is_b - is_a : natural_cmp(a->id, b->id);
}

static int cmp_netdev(const void *pa, const void *pb)
{
	const struct netdev *a = pa, *b = pb;

	if (a->nsid != b->nsid)
		return a->nsid < b->nsid ? -1 : 1;
	if (a->ifindex != b->ifindex)
		return a->ifindex < b->ifindex ? -1 : 1;
	return natural_cmp(a->name, b->name);
}

static int cmp_rdma(const void *pa, const void *pb)
{
	const struct rdma_dev *a = pa, *b = pb;
	int r = natural_cmp(a->name, b->name);

	/* In exclusive mode names are unique only per namespace. */
	return r ? r : (a->nsid > b->nsid) - (a->nsid < b->nsid);
}

static int cmp_netns(const void *pa, const void *pb)
{
	const struct netns *a = pa, *b = pb;
	int r = natural_cmp(a->name, b->name);

	return r ? r : (a->nsid > b->nsid) - (a->nsid < b->nsid);
}

static int cmp_report(const void *pa, const void *pb)
{
	const struct report *a = pa, *b = pb;
	int r = strcmp(a->function, b->function);

	if (r == 0)
		r = (a->vf > b->vf) - (a->vf < b->vf);
	return r ? r : strcmp(a->devlink_error, b->devlink_error);
}

static bool is_sorted(const char *array, size_t n, size_t size,
		      int (*cmp)(const void *, const void *))
{
	for (size_t i = 1; i < n; i++)
		if (cmp(array + (i - 1) * size, array + i * size) > 0)
			return false;
	return true;
}

/* Checks first whether the array is sorted: the inventory sorts scan results again after merging,
 * mostly without effect, and the check costs a tenth of sorting. */
static void sort(void *array, size_t n, size_t size, int (*cmp)(const void *, const void *))
{
	if (!is_sorted(array, n, size, cmp))
		qsort(array, n, size, cmp);
}

void host_sort(struct host *h)
{
	sort(h->functions, h->n_functions, sizeof(*h->functions), cmp_function);
	sort(h->netdevs, h->n_netdevs, sizeof(*h->netdevs), cmp_netdev);
	sort(h->rdma, h->n_rdma, sizeof(*h->rdma), cmp_rdma);
	sort(h->namespaces, h->n_namespaces, sizeof(*h->namespaces), cmp_netns);
	sort(h->reports, h->n_reports, sizeof(*h->reports), cmp_report);
}

/* --- ownership ---------------------------------------------------------------------------- */

void rdma_dev_done(struct rdma_dev *d)
{
	for (unsigned i = 0; i < d->n_ports; i++)
		free(d->ports[i].gids);
	free(d->ports);
	d->ports = NULL;
	d->n_ports = 0;
}

void host_done(struct host *h)
{
	for (size_t i = 0; i < h->n_rdma; i++)
		rdma_dev_done(&h->rdma[i]);
	free(h->functions);
	free(h->netdevs);
	free(h->rdma);
	free(h->namespaces);
	free(h->reports);
	*h = (struct host){0};
}

/* Copies n elements, with the capacity that array_push() relies on; sets *ret_n, 0 if there are
 * none. False: out of memory. */
static bool model_copy_array(void **ret, size_t *ret_n, const void *from, size_t n, size_t size)
{
	size_t room = 1;

	*ret = NULL;
	*ret_n = 0;
	if (n == 0)
		return true;
	while (room < n)
		room *= 2;
	*ret = reallocarray(NULL, room, size);
	if (!*ret)
		return false;
	memcpy(*ret, from, n * size);
	*ret_n = n;
	return true;
}

#define COPY_ARRAY(dst, src, items, count)                                                         \
	({                                                                                         \
		void *copy_;                                                                       \
		size_t n_;                                                                         \
		bool ok_ = model_copy_array(&copy_, &n_, (src)->items, (src)->count,               \
					    sizeof(*(src)->items));                                \
		(dst)->items = copy_;                                                              \
		(dst)->count = (__typeof__((dst)->count))n_;                                       \
		ok_;                                                                               \
	})

/* Replaces the ports, which still point to the original's, by copies. Always leaves a device that
 * can be freed. */
static bool own_ports(struct rdma_dev *d)
{
	const struct rdma_dev from = *d;

	if (!COPY_ARRAY(d, &from, ports, n_ports))
		return false;
	for (unsigned i = 0; i < d->n_ports; i++)
		d->ports[i].gids = NULL;
	return !any_of(d->n_ports, i, !COPY_ARRAY(&d->ports[i], &from.ports[i], gids, n_gids));
}

int rdma_dev_copy_bare(struct rdma_dev *dst, const struct rdma_dev *src)
{
	*dst = *src;
	if (!COPY_ARRAY(dst, src, ports, n_ports))
		return -ENOMEM;
	for (unsigned i = 0; i < dst->n_ports; i++) {
		struct rdma_port *p = &dst->ports[i];

		p->gid_table_len = p->active_mtu = p->max_mtu = p->n_gids = 0;
		p->gids = NULL;
	}
	return 0;
}

int host_copy(struct host *dst, const struct host *src)
{
	bool ok = COPY_ARRAY(dst, src, functions, n_functions) &&
		  COPY_ARRAY(dst, src, netdevs, n_netdevs) &&
		  COPY_ARRAY(dst, src, namespaces, n_namespaces) &&
		  COPY_ARRAY(dst, src, reports, n_reports) && COPY_ARRAY(dst, src, rdma, n_rdma);
	size_t owned = 0;

	dst->rdma_mode = src->rdma_mode;
	dst->rdma_cm = src->rdma_cm;
	while (ok && owned < dst->n_rdma)
		ok = own_ports(&dst->rdma[owned++]);
	if (ok)
		return 0;
	dst->n_rdma = owned; /* later devices still point to the original's ports */
	host_done(dst);
	return -ENOMEM;
}

int host_sync_virtual(struct host *h)
{
	size_t kept = 0;

	for (size_t i = 0; i < h->n_functions; i++) {
		if (h->functions[i].kind == FN_VIRTUAL)
			continue;
		if (kept < i)
			h->functions[kept] = h->functions[i];
		kept++;
	}
	h->n_functions = kept;
	for (size_t i = 0; i < h->n_rdma; i++) {
		struct function *f;

		if (strcmp(h->rdma[i].function, h->rdma[i].name) != 0)
			continue;
		f = array_push(h->functions, h->n_functions);
		if (!f)
			return -ENOMEM;
		*f = (struct function){.kind = FN_VIRTUAL, .vf = -1, .sfnum = -1, .numa = -1};
		memcpy(f->id, h->rdma[i].name, sizeof(f->id));
	}
	return 0;
}

/* --- reports ------------------------------------------------------------------------------ */

static int compare_report(const struct report *r, const char *function, int vf)
{
	int order = strcmp(r->function, function);

	return order ? order : (r->vf > vf) - (r->vf < vf);
}

/* Returns the index of the first report that does not sort before (function, vf). */
static size_t first_report(const struct host *h, const char *function, int vf)
{
	return lower_bound(h->n_reports, i, compare_report(&h->reports[i], function, vf) < 0);
}

/* Returns the report at *at and increments *at, if that report is about (function, vf); else NULL.
 */
static const struct report *next_report(const struct host *h, const char *function, int vf,
					size_t *at)
{
	const struct report *r = *at < h->n_reports ? &h->reports[*at] : NULL;

	++*at;
	return r && r->vf == vf && strcmp(r->function, function) == 0 ? r : NULL;
}

/* True if a report marks the function unreachable. Its VFs and sub-functions are unreachable, too.
 */
static bool is_unreachable(const struct host *h, const char *function)
{
	size_t at = first_report(h, function, -1);
	const struct report *r;

	while ((r = next_report(h, function, -1, &at)))
		if (r->unreachable)
			return true;
	return false;
}

static void function_join(const struct host *h, struct function *f)
{
	size_t at = first_report(h, f->id, -1);
	const struct report *r;

	f->vf_link = VF_LINK_UNKNOWN;
	f->vf_settings = 0;
	f->devlink_error[0] = '\0';
	f->unreachable = is_unreachable(h, f->id) || (f->parent[0] && is_unreachable(h, f->parent));
	while ((r = next_report(h, f->id, -1, &at)))
		if (!f->devlink_error[0])
			memcpy(f->devlink_error, r->devlink_error, sizeof(f->devlink_error));
	if (f->kind != FN_VF || f->vf < 0)
		return;
	at = first_report(h, f->parent, f->vf);
	r = next_report(h, f->parent, f->vf, &at);
	if (!r)
		return;
	f->vf_link = r->vf_link;
	f->vf_settings = r->vf_settings;
}

void host_join_reports(struct host *h)
{
	for (size_t i = 0; i < h->n_functions; i++)
		function_join(h, &h->functions[i]);
}

/* --- look-ups ----------------------------------------------------------------------------- */

const struct function *host_function(const struct host *h, const char *id)
{
	return find_first(h->functions, h->n_functions, i, strcmp(h->functions[i].id, id) == 0);
}

const struct netdev *host_function_netdev(const struct host *h, const char *function)
{
	return find_first(h->netdevs, h->n_netdevs, i,
			  strcmp(h->netdevs[i].function, function) == 0);
}

const struct netdev *host_netdev(const struct host *h, int nsid, int ifindex)
{
	return find_first(h->netdevs, h->n_netdevs, i,
			  h->netdevs[i].nsid == nsid && h->netdevs[i].ifindex == ifindex);
}

const struct rdma_dev *host_rdma(const struct host *h, const char *name)
{
	const struct rdma_dev *found = NULL;

	for (size_t i = 0; i < h->n_rdma; i++) {
		if (strcmp(h->rdma[i].name, name) != 0)
			continue;
		if (found)
			return NULL;
		found = &h->rdma[i];
	}
	return found;
}

const struct rdma_dev *host_rdma_in(const struct host *h, int nsid, const char *name)
{
	return find_first(h->rdma, h->n_rdma, i,
			  h->rdma[i].nsid == nsid && strcmp(h->rdma[i].name, name) == 0);
}

const struct rdma_dev *host_rdma_sampled(const struct host *h, const char *name)
{
	const struct rdma_dev *dev = host_rdma_in(h, NSID_HOST, name);

	return dev ? dev : host_rdma(h, name);
}

const char *netdev_altname(const struct netdev *d, const char *name)
{
	name = name ? name + strlen(name) + 1 : d->altnames;
	return *name ? name : NULL;
}

const char *host_netns_name(const struct host *h, int nsid)
{
	for (size_t i = 0; i < h->n_namespaces && nsid >= 0; i++)
		if (h->namespaces[i].nsid == nsid)
			return h->namespaces[i].name;
	return "";
}
