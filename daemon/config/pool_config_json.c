/* pool_config_json.c - the pools as our own grammar spells them, with every default written out:
 * what was understood of any of the grammars. Reading it again gives the same pools. Pure. */
#include "pool_parse.h"

#include "cleanup.h"

/* jansson's setters take NULL for "out of memory" and fail; one look at the end is enough. */
struct writer {
	json_t *object;
	bool failed;
};

static void put_key(struct writer *w, const char *key, json_t *value)
{
	w->failed |= json_object_set_new(w->object, key, value) < 0;
}

static json_t *finish_object(struct writer *w)
{
	if (!w->failed)
		return w->object;
	json_decref(w->object);
	return NULL;
}

/* --- selectors -------------------------------------------------------------------------------- */

static void put_words(struct writer *w, const char *key, const struct word_list *list)
{
	json_t *array;

	if (list->n == 0)
		return;
	array = json_array();
	for (size_t i = 0; i < list->n; i++)
		w->failed |= json_array_append_new(array, json_string(list->words[i])) < 0;
	put_key(w, key, array);
}

/* "name#0,2-5"; NULL when out of memory. */
static json_t *pf_json(const struct pf_selector *pf)
{
	AUTO_FREE char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	fputs(pf->name, f);
	for (size_t i = 0; i < pf->n_ranges; i++) {
		fprintf(f, "%c%u", i ? ',' : '#', pf->ranges[i].first);
		if (pf->ranges[i].last != pf->ranges[i].first)
			fprintf(f, "-%u", pf->ranges[i].last);
	}
	return fclose(f) == 0 ? json_string(text) : NULL;
}

static void put_pfs(struct writer *w, const char *key, const struct pf_selectors *pfs)
{
	json_t *array;

	if (pfs->n == 0)
		return;
	array = json_array();
	for (size_t i = 0; i < pfs->n; i++)
		w->failed |= json_array_append_new(array, pf_json(&pfs->list[i])) < 0;
	put_key(w, key, array);
}

static json_t *selector_json(const struct selector *s)
{
	struct writer w = {json_object(), false};

	put_words(&w, "vendors", &s->vendors);
	put_words(&w, "devices", &s->devices);
	put_words(&w, "drivers", &s->drivers);
	put_words(&w, "pciAddresses", &s->pci_addresses);
	put_words(&w, "acpiIndexes", &s->acpi_indexes);
	put_words(&w, "auxTypes", &s->aux_types);
	put_pfs(&w, "pfNames", &s->pf_names);
	put_pfs(&w, "rootDevices", &s->root_devices);
	put_words(&w, "ifNames", &s->if_names);
	put_words(&w, "linkTypes", &s->link_types);
	put_words(&w, "pKeys", &s->pkeys);
	put_words(&w, "rdmaNames", &s->rdma_names);
	if (s->is_rdma)
		put_key(&w, "isRdma", json_true());
	if (s->need_vhost_net)
		put_key(&w, "needVhostNet", json_true());
	if (s->vdpa != VDPA_NONE)
		put_key(&w, "vdpaType", json_string(vdpa_words[s->vdpa]));
	return finish_object(&w);
}

static json_t *selectors_json(const struct pool *pool)
{
	json_t *array = json_array();
	int r = 0;

	for (size_t i = 0; i < pool->n_selectors && r == 0; i++)
		r = json_array_append_new(array, selector_json(&pool->selectors[i]));
	if (r == 0)
		return array;
	json_decref(array);
	return NULL;
}

/* --- the rest of a pool ----------------------------------------------------------------------- */

static void put_kind(struct writer *w, const struct pool *pool)
{
	static const char *const ids[] = {"function", "number", "deviceSlot"};
	bool shared = pool->kind != POOL_EXCLUSIVE;

	put_key(w, "kind", json_string(shared ? "shared" : "exclusive"));
	if (shared)
		put_key(w, "hcaPerSlot",
			json_string(pool->kind == POOL_SHARED_ALL ? "all" : "one"));
	if (pool->slots_given)
		put_key(w, "slots", json_integer(pool->slots));
	if (pool->fixed_slots)
		put_key(w, "fixedSlots", json_true());
	put_key(w, "ids", json_string(ids[pool->ids]));
	put_key(w, "deviceType", json_string(device_type_words[pool->type]));
}

static void put_extra(struct writer *w, const struct pool *pool)
{
	json_t *all = json_object();

	for (size_t i = 0; i < pool->n_extra; i++) {
		const struct extra_info *extra = &pool->extra[i];
		json_t *of_device = json_object_get(all, extra->device);

		if (!of_device) {
			of_device = json_object();
			w->failed |= json_object_set_new(all, extra->device, of_device) < 0;
		}
		w->failed |= json_object_set_new(of_device, extra->key, json_string(extra->value)) <
			     0;
	}
	put_key(w, "additionalInfo", all);
}

static void put_hold(struct writer *w, const struct pool *pool)
{
	json_t *all = json_object();

	for (unsigned i = 0; i < N_HEALTH_REASONS; i++)
		w->failed |= json_object_set_new(all, hold_key((enum health_reason)i),
						 json_pack("{s:I, s:I}", "downMs",
							   (json_int_t)pool->hold[i].down_ms,
							   "upMs",
							   (json_int_t)pool->hold[i].up_ms)) < 0;
	put_key(w, "hold", all);
}

static json_t *pool_json(const struct pool *pool)
{
	struct writer w = {json_object(), false};

	put_key(&w, "resourceName", json_string(pool->name));
	put_key(&w, "resourcePrefix", json_string(pool->prefix));
	put_kind(&w, pool);
	put_key(&w, "selectors", selectors_json(pool));
	put_key(&w, "permissions", json_string(pool->permissions));
	if (pool->nics_only)
		put_key(&w, "subFunctions", json_false());
	put_key(&w, "issm", json_boolean(pool->issm));
	put_key(&w, "umad", json_boolean(pool->umad));
	put_key(&w, "requireUmad", json_boolean(pool->require_umad));
	put_key(&w, "wholeDirectory", json_boolean(pool->whole_directory));
	put_key(&w, "excludeTopology", json_boolean(pool->exclude_topology));
	put_key(&w, "cdi", json_boolean(pool->cdi));
	put_key(&w, "deviceInfo", json_boolean(pool->device_info));
	put_key(&w, "ignoreLink", json_boolean(pool->ignore_link));
	put_hold(&w, pool);
	if (pool->n_extra > 0)
		put_extra(&w, pool);
	if (pool->network)
		w.failed |= !network_print(w.object, pool->network);
	return finish_object(&w);
}

json_t *pool_config_tree(const struct pool_config *c)
{
	json_t *array = json_array();
	int r = 0;

	for (size_t i = 0; i < c->n_pools && r == 0; i++)
		r = json_array_append_new(array, pool_json(&c->pools[i]));
	if (r == 0)
		return array;
	json_decref(array);
	return NULL;
}
