// SPDX-License-Identifier: Apache-2.0
/* pool_hint.c - explains why a pool has no devices: finds the functions that pass the most tests of
 * a selector, and reports their values beside the value that the failed test requires. Pure. */
#include <net/if_arp.h>
#include <stdio.h>
#include <string.h>

#include "pool_slots.h"
#include "search.h"

/* A list of distinct words, truncated after the last one that fits. */
struct words {
	char text[128];
	unsigned n;
	bool cut;
};

static bool pool_has_word(const struct words *w, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = w->text; (at = strstr(at, word)); at++)
		if ((at == w->text || at[-1] == ' ') && (at[n] == '\0' || at[n] == ','))
			return true;
	return false;
}

static void pool_add_word(struct words *w, const char *word)
{
	size_t len = strlen(w->text);

	if (*word == '\0' || w->cut || pool_has_word(w, word))
		return;
	w->cut = len + strlen(word) + sizeof(", , ...") > sizeof(w->text);
	snprintf(w->text + len, sizeof(w->text) - len, "%s%s", len ? ", " : "",
		 w->cut ? "..." : word);
	w->n++;
}

static void add_words(struct words *w, const struct word_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		pool_add_word(w, list->words[i]);
}

static void add_pf_words(struct words *w, const struct pf_selectors *pfs)
{
	for (size_t i = 0; i < pfs->n; i++)
		pool_add_word(w, pfs->list[i].name);
}

/* --- values of a function --------------------------------------------------------------------- */

static void add_netdevs(struct words *w, const struct fn_parts *p)
{
	for (size_t i = 0; i < p->n_netdevs; i++)
		if (part_netdev(p, i)->nsid == NSID_HOST && netdev_is_own(part_netdev(p, i)))
			pool_add_word(w, part_netdev(p, i)->name);
}

static void add_link_types(struct words *w, const struct fn_parts *p)
{
	for (size_t i = 0; i < p->n_netdevs; i++)
		if (netdev_is_own(part_netdev(p, i)))
			pool_add_word(w, part_netdev(p, i)->type == ARPHRD_INFINIBAND ? "infiniband"
										      : "ether");
}

static void pool_add_rdma(struct words *w, const struct fn_parts *p)
{
	for (size_t i = 0; i < p->n_rdma; i++)
		pool_add_word(w, part_rdma(p, i)->name);
}

static void pool_add_number(struct words *w, bool hex, unsigned value)
{
	char word[16];

	snprintf(word, sizeof(word), hex ? "%04x" : "%u", value);
	if (value)
		pool_add_word(w, word);
}

static void add_pkeys(struct words *w, const struct fn_parts *p)
{
	for (size_t i = 0; i < p->n_rdma; i++)
		for (unsigned k = 0; k < part_rdma(p, i)->n_ports; k++)
			pool_add_number(w, true, part_rdma(p, i)->ports[k].pkey);
}

/* Adds the PF's name, or its address if it has no netdev here. */
static void pool_add_pf(struct words *w, const struct candidate *c)
{
	if (c->pf.n_netdevs == 0 && c->pf.fn)
		pool_add_word(w, c->pf.fn->id);
	add_netdevs(w, &c->pf);
}

static void add_found(struct words *w, enum why_not why, const struct candidate *c)
{
	const struct function *fn = c->self.fn;
	const struct function *pci = fn->kind == FN_SF && c->pf.fn ? c->pf.fn : fn;

	switch (why) {
	case WHY_NOT_VENDOR:
		pool_add_number(w, true, pci->vendor);
		break;
	case WHY_NOT_DEVICE:
		pool_add_number(w, true, pci->device);
		break;
	case WHY_NOT_DRIVER:
		pool_add_word(w, fn->driver);
		break;
	case WHY_NOT_PCI_ADDRESS:
	case WHY_NOT_AUX_TYPE:
		pool_add_word(w, fn->id);
		break;
	case WHY_NOT_ACPI_INDEX:
		pool_add_number(w, false, fn->acpi_index);
		break;
	case WHY_NOT_PF_NAME:
		pool_add_pf(w, c);
		break;
	case WHY_NOT_ROOT_DEVICE:
		pool_add_word(w, c->pf.fn ? c->pf.fn->id : "");
		break;
	case WHY_NOT_IF_NAME:
		add_netdevs(w, &c->self);
		break;
	case WHY_NOT_LINK_TYPE:
		add_link_types(w, &c->self);
		break;
	case WHY_NOT_PKEY:
		add_pkeys(w, &c->self);
		break;
	case WHY_NOT_RDMA_NAME:
		pool_add_rdma(w, &c->self);
		break;
	case WHY_NOT_NONE:
	case WHY_NOT_TYPE:
	case WHY_NOT_RDMA:
	case WHY_NOT_CHARDEV:
	case WHY_NOT_VDPA:
	case WHY_NOT_LONG_NAME:
	case N_WHY_NOT:
		break;
	}
}

/* --- required values -------------------------------------------------------------------------- */

static const struct {
	const char *noun; /* NULL: the test has no list of words */
	size_t words;	  /* offset of the list in struct selector */
} requirements[N_WHY_NOT] = {
	[WHY_NOT_VENDOR] = {"vendor", offsetof(struct selector, vendors)},
	[WHY_NOT_DEVICE] = {"device id", offsetof(struct selector, devices)},
	[WHY_NOT_DRIVER] = {"device with driver", offsetof(struct selector, drivers)},
	[WHY_NOT_PCI_ADDRESS] = {"device", offsetof(struct selector, pci_addresses)},
	[WHY_NOT_ACPI_INDEX] = {"ACPI index", offsetof(struct selector, acpi_indexes)},
	[WHY_NOT_AUX_TYPE] = {"auxiliary device of type", offsetof(struct selector, aux_types)},
	[WHY_NOT_PF_NAME] = {"PF", 0},
	[WHY_NOT_ROOT_DEVICE] = {"PF", 0},
	[WHY_NOT_IF_NAME] = {"interface", offsetof(struct selector, if_names)},
	[WHY_NOT_LINK_TYPE] = {"link of type", offsetof(struct selector, link_types)},
	[WHY_NOT_PKEY] = {"pkey", offsetof(struct selector, pkeys)},
	[WHY_NOT_RDMA_NAME] = {"RDMA device", offsetof(struct selector, rdma_names)},
};

static const struct pf_selectors *wanted_pfs(const struct selector *s, enum why_not why)
{
	if (why == WHY_NOT_PF_NAME)
		return &s->pf_names;
	return why == WHY_NOT_ROOT_DEVICE ? &s->root_devices : NULL;
}

static void pool_add_wanted(struct words *w, const struct selector *s, enum why_not why)
{
	const struct pf_selectors *pfs = wanted_pfs(s, why);

	if (pfs)
		add_pf_words(w, pfs);
	else if (requirements[why].noun)
		add_words(w, (const void *)((const char *)s + requirements[why].words));
}

/* --- the message ------------------------------------------------------------------------------ */

/* The result of one selector: how many of its tests the best functions pass. */
struct progress {
	enum why_not furthest; /* WHY_NOT_NONE: a function matches */
	size_t n;	       /* functions that pass all tests before `furthest` */
	size_t n_earlier;      /* other functions of the pool's type */
};

static struct progress progress_of(const struct pool *pool, const struct selector *s,
				   const struct host_index *ix)
{
	struct progress p = {0};

	for (size_t i = 0; i < ix->host->n_functions; i++) {
		struct candidate c = candidate_of(ix, &ix->host->functions[i]);
		enum why_not why = pool_match(pool, s, &c);

		if (why == WHY_NOT_NONE)
			return (struct progress){0};
		if (why > p.furthest) {
			p.n_earlier += p.furthest == WHY_NOT_TYPE ? 0 : p.n;
			p.n = 0;
			p.furthest = why;
		}
		if (why == p.furthest)
			p.n++;
		else
			p.n_earlier += why != WHY_NOT_TYPE;
	}
	return p;
}

static void hint_find(const struct pool *pool, const struct selector *s,
		      const struct host_index *ix, enum why_not furthest, struct words *ret)
{
	for (size_t i = 0; i < ix->host->n_functions; i++) {
		struct candidate c = candidate_of(ix, &ix->host->functions[i]);

		if (pool_match(pool, s, &c) == furthest)
			add_found(ret, furthest, &c);
	}
}

/* Functions that have the required value, but failed an earlier test; only those that pass the most
 * tests. */
struct left_out {
	struct words ids;
	size_t n;
	enum why_not why;	      /* the test that all of them failed */
	const struct function *first; /* NULL: there are none */
};

static struct left_out left_out_of(const struct pool *pool, const struct selector *s,
				   const struct host_index *ix, enum why_not wanted)
{
	struct left_out l = {0};

	for (size_t i = 0; i < ix->host->n_functions; i++) {
		const struct function *fn = &ix->host->functions[i];
		struct candidate c = candidate_of(ix, fn);
		enum why_not why = pool_match(pool, s, &c);

		if (why >= wanted || why < l.why || !selector_has(s, wanted, &c))
			continue;
		if (why > l.why)
			l = (struct left_out){.why = why, .first = fn};
		pool_add_word(&l.ids, fn->id);
		l.n++;
	}
	return l;
}

static void left_out_explain(const struct pool *pool, const struct selector *s,
			     const struct left_out *l, enum why_not why, const char *wanted,
			     char *text, size_t size)
{
	const char *noun = requirements[why].noun;
	const char *verb = noun ? "match" : "ha", *ending = noun ? "" : "ve", *type = NULL;

	if (l->n == 1)
		ending = noun ? "es" : "s";
	if (!noun)
		noun = why == WHY_NOT_VDPA ? "the vDPA type" : "an RDMA device";
	if (l->why == WHY_NOT_TYPE)
		type = selector_type_wrong(s, pool, l->first);
	snprintf(text, size, "%s %s%s %s%s%s, but the pool %s", l->ids.text, verb, ending, noun,
		 *wanted ? " " : "", wanted, type ? type : why_not_name(l->why));
}

/* Explains the case that every function is of another type. */
static void type_explain(const struct pool *pool, const struct selector *s,
			 const struct host_index *ix, char *text, size_t size)
{
	snprintf(text, size, "the pool %s, and there is none",
		 selector_type_wrong(s, pool, &ix->host->functions[0]));
}

/* True if a required PF is present. Then the functions do not match the VF range. */
static bool has_pf(const struct words *found, const struct pf_selectors *pfs)
{
	return pfs && any_of(pfs->n, i, pool_has_word(found, pfs->list[i].name));
}

static void hint_explain(const struct pool *pool, const struct selector *s,
			 const struct host_index *ix, const struct progress *p, char *text,
			 size_t size)
{
	struct words found = {0}, wanted = {0};
	const char *noun = requirements[p->furthest].noun;
	struct left_out l = left_out_of(pool, s, ix, p->furthest);
	char among[64] = "";

	hint_find(pool, s, ix, p->furthest, &found);
	pool_add_wanted(&wanted, s, p->furthest);
	if (p->n_earlier > 0)
		snprintf(among, sizeof(among), " among the %zu that match all before that", p->n);
	if (l.first)
		left_out_explain(pool, s, &l, p->furthest, wanted.text, text, size);
	else if (p->furthest == WHY_NOT_TYPE)
		type_explain(pool, s, ix, text, size);
	else if (!noun)
		snprintf(text, size, "the pool %s, and there is none%s", why_not_name(p->furthest),
			 among);
	else if (has_pf(&found, wanted_pfs(s, p->furthest)))
		snprintf(text, size, "no VF of %s has a number that is selected%s", wanted.text,
			 among);
	else
		snprintf(text, size, "there is no %s %s%s%s%s", noun, wanted.text, among,
			 found.n ? "; there is " : "", found.text);
}

void pool_hint(const struct pool *pool, const struct host_index *ix, char *text, size_t size)
{
	struct progress p;

	text[0] = '\0';
	if (ix->host->n_functions == 0) {
		snprintf(text, size, "there are no devices on this node");
		return;
	}
	for (size_t i = 0; i < pool->n_selectors && !text[0]; i++) {
		p = progress_of(pool, &pool->selectors[i], ix);
		if (p.furthest != WHY_NOT_NONE)
			hint_explain(pool, &pool->selectors[i], ix, &p, text, size);
	}
}
