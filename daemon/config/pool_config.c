// SPDX-License-Identifier: Apache-2.0
/* pool_config.c - detects the grammar, and handles names, defaults and rejection of pools for all
 * grammars. pool_config_*.c read one grammar each. */
#include "pool_config.h"

#include <ctype.h>
#include <strings.h>

#include "array.h"
#include "config_file.h"
#include "config_json.h"
#include "groups.h"
#include "pool_parse.h"
#include "search.h"
#include "suggest.h"

/* --- names ------------------------------------------------------------------------------------ */

/* Checks the part after the slash of a qualified name, IsQualifiedName() in
 * k8s.io/apimachinery/pkg/util/validation: up to 63 letters, digits and "-_.", with a letter or
 * digit at both ends. */
static bool name_is_valid(const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)name[i]) && !strchr("-_.", name[i]))
			return false;
	return n > 0 && n <= 63 && isalnum((unsigned char)name[0]) &&
	       isalnum((unsigned char)name[n - 1]);
}

/* True for a DNS-1123 subdomain (k8s.io/apimachinery/pkg/util/validation): labels of lower-case
 * letters, digits and '-'. The quota of a resource is named "requests." + resource, so the prefix
 * and "requests." together may have 253 bytes (IsExtendedResourceName() in
 * k8s.io/kubernetes/pkg/apis/core/v1/helper). */
static bool prefix_is_valid(const char *prefix)
{
	size_t n = strlen(prefix);
	char before = '.';

	for (size_t i = 0; i < n; before = prefix[i++]) {
		bool alnum = isdigit((unsigned char)prefix[i]) ||
			     (prefix[i] >= 'a' && prefix[i] <= 'z');

		if (!alnum && prefix[i] != '-' && prefix[i] != '.')
			return false;
		if (!alnum && (before == '.' || (prefix[i] == '.' && before == '-')))
			return false;
	}
	return n > 0 && n <= 253 - strlen("requests.") && before != '.' && before != '-';
}

/* Prefixes that the API server reserves (same function). */
static bool prefix_is_reserved(const char *prefix)
{
	static const char native[] = "kubernetes.io";
	size_t n = strlen(prefix), len = strlen(native);

	return strncmp(prefix, "requests.", strlen("requests.")) == 0 ||
	       (n >= len && strcmp(prefix + n - len, native) == 0);
}

const char *pool_prefix_wrong(const char *prefix)
{
	if (!prefix_is_valid(prefix))
		return "is not a resource prefix: a DNS name in lower case";
	return prefix_is_reserved(prefix) ? "belongs to Kubernetes" : NULL;
}

/* Reads the text of a key; *ret NULL: absent. *at gets the key's place. */
static int find_text(struct parse *p, struct json_place *at, const json_t *item, const char **ret)
{
	const json_t *value = json_find(item, at->key, &at->key);

	if (value && !json_is_string(value))
		return parse_fail(p, at, "is not a string");
	*ret = json_string_value(value);
	return 0;
}

static int read_name(struct parse *p, const struct json_place *at, const json_t *item,
		     struct pool *pool)
{
	struct json_place here = {at, "resourceName", 0};
	const char *name = NULL;
	int r = find_text(p, &here, item, &name);

	if (r < 0)
		return r;
	if (!name)
		return parse_fail(p, at, "\"resourceName\" is missing");
	if (!name_is_valid(name))
		return parse_fail(p, &here,
				  "'%.70s' is not a resource name: up to 63 letters and digits, "
				  "with '-', '_' or '.' between them",
				  name);
	pool->name = strdup(name);
	pool->line = json_line(p->text, p->len, &here);
	return pool->name ? 0 : parse_no_memory(p);
}

static int read_prefix(struct parse *p, const struct json_place *at, const json_t *item,
		       struct pool *pool, const char *fallback)
{
	const char *general = p->options ? p->options->resource_prefix : "";
	struct json_place here = {at, "resourcePrefix", 0};
	const char *prefix = NULL, *wrong;
	int r = find_text(p, &here, item, &prefix);

	if (r < 0)
		return r;
	if (!prefix || !*prefix)
		prefix = *general ? general : fallback;
	wrong = pool_prefix_wrong(prefix);
	if (wrong)
		return parse_fail(p, &here, "'%.70s' %s", prefix, wrong);
	pool->prefix = strdup(prefix);
	return pool->prefix ? 0 : parse_no_memory(p);
}

/* --- lists of pools --------------------------------------------------------------------------- */

/* Sets the defaults of all grammars. */
static void pool_start(const struct parse *p, struct pool *pool)
{
	memset(pool, 0, sizeof(*pool));
	strcpy(pool->permissions, "rw");
	pool->umad = true;
	pool->cdi = p->options && p->options->use_cdi;
	hold_defaults(pool->hold);
}

static const struct pool *same_resource(const struct pool_config *c, const struct pool *pool)
{
	return find_first(c->pools, c->n_pools, i,
			  strcmp(c->pools[i].name, pool->name) == 0 &&
				  strcmp(c->pools[i].prefix, pool->prefix) == 0);
}

static int check_addition(struct parse *p, const struct json_place *at, const struct pool *pool)
{
	const struct pool *other = same_resource(p->config, pool);

	if (other)
		return parse_fail(p, at, "resource %.100s/%s is already defined in line %u",
				  pool->prefix, pool->name, other->line);
	if (p->config->n_pools + p->config->refusals.n >= POOLS_MAX) {
		parse_fail(p, at, "more than %d resources", POOLS_MAX);
		return -E2BIG;
	}
	return 0;
}

/* Appends the pool and takes over its members; on failure the caller keeps them. */
static int pool_config_pool_add(struct parse *p, const struct json_place *at, struct pool *pool)
{
	int r = check_addition(p, at, pool);
	struct pool *slot = r < 0 ? NULL : array_push(p->config->pools, p->config->n_pools);

	if (!slot)
		return r < 0 ? r : parse_no_memory(p);
	*slot = *pool;
	return 0;
}

/* Records a rejected resource: its names as far as known, and the reason. */
static int pool_reject(struct parse *p, const struct pool *pool)
{
	struct pool_refusal *slot = array_push(p->config->refusals.list, p->config->refusals.n);

	if (!slot)
		return parse_no_memory(p);
	slot->before = p->config->n_pools;
	snprintf(slot->why, sizeof(slot->why), "%s", p->err->msg);
	if (pool->name)
		snprintf(slot->name, sizeof(slot->name), "%s", pool->name);
	if (pool->name && pool->prefix)
		pool_resource(pool, slot->resource);
	return p->config->n_pools + p->config->refusals.n > POOLS_MAX
		       ? err_set(p->err, -E2BIG, "%s: more than %d resources", p->file, POOLS_MAX)
		       : 0;
}

static int read_pool(struct parse *p, const struct json_place *at, const json_t *item,
		     const struct pool_grammar *g)
{
	struct pool pool;
	int r;

	pool_start(p, &pool);
	r = json_is_object(item) ? read_name(p, at, item, &pool)
				 : parse_fail(p, at, "is not an object");
	if (r == 0)
		r = read_prefix(p, at, item, &pool, g->prefix);
	if (r == 0)
		r = g->read(p, at, item, &pool);
	if (r == 0)
		r = pool_config_pool_add(p, at, &pool);
	if (r == 0)
		return 0;
	if (r == -EINVAL && g->peers)
		r = pool_reject(p, &pool);
	pool_done(&pool);
	return r;
}

static int parse_pools(struct parse *p, const struct json_place *at, const json_t *list,
		       const struct pool_grammar *g)
{
	const json_t *item;
	size_t i;
	int r = 0;

	if (!json_is_array(list))
		return parse_fail(p, at, "is not a list");
	/* A group may offer nothing on purpose. */
	if (json_array_size(list) == 0 && !p->top)
		parse_warn(p, at, "is empty, it offers no resource");
	p->forgiving = g->peers;
	json_array_foreach (list, i, item) {
		struct json_place here = {at, NULL, i};

		if (r == 0)
			r = read_pool(p, &here, item, g);
	}
	p->forgiving = false;
	return r;
}

/* --- the file --------------------------------------------------------------------------------- */

static void mistake_of_unknown_key(struct parse *p, const struct json_place *at)
{
	const char *near = suggest(at->key, strlen(at->key), pool_config_keys, N_POOL_CONFIG_KEYS);
	char hint[OPTION_HINT_SIZE];

	option_hint(at->key, hint);
	if (!option_is_key(at->key))
		parse_mistake(p, at, !near, "unknown key%s", hint);
}

static int read_mode(struct parse *p, const struct json_place *at, const json_t *root)
{
	struct pool pool;
	int r;

	pool_start(p, &pool);
	r = parse_mode(p, at, root, &pool);
	pool.line = json_line(p->text, p->len, at);
	if (r == 0)
		r = pool_config_pool_add(p, at, &pool);
	if (r < 0)
		pool_done(&pool);
	return r;
}

static int read_grammar(struct parse *p, const struct json_place *at, enum pool_config_key key,
			const json_t *root, const json_t *value)
{
	switch (key) {
	case KEY_RESOURCE_LIST:
		return parse_pools(p, at, value, &grammar_resource_list);
	case KEY_CONFIG_LIST:
		return parse_pools(p, at, value, &grammar_config_list);
	case KEY_INTERVAL:
		return parse_interval(p, at, value, NULL);
	case KEY_POOLS:
		return parse_pools(p, at, value, &grammar_native);
	case KEY_MODE:
		return read_mode(p, at, root);
	case KEY_PF_NETDEVICES: /* belongs to "mode", whose reader uses it */
		return json_find(root, "mode", NULL) ? 0 : parse_fail(p, at, "needs \"mode\"");
	case KEY_GROUPS:
	case N_POOL_CONFIG_KEYS:
		break;
	}
	return 0;
}

static int read_key(struct parse *p, const json_t *root, const char *key, const json_t *value)
{
	enum pool_config_key which = pool_config_key(key);
	struct json_place at = {p->top, key, 0};

	if (which == N_POOL_CONFIG_KEYS && !(p->top && groups_own_key(key)))
		mistake_of_unknown_key(p, &at);
	if (which == N_POOL_CONFIG_KEYS || json_is_null(value))
		return 0; /* an option, or null */
	if (json_find(root, key, NULL) != value)
		return parse_twice(p, &at, which != KEY_POOLS);
	return read_grammar(p, &at, which, root, value);
}

/* True if the object has a key that defines resources. */
static bool pool_config_defines(const json_t *object)
{
	return any_of(N_POOL_CONFIG_KEYS, i,
		      i != KEY_GROUPS && json_find(object, pool_config_keys[i], NULL));
}

static int pool_config_read_object(struct parse *p, json_t *root)
{
	const char *key;
	json_t *value;
	int r = 0;

	json_object_foreach (root, key, value)
		if (r == 0)
			r = read_key(p, root, key, value);
	return r;
}

/* Records unknown keys as mistakes: a misspelt key may be the reason why the group defines no
 * resource. */
static void mistakes_of_group(struct parse *p, const struct json_place *at, const json_t *group)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)(uintptr_t)group, key, value) {
		const struct json_place here = {at, key, 0};

		if (pool_config_key(key) == N_POOL_CONFIG_KEYS && !groups_own_key(key))
			mistake_of_unknown_key(p, &here);
	}
}

/* Reads the resources of the group, if it defines any; otherwise those of the top level. */
static int pool_config_read_file(struct parse *p, json_t *root, const char *group)
{
	const struct json_place list = {NULL, "groups", 0};
	struct json_place at = {&list, NULL, 0};
	const json_t *own = *group ? groups_find(root, group, &at.index) : NULL;
	int r;

	if (own && !pool_config_defines(own))
		mistakes_of_group(p, &at, own);
	if (!own || !pool_config_defines(own))
		return p->group_only ? 0 : pool_config_read_object(p, root);
	p->top = &at;
	r = pool_config_read_object(p, (json_t *)(uintptr_t)own);
	p->top = NULL;
	return r;
}

/* Passes on a warning about the JSON itself (duplicate keys, invalid UTF-8), and records it as a
 * mistake. */
static void on_odd_json(const char *sentence, void *arg)
{
	struct parse *p = arg;
	struct pool_mistake *mistake = &p->config->mistake;

	p->warn(sentence, p->arg);
	snprintf(mistake->why, sizeof(mistake->why), "%.255s", sentence);
}

static int parse_text_of(struct pool_config *ret, const struct config_file *file, const char *name,
			 const struct options *o, bool group_only, options_warn_fn *warn, void *arg,
			 struct err *e)
{
	struct pool_config config = {0};
	struct err wrong = {0};
	struct parse p = {.file = name,
			  .text = file->text,
			  .len = file->len,
			  .warn = warn,
			  .arg = arg,
			  .options = o,
			  .group_only = group_only,
			  .config = &config,
			  .err = &wrong};
	json_t *root = config_json(file->text, file->len, name, on_odd_json, &p, &wrong);
	int r;

	if (!root)
		return err_set(e, wrong.code, "%s", wrong.msg);
	r = pool_config_read_file(&p, root, file->group);
	json_decref(root);
	parse_warnings_end(&p);
	if (r == 0) {
		*ret = config;
		return 0;
	}
	pool_config_done(&config);
	return err_set(e, r, "%s", wrong.msg);
}

int pool_config_parse(struct pool_config *ret, const char *text, size_t len, const char *name,
		      options_warn_fn *warn, void *arg, struct err *e)
{
	const struct config_file file = {.text = (char *)(uintptr_t)text, .len = len};

	return parse_text_of(ret, &file, name, NULL, false, warn, arg, e);
}

int pool_config_load(struct pool_config *ret, const struct config_file *file,
		     const struct options *o, options_warn_fn *warn, void *arg, struct err *e)
{
	static const struct pool_config none;

	if (file->text)
		return parse_text_of(ret, file, o->config, o, false, warn, arg, e);
	*ret = none;
	return 0;
}

int pool_config_load_group(struct pool_config *ret, const struct config_file *file,
			   const struct options *o, options_warn_fn *warn, void *arg, struct err *e)
{
	return parse_text_of(ret, file, o->config, o, true, warn, arg, e);
}
