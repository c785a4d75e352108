// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above first */
#include <cmocka.h>

#include <net/if.h>
#include <netlink/attr.h>
#include <rdma/rdma_netlink.h>

#include "cleanup.h"
#include "nlpoll.h"
#include "test_group.h"

/* A target that had three counters when probed; the second has no slot. */
struct fixture {
	struct layout layout;
	struct nlpoll_target target;
	bool stale;
};

static const char *probed[] = {"out_of_buffer", "ignored", "np_cnp_sent"};
static uint32_t slots[3];

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	layout_port(&f->layout, "mlx5_0", 1);
	for (size_t i = 0; i < 3; i++) {
		struct meaning m[DICT_MEANINGS];
		size_t n = dict_lookup(DICT_HW, NIC_MLX5, probed[i], m);

		slots[i] = i == 1 ? NO_SLOT
				  : layout_slot(&f->layout, SOURCE_NETLINK, probed[i], m, n);
	}
	assert_int_equal(layout_finish(&f->layout), 0);
	f->target = (struct nlpoll_target){.names = probed, .slots = slots, .n = 3};
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	layout_done(&f->layout);
	free(f);
	return 0;
}

static void put_counter(struct nl_msg *m, const char *name, uint64_t value)
{
	struct nlattr *e = nla_nest_start(m, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY);

	nla_put_string(m, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME, name);
	nla_put_u64(m, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE, value);
	nla_nest_end(m, e);
}

/* Delivers an answer with these names, valued 1, 2, ... */
static int deliver(struct fixture *f, const char *const *names)
{
	struct nl_msg *m = nlmsg_alloc_simple(
		RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_STAT_GET), 0);
	struct nlattr *t = nla_nest_start(m, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
	int r;

	for (size_t i = 0; names[i]; i++)
		put_counter(m, names[i], i + 1);
	nla_nest_end(m, t);
	r = nlpoll_deliver(POLL_STAT, &f->target, nlmsg_hdr(m), 0, &f->layout, &f->stale);
	nlmsg_free(m);
	return r;
}

static const struct widen *cell(const struct fixture *f, size_t i)
{
	return &f->layout.cells[slots[i]];
}

static void values_are_stored_in_their_slots(void **state)
{
	static const char *const in_order[] = {"out_of_buffer", "ignored", "np_cnp_sent", NULL};
	static const char *const shuffled[] = {"np_cnp_sent", "out_of_buffer", "ignored", NULL};
	struct fixture *f = *state;

	assert_int_equal(deliver(f, in_order), 0);
	assert_int_equal(cell(f, 0)->raw, 1);
	assert_int_equal(cell(f, 2)->raw, 3);
	assert_int_equal(deliver(f, shuffled), 0);
	assert_int_equal(cell(f, 0)->raw, 2);
	assert_int_equal(cell(f, 2)->raw, 1);
	assert_true(cell(f, 0)->ok && cell(f, 2)->ok);
	assert_false(f->stale);
}

static void a_new_counter_makes_the_layout_stale(void **state)
{
	static const char *const more[] = {"out_of_buffer", "ignored", "np_cnp_sent",
					   "cc_rx_ce_pkts", NULL};
	struct fixture *f = *state;

	assert_int_equal(deliver(f, more), 0);
	assert_true(f->stale);
	assert_true(cell(f, 2)->ok);
}

static void a_missing_counter_is_absent_and_makes_it_stale(void **state)
{
	static const char *const less[] = {"out_of_buffer", "ignored", NULL};
	struct fixture *f = *state;

	assert_int_equal(deliver(f, less), 0);
	assert_true(f->stale);
	assert_true(cell(f, 0)->ok);
	assert_false(cell(f, 2)->ok);
}

static void a_malformed_answer_is_ignored(void **state)
{
	static const char *const good[] = {"out_of_buffer", "ignored", "np_cnp_sent", NULL};
	struct fixture *f = *state;
	struct nl_msg *m = nlmsg_alloc_simple(
		RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_STAT_GET), 0);
	struct nlattr *t = nla_nest_start(m, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS), *e;

	deliver(f, good);
	put_counter(m, "out_of_buffer", 9);
	e = nla_nest_start(m, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY);
	nla_put_string(m, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME, "no value");
	nla_nest_end(m, e);
	nla_nest_end(m, t);
	assert_int_equal(
		nlpoll_deliver(POLL_STAT, &f->target, nlmsg_hdr(m), 0, &f->layout, &f->stale),
		-EBADMSG);
	assert_false(cell(f, 0)->ok);
	assert_false(f->stale);
	nlmsg_free(m);
}

static enum reading_state first_state(const struct layout *l)
{
	struct reading_pos pos = {0};
	struct reading r;

	assert_true(layout_next(l, &pos, &r));
	return r.state;
}

/* Every machine has a loopback device and rtnetlink. */
static void a_link_of_the_real_kernel_is_polled(void **state)
{
	struct nlpoll_id lo = {.nsid = NSID_HOST, .ifindex = (int)if_nametoindex("lo")};
	struct nlpoll_id gone = {.nsid = NSID_HOST, .ifindex = 1 << 30};
	struct layout l = {0};
	struct nlpoll_target *t;
	bool stale = false;
	struct nlpoll p;

	(void)state;
	nlpoll_init(&p);
	assert_int_equal(nlpoll_add(&p, POLL_LINK, &gone), 0);
	assert_int_equal(nlpoll_add(&p, POLL_LINK, &lo), 1);
	assert_int_equal(nlpoll_probe(&p), 0);
	assert_int_equal(p.groups[POLL_LINK].targets[0].n, 0);
	t = &p.groups[POLL_LINK].targets[1];
	assert_int_equal(t->n, 2);
	layout_port(&l, "rxe0", 1);
	for (size_t i = 0; i < t->n; i++) {
		struct meaning m[DICT_MEANINGS];
		size_t n = dict_lookup(DICT_NETDEV, NIC_RXE, t->names[i], m);

		t->slots[i] = layout_slot(&l, SOURCE_NETDEV, t->names[i], m, n);
	}
	assert_int_equal(layout_finish(&l), 0);
	nlpoll_trim(&p, &l);
	assert_int_equal(p.groups[POLL_LINK].n, 1);
	assert_int_equal(nlpoll_read(&p, POLL_LINK, &l, &stale), 0);
	layout_evaluate(&l);
	assert_false(stale);
	assert_int_equal(l.n_readings, 2);
	assert_int_equal(first_state(&l), READING_OK);
	assert_string_equal(l.ports[0].bytes_source, "netdev");
	/* The device was removed: readings are absent, with one error. */
	p.groups[POLL_LINK].targets[0].id = gone;
	nlpoll_trim(&p, &l);
	assert_int_equal(nlpoll_read(&p, POLL_LINK, &l, &stale), 1);
	layout_evaluate(&l);
	assert_int_equal(first_state(&l), READING_ABSENT);
	layout_done(&l);
	nlpoll_done(&p);
}

TEST_GROUP(nlpoll)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(values_are_stored_in_their_slots),
		TEST(a_new_counter_makes_the_layout_stale),
		TEST(a_missing_counter_is_absent_and_makes_it_stale),
		TEST(a_malformed_answer_is_ignored),
		cmocka_unit_test(a_link_of_the_real_kernel_is_polled),
	};

	return test_group_run(tests, NULL, NULL);
}
