/* SPDX-License-Identifier: Apache-2.0 */
/* pool_fixture.h - a node with two PFs, configurations, and the result of pools_build(). All
 * functions assert success. */
#pragma once

#include <stdio.h>

#include "host_builder.h"
#include "pools.h"

#define SET_TEXT(dst, src) snprintf((dst), sizeof(dst), "%s", (src))
/* The VFs of pool_fixture_setup()'s node. */
#define FIXTURE_VFS	   "0000:03:00.1 0000:03:00.2 0000:03:00.3 0000:03:00.4"

struct pool_fixture {
	struct host host;
	struct pool_config config;
	struct pod_list held;
	struct pools pools;
};

/* eth0 (0000:03:00.0, mlx5_0, NUMA node 0) has four VFs, v0 .. v3 with mlx5_1 .. mlx5_4; eth4
 * (0000:81:00.0, mlx5_5, NUMA node 1) has none. */
int pool_fixture_setup(void **state);
int pool_fixture_teardown(void **state);

/* Frees a configuration that was made with the functions below. */
void pool_fixture_free_config(struct pool_config *);

/* Text is borrowed. */
struct pool *add_pool(struct pool_config *, const char *prefix, const char *name, enum pool_kind);
struct selector *add_selector(struct pool *);
void add_word(struct word_list *, const char *word);
void add_pf(struct selector *, const char *name);
/* Allocates a device to a container of pod "p", and sets the list's source to the kubelet's API. */
void hold(struct pod_list *, const char *resource, const char *id);

/* Calls pools_build() with the fixture's current state. */
void pool_fixture_build(struct pool_fixture *);
/* The IDs of a pool, with "!" before removed ones; valid until the next call. */
const char *offered_ids(const struct pool_fixture *, size_t pool);
const struct verdict *verdict_on(const struct pool_fixture *, const char *function);
/* The text of that verdict; valid until the next call. */
const char *verdict_text_of(const struct pool_fixture *, const char *function);
