// SPDX-License-Identifier: Apache-2.0
/* pool_idle.c - one table: in which modes of a pool each key has no effect. A reader of the
 * configuration would otherwise accept such a key without a word. */
#include "pool_idle.h"

#include <ctype.h>

#include "array.h"
#include "cleanup.h"
#include "search.h"

/* The modes of a pool, in the order in which a warning names them. */
enum mode {
	MODE_SOFT_ROCE,	   /* the container gets the folder of all soft-RoCE nodes */
	MODE_WHOLE,	   /* the container gets all of /dev/infiniband */
	MODE_ACCELERATOR,  /* the device has no netdev and no RDMA device */
	MODE_AUX,	   /* all devices are sub-functions */
	MODE_SHARED,	   /* a slot is no PCI device */
	MODE_NUMBERS,	   /* the container gets no variables (allocation.c) */
	MODE_NO_RDMA,	   /* the container gets no RDMA nodes (function_nodes.c) */
	MODE_NOT_ALL_RDMA, /* RDMA does not count for the health (health.c) */
	MODE_IGNORE_LINK,  /* links do not count for the health */
	MODE_NO_CDI,	   /* the prefix cannot be the vendor in a CDI name */
	N_MODES
};
#define MODE(mode) (1u << MODE_##mode)

static const char *const whys[N_MODES] = {
	[MODE_SOFT_ROCE] = "with \"softRoce\": true",
	[MODE_WHOLE] = "with \"wholeDirectory\": true",
	[MODE_ACCELERATOR] = "with \"deviceType\": \"accelerator\"",
	[MODE_AUX] = "with \"deviceType\": \"auxNetDevice\"",
	[MODE_SHARED] = "with \"kind\": \"shared\"",
	[MODE_NUMBERS] = "with \"ids\": \"number\"",
	[MODE_NO_RDMA] = "unless a selector has \"isRdma\": true",
	[MODE_NOT_ALL_RDMA] = "unless every selector has \"isRdma\": true",
	[MODE_IGNORE_LINK] = "with \"ignoreLink\": true",
	[MODE_NO_CDI] = "with a \"resourcePrefix\" that is no vendor name of CDI",
};

static const struct idle_row {
	const char *group, *key;
	unsigned modes; /* the key has no effect in any of these */
	bool if_false;	/* only the value false has none */
} rows[] = {
	{NULL, "permissions", MODE(SOFT_ROCE), false},
	{NULL, "umad", MODE(SOFT_ROCE) | MODE(WHOLE) | MODE(ACCELERATOR) | MODE(NO_RDMA), false},
	{NULL, "issm", MODE(SOFT_ROCE) | MODE(WHOLE) | MODE(ACCELERATOR) | MODE(NO_RDMA), false},
	{NULL, "requireUmad", MODE(SOFT_ROCE) | MODE(ACCELERATOR) | MODE(NO_RDMA), false},
	{NULL, "cdi", MODE(SOFT_ROCE) | MODE(WHOLE) | MODE(NO_CDI), false},
	{NULL, "deviceInfo", MODE(SHARED), false},
	{NULL, "additionalInfo", MODE(NUMBERS), false},
	{NULL, "subFunctions", MODE(AUX), false},
	{NULL, "ignoreLink", MODE(ACCELERATOR), false},
	{"selectors", "needVhostNet", MODE(SOFT_ROCE) | MODE(WHOLE), false},
	{"selectors", "isRdma", MODE(SHARED), true},
	{"hold", "noDriver", MODE(SHARED), false},
	{"hold", "linkDown", MODE(ACCELERATOR) | MODE(IGNORE_LINK), false},
	{"hold", "portDown", MODE(ACCELERATOR) | MODE(IGNORE_LINK) | MODE(NOT_ALL_RDMA), false},
	{"hold", "noRdma", MODE(ACCELERATOR) | MODE(NOT_ALL_RDMA), false},
	{"hold", "noChardev", MODE(ACCELERATOR) | MODE(NOT_ALL_RDMA), false},
};

static unsigned modes_of(const struct pool *pool)
{
	bool shared = pool->kind != POOL_EXCLUSIVE;
	bool some_rdma = any_of(pool->n_selectors, i, pool->selectors[i].is_rdma);
	bool some_not = any_of(pool->n_selectors, i, !pool->selectors[i].is_rdma);
	const bool is[N_MODES] = {
		[MODE_SOFT_ROCE] = pool->network && pool->network->plan.soft_roce,
		[MODE_WHOLE] = pool->whole_directory,
		[MODE_ACCELERATOR] = pool->type == DEVICE_ACCELERATOR,
		[MODE_AUX] = pool->type == DEVICE_AUX_NET,
		[MODE_SHARED] = shared,
		[MODE_NUMBERS] = shared && pool->ids == ID_NUMBER,
		[MODE_NO_RDMA] = !shared && !some_rdma,
		[MODE_NOT_ALL_RDMA] = !shared && some_not,
		[MODE_IGNORE_LINK] = pool->ignore_link,
		[MODE_NO_CDI] = isdigit((unsigned char)pool->prefix[0]), /* cdi_kind() */
	};
	unsigned modes = 0;

	for (unsigned i = 0; i < N_MODES; i++)
		modes |= is[i] ? 1u << i : 0;
	return modes;
}

static const char *idle_why(unsigned modes, const struct idle_row *row)
{
	for (unsigned i = 0; i < N_MODES; i++)
		if (modes & row->modes & (1u << i))
			return whys[i];
	return NULL;
}

static bool row_is_of(const struct idle_row *row, const char *group)
{
	return row->group && group ? strcmp(row->group, group) == 0 : row->group == group;
}

const char *pool_idle_why(const struct pool *pool, const char *group, const char *key)
{
	const struct idle_row *row = find_first(rows, ARRAY_SIZE(rows), i,
						row_is_of(&rows[i], group) &&
							strcmp(rows[i].key, key) == 0);

	return row && !row->if_false ? idle_why(modes_of(pool), row) : NULL;
}

/* --- checking --------------------------------------------------------------------------------- */

static int idle_report(struct parse *p, const struct json_place *at, const struct pool *pool,
		       const char *why)
{
	struct pool_idle *slot;

	parse_warn(p, at, "has no effect %s", why);
	if (p->config->idle.n >= POOL_IDLE_MAX)
		return 0;
	slot = array_push(p->config->idle.list, p->config->idle.n);
	if (!slot)
		return parse_no_memory(p);
	pool_resource(pool, slot->resource);
	parse_sentence(p, at, slot->what, sizeof(slot->what), "has no effect %s", why);
	return 0;
}

/* Checks the keys of one object. */
static int idle_check_object(struct parse *p, const struct json_place *at, const json_t *object,
			     const struct pool *pool, const char *group)
{
	unsigned modes = modes_of(pool);
	int r = 0;

	for (const struct idle_row *row = rows; row < rows + ARRAY_SIZE(rows) && r == 0; row++) {
		struct json_place here = {at, row->key, 0};
		const char *why = row_is_of(row, group) ? idle_why(modes, row) : NULL;
		const json_t *value = why ? json_find(object, row->key, &here.key) : NULL;

		if (value && !(row->if_false && json_is_true(value)))
			r = idle_report(p, &here, pool, why);
	}
	return r;
}

/* Checks the object, or each object of the list, that is the value of the key `group`. */
static int idle_check_group(struct parse *p, const struct json_place *at, const json_t *item,
			    const struct pool *pool, const char *group)
{
	struct json_place here = {at, group, 0};
	const json_t *value = json_find(item, group, &here.key);
	int r = 0;

	if (json_is_object(value))
		return idle_check_object(p, &here, value, pool, group);
	for (size_t i = 0; i < json_array_size(value) && r == 0; i++) {
		struct json_place one = {&here, NULL, i};

		r = idle_check_object(p, &one, json_array_get(value, i), pool, group);
	}
	return r;
}

int pool_idle_check(struct parse *p, const struct json_place *at, const json_t *item,
		    const struct pool *pool)
{
	int r = idle_check_object(p, at, item, pool, NULL);

	if (r == 0)
		r = idle_check_group(p, at, item, pool, "selectors");
	return r < 0 ? r : idle_check_group(p, at, item, pool, "hold");
}
