// SPDX-License-Identifier: Apache-2.0
/* The proposal for any node is a valid configuration without warnings, and its comments are
 * correct. */
#include "proposal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "faults.h"
#include "golden.h"
#include "host_builder.h"
#include "pool_config.h"
#include "pools.h"
#include "test_group.h"

#define COPY(dst, src) snprintf((dst), sizeof(dst), "%s", (src))

/* --- a random node ---------------------------------------------------------------------------- */

static uint64_t chance_state;

static unsigned chance(unsigned n)
{
	chance_state = chance_state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (unsigned)(chance_state >> 33) % n;
}

static const char *one_of(const char *const *words, size_t n)
{
	return words[chance((unsigned)n)];
}

static void add_chance_netdev(struct host *h, const char *function, unsigned number)
{
	static const char *const odd[] = {"eth%u",  "ib%u",	"a#%u",	 "\x1b[3%um", "\"%u\\",
					  "\xff%u", "ens%unp0", "p%u.5", "ENS%unp0"};
	struct netdev *nd;
	char name[IFNAMSIZ];

	snprintf(name, sizeof(name), chance(4) ? "ens%unp0" : one_of(odd, ARRAY_SIZE(odd)), number);
	nd = build_netdev(h, name, function);
	nd->nsid = chance(12) ? NSID_HOST : 3;
	nd->carrier = (enum carrier)chance(3);
	nd->default_route = chance(12) == 0;
	if (chance(8) == 0)
		snprintf(nd->altnames, sizeof(nd->altnames), "enp%us0f0", number);
	if (chance(8) == 0)
		build_master(h, "bond0", name);
}

static void add_chance_rdma(struct host *h, const char *function, unsigned number)
{
	static const char *const drivers[] = {"mlx5", "mlx5", "mlx5", "rxe", "siw"};
	struct rdma_dev *rd;
	char name[RDMA_NAME_SIZE];

	snprintf(name, sizeof(name), chance(20) ? "mlx5_%u" : "\x1b\"%060u", number);
	rd = build_rdma(h, name, function);
	COPY(rd->driver, one_of(drivers, ARRAY_SIZE(drivers)));
	rd->nsid = chance(12) ? NSID_HOST : 3;
	rd->no_uverbs_node = chance(12) == 0;
	rd->ports[0].state = (enum port_state)chance(6);
	rd->ports[0].link_layer = chance(6) ? LINK_ETHERNET : (enum link_layer)chance(3);
	if (chance(4) == 0)
		rd->ports[0].netdev_ifindex = 1 + (int)chance((unsigned)h->n_netdevs);
}

static void add_chance_parts(struct host *h, const char *function, unsigned number)
{
	if (chance(8))
		add_chance_netdev(h, function, number);
	if (chance(4))
		add_chance_rdma(h, function, number);
}

static void add_chance_function(struct host *h, enum fn_kind kind, const char *id, const char *pf,
				unsigned index)
{
	static const char *const drivers[] = {"mlx5_core", "mlx5_core", "igbvf", "vfio-pci", ""};
	struct function *fn = build_function(h, kind, id, pf, (int)index);

	fn->class = chance(20) ? 0x020000 : 0x120000;
	fn->numa = (int)chance(3) - 1;
	COPY(fn->driver, one_of(drivers, ARRAY_SIZE(drivers)));
	add_chance_parts(h, id, (unsigned)h->n_functions);
}

static void add_chance_pf(struct host *h, unsigned number)
{
	unsigned n_vfs = chance(3) ? 0 : chance(6), n_sfs = chance(4) ? 0 : chance(3);
	char pf[DEV_ID_SIZE], id[DEV_ID_SIZE];
	size_t place = h->n_functions;

	snprintf(pf, sizeof(pf), "0000:%02x:00.0", 16 + number);
	add_chance_function(h, FN_PF, pf, "", 0);
	h->functions[place].vfs = n_vfs;
	h->functions[place].vfs_total = chance(2) ? 16 : 0;
	for (unsigned i = 0; i < n_vfs; i++) {
		snprintf(id, sizeof(id), "0000:%02x:00.%u", 16 + number, i + 1);
		add_chance_function(h, FN_VF, id, chance(30) ? pf : "0000:ff:00.0", i);
	}
	for (unsigned i = 0; i < n_sfs; i++) {
		snprintf(id, sizeof(id), "mlx5_core.sf.%u", number * 10 + i);
		add_chance_function(h, FN_SF, id, pf, i);
	}
}

static void make_node(struct host *h, unsigned seed)
{
	unsigned n_pfs;

	chance_state = seed;
	n_pfs = chance(8);
	COPY(build_netdev(h, "bond0", "")->kind, "bond");
	for (unsigned i = 0; i < n_pfs; i++)
		add_chance_pf(h, i);
	if (chance(4) == 0)
		add_chance_rdma(h, "", 900);
	for (size_t i = 0; i < h->n_rdma; i++)
		if (h->rdma[i].function[0] == '\0')
			COPY(h->rdma[i].function, h->rdma[i].name);
	assert_int_equal(host_sync_virtual(h), 0);
	host_sort(h);
}

/* --- the proposal ----------------------------------------------------------------------------- */

static void on_warning(const char *sentence, void *arg)
{
	(void)arg;
	fail_msg("%s", sentence);
}

/* Marks the functions that the lines name, each from a line's first function to its last. */
static void mark_left_out(const struct proposal *p, const struct host *h, bool *listed)
{
	for (size_t i = 0; i < p->n_left_out; i++) {
		const char *line = p->left_out[i], *to = strstr(line, " to ");
		size_t at = 0, last;

		while (at < h->n_functions &&
		       (strncmp(line, h->functions[at].id, strlen(h->functions[at].id)) != 0 ||
			!strchr(" :", line[strlen(h->functions[at].id)])))
			at++;
		assert_true(at < h->n_functions);
		last = at;
		while (to &&
		       strncmp(to + 4, h->functions[last].id, strlen(h->functions[last].id)) != 0 &&
		       last + 1 < h->n_functions)
			last++;
		if (last == h->n_functions - 1 && to &&
		    strncmp(to + 4, h->functions[last].id, strlen(h->functions[last].id)) != 0)
			last = at; /* " to " is part of the reason */
		for (; at <= last; at++) {
			assert_false(listed[at]);
			listed[at] = true;
		}
	}
}

/* Each function is either in a pool or in a line, and each pool has devices. */
static void check_proposal(const struct host *h, unsigned seed, bool attaches)
{
	struct pool_config config = {0};
	struct pools built = {0};
	struct proposal p = {0};
	struct err e = {0};
	AUTO_FREE bool *listed = calloc(h->n_functions + 1, sizeof(*listed));
	AUTO_FREE char *text = NULL;

	assert_int_equal(proposal_build(&p, h, attaches), 0);
	text = proposal_text(&p);
	assert_non_null(text);
	if (pool_config_parse(&config, text, strlen(text), "c", on_warning, NULL, &e) < 0)
		fail_msg("%u: %s\n%s", seed, e.msg, text);
	assert_int_equal(config.refusals.n, 0);
	for (size_t i = 0; i < config.n_pools && !attaches; i++)
		if (config.pools[i].network)
			fail_msg("%u: a daemon that cannot attach gets\n%s", seed, text);
	assert_int_equal(pools_build(&built, &config, h, NULL), 0);
	mark_left_out(&p, h, listed);
	for (size_t i = 0; i < h->n_functions; i++)
		if (listed[i] == (built.verdicts[i].kind == VERDICT_OFFERED))
			fail_msg("%u: %s is %s\n%s", seed, h->functions[i].id,
				 listed[i] ? "listed and offered" : "neither listed nor offered",
				 text);
	for (size_t i = 0; i < built.n_views; i++)
		if (built.views[i].n_members == 0)
			fail_msg("%u: %s has no devices\n%s", seed, built.views[i].pool->name,
				 text);
	pools_done(&built);
	pool_config_done(&config);
	proposal_done(&p);
}

static void test_random_nodes(void **state)
{
	size_t n_pools = 0;

	(void)state;
	for (unsigned seed = 0; seed < 20000; seed++) {
		struct host h = {0};
		struct proposal p;

		make_node(&h, seed);
		check_proposal(&h, seed, true);
		check_proposal(&h, seed, false);
		assert_int_equal(proposal_build(&p, &h, true), 0);
		n_pools += p.n_pools;
		proposal_done(&p);
		host_done(&h);
	}
	assert_true(n_pools > 20000);
}

static void test_any_allocation_may_fail(void **state)
{
	struct host h = {0};
	long nth = 0;

	(void)state;
	make_node(&h, 7);
	for (bool failed = true; failed; nth++) {
		struct proposal p = {0};
		int r;

		faults_alloc(nth);
		r = proposal_build(&p, &h, true);
		failed = faults_end();
		assert_int_equal(r, failed ? -ENOMEM : 0);
		assert_true(!failed || (!p.pools && !p.left_out));
		proposal_done(&p);
	}
	assert_true(nth > 20);
	host_done(&h);
}

/* --- the text --------------------------------------------------------------------------------- */

static void make_small_node(struct host *h)
{
	struct function *pf = build_function(h, FN_PF, "0000:18:00.0", "", 0);

	pf->class = 0x020000;
	pf->vfs = 2;
	pf->vfs_total = 16;
	pf->numa = 0;
	build_netdev(h, "ens1np0", "0000:18:00.0");
	build_rdma(h, "mlx5_0", "0000:18:00.0");
	for (int i = 0; i < 2; i++) {
		char id[] = "0000:18:00.1", name[] = "mlx5_1", netdev[] = "ens1v0";

		id[11] += (char)i;
		name[5] += (char)i;
		netdev[5] += (char)i;
		COPY(build_function(h, FN_VF, id, "0000:18:00.0", i)->driver, "mlx5_core");
		build_netdev(h, netdev, id);
		build_rdma(h, name, id);
	}
	for (unsigned i = 0; i < 2; i++) {
		char id[] = "0000:2a:00.0", name[] = "mlx5_3", netdev[] = "ens2f0";

		id[11] += (char)i;
		name[5] += (char)i;
		netdev[5] += (char)i;
		build_function(h, FN_PF, id, "", 0)->class = 0x020000;
		build_netdev(h, netdev, id);
		build_rdma(h, name, id);
	}
	find_rdma(h, "mlx5_4")->ports[0].state = PORT_DOWN;
	build_function(h, FN_PF, "0000:01:00.0", "", 0)->class = 0x020000;
	find_function(h, "0000:01:00.0")->driver[0] = 'x';
	build_netdev(h, "e\x1bo1", "0000:01:00.0");
	host_sort(h);
}

static void print_small(FILE *f)
{
	struct host h = {0};
	AUTO_FREE char *text = NULL;

	make_small_node(&h);
	text = proposal_of(&h, true);
	assert_non_null(text);
	fputs(text, f);
	host_done(&h);
}

/* The device is offered all the same: a CNI plugin of another project may move it. */
static void test_without_rights_no_pool_has_a_network(void **state)
{
	struct host h = {0};
	AUTO_FREE char *text = NULL;

	(void)state;
	make_small_node(&h);
	text = proposal_of(&h, false);
	assert_non_null(text);
	assert_null(strstr(text, "\n      \"network\""));
	assert_non_null(strstr(text, "\"pfNames\": [\"ens1np0#0-15\"]"));
	assert_non_null(strstr(text, "--unprivileged, which cannot attach: a pod gets the device"));
	host_done(&h);
}

static void test_output_is_golden(void **state)
{
	(void)state;
	assert_golden("tests/golden/proposal.json", print_small);
}

TEST_GROUP(proposal)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_without_rights_no_pool_has_a_network),
		cmocka_unit_test(test_output_is_golden),
		cmocka_unit_test(test_random_nodes),
		cmocka_unit_test(test_any_allocation_may_fail),
	};

	return test_group_run(tests, NULL, NULL);
}
