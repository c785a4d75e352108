/* options.c - the command line, and the config file's text: read key by key, and written. */
#include "options_table.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "config_file.h"
#include "config_json.h"
#include "json_line.h"
#include "pool_config.h"
#include "suggest.h"

void options_defaults(struct options *o)
{
	memset(o, 0, sizeof(*o));
	for (size_t i = 0; i < n_options; i++)
		option_set(o, &option_table[i], option_table[i].def, NULL);
}

/* Known names near a misspelt one; NULL: none. keys: of the config file only. */
static const char *option_suggest(const char *name, size_t len, bool keys)
{
	const char *names[OPTIONS_MAX + POOL_CONFIG_KEYS];
	size_t n = 0;

	for (size_t i = 0; i < n_options; i++)
		if (!keys || !option_table[i].flag_only)
			names[n++] = option_table[i].name;
	for (size_t i = 0; keys && i < POOL_CONFIG_KEYS; i++)
		names[n++] = pool_config_keys[i];
	return suggest(name, len, names, n);
}

/* --- the command line ------------------------------------------------------------------------- */

static int unknown_flag(const char *name, size_t len, struct err *e)
{
	const char *near = option_suggest(name, len, false);

	if (near)
		return err_set(e, -EINVAL, "unknown flag --%.*s, did you mean --%s?", (int)len,
			       name, near);
	return err_set(e, -EINVAL, "unknown flag --%.*s, see --help", (int)len, name);
}

/* One flag at argv[*i]; moves *i past a value of its own. */
static int parse_flag(struct options *o, enum option_action *action, int argc, char *const argv[],
		      int *i, struct err *e)
{
	const char *flag = argv[*i], *name = flag + 2, *value;
	const struct option_def *d;
	size_t len;

	if (strcmp(flag, "-h") == 0 || strcmp(flag, "-V") == 0) {
		*action = flag[1] == 'h' ? ACTION_HELP : ACTION_VERSION;
		return 0;
	}
	if (strncmp(flag, "--", 2) != 0 || *name == '\0')
		return err_set(e, -EINVAL, "unexpected argument '%.80s', see --help", flag);
	len = strcspn(name, "=");
	value = name[len] == '=' ? name + len + 1 : NULL;
	d = option_find(name, len);
	if (!d)
		return unknown_flag(name, len, e);
	if (d->type == OPT_ACTION) {
		*action = (enum option_action)d->offset;
		return value ? err_set(e, -EINVAL, "--%s takes no value", d->name) : 0;
	}
	if (!value && d->type == OPT_BOOL)
		value = "true";
	if (!value && *i + 1 < argc)
		value = argv[++*i];
	if (!value)
		return err_set(e, -EINVAL, "--%s needs a value", d->name);
	return option_set(o, d, value, e) < 0 ? err_wrap(e, "--%s", d->name) : 0;
}

static int parse_argv(struct options *o, enum option_action *action, int argc, char *const argv[],
		      struct err *e)
{
	int r = 0;

	for (int i = 1; i < argc && r == 0; i++)
		r = parse_flag(o, action, argc, argv, &i, e);
	return r;
}

static bool argv_names(const char *name, int argc, char *const argv[])
{
	size_t len = strlen(name);

	for (int i = 1; i < argc; i++)
		if (strncmp(argv[i], "--", 2) == 0 && strncmp(argv[i] + 2, name, len) == 0 &&
		    (argv[i][2 + len] == '\0' || argv[i][2 + len] == '='))
			return true;
	return false;
}

/* --- the config file ---------------------------------------------------------------------------
 */

static int set_json_list(struct option_list *field, const struct option_def *d, const json_t *value,
			 struct err *e)
{
	struct option_list list = {0};
	const json_t *item;
	size_t i;
	int r = 0;

	json_array_foreach (value, i, item) {
		if (!json_is_string(item))
			return err_set(e, -EINVAL, "item %zu is not a string", i + 1);
		r = option_list_add(&list, d, json_string_value(item),
				    strlen(json_string_value(item)), e);
		if (r < 0)
			return r;
	}
	*field = list;
	return 0;
}

/* The type a JSON value must have; numbers travel as text so that both readers share one check. */
static int set_json(struct options *o, const struct option_def *d, const json_t *value,
		    struct err *e)
{
	char number[32];

	if (d->type == OPT_LIST)
		return json_is_array(value)
			       ? set_json_list((void *)((char *)o + d->offset), d, value, e)
			       : err_set(e, -EINVAL, "is not a list of strings");
	if (d->type == OPT_BOOL)
		return json_is_boolean(value)
			       ? option_set(o, d, json_is_true(value) ? "true" : "false", e)
			       : err_set(e, -EINVAL, "is neither true nor false");
	if (d->type == OPT_NUMBER || d->type == OPT_SECONDS) {
		if (!json_is_number(value))
			return err_set(e, -EINVAL, "is not a number");
		snprintf(number, sizeof(number), "%.15g", json_number_value(value));
		return option_set(o, d, number, e);
	}
	return json_is_string(value) ? option_set(o, d, json_string_value(value), e)
				     : err_set(e, -EINVAL, "is not a string");
}

static void warn_unknown(const char *file, unsigned line, const char *key, options_warn_fn *warn,
			 void *arg)
{
	const char *near = option_suggest(key, strlen(key), true);
	char sentence[256];

	snprintf(sentence, sizeof(sentence), "%s:%u: unknown key \"%.60s\"%s%s%s, ignoring it",
		 file, line, key, near ? " (did you mean \"" : "", near ? near : "",
		 near ? "\"?)" : "");
	warn(sentence, arg);
}

int options_parse_json(struct options *o, const char *text, size_t len, const char *name,
		       options_warn_fn *warn, void *arg, struct err *e)
{
	struct options parsed = *o;
	json_t *root = config_json(text, len, name, NULL, NULL, e), *value;
	const char *key;
	int r = 0;

	if (!root)
		return -EINVAL;
	json_object_foreach (root, key, value) {
		const struct option_def *d = option_find(key, strlen(key));
		struct json_place at = {NULL, key, 0};

		if (r < 0)
			break;
		if (pool_config_key(key))
			continue;
		if (!d || d->flag_only)
			warn_unknown(name, json_line(text, len, &at), key, warn, arg);
		else if (set_json(&parsed, d, value, e) < 0)
			r = err_wrap(e, "%s:%u: \"%s\"", name, json_line(text, len, &at), key);
	}
	json_decref(root);
	if (r == 0)
		*o = parsed;
	return r;
}

/* --- writing -------------------------------------------------------------------------------- */

static json_t *list_json(const struct option_list *list)
{
	json_t *array = json_array();

	for (unsigned i = 0; i < list->n; i++)
		json_array_append_new(array, json_string(list->items[i]));
	return array;
}

static json_t *value_json(const struct options *o, const struct option_def *d)
{
	const void *field = (const char *)o + d->offset;
	uint32_t number;

	switch (d->type) {
	case OPT_TEXT:
		return json_string(field);
	case OPT_BOOL:
		return json_boolean(*(const bool *)field);
	case OPT_NUMBER:
		return json_integer(*(const uint32_t *)field);
	case OPT_SECONDS:
		number = *(const uint32_t *)field;
		return number % 1000 ? json_real(number / 1000.0) : json_integer(number / 1000);
	case OPT_CHOICE:
		return json_string(d->choices[*(const uint32_t *)field]);
	case OPT_LIST:
		return list_json(field);
	case OPT_ACTION:
		break;
	}
	return NULL;
}

char *options_json(const struct options *o, const struct pool_config *pools)
{
	json_t *root = json_object();
	char *text;

	for (size_t i = 0; i < n_options; i++)
		if (!option_table[i].flag_only)
			json_object_set_new(root, option_table[i].name,
					    value_json(o, &option_table[i]));
	if (pools && pools->n_pools > 0)
		json_object_set_new(root, "pools", pool_config_tree(pools));
	text = json_dumps(root, JSON_INDENT(2));
	json_decref(root);
	return text;
}

size_t options_changed(const struct options *a, const struct options *b, char *names, size_t size)
{
	size_t n = 0, len = 0;

	names[0] = '\0';
	for (size_t i = 0; i < n_options; i++) {
		const struct option_def *d = &option_table[i];
		json_t *x = d->type == OPT_ACTION ? NULL : value_json(a, d);
		json_t *y = d->type == OPT_ACTION ? NULL : value_json(b, d);

		if (x && y && !json_equal(x, y)) {
			len += (size_t)snprintf(names + len, size - len, "%s%s", n ? ", " : "",
						d->name);
			len = len < size ? len : size - 1;
			n++;
		}
		json_decref(x);
		json_decref(y);
	}
	return n;
}

/* --- all together ----------------------------------------------------------------------------- */

static int load_file(struct options *o, struct config_file *file, bool must_exist,
		     options_warn_fn *warn, void *arg, struct err *e)
{
	int r = config_file_read(file, o->config, e);

	if (r == -ENOENT && !must_exist)
		return 0;
	return r < 0 ? r : options_parse_json(o, file->text, file->len, o->config, warn, arg, e);
}

int options_load(struct options *ret, enum option_action *ret_action, struct config_file *ret_file,
		 int argc, char *const argv[], options_warn_fn *warn, void *arg, struct err *e)
{
	enum option_action action = ACTION_RUN;
	struct config_file file = {0};
	struct options o;
	int r;

	options_defaults(&o);
	/* For --config, and to refuse bad flags first. */
	r = parse_argv(&o, &action, argc, argv, e);
	if (r == 0 && action != ACTION_HELP && action != ACTION_VERSION) {
		char config[OPTION_TEXT_SIZE];

		memcpy(config, o.config, sizeof(config));
		options_defaults(&o);
		memcpy(o.config, config, sizeof(config));
		r = load_file(&o, &file, argv_names("config", argc, argv), warn, arg, e);
		if (r == 0)
			r = parse_argv(&o, &action, argc, argv, e);
	}
	if (r == 0) {
		*ret = o;
		*ret_action = action;
		if (ret_file) {
			*ret_file = file;
			return 0;
		}
	}
	config_file_done(&file);
	return r;
}
