/* options.c - reads the options: defaults, then the config file, then the command line. */
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "options_table.h"

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

/* --- the config file -------------------------------------------------------------------------- */

/* Line of the first place where `key` stands as a JSON key; 0 = not found (written with escapes).
 */
static unsigned line_of(const char *text, size_t len, const char *key)
{
	size_t key_len = strlen(key);
	unsigned line = 1;

	for (size_t i = 0; i + key_len + 2 <= len; i++) {
		size_t end = i + key_len + 2;

		line += text[i] == '\n';
		if (text[i] != '"' || memcmp(text + i + 1, key, key_len) != 0 ||
		    text[end - 1] != '"')
			continue;
		while (end < len && isspace((unsigned char)text[end]))
			end++;
		if (end < len && text[end] == ':')
			return line;
	}
	return 0;
}

static int set_json_list(struct option_list *field, const json_t *value, struct err *e)
{
	struct option_list list = {0};
	const json_t *item;
	size_t i;
	int r = 0;

	json_array_foreach (value, i, item) {
		if (!json_is_string(item))
			return err_set(e, -EINVAL, "item %zu is not a string", i + 1);
		r = option_list_add(&list, json_string_value(item), strlen(json_string_value(item)),
				    e);
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
			       ? set_json_list((void *)((char *)o + d->offset), value, e)
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
	json_error_t where;
	const char *key;
	json_t *root, *value;
	int r = 0;

	root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &where);
	if (!root)
		return err_set(e, -EINVAL, "%s:%d:%d: %s", name, where.line, where.column,
			       where.text);
	if (!json_is_object(root))
		r = err_set(e, -EINVAL, "%s:1: the file is not a JSON object", name);
	json_object_foreach (root, key, value) {
		const struct option_def *d = option_find(key, strlen(key));

		if (r < 0)
			break;
		if (!d || d->flag_only)
			warn_unknown(name, line_of(text, len, key), key, warn, arg);
		else if (set_json(&parsed, d, value, e) < 0)
			r = err_wrap(e, "%s:%u: \"%s\"", name, line_of(text, len, key), key);
	}
	json_decref(root);
	if (r == 0)
		*o = parsed;
	return r;
}

#define CONFIG_MAX (1024 * 1024)

/* The whole file, heap; -ENOENT without a message when it is not there. */
static int read_file(const char *path, char **ret_text, size_t *ret_len, struct err *e)
{
	AUTO_FREE char *text = NULL;
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	ssize_t n = 0;
	size_t len = 0;

	if (fd < 0 || fstat(fd, &st) < 0)
		return err_set(e, -errno, "%s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return err_set(e, -EINVAL, "%s: not a file", path);
	text = malloc(CONFIG_MAX + 1);
	if (!text)
		return err_set(e, -ENOMEM, "%s: out of memory", path);
	while (len <= CONFIG_MAX && (n = read(fd, text + len, CONFIG_MAX + 1 - len)) > 0)
		len += (size_t)n;
	if (n < 0)
		return err_set(e, -errno, "%s: %s", path, strerror(errno));
	if (len > CONFIG_MAX)
		return err_set(e, -EFBIG, "%s: larger than %d bytes", path, CONFIG_MAX);
	*ret_text = take_ptr(text);
	*ret_len = len;
	return 0;
}

static int load_file(struct options *o, bool must_exist, options_warn_fn *warn, void *arg,
		     struct err *e)
{
	AUTO_FREE char *text = NULL;
	size_t len = 0;
	int r = read_file(o->config, &text, &len, e);

	if (r == -ENOENT && !must_exist)
		return 0;
	if (r < 0)
		return r;
	return options_parse_json(o, text, len, o->config, warn, arg, e);
}

int options_load(struct options *ret, enum option_action *ret_action, int argc, char *const argv[],
		 options_warn_fn *warn, void *arg, struct err *e)
{
	enum option_action action = ACTION_RUN;
	struct options o;
	int r;

	options_defaults(&o);
	r = parse_argv(&o, &action, argc, argv,
		       e); /* for --config, and to refuse bad flags first */
	if (r == 0 && action != ACTION_HELP && action != ACTION_VERSION) {
		char config[OPTION_TEXT_SIZE];

		memcpy(config, o.config, sizeof(config));
		options_defaults(&o);
		memcpy(o.config, config, sizeof(config));
		r = load_file(&o, argv_names("config", argc, argv), warn, arg, e);
		if (r == 0)
			r = parse_argv(&o, &action, argc, argv, e);
	}
	if (r < 0)
		return r;
	*ret = o;
	*ret_action = action;
	return 0;
}
