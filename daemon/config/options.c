// SPDX-License-Identifier: Apache-2.0
/* options.c - the option table; the parsers of command line and config file, --help and
 * docs/reference/options.md are based on it. */
#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "config_beside.h"
#include "config_file.h"
#include "config_json.h"
#include "config_schema.h"
#include "groups.h"
#include "ipam_grants.h"
#include "json_text.h"
#include "listen_address.h"
#include "options.h"
#include "pool_config.h"
#include "suggest.h"

enum option_type {
	OPT_TEXT,
	OPT_BOOL,
	OPT_NUMBER,
	OPT_SECONDS,
	OPT_CHOICE,
	OPT_LIST,
	OPT_THRESHOLDS,
	OPT_ACTION
};

/* Where a file system of the host is mounted, which must be there. */
enum option_mount {
	MOUNT_NONE,
	MOUNT_WANTED, /* a warning if there is no such folder */
	MOUNT_NEEDED  /* an error: the daemon does not start without it */
};

struct option_def {
	const char *name;	    /* flag without "--", and key of the config file */
	const char *arg;	    /* placeholder of its value in --help, NULL = no value */
	size_t offset;		    /* offset in struct options; OPT_ACTION: the action */
	const char *def;	    /* default, as on the command line */
	double min, max;	    /* OPT_NUMBER, OPT_SECONDS */
	const char *const *choices; /* OPT_CHOICE, NULL-terminated; the index is stored */
	const char *help;
	enum option_type type;
	bool flag_only; /* not a key of the config file */
	bool key_only;	/* not a flag */
	bool followed;	/* a running daemon applies a change when it reloads the file */
	bool netdevs;	/* OPT_LIST: the items are names of netdevs */
	bool grants;	/* OPT_LIST: the items are those of ipam_grants.h */
	enum option_mount mount;
};

static const char *const log_levels[] = {"error", "warn", "info", "debug", NULL};
static const char *const log_formats[] = {"text", "json", NULL};
static const char *const compat_names[] = {"none", "node_exporter", NULL};
static const char *const registrations[] = {"auto", "registry", "legacy", NULL};
static const char *const shutdown_policies[] = {"keep", "zero", NULL};
static const char *const lost_pools[] = {"hold", "refuse", "accept", NULL};
static const char *const seccomp_modes[] = {"on", "log", "off", NULL};
static const char *const fabrics[] = {[CC_UNKNOWN] = "unknown",
				      [CC_DCQCN] = "dcqcn",
				      [CC_PFC_ONLY] = "pfc_only",
				      [CC_LOSSY] = "lossy",
				      [N_CC] = NULL};
static const char *const event_sources[] = {"auto", "udev", "kernel", NULL};

#define OPTION(name, arg, field, kind, def, text)                                                  \
	name, arg, offsetof(struct options, field), def, .help = (text), .type = (kind)
#define TEXT(name, arg, field, def, text) OPTION(name, arg, field, OPT_TEXT, def, text)
#define BOOL(name, field, text)		  OPTION(name, NULL, field, OPT_BOOL, "false", text)
#define LIST(name, arg, field, text)	  OPTION(name, arg, field, OPT_LIST, "", text)
#define NETDEVS(name, field, text)	  LIST(name, "NAME,...", field, text), .netdevs = true
#define NUMBER(name, arg, field, def, low, high, text)                                             \
	OPTION(name, arg, field, OPT_NUMBER, def, text), .min = (low), .max = (high)
#define SECONDS(name, field, def, low, high, text)                                                 \
	OPTION(name, "SEC", field, OPT_SECONDS, def, text), .min = (low), .max = (high)
#define CHOICE(name, arg, field, words, def, text)                                                 \
	OPTION(name, arg, field, OPT_CHOICE, def, text), .choices = (words)
#define ACTION(name, action, text)                                                                 \
	name, NULL, action, "", .help = (text), .type = OPT_ACTION, .flag_only = true

static const struct option_def option_table[] = {
	{OPTION("config", "FILE", config, OPT_TEXT, "/etc/rocelet/config.json",
		"configuration file; when it is absent, rocelet only observes"),
	 .flag_only = true},
	{OPTION("group", "NAME", group, OPT_TEXT, "",
		"group of the configuration that applies here; empty: $ROCELET_GROUP, or the first that matches"),
	 .flag_only = true},
	{TEXT("sysfs-root", "DIR", sysfs_root, "/sys",
	      "where sysfs is mounted; of a directory that is not sysfs only files are read"),
	 .mount = MOUNT_NEEDED},
	{TEXT("dev-root", "DIR", dev_root, "/dev", "where device nodes are"),
	 .mount = MOUNT_WANTED},
	{TEXT("proc-root", "DIR", proc_root, "/proc", "where procfs is mounted"),
	 .mount = MOUNT_WANTED},
	{TEXT("kubelet-dir", "DIR", kubelet_dir, "/var/lib/kubelet", "the kubelet's directory")},
	{TEXT("pod-resources", "PATH", pod_resources, "",
	      "folder of the kubelet's list of allocations, beside its folder pods, if its --root-dir is not kubelet-dir; empty: kubelet-dir/pod-resources")},
	{TEXT("cri-socket", "PATH", cri_socket, "",
	      "container runtime socket; empty: that of containerd, CRI-O, k3s, RKE2, k0s or MicroK8s, whichever exists")},
	{TEXT("listen", "ADDR:PORT", listen, ":9907", "HTTP address; empty: no TCP listener")},
	{TEXT("tls-cert", "PATH", tls_cert, "",
	      "certificate (PEM, with its chain) for the TCP listener; empty: no TLS")},
	{TEXT("tls-key", "PATH", tls_key, "", "its key (PEM)")},
	{TEXT("auth-token-file", "PATH", auth_token_file, "",
	      "tokens, one on each line; TCP clients must send one of them (Authorization: Bearer)")},
	{TEXT("basic-auth-file", "PATH", basic_auth_file, "",
	      "lines NAME:HASH (htpasswd -B); TCP clients must send one of them, or a token")},
	{TEXT("run-dir", "DIR", run_dir, "/run/rocelet", "folder of rocelet.sock")},
	{TEXT("state-dir", "DIR", state_dir, "/var/lib/rocelet",
	      "folder of the records that must survive a crash; one rocelet at a time uses it")},
	{SECONDS(
		"lock-wait", lock_wait_ms, "10", 0, 3600,
		"how long to wait for the end of another rocelet that has this node, run-dir or state-dir; then exit status 3")},
	{BOOL("take-over", take_over,
	      "ask the rocelet that serves run-dir/rocelet.sock to hand this node over, so that the kubelet's devices stay; for upgrades")},
	{TEXT("cni-path", "DIRS", cni_path, "/opt/cni/bin:/usr/lib/cni",
	      "folders of IPAM plugins, separated by ':'")},
	{LIST("cni-ipam-needs", "NEED,...", cni_ipam_needs,
	      "what IPAM plugins of CNI configurations may use, as TYPE:KEY=VALUE (whereabouts:network=host, nv-ipam:write=/var/lib/cni/nv-ipam); empty: nothing"),
	 .grants = true},
	{SECONDS("sample-interval", sample_interval_ms, "1", 0.01, 3600,
		 "time between samples of all counters")},
	{CHOICE("log-level", "LEVEL", log_level, log_levels, "info",
		"least important lines to log")},
	{CHOICE("log-format", "FORMAT", log_format, log_formats, "text", "form of a log line")},
	{BOOL("dry-run", dry_run, "log every change, make none")},
	{CHOICE("seccomp", "MODE", seccomp, seccomp_modes, "on",
		"system calls outside rocelet's list: on, refuse and log them; log, only log them")},
	{CHOICE("compat", "NAMES", compat, compat_names, "none",
		"also publish another exporter's names")},
	{BOOL("port-counters", port_counters,
	      "also read ports/N/counters/ (costs a firmware command per file on mlx5)")},
	{BOOL("all-series", all_series,
	      "publish all series: of VFs that are idle, each healthy device, slots of shared resources, and what few need of a VF")},
	{LIST("optional-counters", "NAME,...", optional_counters,
	      "optional counters to switch on where a port has them (cc_rx_ce_pkts, ...); empty: leave them alone")},
	{BOOL("no-bpf", no_bpf, "load no BPF program")},
	{BOOL("unprivileged", unprivileged,
	      "use no capability, and do not report missing ones: no BPF, no events of other network namespaces; for observing and offering devices")},
	{NETDEVS("mirrors", mirrors,
		 "netdevs to which a switch mirrors RoCE traffic: BPF counts what arrives there")},
	{NETDEVS(
		"packet-ports", packet_ports,
		"more netdevs whose RoCE packets BPF counts: PFs, representors; soft-RoCE's are counted anyway")},
	{BOOL("packet-pods", packet_pods,
	      "also watch the devices with hardware RoCE that rocelet put into pods; hardly anything of that passes the kernel")},
	{NUMBER("packet-flows", "N", packet_flows, "4096", 0, 1 << 20,
		"flows to queue pairs that BPF keeps apart on each netdev; 0: none")},
	{NUMBER("mirror-flows", "N", mirror_flows, "0", 0, 1 << 20, "the same on each mirror")},
	{NUMBER("bpf-memory", "MIB", bpf_memory, "32", 1, 65536,
		"most memory for the BPF maps of all netdevs together")},
	{CHOICE("event-source", "SOURCE", event_source, event_sources, "auto",
		"where uevents come from; auto: the kernel, and udev where it runs")},
	{NUMBER("event-buffer", "BYTES", event_buffer, "4194304", 1024, 1 << 30,
		"receive buffer of each event socket; an overrun only costs a full scan")},
	{NUMBER("settle-ms", "MS", settle_ms, "2", 0, 10000,
		"how long a burst of events is gathered")},
	{SECONDS("rescan-interval", rescan_interval_ms, "60", 0, 86400,
		 "full rescan of the hardware without an event; 0: never")},
	{NUMBER("max-connections", "N", max_connections, "64", 8, 4096,
		"HTTP connections at a time, not counting root's over rocelet.sock")},
	{SECONDS("request-timeout", request_timeout_ms, "10", 0.1, 3600,
		 "how long a request may take to arrive and its answer to be taken")},
	{CHOICE("registration", "WAY", registration, registrations, "auto",
		"how the kubelet learns of resources; auto: registry if the kubelet watches plugins_registry")},
	{CHOICE("shutdown-policy", "POLICY", shutdown_policy, shutdown_policies, "keep",
		"on shutdown keep the resources, or report none to the kubelet")},
	{CHOICE("lost-pool", "POLICY", lost_pool, lost_pools, "hold",
		"an edit that takes all devices from a pool of this node: hold, wait until no pod has any of them; refuse; accept"),
	 .followed = true},
	{TEXT("resource-prefix", "PREFIX", resource_prefix, "",
	      "prefix of resources that name none; empty: the usual one of each grammar")},
	{BOOL("use-cdi", use_cdi, "hand devices over as CDI devices, unless a pool sets it")},
	{TEXT("cdi-dir", "DIR", cdi_dir, "/var/run/cdi", "where CDI specifications are written")},
	{TEXT("devinfo-dir", "DIR", devinfo_dir, "/var/run/k8s.cni.cncf.io/devinfo/dp",
	      "where device information for Multus is written")},
	{TEXT("features-dir", "PATH", features_dir, "",
	      "folder of Node Feature Discovery (/etc/kubernetes/node-feature-discovery/features.d) in which to write facts that become node labels; empty: none")},
	{OPTION("diagnosis", NULL, diagnosis, OPT_THRESHOLDS, "",
		"an object: limits by which the diagnosis judges"),
	 .key_only = true, .followed = true},
	{CHOICE("expect-congestion-control", "KIND", diagnosis.expected, fabrics, "unknown",
		"the fabric's congestion control, which decides what silence means to the diagnosis"),
	 .followed = true},
	{ACTION("check-config", ACTION_CHECK_CONFIG,
		"check the configuration and exit: 0, it is right; 2, it cannot work; 1, the node cannot be scanned")},
	{OPTION("strict", NULL, strict, OPT_BOOL, "false",
		"with --check-config: 1 also if there are warnings or a resource is left out; always: an IPAM plugin that is not in cni-path is an error"),
	 .flag_only = true},
	{ACTION("print-config", ACTION_PRINT_CONFIG,
		"print the options in effect as a configuration file and exit")},
	{ACTION("print-schema", ACTION_PRINT_SCHEMA,
		"print the JSON Schema of the configuration file and exit")},
	{ACTION("suggest-config", ACTION_SUGGEST_CONFIG,
		"scan the node, print a configuration that suits it, with reasons, and exit")},
	{OPTION("install-cni", "DIR", install_cni, OPT_TEXT, "",
		"copy the CNI plugin rocelet-cni into the folder and exit"),
	 .flag_only = true},
	{OPTION("link", "NAME,...", link, OPT_LIST, "",
		"with --install-cni: also make links of these names (sriov, ...) to the plugin"),
	 .flag_only = true},
	{OPTION("uninstall-cni", "DIR", uninstall_cni, OPT_TEXT, "",
		"remove rocelet-cni and the links to it from the folder and exit"),
	 .flag_only = true},
	{OPTION("remove-features", "DIR", remove_features, OPT_TEXT, "",
		"remove the file that features-dir has made from the folder and exit"),
	 .flag_only = true},
	{ACTION("version", ACTION_VERSION, "print the version and exit")},
	{ACTION("help", ACTION_HELP, "print this help and exit")},
};

static const struct option_def *option_find(const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(option_table); i++)
		if (strlen(option_table[i].name) == len &&
		    memcmp(option_table[i].name, name, len) == 0)
			return &option_table[i];
	return NULL;
}

bool option_is_key(const char *name)
{
	return option_find(name, strlen(name)) != NULL;
}

const char *const pool_config_keys[N_POOL_CONFIG_KEYS] = {
	[KEY_RESOURCE_LIST] = "resourceList",
	[KEY_CONFIG_LIST] = "configList",
	[KEY_INTERVAL] = "periodicUpdateInterval",
	[KEY_POOLS] = "pools",
	[KEY_MODE] = "mode",
	[KEY_PF_NETDEVICES] = "pfNetdevices",
	[KEY_GROUPS] = "groups",
};

enum pool_config_key pool_config_key(const char *key)
{
	unsigned i = 0;

	while (i < N_POOL_CONFIG_KEYS && strcasecmp(pool_config_keys[i], key) != 0)
		i++;
	return (enum pool_config_key)i;
}

/* The known name most similar to a misspelt one; NULL: none. keys: only keys of the config file. */
static const char *option_suggest(const char *name, size_t len, bool keys)
{
	const char *names[ARRAY_SIZE(option_table) + N_POOL_CONFIG_KEYS];
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(option_table); i++)
		if (keys ? !option_table[i].flag_only : !option_table[i].key_only)
			names[n++] = option_table[i].name;
	for (size_t i = 0; keys && i < N_POOL_CONFIG_KEYS; i++)
		names[n++] = pool_config_keys[i];
	return suggest(name, len, names, n);
}

/* --- texts ------------------------------------------------------------------------------------ */

static int check_address(const char *value, struct err *e)
{
	struct listen_address at;

	return listen_address_read(value, &at, e);
}

static int check_prefix(const char *value, struct err *e)
{
	const char *wrong = pool_prefix_wrong(value);

	return wrong ? err_set(e, -EINVAL, "'%.70s' %s", value, wrong) : 0;
}

#define PORT_PATTERN "(6553[0-5]|655[0-2][0-9]|65[0-4][0-9]{2}|6[0-4][0-9]{3}|[0-5]?[0-9]{1,4})"

/* Kinds of text, by the placeholder of the value in --help; others may be any text. */
static const struct text_kind {
	const char *arg;
	const char *pattern; /* of the schema: of values in the file */
	/* Checks a value that is not empty. */
	int (*check)(const char *value, struct err *);
	bool named; /* not empty: an empty name would resolve to the root folder */
	bool paths; /* paths, separated by ':' */
} text_kinds[] = {
	{"DIR", "^/", NULL, true, true},
	{"FILE", "^/", NULL, true, true},
	{"PATH", "^(/|$)", NULL, false, true},
	{"DIRS", "^:*(/[^:]*(:+|$))*$", NULL, false, true},
	{"ADDR:PORT", "^(([0-9.]*|\\[[0-9A-Fa-f:.]+(%[^\\]]+)?\\]):" PORT_PATTERN ")?$",
	 check_address, false, false},
	{"PREFIX", "^([a-z0-9]([a-z0-9-]*[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*)?$",
	 check_prefix, false, false},
	{NULL, NULL, NULL, false, false},
};

static const struct text_kind *text_kind(const struct option_def *d)
{
	const struct text_kind *k = text_kinds;

	while (k->arg && strcmp(k->arg, d->arg) != 0)
		k++;
	return k;
}

static int set_text(const struct option_def *d, char *field, const char *value, struct err *e)
{
	const struct text_kind *k = text_kind(d);
	int r;

	if (*value == '\0' && k->named)
		return err_set(e, -EINVAL, "is empty");
	if (strlen(value) >= OPTION_TEXT_SIZE)
		return err_set(e, -EINVAL, "longer than %d bytes", OPTION_TEXT_SIZE - 1);
	r = *value && k->check ? k->check(value, e) : 0;
	if (r == 0)
		strcpy(field, value);
	return r;
}

/* A flag's path may be relative to the folder in which a person types it. The file has no such
 * folder. */
static int check_absolute(const struct option_def *d, const char *value, struct err *e)
{
	for (; text_kind(d)->paths && *value; value += *value == ':') {
		size_t len = strcspn(value, ":");

		if (len > 0 && *value != '/')
			return err_set(e, -EINVAL, "'%.*s' does not begin with \"/\"",
				       len > 80 ? 80 : (int)len, value);
		value += len;
	}
	return 0;
}

/* --- values of other types -------------------------------------------------------------------- */

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

static int option_list_add(struct option_list *list, const struct option_def *d, const char *item,
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
	return d->grants ? ipam_grant_check(list->items[list->n - 1], e) : 0;
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

/* Sets a value as spelt on the command line; *o is untouched on failure. */
static int option_set(struct options *o, const struct option_def *d, const char *value,
		      struct err *e)
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
	case OPT_THRESHOLDS:
		thresholds_init(field);
		break;
	case OPT_ACTION:
		break;
	}
	return 0;
}

void options_defaults(struct options *o)
{
	memset(o, 0, sizeof(*o));
	for (size_t i = 0; i < ARRAY_SIZE(option_table); i++)
		option_set(o, &option_table[i], option_table[i].def, NULL);
}

/* --- the command line ------------------------------------------------------------------------- */

static int options_unknown_flag(const char *name, size_t len, struct err *e)
{
	const char *near = option_suggest(name, len, false);

	if (near)
		return err_set(e, -EINVAL, "unknown flag --%.*s, did you mean --%s?", (int)len,
			       name, near);
	return err_set(e, -EINVAL, "unknown flag --%.*s, see --help", (int)len, name);
}

/* Parses one flag at argv[*i]; moves *i past its value. */
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
	if (!d || d->key_only)
		return options_unknown_flag(name, len, e);
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

bool options_has_flag(const char *name, int argc, char *const argv[])
{
	size_t len = strlen(name);

	for (int i = 1; i < argc; i++)
		if (strncmp(argv[i], "--", 2) == 0 && strncmp(argv[i] + 2, name, len) == 0 &&
		    (argv[i][2 + len] == '\0' || argv[i][2 + len] == '='))
			return true;
	return false;
}

/* --- the file --------------------------------------------------------------------------------- */

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

static int unknown_threshold(const char *key, struct err *e)
{
	const char *names[N_THRESHOLDS], *near;

	for (int i = 0; i < N_THRESHOLDS; i++)
		names[i] = threshold_key((enum threshold)i)->name;
	near = suggest(key, strlen(key), names, N_THRESHOLDS);
	return err_set(e, -EINVAL, "unknown key%s%s%s", near ? ", did you mean \"" : "",
		       near ? near : "", near ? "\"?" : "");
}

static const struct threshold_key *find_threshold(const char *key)
{
	for (int i = 0; i < N_THRESHOLDS; i++)
		if (strcmp(threshold_key((enum threshold)i)->name, key) == 0)
			return threshold_key((enum threshold)i);
	return NULL;
}

/* *ret_key: the wrong key. */
static int set_thresholds(struct thresholds *t, const json_t *object, const char **ret_key,
			  struct err *e)
{
	const char *key;
	json_t *value;

	if (!json_is_object(object))
		return err_set(e, -EINVAL, "is not an object");
	json_object_foreach ((json_t *)object, key, value) {
		const struct threshold_key *k = find_threshold(key);
		double v = json_number_value(value);

		*ret_key = key;
		if (!k)
			return unknown_threshold(key, e);
		if (!json_is_number(value))
			return err_set(e, -EINVAL, "is not a number");
		if (!(v >= k->least && v <= k->greatest))
			return err_set(e, -EINVAL, "%.10g is not between %.10g and %.10g", v,
				       k->least, k->greatest);
		thresholds_set(t, key, v, e);
	}
	*ret_key = NULL;
	return 0;
}

/* Checks the type of a JSON value; numbers are converted to text so that both parsers share one
 * check. *ret_key: the wrong key of an object; NULL: the whole value. */
static int set_json(struct options *o, const struct option_def *d, const json_t *value,
		    const char **ret_key, struct err *e)
{
	char number[32];

	if (d->type == OPT_LIST)
		return json_is_array(value)
			       ? set_json_list((void *)((char *)o + d->offset), d, value, e)
			       : err_set(e, -EINVAL, "is not a list of strings");
	if (d->type == OPT_THRESHOLDS)
		return set_thresholds((void *)((char *)o + d->offset), value, ret_key, e);
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
	if (!json_is_string(value))
		return err_set(e, -EINVAL, "is not a string");
	if (d->type == OPT_TEXT && check_absolute(d, json_string_value(value), e) < 0)
		return -EINVAL;
	return option_set(o, d, json_string_value(value), e);
}

/* The key for TLS or authentication that this unknown key resembles; NULL: none. Ignoring such a
 * typo would leave the TCP port open to anyone. */
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

/* Checks that the folder of a mount is there. */
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
	else if (set_json(o, d, value, &below.key, e) < 0 || check_mount(o, t, at, d, e) < 0)
		return wrap_place(e, t->name, t->text, t->len, below.key ? &below : at);
	return 0;
}

/* up: the place of the object; NULL = the top level. */
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

/* Prefixes the message with the place of a top-level key, or of a key of its object: that of the
 * group if it has the key. If the file has none, with the flag. */
static int wrap_key(struct err *e, const char *name, const struct config_file *file,
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
	return wrap_key(e, o->config, file, key, NULL);
}

/* A certificate needs its key. */
static int options_check_pair(const struct options *o, const struct config_file *file,
			      struct err *e)
{
	if (!o->tls_cert[0] == !o->tls_key[0])
		return 0;
	err_set(e, -EINVAL, "is given without %s", o->tls_cert[0] ? "tls-key" : "tls-cert");
	return wrap_key(e, o->config, file, o->tls_cert[0] ? "tls-cert" : "tls-key", NULL);
}

int options_check_group(const struct options *o, const struct config_file *file,
			options_warn_fn *warn, void *arg, struct err *e)
{
	const struct options_text t = {o->config, file->text, file->len, true, warn, arg};
	struct options as_if = *o;
	struct err wrong = {0};
	json_t *root = config_json(file->text, file->len, o->config, NULL, NULL, &wrong);
	int r;

	if (!root)
		return err_set(e, wrong.code, "%s", wrong.msg);
	r = options_read_group(&as_if, &t, root, file->group, e);
	json_decref(root);
	return r < 0 ? r : options_check_pair(&as_if, file, e);
}

/* --- the config file, and all sources --------------------------------------------------------- */

/* The facts depend on sysfs-root, where the flag takes precedence over the file. */
static int options_choose_group(const struct options *o, const char *sysfs_flag, json_t *root,
				struct config_file *file, struct err *e)
{
	const struct groups_text text = {o->config, file->text, file->len};
	const char *wanted = getenv("ROCELET_GROUP");
	struct node_facts facts;

	if (o->group[0])
		wanted = o->group;
	file->has_groups = json_find(root, "groups", NULL) != NULL;
	if (!file->has_groups && !(wanted && *wanted))
		return 0;
	node_facts_read(&facts, *sysfs_flag ? sysfs_flag : o->sysfs_root);
	return groups_choose(root, &text, wanted ? wanted : "", &facts, file->group, e);
}

/* Reads the options of the top level, and then those of the group. */
static int options_read_file(struct options *o, const char *sysfs_flag, struct config_file *file,
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

static int load_file(struct options *o, const char *sysfs_flag, struct config_file *file,
		     bool must_exist, options_warn_fn *warn, void *arg, struct err *e)
{
	int r = config_file_read(file, o->config, e);
	char beside[CONFIG_BESIDE_SIZE];

	if (r == -ENOENT && !must_exist)
		return 0;
	if (r == -ENOENT && config_beside(o, beside))
		return err_set(e, r, "%.200s", beside);
	return r < 0 ? r : options_read_file(o, sysfs_flag, file, warn, arg, e);
}

/* --suggest-config works without a configuration, or with a wrong one. */
static bool goes_by_file(enum option_action action)
{
	return action != ACTION_HELP && action != ACTION_VERSION &&
	       action != ACTION_SUGGEST_CONFIG && action != ACTION_PRINT_SCHEMA;
}

int options_of_flags(struct options *ret, enum option_action *ret_action, int argc,
		     char *const argv[], struct err *e)
{
	options_defaults(ret);
	*ret_action = ACTION_RUN;
	return parse_argv(ret, ret_action, argc, argv, e);
}

/* Is it the length of a window of samples, which must not be 0? */
static bool is_window(const struct threshold_key *k)
{
	static const char end[] = "_seconds";
	size_t n = strlen(k->name);

	return k->least > 0 && n >= strlen(end) && strcmp(k->name + n - strlen(end), end) == 0;
}

/* A window needs at least two samples: shorter configured values are errors, shorter defaults are
 * adapted. */
static int fit_windows(struct options *o, const struct config_file *file, struct err *e)
{
	double two_samples = 2 * o->sample_interval_ms / 1000.0;

	for (int i = 0; i < N_THRESHOLDS; i++) {
		const struct threshold_key *k = threshold_key((enum threshold)i);
		double *v = &o->diagnosis.value[i];
		double least = fmin(two_samples, k->greatest);

		if (!is_window(k) || *v >= least)
			continue;
		if (*v != k->fallback) {
			err_set(e, -EINVAL, "%.10g is less than twice the sample-interval", *v);
			return wrap_key(e, o->config, file, "diagnosis", k->name);
		}
		*v = least;
	}
	return 0;
}

int options_load(struct options *ret, enum option_action *ret_action, struct config_file *ret_file,
		 int argc, char *const argv[], options_warn_fn *warn, void *arg, struct err *e)
{
	enum option_action action = ACTION_RUN;
	struct config_file file = {0};
	struct options o;
	int r;

	options_defaults(&o);
	/* The first pass finds --config, and rejects wrong flags before the file is read. */
	r = parse_argv(&o, &action, argc, argv, e);
	if (r == 0 && goes_by_file(action)) {
		const struct options flags = o;
		bool has_sysfs = options_has_flag("sysfs-root", argc, argv);

		options_defaults(&o);
		memcpy(o.config, flags.config, sizeof(o.config));
		memcpy(o.group, flags.group, sizeof(o.group));
		r = load_file(&o, has_sysfs ? flags.sysfs_root : "", &file,
			      options_has_flag("config", argc, argv), warn, arg, e);
		if (r == 0)
			r = parse_argv(&o, &action, argc, argv, e);
	}
	if (r == 0)
		r = fit_windows(&o, &file, e);
	/* A flag's file may be served later, with another flag (http_wiring.c). */
	if (r == 0 && !options_has_flag("tls-cert", argc, argv) &&
	    !options_has_flag("tls-key", argc, argv))
		r = options_check_pair(&o, &file, e);
	if (r == 0) {
		*ret = o;
		*ret_action = action;
	}
	if (ret_file)
		*ret_file = file;
	else
		config_file_done(&file);
	return r;
}

/* --- printing -------------------------------------------------------------------------------- */

static json_t *list_json(const struct option_list *list)
{
	json_t *array = json_array();

	for (unsigned i = 0; i < list->n; i++)
		json_array_append_new(array, json_string(list->items[i]));
	return array;
}

static json_t *thresholds_json(const struct thresholds *t)
{
	json_t *object = json_object();

	for (int i = 0; i < N_THRESHOLDS; i++)
		json_object_set_new(object, threshold_key((enum threshold)i)->name,
				    json_real(t->value[i]));
	return object;
}

/* The paths of a flag as the file has them: absolute. */
static json_t *options_text_json(const struct option_def *d, const char *value)
{
	char here[PATH_MAX], text[OPTION_TEXT_SIZE * 2 + PATH_MAX] = "";
	size_t n = 0;

	if (check_absolute(d, value, NULL) == 0 || !getcwd(here, sizeof(here)))
		return json_string(value);
	for (; *value && n < sizeof(text); value += *value == ':') {
		size_t len = strcspn(value, ":");
		bool relative = len > 0 && *value != '/';

		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s%.*s%.1s",
				      relative ? here : "", relative ? "/" : "", (int)len, value,
				      value + len);
		value += len;
	}
	return json_string(text);
}

static json_t *options_value_json(const struct options *o, const struct option_def *d)
{
	const void *field = (const char *)o + d->offset;
	uint32_t number;

	switch (d->type) {
	case OPT_TEXT:
		return options_text_json(d, field);
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
	case OPT_THRESHOLDS:
		return thresholds_json(field);
	case OPT_ACTION:
		break;
	}
	return NULL;
}

char *options_json(const struct options *o, json_t *pools)
{
	json_t *root;
	char *text;

	json_text_watch();
	root = json_object();
	for (size_t i = 0; i < ARRAY_SIZE(option_table); i++)
		if (!option_table[i].flag_only)
			json_object_set_new(root, option_table[i].name,
					    options_value_json(o, &option_table[i]));
	if (json_array_size(pools) > 0)
		json_object_set(root, "pools", pools);
	json_decref(pools);
	text = json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
	json_decref(root);
	if (!json_text_failed())
		return text;
	free(text);
	return NULL;
}

size_t options_changed(const struct options *a, const struct options *b, char *names, size_t size)
{
	size_t n = 0, len = 0;

	names[0] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(option_table); i++) {
		const struct option_def *d = &option_table[i];
		bool told = d->type != OPT_ACTION && !d->followed;
		json_t *x = told ? options_value_json(a, d) : NULL;
		json_t *y = told ? options_value_json(b, d) : NULL;

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

static void ignore_warning(const char *sentence, void *arg)
{
	(void)sentence, (void)arg;
}

size_t options_overridden(const struct options *o, const struct config_file *file, char *names,
			  size_t size)
{
	struct options by_file = *o;
	struct config_file copy = *file;

	names[0] = '\0';
	if (!file->text ||
	    options_read_file(&by_file, o->sysfs_root, &copy, ignore_warning, NULL, NULL) < 0)
		return 0;
	return options_changed(o, &by_file, names, size);
}

/* --- --help and docs/reference/options.md ----------------------------------------------------- */

void options_help(FILE *f)
{
	fputs("usage: rocelet [FLAGS]\n\nThe node agent for RoCE clusters. Every flag is also a key of the "
	      "configuration file,\nunless marked with *.\n\n",
	      f);
	for (size_t i = 0; i < ARRAY_SIZE(option_table); i++) {
		const struct option_def *d = &option_table[i];
		char flag[64];

		if (d->key_only)
			continue;
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
	fputs("# Options\n\nEvery option is a flag of `rocelet` and, unless marked \"flag only\", a key of the JSON\n"
	      "configuration file (the flag's name without the dashes). A flag takes precedence over the file,\n"
	      "and the file over the default. Paths in the file begin with `/`; those of flags may be relative.\n"
	      "This page is made from the option table in the code (`make golden`).\n\n"
	      "| option | value | default | meaning |\n|---|---|---|---|\n",
	      f);
	for (size_t i = 0; i < ARRAY_SIZE(option_table); i++) {
		const struct option_def *d = &option_table[i];

		if (d->key_only)
			continue;
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
	fputs("\n## diagnosis\n\nAn object of the configuration file, not a flag: the limits of the diagnosis, each with its name,\n"
	      "range and default in [diagnosis.md](diagnosis.md#thresholds). It and `expect-congestion-control` are\n"
	      "followed while rocelet runs. Windows (`release_..._seconds`, `longest_gap_seconds`,\n"
	      "`stale_source_seconds`, `clear_seconds`) of less than two `sample-interval`s are refused; their\n"
	      "defaults grow with it.\n",
	      f);
}

/* --- schema ----------------------------------------------------------------------------------- */

static json_t *options_list_schema(void)
{
	return json_pack("{s:s, s:i, s:{s:s, s:i, s:i}}", "type", "array", "maxItems",
			 OPTION_LIST_MAX, "items", "type", "string", "minLength", 1, "maxLength",
			 OPTION_LIST_ITEM - 1);
}

static json_t *options_thresholds_schema(void)
{
	json_t *object = config_schema_object();

	for (int i = 0; i < N_THRESHOLDS; i++) {
		const struct threshold_key *k = threshold_key((enum threshold)i);

		config_schema_property(object, k->name,
				       json_pack("{s:s, s:f, s:f, s:f, s:s}", "type", "number",
						 "minimum", k->least, "maximum", k->greatest,
						 "default", k->fallback, "description", k->help));
	}
	return object;
}

static json_t *options_one_schema(const struct option_def *d)
{
	json_t *text;
	size_t n = 0;

	switch (d->type) {
	case OPT_BOOL:
		return config_schema_json(SCHEMA_BOOL);
	case OPT_NUMBER:
		return config_schema_integer(d->min, d->max);
	case OPT_SECONDS:
		return json_pack("{s:s, s:f, s:f}", "type", "number", "minimum", d->min, "maximum",
				 d->max);
	case OPT_CHOICE:
		while (d->choices[n])
			n++;
		return config_schema_words(d->choices, n);
	case OPT_LIST:
		return options_list_schema();
	case OPT_THRESHOLDS:
		return options_thresholds_schema();
	case OPT_TEXT:
	case OPT_ACTION:
		break;
	}
	text = json_pack("{s:s, s:i, s:i}", "type", "string", "maxLength", OPTION_TEXT_SIZE - 1,
			 "minLength", text_kind(d)->named);
	if (text_kind(d)->pattern)
		json_object_set_new(text, "pattern", json_string(text_kind(d)->pattern));
	return text;
}

json_t *config_schema_of_options(void)
{
	json_t *object = config_schema_object();
	struct options defaults;

	options_defaults(&defaults);
	for (size_t i = 0; i < ARRAY_SIZE(option_table); i++) {
		const struct option_def *d = &option_table[i];
		json_t *one;

		if (d->flag_only)
			continue;
		one = options_one_schema(d);
		json_object_set_new(one, "description", json_string(d->help));
		if (d->type != OPT_THRESHOLDS)
			json_object_set_new(one, "default", options_value_json(&defaults, d));
		config_schema_property(object, d->name, one);
	}
	return object;
}
