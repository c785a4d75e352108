/* options.c - the option table and its readers: argv, JSON, and the texts made from it. */
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "suggest.h"

enum option_type { OPT_TEXT, OPT_BOOL, OPT_NUMBER, OPT_SECONDS, OPT_CHOICE, OPT_LIST, OPT_ACTION };

struct option_def {
	const char *name;	    /* flag without "--", and key of the config file */
	const char *arg;	    /* placeholder in --help, NULL = takes none */
	size_t offset;		    /* into struct options; OPT_ACTION: the action */
	const char *def;	    /* as it would be written on the command line */
	double min, max;	    /* OPT_NUMBER, OPT_SECONDS */
	const char *const *choices; /* OPT_CHOICE, NULL-terminated; the index is stored */
	const char *help;
	enum option_type type;
	bool flag_only; /* not a key of the config file */
};

static const char *const log_levels[] = {"error", "warn", "info", "debug", NULL};
static const char *const log_formats[] = {"text", "json", NULL};
static const char *const compat_names[] = {"none", "node_exporter", NULL};
static const char *const event_sources[] = {"auto", "udev", "kernel", NULL};

/* clang-format off: it would break these braces. */
#define OPTION(name, arg, field, kind, def, text)                                                  \
	name, arg, offsetof(struct options, field), def, .help = (text), .type = (kind)
#define TEXT(name, arg, field, def, text)                                                          \
	{                                                                                          \
		OPTION(name, arg, field, OPT_TEXT, def, text)                                      \
	}
#define BOOL(name, field, text)                                                                    \
	{                                                                                          \
		OPTION(name, NULL, field, OPT_BOOL, "false", text)                                 \
	}
#define LIST(name, arg, field, text)                                                               \
	{                                                                                          \
		OPTION(name, arg, field, OPT_LIST, "", text)                                       \
	}
#define NUMBER(name, arg, field, def, low, high, text)                                             \
	{                                                                                          \
		OPTION(name, arg, field, OPT_NUMBER, def, text), .min = (low), .max = (high)       \
	}
#define SECONDS(name, field, def, low, high, text)                                                 \
	{                                                                                          \
		OPTION(name, "SEC", field, OPT_SECONDS, def, text), .min = (low), .max = (high)    \
	}
#define CHOICE(name, arg, field, words, def, text)                                                 \
	{                                                                                          \
		OPTION(name, arg, field, OPT_CHOICE, def, text), .choices = (words)                \
	}
#define ACTION(name, action, text)                                                                 \
	{                                                                                          \
		name, NULL, action, "", .help = (text), .type = OPT_ACTION, .flag_only = true      \
	}
/* clang-format on */

static const struct option_def table[] = {
	{OPTION("config", "FILE", config, OPT_TEXT, "/etc/rocelet/config.json",
		"configuration file; when it is absent, rocelet only observes"),
	 .flag_only = true},
	TEXT("sysfs-root", "DIR", sysfs_root, "/sys",
	     "where sysfs is mounted; of a directory that is not sysfs only files are read"),
	TEXT("dev-root", "DIR", dev_root, "/dev", "where device nodes are"),
	TEXT("proc-root", "DIR", proc_root, "/proc", "where procfs is mounted"),
	TEXT("kubelet-dir", "DIR", kubelet_dir, "/var/lib/kubelet", "the kubelet's directory"),
	TEXT("cri-socket", "PATH", cri_socket, "",
	     "container runtime socket; empty: containerd's or CRI-O's, whichever is there"),
	TEXT("listen", "ADDR:PORT", listen, ":9907", "HTTP address; empty: no TCP listener"),
	TEXT("run-dir", "DIR", run_dir, "/run/rocelet", "where rocelet.sock is made"),
	TEXT("state-dir", "DIR", state_dir, "/var/lib/rocelet",
	     "where what must survive a crash is kept"),
	SECONDS("sample-interval", sample_interval_ms, "1", 0.01, 3600,
		"time between samples of all counters"),
	CHOICE("log-level", "LEVEL", log_level, log_levels, "info", "least important lines to log"),
	CHOICE("log-format", "FORMAT", log_format, log_formats, "text", "form of a log line"),
	BOOL("dry-run", dry_run, "log every change, make none"),
	CHOICE("compat", "NAMES", compat, compat_names, "none",
	       "also publish another exporter's names"),
	BOOL("port-counters", port_counters,
	     "also read ports/N/counters/ (costs a firmware command per file on mlx5)"),
	LIST("optional-counters", "NAME,...", optional_counters,
	     "optional counters to switch on where a port has them (cc_rx_ce_pkts, ...); empty: leave them alone"),
	BOOL("no-bpf", no_bpf, "load no BPF program"),
	CHOICE("event-source", "SOURCE", event_source, event_sources, "auto",
	       "where uevents come from; auto: the kernel, and udev where it runs"),
	NUMBER("event-buffer", "BYTES", event_buffer, "4194304", 1024, 1 << 30,
	       "receive buffer of each event socket; an overrun only costs a full scan"),
	NUMBER("settle-ms", "MS", settle_ms, "2", 0, 10000,
	       "how long a burst of events is gathered"),
	SECONDS("rescan-interval", rescan_interval_ms, "60", 0, 86400,
		"full look at the hardware even without an event; 0: never"),
	NUMBER("max-connections", "N", max_connections, "64", 8, 4096,
	       "HTTP connections at a time"),
	SECONDS("request-timeout", request_timeout_ms, "10", 0.1, 3600,
		"how long a request may take to arrive and its answer to be taken"),
	ACTION("check-config", ACTION_CHECK_CONFIG, "check the configuration and exit"),
	ACTION("print-config", ACTION_PRINT_CONFIG,
	       "print the options in effect as a configuration file and exit"),
	ACTION("version", ACTION_VERSION, "print the version and exit"),
	ACTION("help", ACTION_HELP, "print this help and exit"),
};

static const struct option_def *find(const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (strlen(table[i].name) == len && memcmp(table[i].name, name, len) == 0)
			return &table[i];
	return NULL;
}

static int set_text(char *field, const char *value, struct err *e)
{
	if (strlen(value) >= OPTION_TEXT_SIZE)
		return err_set(e, -EINVAL, "longer than %d bytes", OPTION_TEXT_SIZE - 1);
	strcpy(field, value);
	return 0;
}

static int set_number(const struct option_def *d, uint32_t *field, const char *value, struct err *e)
{
	char *end;
	double scale = d->type == OPT_SECONDS ? 1000 : 1, v;

	errno = 0;
	v = isdigit((unsigned char)*value) || *value == '.' ? strtod(value, &end) : (end = NULL, 0);
	if (end == NULL || *end != '\0' || errno != 0 || !isfinite(v))
		return err_set(e, -EINVAL, "'%.40s' is not a number", value);
	if (v < d->min || v > d->max)
		return err_set(e, -EINVAL, "%.40s is not between %g and %g", value, d->min, d->max);
	if (d->type == OPT_NUMBER && v != (double)(uint32_t)v)
		return err_set(e, -EINVAL, "'%.40s' is not a whole number", value);
	*field = (uint32_t)(v * scale + 0.5);
	return 0;
}

static int set_choice(const struct option_def *d, uint32_t *field, const char *value, struct err *e)
{
	char all[128] = "";

	for (uint32_t i = 0; d->choices[i]; i++) {
		if (strcmp(d->choices[i], value) == 0) {
			*field = i;
			return 0;
		}
		snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s", i ? ", " : "",
			 d->choices[i]);
	}
	return err_set(e, -EINVAL, "'%.40s' is none of %s", value, all);
}

static int set_bool(bool *field, const char *value, struct err *e)
{
	bool on = strcmp(value, "true") == 0;

	if (!on && strcmp(value, "false") != 0)
		return err_set(e, -EINVAL, "'%.40s' is neither true nor false", value);
	*field = on;
	return 0;
}

static int list_add(struct option_list *list, const char *item, size_t len, struct err *e)
{
	if (list->n == OPTION_LIST_MAX)
		return err_set(e, -EINVAL, "more than %d items", OPTION_LIST_MAX);
	if (len == 0 || len >= OPTION_LIST_ITEM)
		return err_set(e, -EINVAL, "item %u is empty or longer than %d bytes", list->n + 1,
			       OPTION_LIST_ITEM - 1);
	memcpy(list->items[list->n], item, len);
	list->items[list->n++][len] = '\0';
	return 0;
}

/* "a,b,c"; "" is the empty list. */
static int set_list(struct option_list *field, const char *value, struct err *e)
{
	struct option_list list = {0};
	int r = 0;

	while (*value != '\0' && r == 0) {
		size_t len = strcspn(value, ",");

		r = list_add(&list, value, len, e);
		value += len + (value[len] == ',');
	}
	if (r == 0)
		*field = list;
	return r;
}

static int set(struct options *o, const struct option_def *d, const char *value, struct err *e)
{
	void *field = (char *)o + d->offset;

	switch (d->type) {
	case OPT_TEXT:
		return set_text(field, value, e);
	case OPT_BOOL:
		return set_bool(field, value, e);
	case OPT_NUMBER:
	case OPT_SECONDS:
		return set_number(d, field, value, e);
	case OPT_CHOICE:
		return set_choice(d, field, value, e);
	case OPT_LIST:
		return set_list(field, value, e);
	case OPT_ACTION:
		break;
	}
	return 0;
}

void options_defaults(struct options *o)
{
	memset(o, 0, sizeof(*o));
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		set(o, &table[i], table[i].def, NULL);
}

/* --- the command line ------------------------------------------------------------------------- */

static int unknown_flag(const char *name, size_t len, struct err *e)
{
	const char *names[ARRAY_SIZE(table)], *near;

	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		names[i] = table[i].name;
	near = suggest(name, len, names, ARRAY_SIZE(names));
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
	d = find(name, len);
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
	return set(o, d, value, e) < 0 ? err_wrap(e, "--%s", d->name) : 0;
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
		r = list_add(&list, json_string_value(item), strlen(json_string_value(item)), e);
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
		return json_is_boolean(value) ? set(o, d, json_is_true(value) ? "true" : "false", e)
					      : err_set(e, -EINVAL, "is neither true nor false");
	if (d->type == OPT_NUMBER || d->type == OPT_SECONDS) {
		if (!json_is_number(value))
			return err_set(e, -EINVAL, "is not a number");
		snprintf(number, sizeof(number), "%.15g", json_number_value(value));
		return set(o, d, number, e);
	}
	return json_is_string(value) ? set(o, d, json_string_value(value), e)
				     : err_set(e, -EINVAL, "is not a string");
}

static void warn_unknown(const char *file, unsigned line, const char *key, options_warn_fn *warn,
			 void *arg)
{
	const char *names[ARRAY_SIZE(table)], *near;
	char sentence[256];
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (!table[i].flag_only)
			names[n++] = table[i].name;
	near = suggest(key, strlen(key), names, n);
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
		const struct option_def *d = find(key, strlen(key));

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
	AUTO_FD fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
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

/* --- texts made from the table ---------------------------------------------------------------- */

void options_help(FILE *f)
{
	fputs("usage: rocelet [FLAGS]\n\nThe node agent for RoCE clusters. Every flag is also a key of the "
	      "configuration file,\nunless marked with *.\n\n",
	      f);
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		const struct option_def *d = &table[i];
		char flag[64];

		snprintf(flag, sizeof(flag), "--%s%s%s%s", d->name, d->arg ? " " : "",
			 d->arg ? d->arg : "", d->flag_only ? " *" : "");
		fprintf(f, "  %-30s %s", flag, d->help);
		if (d->choices) {
			fputs(": ", f);
			for (unsigned c = 0; d->choices[c]; c++)
				fprintf(f, "%s%s", c ? ", " : "", d->choices[c]);
		}
		if (d->arg)
			fprintf(f, " [%s]", d->def);
		fputc('\n', f);
	}
}

void options_markdown(FILE *f)
{
	fputs("# Options\n\nEvery option is a flag of `rocelet` and, unless marked \"flag only\", a key of the JSON "
	      "configuration file\n(the flag's name without the dashes). A flag wins over the file, the file over "
	      "the default.\nThis page is made from the option table in the code (`make docs`).\n\n"
	      "| option | value | default | meaning |\n|---|---|---|---|\n",
	      f);
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		const struct option_def *d = &table[i];

		fprintf(f, "| `--%s` | ", d->name);
		for (unsigned c = 0; d->choices && d->choices[c]; c++)
			fprintf(f, "%s`%s`", c ? ", " : "", d->choices[c]);
		if (!d->choices)
			fputs(d->arg ? d->arg : d->type == OPT_BOOL ? "true, false" : "", f);
		if (d->type == OPT_NUMBER || d->type == OPT_SECONDS)
			fprintf(f, " (%.10g to %.10g)", d->min, d->max);
		fprintf(f, " | %s%s%s | %s%s |\n", *d->def ? "`" : "", d->def, *d->def ? "`" : "",
			d->help, d->flag_only ? " (flag only)" : "");
	}
}

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

char *options_json(const struct options *o)
{
	json_t *root = json_object();
	char *text;

	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (!table[i].flag_only)
			json_object_set_new(root, table[i].name, value_json(o, &table[i]));
	text = json_dumps(root, JSON_INDENT(2));
	json_decref(root);
	return text;
}
