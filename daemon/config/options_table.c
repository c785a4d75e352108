/* options_table.c - the option table, and the values that it takes. */
#include "options_table.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <net/if.h>
#include <stdlib.h>

#include "cleanup.h"

static const char *const log_levels[] = {"error", "warn", "info", "debug", NULL};
static const char *const log_formats[] = {"text", "json", NULL};
static const char *const compat_names[] = {"none", "node_exporter", NULL};
static const char *const registrations[] = {"auto", "registry", "legacy", NULL};
static const char *const shutdown_policies[] = {"keep", "zero", NULL};
static const char *const event_sources[] = {"auto", "udev", "kernel", NULL};

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
#define NETDEVS(name, field, text)                                                                 \
	{                                                                                          \
		OPTION(name, "NAME,...", field, OPT_LIST, "", text), .netdevs = true               \
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

const struct option_def option_table[] = {
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
	     "where what must survive a crash is kept; one rocelet at a time has it"),
	SECONDS("lock-wait", lock_wait_ms, "10", 0, 3600,
		"how long to wait for another rocelet that has run-dir or state-dir to end; then exit status 3"),
	TEXT("cni-path", "DIRS", cni_path, "/opt/cni/bin:/usr/lib/cni",
	     "where IPAM plugins are looked for, with ':' between"),
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
	NETDEVS("mirrors", mirrors,
		"netdevs to which a switch mirrors RoCE traffic: BPF counts what arrives there"),
	NETDEVS("packet-ports", packet_ports,
		"more netdevs whose RoCE packets BPF counts: PFs, representors; soft-RoCE's are counted anyway"),
	BOOL("packet-pods", packet_pods,
	     "also watch the devices with hardware RoCE that rocelet put into pods; hardly anything of that passes the kernel"),
	NUMBER("packet-flows", "N", packet_flows, "4096", 0, 1 << 20,
	       "flows to queue pairs that BPF keeps apart on each netdev; 0: none"),
	NUMBER("mirror-flows", "N", mirror_flows, "0", 0, 1 << 20, "the same on each mirror"),
	NUMBER("bpf-memory", "MIB", bpf_memory, "32", 1, 65536,
	       "most memory for the BPF maps of all netdevs together"),
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
	CHOICE("registration", "WAY", registration, registrations, "auto",
	       "how the kubelet learns of resources; auto: registry if plugins_registry exists"),
	CHOICE("shutdown-policy", "POLICY", shutdown_policy, shutdown_policies, "keep",
	       "on shutdown leave the resources as they are, or tell the kubelet there are none"),
	TEXT("resource-prefix", "NAME", resource_prefix, "",
	     "prefix of resources that name none; empty: the usual one of each grammar"),
	BOOL("use-cdi", use_cdi, "hand devices over as CDI devices, where a pool does not say"),
	TEXT("cdi-dir", "DIR", cdi_dir, "/var/run/cdi", "where CDI specifications are written"),
	TEXT("devinfo-dir", "DIR", devinfo_dir, "/var/run/k8s.cni.cncf.io/devinfo/dp",
	     "where device information for Multus is written"),
	ACTION("check-config", ACTION_CHECK_CONFIG,
	       "check the configuration and exit: 0, it is right; 2, it cannot work; 1, the node cannot be looked at"),
	{OPTION("strict", NULL, strict, OPT_BOOL, "false",
		"with --check-config: 1 also if there are warnings or a resource is left out"),
	 .flag_only = true},
	ACTION("print-config", ACTION_PRINT_CONFIG,
	       "print the options in effect as a configuration file and exit"),
	ACTION("version", ACTION_VERSION, "print the version and exit"),
	ACTION("help", ACTION_HELP, "print this help and exit"),
};

const size_t n_options = ARRAY_SIZE(option_table);
_Static_assert(ARRAY_SIZE(option_table) <= OPTIONS_MAX, "one more name");

const struct option_def *option_find(const char *name, size_t len)
{
	for (size_t i = 0; i < n_options; i++)
		if (strlen(option_table[i].name) == len &&
		    memcmp(option_table[i].name, name, len) == 0)
			return &option_table[i];
	return NULL;
}

/* Without a name a file would be looked for at the root. */
static bool needs_name(const struct option_def *d)
{
	return strcmp(d->arg, "DIR") == 0 || strcmp(d->arg, "FILE") == 0;
}

static int set_text(const struct option_def *d, char *field, const char *value, struct err *e)
{
	if (*value == '\0' && needs_name(d))
		return err_set(e, -EINVAL, "is empty");
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
		return err_set(e, -EINVAL, "%.40s is not between %.10g and %.10g", value, d->min,
			       d->max);
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

/* dev_valid_name() in linux/net/core/dev.c, and no comma. */
static bool is_netdev_name(const char *name, size_t len)
{
	if (len >= IFNAMSIZ || (len <= 2 && strspn(name, ".") >= len))
		return false;
	for (size_t i = 0; i < len; i++)
		if (strchr("/:,", name[i]) || isspace((unsigned char)name[i]))
			return false;
	return true;
}

int option_list_add(struct option_list *list, const struct option_def *d, const char *item,
		    size_t len, struct err *e)
{
	if (list->n == OPTION_LIST_MAX)
		return err_set(e, -EINVAL, "more than %d items", OPTION_LIST_MAX);
	if (len == 0 || len >= OPTION_LIST_ITEM)
		return err_set(e, -EINVAL, "item %u is empty or longer than %d bytes", list->n + 1,
			       OPTION_LIST_ITEM - 1);
	if (d->netdevs && !is_netdev_name(item, len))
		return err_set(e, -EINVAL, "'%.*s' cannot be the name of a netdev",
			       len > 40 ? 40 : (int)len, item);
	memcpy(list->items[list->n], item, len);
	list->items[list->n++][len] = '\0';
	return 0;
}

/* "a,b,c"; "" is the empty list. */
static int set_list(const struct option_def *d, struct option_list *field, const char *value,
		    struct err *e)
{
	struct option_list list = {0};
	int r = 0;

	while (*value != '\0' && r == 0) {
		size_t len = strcspn(value, ",");

		r = option_list_add(&list, d, value, len, e);
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
		return set_text(d, field, value, e);
	case OPT_BOOL:
		return set_bool(field, value, e);
	case OPT_NUMBER:
	case OPT_SECONDS:
		return set_number(d, field, value, e);
	case OPT_CHOICE:
		return set_choice(d, field, value, e);
	case OPT_LIST:
		return set_list(d, field, value, e);
	case OPT_ACTION:
		break;
	}
	return 0;
}
