/* pool_config.c - tells the grammars apart, and what holds for the pools of all of them: names,
 * defaults, ownership. pool_config_*.c read one grammar each. */
#include "pool_config.h"

#include <ctype.h>
#include <strings.h>

#include "array.h"
#include "cleanup.h"
#include "config_file.h"
#include "pool_parse.h"

/* More resources than a node can sensibly have; keeps the time for a hostile file bounded. */
#define POOLS_MAX 256

/* --- ownership -------------------------------------------------------------------------------- */

static void word_list_done(struct word_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		free(list->words[i]);
	free(list->words);
}

static void pf_selectors_done(struct pf_selectors *pfs)
{
	for (size_t i = 0; i < pfs->n; i++) {
		free(pfs->list[i].name);
		free(pfs->list[i].ranges);
	}
	free(pfs->list);
}

static void selector_done(struct selector *s)
{
	struct word_list *const lists[] = {
		&s->vendors,   &s->devices,  &s->drivers,    &s->pci_addresses, &s->acpi_indexes,
		&s->aux_types, &s->if_names, &s->link_types, &s->pkeys,		&s->rdma_names};

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		word_list_done(lists[i]);
	pf_selectors_done(&s->pf_names);
	pf_selectors_done(&s->root_devices);
}

void pool_done(struct pool *pool)
{
	free(pool->name);
	free(pool->prefix);
	for (size_t i = 0; i < pool->n_selectors; i++)
		selector_done(&pool->selectors[i]);
	free(pool->selectors);
	for (size_t i = 0; i < pool->n_extra; i++) {
		free(pool->extra[i].device);
		free(pool->extra[i].key);
		free(pool->extra[i].value);
	}
	free(pool->extra);
	free(pool->network);
}

void pool_config_done(struct pool_config *c)
{
	for (size_t i = 0; i < c->n_pools; i++)
		pool_done(&c->pools[i]);
	free(c->pools);
	memset(c, 0, sizeof(*c));
}

/* --- names ------------------------------------------------------------------------------------ */

void pool_resource(const struct pool *pool, char ret[RESOURCE_NAME_SIZE])
{
	snprintf(ret, RESOURCE_NAME_SIZE, "%s/%s", pool->prefix, pool->name);
}

/* The part after the slash of a qualified name, IsQualifiedName() in
 * k8s.io/apimachinery/pkg/util/validation: 63 letters, digits, "-_.", first and last no mark. */
static bool name_is_valid(const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)name[i]) && !strchr("-_.", name[i]))
			return false;
	return n > 0 && n <= 63 && isalnum((unsigned char)name[0]) &&
	       isalnum((unsigned char)name[n - 1]);
}

/* A DNS-1123 subdomain (same file): labels of small letters, digits and '-'. The API server keeps a
 * resource's quota as "requests." + resource, which must fit into 253 bytes too
 * (IsExtendedResourceName() in k8s.io/kubernetes/pkg/apis/core/v1/helper). */
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

/* Names that the API server keeps for itself, same function. */
static bool prefix_is_reserved(const char *prefix)
{
	static const char native[] = "kubernetes.io";
	size_t n = strlen(prefix), len = strlen(native);

	return strncmp(prefix, "requests.", strlen("requests.")) == 0 ||
	       (n >= len && strcmp(prefix + n - len, native) == 0);
}

static int set_default_prefix(struct parse *p, struct pool *pool, const char *fallback)
{
	const char *wanted = p->options ? p->options->resource_prefix : "";

	if (pool->prefix && *pool->prefix)
		return 0;
	free(pool->prefix);
	pool->prefix = strdup(*wanted ? wanted : fallback);
	return pool->prefix ? 0 : parse_no_memory(p);
}

int pool_named(struct parse *p, const struct json_place *at, const json_t *item, struct pool *pool,
	       const char *name_key, const char *default_prefix)
{
	struct json_place name = {at, name_key, 0}, prefix = {at, "resourcePrefix", 0};

	parse_find(item, name_key, &name.key);
	parse_find(item, "resourcePrefix", &prefix.key);
	if (!pool->name)
		return parse_fail(p, at, "\"%s\" is missing", name_key);
	if (!name_is_valid(pool->name))
		return parse_fail(p, &name,
				  "'%.70s' is no resource name: up to 63 letters, digits and "
				  "'-', '_', '.' between them",
				  pool->name);
	if (set_default_prefix(p, pool, default_prefix) < 0)
		return -ENOMEM;
	if (!prefix_is_valid(pool->prefix))
		return parse_fail(p, &prefix,
				  "'%.70s' is no resource prefix: a DNS name in small letters",
				  pool->prefix);
	if (prefix_is_reserved(pool->prefix))
		return parse_fail(p, &prefix, "'%.70s' belongs to Kubernetes", pool->prefix);
	pool->line = json_line(p->text, p->len, &name);
	return 0;
}

/* --- lists of pools --------------------------------------------------------------------------- */

void pool_start(const struct parse *p, struct pool *pool)
{
	memset(pool, 0, sizeof(*pool));
	strcpy(pool->permissions, "rw");
	pool->umad = true;
	pool->cdi = p->options && p->options->use_cdi;
	hold_defaults(pool->hold);
}

static const struct pool *same_resource(const struct pool_config *c, const struct pool *pool)
{
	for (size_t i = 0; i < c->n_pools; i++)
		if (strcmp(c->pools[i].name, pool->name) == 0 &&
		    strcmp(c->pools[i].prefix, pool->prefix) == 0)
			return &c->pools[i];
	return NULL;
}

static int check_addition(struct parse *p, const struct json_place *at, const struct pool *pool)
{
	const struct pool *other = same_resource(p->config, pool);

	if (other)
		return parse_fail(p, at, "resource %.100s/%s is already defined in line %u",
				  pool->prefix, pool->name, other->line);
	if (p->config->n_pools == POOLS_MAX)
		return parse_fail(p, at, "more than %d resources", POOLS_MAX);
	return 0;
}

int pool_add(struct parse *p, const struct json_place *at, struct pool *pool)
{
	int r = check_addition(p, at, pool);
	struct pool *slot = r < 0 ? NULL : array_push(p->config->pools, p->config->n_pools);

	if (!slot) {
		pool_done(pool);
		return r < 0 ? r : parse_no_memory(p);
	}
	*slot = *pool;
	return 0;
}

static int read_pool(struct parse *p, const struct json_place *at, const json_t *item,
		     parse_pool_fn *read_one)
{
	struct pool pool;
	int r;

	pool_start(p, &pool);
	r = json_is_object(item) ? read_one(p, at, item, &pool)
				 : parse_fail(p, at, "is not an object");
	if (r == 1)
		return pool_add(p, at, &pool);
	pool_done(&pool);
	return r;
}

int parse_pools(struct parse *p, const struct json_place *at, const json_t *list,
		parse_pool_fn *read_one)
{
	const json_t *item;
	size_t i;

	if (!json_is_array(list))
		return parse_fail(p, at, "is not a list");
	if (json_array_size(list) == 0)
		parse_warn(p, at, "is empty, it offers no resource");
	json_array_foreach (list, i, item) {
		struct json_place here = {at, NULL, i};
		int r = read_pool(p, &here, item, read_one);

		if (r < 0)
			return r;
	}
	return 0;
}

/* --- the file --------------------------------------------------------------------------------- */

/* "mode" also looks at "pfNetdevices". */
static const struct parse_key grammars[] = {{"resourceList", parse_resource_list, 0},
					    {"configList", parse_config_list, 0},
					    {"periodicUpdateInterval", parse_interval, 0},
					    {"pools", parse_native_pools, 0},
					    {"mode", NULL, 0},
					    {"pfNetdevices", NULL, 0}};

static const struct parse_key *find_grammar(const char *key)
{
	for (size_t i = 0; i < ARRAY_SIZE(grammars); i++)
		if (strcasecmp(grammars[i].name, key) == 0)
			return &grammars[i];
	return NULL;
}

bool pool_config_key(const char *key)
{
	return find_grammar(key) != NULL;
}

static int read_key(struct parse *p, const json_t *root, const char *key, const json_t *value)
{
	const struct parse_key *grammar = find_grammar(key);
	struct json_place at = {NULL, key, 0};

	if (!grammar || json_is_null(value))
		return 0; /* an option */
	if (grammar->read)
		return grammar->read(p, &at, value, NULL);
	if (strcasecmp(key, "mode") == 0)
		return parse_mode(p, root, key);
	if (!parse_find(root, "mode", NULL))
		return parse_fail(p, &at, "stands here without \"mode\"");
	return 0;
}

static int read_file(struct parse *p, json_t *root)
{
	const char *key;
	json_t *value;
	int r = 0;

	if (!json_is_object(root))
		return err_set(p->err, -EINVAL, "%s:1: the file is not a JSON object", p->file);
	json_object_foreach (root, key, value)
		if (r == 0)
			r = read_key(p, root, key, value);
	return r;
}

static int parse_text_of(struct pool_config *ret, const char *text, size_t len, const char *name,
			 const struct options *o, options_warn_fn *warn, void *arg, struct err *e)
{
	struct pool_config config = {0};
	struct parse p = {.file = name,
			  .text = text,
			  .len = len,
			  .warn = warn,
			  .arg = arg,
			  .options = o,
			  .config = &config,
			  .err = e};
	json_error_t where;
	json_t *root;
	int r;

	root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &where);
	parse_printable(where.text);
	if (!root)
		return err_set(e, -EINVAL, "%s:%d:%d: %s", name, where.line, where.column,
			       where.text);
	r = read_file(&p, root);
	json_decref(root);
	parse_warnings_end(&p);
	if (r < 0)
		pool_config_done(&config);
	else
		*ret = config;
	return r;
}

int pool_config_parse(struct pool_config *ret, const char *text, size_t len, const char *name,
		      options_warn_fn *warn, void *arg, struct err *e)
{
	return parse_text_of(ret, text, len, name, NULL, warn, arg, e);
}

int pool_config_load(struct pool_config *ret, const struct config_file *file,
		     const struct options *o, options_warn_fn *warn, void *arg, struct err *e)
{
	static const struct pool_config none;

	if (file->text)
		return parse_text_of(ret, file->text, file->len, o->config, o, warn, arg, e);
	*ret = none;
	return 0;
}
