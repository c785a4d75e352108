// SPDX-License-Identifier: Apache-2.0
#include "pool_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "array.h"

#define TEXT(s) ((char *)(uintptr_t)(s))

struct pool *add_pool(struct pool_config *c, const char *prefix, const char *name,
		      enum pool_kind kind)
{
	struct pool *p = array_push(c->pools, c->n_pools);

	assert_non_null(p);
	*p = (struct pool){.name = TEXT(name),
			   .prefix = TEXT(prefix),
			   .kind = kind,
			   .ids = kind == POOL_EXCLUSIVE ? ID_FUNCTION : ID_NUMBER};
	return p;
}

struct selector *add_selector(struct pool *p)
{
	struct selector *s = array_push(p->selectors, p->n_selectors);

	assert_non_null(s);
	return s;
}

void add_word(struct word_list *l, const char *word)
{
	char **w = array_push(l->words, l->n);

	assert_non_null(w);
	*w = TEXT(word);
}

void add_pf(struct selector *s, const char *name)
{
	struct pf_selector *pf = array_push(s->pf_names.list, s->pf_names.n);

	assert_non_null(pf);
	pf->name = TEXT(name);
}

static void free_selector(struct selector *s)
{
	free(s->vendors.words);
	free(s->drivers.words);
	free(s->pci_addresses.words);
	free(s->if_names.words);
	free(s->rdma_names.words);
	free(s->pf_names.list);
}

void pool_fixture_free_config(struct pool_config *c)
{
	for (size_t i = 0; i < c->n_pools; i++) {
		for (size_t j = 0; j < c->pools[i].n_selectors; j++)
			free_selector(&c->pools[i].selectors[j]);
		free(c->pools[i].selectors);
	}
	free(c->pools);
	*c = (struct pool_config){0};
}

void hold(struct pod_list *l, const char *resource, const char *id)
{
	const struct pod_device d = {.resource = resource, .id = id, .pod = "p"};

	assert_int_equal(pod_list_push(l, &d), 0);
	l->source = POD_SOURCE_API;
	pod_list_sort(l);
}

/* Two PFs. eth0 has VFs v0 .. v3 (netdevs and RDMA devices of their own), eth4 has none. */
static void build_node(struct host *h)
{
	struct function *f = build_function(h, FN_PF, "0000:03:00.0", "", 0);
	char id[32], name[32];

	f->vfs = 4;
	f->vendor = 0x15b3;
	f->numa = 0;
	build_netdev(h, "eth0", f->id);
	build_rdma(h, "mlx5_0", f->id);
	for (int i = 0; i < 4; i++) {
		snprintf(id, sizeof(id), "0000:03:00.%d", i + 1);
		f = build_function(h, FN_VF, id, "0000:03:00.0", i);
		f->vendor = 0x15b3;
		f->numa = 0;
		SET_TEXT(f->driver, "mlx5_core");
		snprintf(name, sizeof(name), "v%d", i);
		build_netdev(h, name, id);
		snprintf(name, sizeof(name), "mlx5_%d", i + 1);
		build_rdma(h, name, id);
	}
	f = build_function(h, FN_PF, "0000:81:00.0", "", 0);
	f->vendor = 0x15b3;
	f->numa = 1;
	build_netdev(h, "eth4", f->id);
	build_rdma(h, "mlx5_5", f->id);
}

int pool_fixture_setup(void **state)
{
	struct pool_fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	build_node(&f->host);
	*state = f;
	return 0;
}

int pool_fixture_teardown(void **state)
{
	struct pool_fixture *f = *state;

	pools_done(&f->pools);
	pool_fixture_free_config(&f->config);
	pod_list_done(&f->held);
	host_done(&f->host);
	free(f);
	return 0;
}

void pool_fixture_build(struct pool_fixture *f)
{
	pools_done(&f->pools);
	host_sort(&f->host);
	assert_int_equal(pools_build(&f->pools, &f->config, &f->host, &f->held), 0);
	assert_int_equal(f->pools.n_views, f->config.n_pools);
	assert_int_equal(f->pools.n_verdicts, f->host.n_functions);
}

const char *offered_ids(const struct pool_fixture *f, size_t pool)
{
	static char text[2048];
	const struct pool_view *v = &f->pools.views[pool];
	size_t n = 0;

	text[0] = '\0';
	for (size_t i = 0; i < v->n_offers; i++) {
		const struct offer *o = &v->offers[i];

		assert_true(o->first_member + o->n_members <= v->n_members);
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s%s", n ? " " : "",
				      o->gone ? "!" : "", o->id);
		assert_true(n < sizeof(text));
	}
	return text;
}

const struct verdict *verdict_on(const struct pool_fixture *f, const char *function)
{
	for (size_t i = 0; i < f->pools.n_verdicts; i++)
		if (strcmp(f->pools.verdicts[i].function, function) == 0)
			return &f->pools.verdicts[i];
	fail_msg("no verdict about %s", function);
	return NULL;
}

const char *verdict_text_of(const struct pool_fixture *f, const char *function)
{
	static char text[512];

	verdict_text(verdict_on(f, function), text, sizeof(text));
	return text;
}
