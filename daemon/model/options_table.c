/* options_table.c - every option once: flag, key, type, default, limits and help; and the setters
 * of each type. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>

#include "cleanup.h"
#include "options_table.h"
#include "suggest.h"

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

const struct option_def options_table[] = {
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

const size_t options_table_len = ARRAY_SIZE(options_table);

const struct option_def *option_find(const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(options_table); i++)
		if (strlen(options_table[i].name) == len &&
		    memcmp(options_table[i].name, name, len) == 0)
			return &options_table[i];
	return NULL;
}

const char *option_suggest(const char *word, size_t len, bool keys_only)
{
	const char *names[ARRAY_SIZE(options_table)] = {NULL};
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(options_table); i++)
		if (!keys_only || !options_table[i].flag_only)
			names[n++] = options_table[i].name;
	return suggest(word, len, names, n);
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

int option_list_add(struct option_list *list, const char *item, size_t len, struct err *e)
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

		r = option_list_add(&list, value, len, e);
		value += len + (value[len] == ',');
	}
	if (r == 0)
		*field = list;
	return r;
}

int option_set(struct options *o, const struct option_def *d, const char *value, struct err *e)
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
	for (size_t i = 0; i < ARRAY_SIZE(options_table); i++)
		option_set(o, &options_table[i], options_table[i].def, NULL);
}
