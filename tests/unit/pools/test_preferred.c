// SPDX-License-Identifier: Apache-2.0
/* Preferred IDs: NUMA node first, then the PCI switch, then an even spread; and invariants for
 * random requests. */
#include "allocation.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cleanup.h"
#include "failing_malloc.h"
#include "test_group.h"

/* Two NUMA nodes. Node 0: a switch with cards 21 and 22, and card 31 at its own root port. Node 1:
 * card 81. Each card is a PF with VFs. */
#define ROOT "pci0000:00/0000:00:01.0"

static const struct card {
	const char *pf, *path;
	int numa;
	unsigned vfs;
} cards[] = {
	{"0000:21:00.0", ROOT "/0000:10:00.0/0000:11:00.0", 0, 4},
	{"0000:22:00.0", ROOT "/0000:10:00.0/0000:11:01.0", 0, 12},
	{"0000:31:00.0", "pci0000:00/0000:00:02.0", 0, 4},
	{"0000:81:00.0", "pci0000:80/0000:80:01.0", 1, 6},
};

static struct function functions[64];
static struct host host = {.functions = functions};
static struct pool pool = {.prefix = (char *)"intel.com", .name = (char *)"sriov"};
static char members[64][DEV_ID_SIZE];
static struct offer offers[64];
static struct pool_view view = {.pool = &pool, .members = members, .offers = offers};

static struct function *add_function(const char *id, const struct card *card, const char *parent)
{
	struct function *fn = &functions[host.n_functions++];

	*fn = (struct function){.numa = card->numa};
	snprintf(fn->id, sizeof(fn->id), "%s", id);
	snprintf(fn->parent, sizeof(fn->parent), "%s", parent);
	snprintf(fn->path, sizeof(fn->path), "%s", card->path);
	return fn;
}

static void add_offer(const char *id, size_t first, size_t n)
{
	struct offer *o = &offers[view.n_offers++];

	*o = (struct offer){.first_member = first, .n_members = n, .numa = -1};
	snprintf(o->id, sizeof(o->id), "%s", id);
}

static void add_card(const struct card *card)
{
	char id[DEV_ID_SIZE];

	add_function(card->pf, card, "");
	for (unsigned i = 0; i < card->vfs; i++) {
		snprintf(id, sizeof(id), "%.8s%02x.%u", card->pf, 1 + i / 8, i % 8);
		add_function(id, card, card->pf);
		snprintf(members[view.n_members], DEV_ID_SIZE, "%s", id);
		add_offer(id, view.n_members++, 1);
	}
}

static int set_up(void **state)
{
	(void)state;
	host.n_functions = view.n_members = view.n_offers = 0;
	pool.kind = POOL_EXCLUSIVE;
	for (size_t i = 0; i < ARRAY_SIZE(cards); i++)
		add_card(&cards[i]);
	return 0;
}

/* --- requests --------------------------------------------------------------------------------- */

#define ALL NULL

/* Blank-separated words of text; ALL: every ID of the pool. */
static size_t words(const char *text, const char **list)
{
	static char copies[4][2048];
	static unsigned turn;
	char *copy = copies[turn++ % 4], *save;
	size_t n = 0;

	if (text == ALL) {
		for (size_t i = 0; i < view.n_offers; i++)
			list[n++] = offers[i].id;
		return n;
	}
	snprintf(copy, sizeof(copies[0]), "%s", text);
	for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save))
		list[n++] = w;
	return n;
}

/* IDs whose devices are still in a pod, with a blank around each. */
static const char *busy = "";

static bool is_busy(const char *id, void *arg)
{
	char word[DEV_ID_SIZE + 2];

	(void)arg;
	snprintf(word, sizeof(word), " %.*s ", DEV_ID_SIZE - 1, id);
	return strstr(busy, word);
}

static void assert_prefers(const char *available, const char *must, size_t size,
			   const char *expected)
{
	const char *a[64], *m[64], *ret[64] = {NULL};
	struct preference_request req = {{a, words(available, a)}, {m, words(must, m)}, size};
	char text[2048] = "";
	int n = allocation_prefer(ret, &view, &host, &req, is_busy, NULL);

	assert_true(n >= 0);
	for (int i = 0; i < n; i++) {
		strcat(text, i ? " " : "");
		strcat(text, ret[i]);
	}
	assert_string_equal(text, expected);
}

/* --- rules ------------------------------------------------------------------------------------ */

static void test_the_emptiest_node_and_pf_first(void **state)
{
	(void)state;
	assert_prefers(ALL, "", 1, "0000:22:01.0");
	assert_prefers("0000:81:01.5 0000:81:01.4 0000:21:01.3", "", 1, "0000:81:01.4");
}

/* A container that gets a device still in a pod has to wait, so these are the last choice. */
static void test_free_devices_before_busy_ones(void **state)
{
	(void)state;
	busy = " 0000:22:01.0 0000:21:01.0 0000:21:01.1 ";
	assert_prefers(ALL, "", 1, "0000:22:01.1");
	assert_prefers("0000:21:01.0 0000:21:01.1 0000:81:01.5", "", 2,
		       "0000:81:01.5 0000:21:01.0");
	assert_prefers("0000:21:01.0 0000:21:01.1 0000:81:01.5", "0000:21:01.1", 2,
		       "0000:21:01.1 0000:81:01.5");
	assert_prefers("0000:21:01.1 0000:21:01.0", "", 1, "0000:21:01.0");
	busy = "";
}

static void test_spread_over_pfs(void **state)
{
	(void)state;
	assert_prefers(ALL, "", 4, "0000:22:01.0 0000:21:01.0 0000:31:01.0 0000:22:01.1");
	assert_prefers(ALL, "", 0, "");
}

static void test_one_numa_node_for_the_whole_request(void **state)
{
	(void)state;
	/* Node 1 has fewer PFs, but enough devices for the whole request. */
	assert_prefers("0000:21:01.0 0000:22:01.0 0000:81:01.0 0000:81:01.1 0000:81:01.2 "
		       "0000:81:01.3 0000:81:01.4",
		       "", 5, "0000:81:01.0 0000:81:01.1 0000:81:01.2 0000:81:01.3 0000:81:01.4");
	/* The number of free devices decides, not that of the fullest PF. */
	assert_prefers("0000:21:01.0 0000:21:01.1 0000:22:01.0 0000:31:01.0 0000:81:01.0 "
		       "0000:81:01.1 0000:81:01.2",
		       "", 4, "0000:21:01.0 0000:22:01.0 0000:31:01.0 0000:21:01.1");
	/* No node has enough: devices of the node with more come first, then those of the other. */
	assert_prefers("0000:21:01.0 0000:81:01.0 0000:81:01.1", "", 3,
		       "0000:81:01.0 0000:81:01.1 0000:21:01.0");
	/* Of equal nodes the lower one is preferred, and a known node before an unknown one. */
	assert_prefers("0000:81:01.0 0000:21:01.0", "", 1, "0000:21:01.0");
	functions[0].numa = -1;
	for (size_t i = 0; i < 5; i++)
		functions[i].numa = -1; /* card 21 */
	assert_prefers("0000:81:01.0 0000:21:01.0", "", 1, "0000:81:01.0");
}

/* Only a sub-function without a node uses its PF's; 0 is a node. */
static void test_a_sub_function_has_its_own_node(void **state)
{
	struct function *pf = NULL;

	(void)state;
	for (size_t i = 0; i < host.n_functions; i++) {
		struct function *fn = &functions[i];

		if (strcmp(fn->id, "0000:31:00.0") == 0)
			pf = fn;
		else if (strcmp(fn->parent, "0000:31:00.0") == 0)
			fn->kind = FN_SF;
	}
	assert_non_null(pf);
	pf->numa = 1;
	assert_prefers("0000:21:01.0 0000:31:01.0 0000:81:01.0", "", 2,
		       "0000:21:01.0 0000:31:01.0");
	for (size_t i = 0; i < host.n_functions; i++)
		if (functions[i].kind == FN_SF)
			functions[i].numa = -1;
	assert_prefers("0000:21:01.0 0000:31:01.0 0000:81:01.0", "", 2,
		       "0000:31:01.0 0000:81:01.0");
}

static void test_near_the_required_devices(void **state)
{
	(void)state;
	/* The same switch before another port, another port before another node; of the two cards
	 * on the switch, the one with no allocated device. */
	assert_prefers(ALL, "0000:21:01.3", 2, "0000:21:01.3 0000:22:01.0");
	assert_prefers("0000:81:01.0 0000:31:01.0 0000:21:01.0 0000:22:01.7", "0000:22:01.7", 4,
		       "0000:22:01.7 0000:21:01.0 0000:31:01.0 0000:81:01.0");
	/* Card 31 has more free devices, but is at another port. */
	assert_prefers("0000:31:01.0 0000:31:01.1 0000:21:01.0 0000:22:01.7", "0000:22:01.7", 2,
		       "0000:22:01.7 0000:21:01.0");
	/* Node 0 has more free devices, but is another node. */
	assert_prefers(ALL, "0000:81:01.2", 3, "0000:81:01.2 0000:81:01.0 0000:81:01.1");
	/* Node 1 has more free devices, but is another node. */
	assert_prefers("0000:31:01.0 0000:31:01.1 0000:81:01.0 0000:81:01.1 0000:81:01.2",
		       "0000:31:01.0", 2, "0000:31:01.0 0000:31:01.1");
	/* Required devices are on both nodes, so both are near. */
	assert_prefers("0000:81:01.2 0000:21:01.0 0000:81:01.0", "0000:21:01.0 0000:81:01.2", 3,
		       "0000:21:01.0 0000:81:01.2 0000:81:01.0");
}

static void test_ids_in_natural_order(void **state)
{
	(void)state;
	host.n_functions = view.n_members = view.n_offers = 0;
	pool.kind = POOL_SHARED_ONE;
	pool.ids = ID_NUMBER;
	add_function("0000:21:00.0", &cards[0], "");
	snprintf(members[0], DEV_ID_SIZE, "0000:21:00.0");
	for (unsigned i = 0; i < 20; i++) {
		char id[8];

		snprintf(id, sizeof(id), "%u", i);
		add_offer(id, 0, 1);
	}
	assert_prefers("10 9 11 2", "", 3, "2 9 10");
}

static void test_slots_spread_over_hcas(void **state)
{
	(void)state;
	pool.kind = POOL_SHARED_ONE;
	view.n_members = view.n_offers = 0;
	for (unsigned c = 0; c < 2; c++) {
		snprintf(members[view.n_members++], DEV_ID_SIZE, "%s", cards[c].pf);
		for (unsigned i = 0; i < 3; i++) {
			char id[16];

			snprintf(id, sizeof(id), "mlx5_%u-%u", c, i);
			add_offer(id, c, 1);
		}
	}
	assert_prefers(ALL, "", 4, "mlx5_0-0 mlx5_1-0 mlx5_0-1 mlx5_1-1");
	/* VFs of one PF count as different HCAs. */
	snprintf(members[0], DEV_ID_SIZE, "0000:21:01.0");
	snprintf(members[1], DEV_ID_SIZE, "0000:21:01.1");
	assert_prefers(ALL, "", 2, "mlx5_0-0 mlx5_1-0");
	/* Slots on all HCAs are equal. */
	pool.kind = POOL_SHARED_ALL;
	for (size_t i = 0; i < view.n_offers; i++)
		offers[i] = (struct offer){.n_members = 2, .id = {(char)('0' + i)}};
	assert_prefers(ALL, "", 3, "0 1 2");
}

/* --- requests that do not fit ----------------------------------------------------------------- */

static int prefer(const char *available, const char *must, size_t size)
{
	const char *a[64], *m[64], *ret[64];
	struct preference_request req = {{a, words(available, a)}, {m, words(must, m)}, size};

	return allocation_prefer(ret, &view, &host, &req, is_busy, NULL);
}

static void test_invalid_requests(void **state)
{
	(void)state;
	assert_int_equal(prefer("0000:21:01.0 0000:21:01.1", "", 5), 2);
	assert_int_equal(prefer("", "", 5), 0);
	assert_int_equal(prefer("0000:21:01.0", "0000:21:01.1", 1), -EINVAL);
	assert_int_equal(prefer(ALL, "0000:21:01.0 0000:21:01.1", 1), -EINVAL);
	assert_int_equal(prefer(ALL, "0000:21:01.0 0000:21:01.0", 1), 1);
	assert_int_equal(prefer("0000:21:01.0 0000:21:01.0", "", 2), 1);
	/* Unknown IDs are still returned, after all others. */
	assert_prefers("x 0000:21:01.0 \xff", "", 3, "0000:21:01.0 x \xff");
	host.n_functions = 0;
	assert_prefers("0000:21:01.1 0000:21:01.0", "", 1, "0000:21:01.0");
}

/* --- random requests -------------------------------------------------------------------------- */

static bool has(const char *const *list, size_t n, const char *id)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(list[i], id) == 0)
			return true;
	return false;
}

static void shuffle(const char **list, size_t n)
{
	for (size_t i = n; i > 1; i--) {
		size_t j = (size_t)rand() % i;
		const char *other = list[j];

		list[j] = list[i - 1];
		list[i - 1] = other;
	}
}

/* A random part of the pool, of which a random part is required, and a random size. */
static void check_one(void)
{
	const char *a[64], *m[64], *ret[64], *again[64];
	size_t n = words(ALL, a), n_must;
	struct preference_request req;
	int got;

	shuffle(a, n);
	n = (size_t)rand() % (n + 1);
	n_must = n ? (size_t)rand() % n / 2 : 0;
	memcpy(m, a, n_must * sizeof(*m));
	req = (struct preference_request){{a, n}, {m, n_must}, n_must + (size_t)rand() % 10};
	got = allocation_prefer(ret, &view, &host, &req, is_busy, NULL);
	assert_int_equal(got, req.size < n ? req.size : n);
	for (int i = 0; i < got; i++) {
		assert_true(has(a, n, ret[i]));
		assert_false(has(ret, (size_t)i, ret[i]));
	}
	for (size_t i = 0; i < n_must; i++)
		assert_true(has(ret, (size_t)got, m[i]));
	shuffle(a, n);
	shuffle(m, n_must);
	assert_int_equal(allocation_prefer(again, &view, &host, &req, is_busy, NULL), got);
	for (int i = 0; i < got; i++)
		assert_string_equal(again[i], ret[i]);
}

static void test_random_requests(void **state)
{
	(void)state;
	srand(1);
	for (unsigned i = 0; i < 5000; i++)
		check_one();
}

/* --- out of memory ---------------------------------------------------------------------------- */

#ifdef CAN_FAIL
static int attempt_prefer(void)
{
	int r = prefer(ALL, "0000:21:01.3", 4);

	return r < 0 ? r : 0;
}

static void test_every_allocation_may_fail(void **state)
{
	(void)state;
	assert_true(fail_each_allocation(attempt_prefer) > 5);
}
#endif

#define TEST(fn) cmocka_unit_test_setup(fn, set_up)

TEST_GROUP(preferred)
{
	const struct CMUnitTest tests[] = {
		TEST(test_the_emptiest_node_and_pf_first),
		TEST(test_free_devices_before_busy_ones),
		TEST(test_spread_over_pfs),
		TEST(test_one_numa_node_for_the_whole_request),
		TEST(test_a_sub_function_has_its_own_node),
		TEST(test_near_the_required_devices),
		TEST(test_ids_in_natural_order),
		TEST(test_slots_spread_over_hcas),
		TEST(test_invalid_requests),
		TEST(test_random_requests),
#ifdef CAN_FAIL
		TEST(test_every_allocation_may_fail),
#endif
	};

	return test_group_run(tests, NULL, NULL);
}
