/* model.c - PCI addresses, natural order and the words of model.h. Pure. */
#include "model.h"

#include <ctype.h>
#include <string.h>

/* --- PCI addresses ------------------------------------------------------------------------ */

/* 1 to max hex digits, then `end`. Returns what follows it, NULL if the text is not like that. */
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

/* Compares the runs of digits that both strings stand at, by value, and steps over them. */
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
	/* "eth01" and "eth1" are two names: equal only if really the same. */
	if (!*a && !*b)
		return strcmp(whole_a, whole_b);
	return *a ? 1 : -1;
}

/* --- words -------------------------------------------------------------------------------- */

/* Values come from the kernel: one that is newer than these tables has no name yet. */
static const char *word(const char *const *words, size_t n, unsigned value)
{
	return value < n && words[value] ? words[value] : "unknown";
}

#define WORD(table, value) word(table, sizeof(table) / sizeof((table)[0]), (unsigned)(value))

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
