// SPDX-License-Identifier: Apache-2.0
/* options_file.c - see options_file.h. */
#include "options_file.h"

#include <ctype.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "cleanup.h"
#include "config_file.h"
#include "config_json.h"
#include "groups.h"
#include "json_text.h"
#include "option_value.h"
#include "pool_config.h"
#include "suggest.h"

/* --- messages --------------------------------------------------------------------------------- */

/* Prefixes the message with the place of a key, or of a key in an object. */
static int wrap_place(struct err *e, const char *name, const char *text, size_t len,
		      const struct json_place *at)
{
	bool named = at->up && at->up->key;

	if (!e)
		return -EINVAL;
	text_printable(e->msg);
	return err_wrap(e, "%s:%u: \"%s%s%.60s\"", name, json_line(text, len, at),
			named ? at->up->key : "", named ? "." : "", at->key);
}

/* Returns the key for TLS or authentication that this unknown key resembles; NULL: none. Ignoring
 * such a misspelt key would leave the TCP port open to all clients. */
static const char *misspelt_guard(const char *key)
{
	static const char *const guards[] = {"tls-cert", "tls-key", "auth-token-file",
					     "basic-auth-file"};
	char lower[64] = "";

	for (size_t i = 0; i < sizeof(lower) - 1 && key[i]; i++)
		lower[i] = (char)tolower((unsigned char)key[i]);
	return suggest(lower, strlen(lower), guards, ARRAY_SIZE(guards));
}

void option_hint(const char *key, char ret[OPTION_HINT_SIZE])
{
	const char *pool_keys[POOL_KEYS_MAX], *near = option_suggest(key, strlen(key), true);
	size_t n = pool_key_names(pool_keys);
	const char *in_pool = suggest(key, strlen(key), pool_keys, n);

	*ret = '\0';
	if (in_pool && (!near || strcasecmp(in_pool, key) == 0))
		snprintf(ret, OPTION_HINT_SIZE,
			 " (did you mean \"%s\"? \"%s\" is a key of its items)",
			 pool_config_keys[KEY_POOLS], in_pool);
	else if (near)
		snprintf(ret, OPTION_HINT_SIZE, " (did you mean \"%s\"?)", near);
}

/* --- keys ------------------------------------------------------------------------------------- */

/* The text that is being read, for messages. */
struct options_text {
	const char *name, *text;
	size_t len;
	bool has_sysfs; /* a flag sets sysfs-root */
	options_warn_fn *warn;
	void *arg;
};

__attribute__((format(printf, 3, 4))) static void
options_warn(const struct options_text *t, const struct json_place *at, const char *fmt, ...)
{
	char sentence[512];
	va_list ap;
	int n = snprintf(sentence, sizeof(sentence), "%s:%u: ", t->name,
			 json_line(t->text, t->len, at));

	va_start(ap, fmt);
	vsnprintf(sentence + n, sizeof(sentence) - (size_t)n, fmt, ap);
	va_end(ap);
	t->warn(sentence, t->arg);
}

static void warn_unknown(const struct options_text *t, const struct json_place *at,
			 const struct option_def *d)
{
	char hint[OPTION_HINT_SIZE];

	if (d) {
		options_warn(t, at, "\"%s\" is a flag, not a key of the file, ignoring it",
			     d->name);
		return;
	}
	option_hint(at->key, hint);
	options_warn(t, at, "unknown key \"%.60s\"%s, ignoring it", at->key, hint);
}

/* Checks that the folder of a mount exists. */
static int check_mount(const struct options *o, const struct options_text *t,
		       const struct json_place *at, const struct option_def *d, struct err *e)
{
	const char *path = (const char *)o + d->offset;
	struct stat st;

	if (d->mount == MOUNT_NONE || (stat(path, &st) == 0 && S_ISDIR(st.st_mode)))
		return 0;
	if (d->mount == MOUNT_NEEDED && !t->has_sysfs)
		return err_set(e, -EINVAL, "there is no folder %.120s", path);
	options_warn(t, at, "\"%s\": there is no folder %s", d->name, path);
	return 0;
}

/* Reads one key; `at` is its place. */
static int options_read_key(struct options *o, const struct options_text *t,
			    const struct json_place *at, const json_t *value, struct err *e)
{
	const struct option_def *d = option_find(at->key, strlen(at->key));
	struct json_place below = {at, NULL, 0};
	const char *guard = d ? NULL : misspelt_guard(at->key);

	if (pool_config_key(at->key) != N_POOL_CONFIG_KEYS)
		return 0;
	if (guard)
		return err_set(e, -EINVAL, "%s:%u: unknown key \"%.60s\", write \"%s\"", t->name,
			       json_line(t->text, t->len, at), at->key, guard);
	if (!d || d->flag_only)
		warn_unknown(t, at, d);
	else if (option_set_json(o, d, value, &below.key, e) < 0 || check_mount(o, t, at, d, e) < 0)
		return wrap_place(e, t->name, t->text, t->len, below.key ? &below : at);
	return 0;
}

/* Reads the keys of an object. up: its place; NULL = the top level. */
static int options_read_keys(struct options *o, const struct options_text *t,
			     const struct json_place *up, const json_t *object, struct err *e)
{
	const char *key;
	json_t *value;
	int r = 0;

	json_object_foreach ((json_t *)object, key, value) {
		struct json_place at = {up, key, 0};

		if (r == 0 && !(up && groups_own_key(key)))
			r = options_read_key(o, t, &at, value, e);
	}
	return r;
}

static int options_read_group(struct options *o, const struct options_text *t, const json_t *root,
			      const char *name, struct err *e)
{
	const struct json_place list = {NULL, "groups", 0};
	struct json_place at = {&list, NULL, 0};
	const json_t *group = *name ? groups_find(root, name, &at.index) : NULL;

	return group ? options_read_keys(o, t, &at, group, e) : 0;
}

int options_parse_json(struct options *o, const char *text, size_t len, const char *name,
		       options_warn_fn *warn, void *arg, struct err *e)
{
	const struct options_text t = {name, text, len, false, warn, arg};
	struct options parsed = *o;
	struct err wrong = {0};
	json_t *root = config_json(text, len, name, NULL, NULL, &wrong);
	int r;

	if (!root)
		return err_set(e, wrong.code, "%s", wrong.msg);
	r = options_read_keys(&parsed, &t, NULL, root, e);
	json_decref(root);
	if (r == 0)
		*o = parsed;
	return r;
}

int options_wrap_key(struct err *e, const char *name, const struct config_file *file,
		     const char *key, const char *below)
{
	const struct json_place list = {NULL, pool_config_keys[KEY_GROUPS], 0};
	struct json_place group = {&list, NULL, 0}, at = {NULL, key, 0}, inner = {&at, below, 0};
	json_t *root = file->text ? config_json(file->text, file->len, name, NULL, NULL, NULL)
				  : NULL;
	const json_t *own = root && file->group[0] ? groups_find(root, file->group, &group.index)
						   : NULL;
	bool in_group = own && json_find(own, key, NULL);
	bool in_file = in_group || (root && json_find(root, key, NULL));

	if (in_group)
		at.up = &group;
	json_decref(root);
	if (!in_file)
		return err_wrap(e, "--%s", key);
	return wrap_place(e, name, file->text, file->len, below ? &inner : &at);
}

int options_wrap(struct err *e, const struct options *o, const struct config_file *file,
		 const char *key)
{
	return options_wrap_key(e, o->config, file, key, NULL);
}

int options_check_pair(const struct options *o, const struct config_file *file, struct err *e)
{
	if (!o->tls_cert[0] == !o->tls_key[0])
		return 0;
	err_set(e, -EINVAL, "is given without %s", o->tls_cert[0] ? "tls-key" : "tls-cert");
	return options_wrap_key(e, o->config, file, o->tls_cert[0] ? "tls-cert" : "tls-key", NULL);
}

int options_check_group(const struct options *o, const struct config_file *file,
			options_warn_fn *warn, void *arg, struct err *e)
{
	const struct options_text t = {o->config, file->text, file->len, true, warn, arg};
	struct options as_if = *o;
	struct err wrong = {0};
	json_auto_t *root = config_json(file->text, file->len, o->config, NULL, NULL, &wrong);
	int r;

	if (!root)
		return err_set(e, wrong.code, "%s", wrong.msg);
	r = options_read_group(&as_if, &t, root, file->group, e);
	return r < 0 ? r : options_check_pair(&as_if, file, e);
}

/* --- the whole file --------------------------------------------------------------------------- */

/* True if a group has "match". Groups without it apply by name only, so a node that requests none
 * lacks none. */
static bool options_can_match(const json_t *groups)
{
	json_t *group;
	size_t i;

	json_array_foreach ((json_t *)groups, i, group)
		if (json_find(group, "match", NULL))
			return true;
	return false;
}

/* Chooses the group of this node. The facts depend on sysfs-root; the flag takes precedence over
 * the file. */
static int options_choose_group(const struct options *o, const char *sysfs_flag, json_t *root,
				struct config_file *file, struct err *e)
{
	const struct groups_text text = {o->config, file->text, file->len};
	const char *wanted = getenv("ROCELET_GROUP");
	const json_t *groups;
	struct node_facts facts;

	if (o->group[0])
		wanted = o->group;
	groups = json_find(root, "groups", NULL);
	file->can_match = options_can_match(groups);
	if (!groups && !(wanted && *wanted))
		return 0;
	node_facts_read(&facts, *sysfs_flag ? sysfs_flag : o->sysfs_root);
	return groups_choose(root, &text, wanted ? wanted : "", &facts, file->group, e);
}

int options_read_file(struct options *o, const char *sysfs_flag, struct config_file *file,
		      options_warn_fn *warn, void *arg, struct err *e)
{
	struct options parsed = *o;
	struct err wrong = {0};
	json_t *root = config_json(file->text, file->len, o->config, NULL, NULL, &wrong);
	const struct options_text text = {o->config,	       file->text, file->len,
					  *sysfs_flag != '\0', warn,	   arg};
	int r;

	if (!root)
		return err_set(e, wrong.code, "%s", wrong.msg);
	r = options_read_keys(&parsed, &text, NULL, root, e);
	if (r == 0)
		r = options_choose_group(&parsed, sysfs_flag, root, file, e);
	if (r == 0)
		r = options_read_group(&parsed, &text, root, file->group, e);
	json_decref(root);
	if (r == 0)
		*o = parsed;
	return r;
}
