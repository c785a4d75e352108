/* pool_config_hca.c - "mode" and "pfNetdevices", the grammar of k8s-rdma-sriov-dev-plugin: one pool
 * with a fixed name, its containers get the whole of /dev/infiniband. Pure. */
#include <strings.h>

#include "array.h"
#include "cleanup.h"
#include "pool_parse.h"

#define MODE_HCA_SLOTS 1000

/* All VFs of the PF, not the PF itself. */
static int add_pf(struct parse *p, const struct json_place *at, const json_t *value,
		  struct selector *s)
{
	struct pf_selector *pf;

	/* '#' would begin VF numbers in every other grammar. */
	if (!json_is_string(value) || *json_string_value(value) == '\0' ||
	    strchr(json_string_value(value), '#'))
		return parse_fail(p, at, "is not the name of a netdev");
	pf = array_push(s->pf_names.list, s->pf_names.n);
	if (!pf)
		return parse_no_memory(p);
	pf->name = strdup(json_string_value(value));
	pf->ranges = malloc(sizeof(*pf->ranges));
	if (!pf->name || !pf->ranges)
		return parse_no_memory(p);
	pf->ranges[pf->n_ranges++] = (struct pf_range){0, UINT16_MAX};
	return 0;
}

static int read_pfs(struct parse *p, const struct json_place *at, const json_t *list,
		    struct selector *s)
{
	const json_t *item;
	size_t i;
	int r = 0;

	if (!list)
		return parse_fail(p, at, "sriov needs \"pfNetdevices\", whose VFs are offered");
	if (!json_is_array(list) || json_array_size(list) == 0)
		return parse_fail(p, at, "is not a list of netdevs");
	json_array_foreach (list, i, item) {
		struct json_place here = {at, NULL, i};

		if (r == 0)
			r = add_pf(p, &here, item, s);
	}
	return r;
}

static int fill_pool(struct parse *p, struct pool *pool, const char *name)
{
	struct selector *s = array_push(pool->selectors, pool->n_selectors);

	if (!s)
		return parse_no_memory(p);
	s->is_rdma = true;
	pool->whole_directory = true;
	strcpy(pool->permissions, "rwm");
	pool->prefix = strdup("rdma");
	pool->name = strdup(name);
	return pool->prefix && pool->name ? 0 : parse_no_memory(p);
}

static int read_hca(struct parse *p, struct pool *pool)
{
	pool->kind = POOL_SHARED_ALL;
	pool->ids = ID_NUMBER;
	pool->slots = MODE_HCA_SLOTS;
	pool->slots_given = true;
	pool->fixed_slots = true;
	return fill_pool(p, pool, "hca");
}

static int read_sriov(struct parse *p, const struct json_place *at, const json_t *pfs,
		      struct pool *pool)
{
	int r = fill_pool(p, pool, "vhca");

	return r < 0 ? r : read_pfs(p, at, pfs, &pool->selectors[0]);
}

int parse_mode(struct parse *p, const json_t *root, const char *mode_key)
{
	static const char *const modes[] = {"hca", "sriov"};
	struct json_place at = {NULL, mode_key, 0}, pfs_at = at;
	const json_t *pfs = parse_find(root, "pfNetdevices", &pfs_at.key);
	struct pool pool;
	unsigned mode;
	int r = parse_choice(p, &at, json_object_get(root, mode_key), modes, 2, &mode);

	if (r < 0)
		return r;
	if (mode == 0 && pfs)
		parse_warn(p, &pfs_at, "has no meaning in mode hca, ignoring it");
	pool_start(p, &pool);
	r = mode == 0 ? read_hca(p, &pool) : read_sriov(p, &pfs_at, pfs, &pool);
	pool.line = json_line(p->text, p->len, &at);
	if (r == 0)
		r = pool_add(p, &at, &pool);
	if (r != 0)
		pool_done(&pool);
	return r;
}
