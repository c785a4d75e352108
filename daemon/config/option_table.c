// SPDX-License-Identifier: Apache-2.0
/* option_table.c - see option_table.h. */
#include "option_table.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "cleanup.h"
#include "pool_config.h"
#include "search.h"
#include "suggest.h"

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

const struct option_def option_table[] = {
	{OPTION("config", "FILE", config, OPT_TEXT, "/etc/rocelet/config.json",
		"configuration file; if it does not exist, rocelet uses the last good one, or else offers nothing (default file) or exits; -: stdin (only with --check-config or --print-config)"),
	 .flag_only = true},
	{OPTION("group", "NAME", group, OPT_TEXT, "",
		"group of the configuration to use on this node; empty: $ROCELET_GROUP, or the first group that matches"),
	 .flag_only = true},
	{TEXT("sysfs-root", "DIR", sysfs_root, "/sys",
	      "where sysfs is mounted; if the directory is not sysfs, rocelet only reads its files"),
	 .mount = MOUNT_NEEDED},
	{TEXT("dev-root", "DIR", dev_root, "/dev", "where device nodes are"),
	 .mount = MOUNT_OPTIONAL},
	{TEXT("proc-root", "DIR", proc_root, "/proc", "where procfs is mounted"),
	 .mount = MOUNT_OPTIONAL},
	{TEXT("kubelet-dir", "DIR", kubelet_dir, "/var/lib/kubelet", "the kubelet's directory")},
	{TEXT("pod-resources", "PATH", pod_resources, "",
	      "folder of the kubelet's PodResources socket, needed if the kubelet's --root-dir is not kubelet-dir; the kubelet's folder of pods must be in the same folder; empty: kubelet-dir/pod-resources")},
	{TEXT("cri-socket", "PATH", cri_socket, "",
	      "container runtime socket; empty: that of containerd, CRI-O, k3s, RKE2, k0s or MicroK8s, whichever exists")},
	{TEXT("listen", "ADDR:PORT", listen, ":9907", "HTTP address; empty: no TCP listener")},
	{TEXT("tls-cert", "PATH", tls_cert, "",
	      "certificate (PEM, with its chain) for the TCP listener; empty: no TLS")},
	{TEXT("tls-key", "PATH", tls_key, "", "key of the certificate (PEM)")},
	{TEXT("auth-token-file", "PATH", auth_token_file, "",
	      "tokens, one per line; TCP clients must send one of them (Authorization: Bearer)")},
	{TEXT("basic-auth-file", "PATH", basic_auth_file, "",
	      "users, one NAME:HASH per line (htpasswd -B); TCP clients must send a name and its password, or a token")},
	{TEXT("run-dir", "DIR", run_dir, "/run/rocelet", "folder of rocelet.sock")},
	{TEXT("state-dir", "DIR", state_dir, "/var/lib/rocelet",
	      "folder of the records that must survive a crash; only one rocelet at a time can use it")},
	{SECONDS(
		"lock-wait", lock_wait_ms, "10", 0, 3600,
		"how long to wait until another rocelet that uses this node, run-dir or state-dir has ended; after that, exit with status 3")},
	{BOOL("take-over", take_over,
	      "take this node over from the rocelet that serves run-dir/rocelet.sock, so that the kubelet keeps its devices; for upgrades")},
	{TEXT("cni-path", "DIRS", cni_path, "/opt/cni/bin:/usr/lib/cni",
	      "folders of IPAM plugins, separated by ':'")},
	{LIST("cni-ipam-needs", "NEED,...", cni_ipam_needs,
	      "what IPAM plugins of CNI configurations may use, as TYPE:KEY=VALUE (whereabouts:network=host, nv-ipam:write=/var/lib/cni/nv-ipam); empty: nothing"),
	 .grants = true},
	{SECONDS("sample-interval", sample_interval_ms, "1", 0.01, 3600,
		 "time between samples of all counters")},
	{CHOICE("log-level", "LEVEL", log_level, log_levels, "info", "lowest level to log")},
	{CHOICE("log-format", "FORMAT", log_format, log_formats, "text", "format of log lines")},
	{BOOL("dry-run", dry_run, "log every change instead of making it")},
	{BOOL("observe", observe,
	      "only observe: change no device, and do not offer the configured pools, which are still checked")},
	{CHOICE("seccomp", "MODE", seccomp, seccomp_modes, "on",
		"what happens to system calls that are not in rocelet's list; on: they are rejected and logged; log: they are only logged; off: nothing")},
	{CHOICE("compat", "NAMES", compat, compat_names, "none",
		"also publish metrics under the names of another exporter")},
	{BOOL("port-counters", port_counters,
	      "also read ports/N/counters/ (costs a firmware command per file on mlx5)")},
	{BOOL("all-series", all_series,
	      "also publish the series that are left out by default: those of idle VFs, of each healthy device and of slots of shared resources, and rarely needed ones of VFs")},
	{LIST("optional-counters", "NAME,...", optional_counters,
	      "optional counters to enable on ports that have them (cc_rx_ce_pkts, ...); empty: change none")},
	{BOOL("no-bpf", no_bpf, "load no BPF program")},
	{BOOL("unprivileged", unprivileged,
	      "drop all capabilities, and do not report missing ones: no BPF, no events from other network namespaces; rocelet can still observe and offer devices")},
	{NETDEVS("mirrors", mirrors,
		 "netdevs to which a switch mirrors RoCE traffic: BPF counts what arrives there")},
	{NETDEVS(
		"packet-ports", packet_ports,
		"more netdevs on which BPF counts RoCE packets, for example PFs and representors; netdevs with soft-RoCE are always included")},
	{BOOL("packet-pods", packet_pods,
	      "also count packets of the hardware RoCE devices that rocelet attached to pods; the kernel sees hardly any of them")},
	{NUMBER("packet-flows", "N", packet_flows, "4096", 0, 1 << 20,
		"maximum number of flows (to queue pairs) that BPF counts separately per netdev; 0: none")},
	{NUMBER("mirror-flows", "N", mirror_flows, "0", 0, 1 << 20,
		"maximum number of flows that BPF counts separately per mirror netdev; 0: none")},
	{NUMBER("bpf-memory", "MIB", bpf_memory, "32", 1, 65536,
		"maximum memory for the BPF maps of all netdevs together")},
	{CHOICE("event-source", "SOURCE", event_source, event_sources, "auto",
		"source of uevents; auto: the kernel, and also udev if it runs")},
	{NUMBER("event-buffer", "BYTES", event_buffer, "4194304", 1024, 1 << 30,
		"receive buffer of each event socket; if it overflows, rocelet scans all hardware again")},
	{NUMBER("settle-ms", "MS", settle_ms, "2", 0, 10000,
		"how long to collect events before they are handled together")},
	{SECONDS("rescan-interval", rescan_interval_ms, "60", 0, 86400,
		 "time between full rescans of the hardware; 0: never")},
	{NUMBER("max-connections", "N", max_connections, "64", 8, 4096,
		"maximum number of HTTP connections; root's connections over rocelet.sock do not count")},
	{SECONDS("request-timeout", request_timeout_ms, "10", 0.1, 3600,
		 "time limit for receiving a request, and for sending its answer")},
	{CHOICE("registration", "WAY", registration, registrations, "auto",
		"how resources are registered with the kubelet; auto: registry if the kubelet watches plugins_registry")},
	{CHOICE("shutdown-policy", "POLICY", shutdown_policy, shutdown_policies, "keep",
		"what the kubelet has after a shutdown; keep: the resources; zero: resources without devices")},
	{CHOICE("lost-pool", "POLICY", lost_pool, lost_pools, "hold",
		"what happens if a change of the file would remove all devices of a pool on this node; hold: the change waits until no pod has any of them; refuse: the configuration in use stays; accept: the change is applied"),
	 .followed = true},
	{TEXT("resource-prefix", "PREFIX", resource_prefix, "",
	      "prefix of resources without one; empty: the default of each grammar")},
	{BOOL("use-cdi", use_cdi,
	      "pass devices to containers as CDI devices; a pool can override this")},
	{TEXT("cdi-dir", "DIR", cdi_dir, "/var/run/cdi", "where CDI specifications are written")},
	{TEXT("devinfo-dir", "DIR", devinfo_dir, "/var/run/k8s.cni.cncf.io/devinfo/dp",
	      "where device information for Multus is written")},
	{TEXT("features-dir", "PATH", features_dir, "",
	      "folder of Node Feature Discovery (/etc/kubernetes/node-feature-discovery/features.d) into which rocelet writes facts that become node labels; empty: none")},
	{OPTION("diagnosis", NULL, diagnosis, OPT_THRESHOLDS, "",
		"an object: limits of the diagnosis"),
	 .key_only = true, .followed = true},
	{CHOICE("expect-congestion-control", "KIND", diagnosis.expected, fabrics, "unknown",
		"congestion control of the fabric; the diagnosis judges pause, loss and missing CNPs by it"),
	 .followed = true},
	{ACTION("check-config", ACTION_CHECK_CONFIG,
		"check the configuration; exit with 0 if it is valid, 2 if it cannot work, 1 if the node cannot be scanned or a file for TLS or authentication is wrong; the last line names the pools that offer nothing on this node")},
	{OPTION("strict", NULL, strict, OPT_BOOL, "false",
		"treat an IPAM plugin that is not in cni-path as an error; with --check-config also exit with 1 if there are warnings about the file or a resource is left out, and with 3 if the file is right, but not for this node: a pool matches no device, has no slots, or has devices without character devices, a netdev of mirrors or packet-ports does not exist, or no group matches"),
	 .flag_only = true},
	{ACTION("print-config", ACTION_PRINT_CONFIG,
		"print the options in effect as a configuration file and exit")},
	{ACTION("print-schema", ACTION_PRINT_SCHEMA,
		"print the JSON Schema of the configuration file and exit")},
	{ACTION("suggest-config", ACTION_SUGGEST_CONFIG,
		"scan the node, print a suggested configuration with reasons, and exit")},
	{OPTION("install-cni", "DIR", install_cni, OPT_TEXT, "",
		"copy the CNI plugin rocelet-cni into the folder and exit"),
	 .flag_only = true},
	{OPTION("link", "NAME,...", link, OPT_LIST, "",
		"with --install-cni: also make links of these names (sriov, ...) to the plugin"),
	 .flag_only = true},
	{OPTION("set-aside", NULL, set_aside, OPT_BOOL, "false",
		"with --link: rename another plugin of such a name to NAME.before-rocelet; --uninstall-cni renames it back"),
	 .flag_only = true},
	{OPTION("uninstall-cni", "DIR", uninstall_cni, OPT_TEXT, "",
		"remove rocelet-cni and the links to it from the folder and exit"),
	 .flag_only = true},
	{OPTION("remove-features", "DIR", remove_features, OPT_TEXT, "",
		"remove the file that features-dir wrote from the folder and exit"),
	 .flag_only = true},
	{ACTION("version", ACTION_VERSION, "print the version and exit")},
	{ACTION("help", ACTION_HELP, "print this help and exit")},
};

const size_t n_options = ARRAY_SIZE(option_table);

const struct option_def *option_find(const char *name, size_t len)
{
	return find_first(option_table, ARRAY_SIZE(option_table), i,
			  strlen(option_table[i].name) == len &&
				  memcmp(option_table[i].name, name, len) == 0);
}

bool option_is_key(const char *name)
{
	const struct option_def *o = option_find(name, strlen(name));

	return o && !o->flag_only;
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

const char *option_suggest(const char *name, size_t len, bool keys)
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
