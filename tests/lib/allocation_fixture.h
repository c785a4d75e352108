/* SPDX-License-Identifier: Apache-2.0 */
/* allocation_fixture.h - a host with functions of every kind and a pool of them, to test what
 * Allocate grants to a container. */
#pragma once

#include "allocation.h"

/* All device nodes exist except `absent`. A test may change anything: the setup resets it. */
extern struct allocation_fixture {
	struct host host;
	const char *absent; /* missing node, below /dev; NULL = none */
	struct selector rdma, plain;
	struct pool pool; /* of all functions, one ID each; its selector is rdma */
	struct pool_view view;
	char members[70][DEV_ID_SIZE];
	struct offer offers[70];
	struct allocation_input in;
	struct err err; /* of the last call */
} given;

/* The pool is intel.com/sriov. */
int allocation_set_up(void **state);
int allocation_tear_down(void **state);
#define ALLOCATION_TEST(fn)                                                                        \
	cmocka_unit_test_setup_teardown(fn, allocation_set_up, allocation_tear_down)

/* These change the pool's view. */
void add_member(const char *id);
struct offer *add_offer(const char *id, size_t first_member, size_t n_members);
void rename_pool(const char *prefix, const char *name);
/* Turns it into a shared pool with three slots on the PFs 03 and 04. */
void share_pool(enum pool_kind, enum id_style);

/* Calls allocation_grant() for one or two IDs (b may be NULL) and returns its result. */
int try_grant(struct container_grant *ret, const char *a, const char *b);
/* The same, asserting success; the caller frees *ret. */
void must_grant(struct container_grant *ret, const char *a, const char *b);
/* Asserts that it fails with this code and message, and grants nothing. */
void assert_refused(const char *a, const char *b, int code, const char *sentence);
