/* allocation_fixture.h - a host with functions of every kind and a pool of them, for the tests of
 * what a container gets. */
#pragma once

#include "allocation.h"

/* Every node in /dev exists but one. A test may change all of it, its neighbours do not see that.
 */
extern struct allocation_fixture {
	struct host host;
	const char *absent; /* that one, below /dev; NULL = none */
	struct selector rdma, plain;
	struct pool pool; /* of all functions, each its own ID; its selector is rdma */
	struct pool_view view;
	char members[70][DEV_ID_SIZE];
	struct offer offers[70];
	struct allocation_input in;
	struct err err; /* of the last question */
} given;

/* The pool is intel.com/sriov. */
int allocation_set_up(void **state);
int allocation_tear_down(void **state);
#define ALLOCATION_TEST(fn)                                                                        \
	cmocka_unit_test_setup_teardown(fn, allocation_set_up, allocation_tear_down)

/* Of the view. */
void add_member(const char *id);
struct offer *add_offer(const char *id, size_t first_member, size_t n_members);
void rename_pool(const char *prefix, const char *name);
/* Makes it a shared pool of the PFs 03 and 04 with three slots. */
void share_pool(enum pool_kind, enum id_style);

/* allocation_grant() of one ID or two (b may be NULL); what that returns. */
int try_grant(struct container_grant *ret, const char *a, const char *b);
/* The same, and it works; the caller frees it. */
void must_grant(struct container_grant *ret, const char *a, const char *b);
/* It fails so, and grants nothing. */
void assert_refused(const char *a, const char *b, int code, const char *sentence);
