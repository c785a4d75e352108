/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - the daemon's options: one table defines the flags, the keys of the config file,
 * --help, --print-config and docs/reference/options.md. Pure, except for reading the file, and
 * for checking that the folders of sysfs-root, dev-root and proc-root exist.
 *
 * Precedence: built-in default < config file < flag. The struct is constant after
 * options_load(). */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "err.h"
#include "plugin.h"
#include "thresholds.h"

#define OPTION_TEXT_SIZE 256
#define OPTION_LIST_MAX	 16
#define OPTION_LIST_ITEM 64

/* A list of words. */
struct option_list {
	unsigned n;
	char items[OPTION_LIST_MAX][OPTION_LIST_ITEM];
};

struct options {
	char config[OPTION_TEXT_SIZE];
	char group[OPTION_TEXT_SIZE]; /* requested; "" = $ROCELET_GROUP, or the one that matches */
	char sysfs_root[OPTION_TEXT_SIZE], dev_root[OPTION_TEXT_SIZE], proc_root[OPTION_TEXT_SIZE];
	char kubelet_dir[OPTION_TEXT_SIZE], pod_resources[OPTION_TEXT_SIZE];
	char cri_socket[OPTION_TEXT_SIZE];
	char listen[OPTION_TEXT_SIZE];
	char tls_cert[OPTION_TEXT_SIZE], tls_key[OPTION_TEXT_SIZE];
	char auth_token_file[OPTION_TEXT_SIZE], basic_auth_file[OPTION_TEXT_SIZE];
	char run_dir[OPTION_TEXT_SIZE], state_dir[OPTION_TEXT_SIZE];
	char cni_path[OPTION_TEXT_SIZE];
	struct option_list cni_ipam_needs; /* ipam_grants.h */
	uint32_t sample_interval_ms;	   /* given in seconds */
	uint32_t log_level;		   /* enum log_level */
	uint32_t log_format;		   /* enum log_format */
	bool dry_run;
	bool observe;	  /* use no pools, and change no device */
	uint32_t seccomp; /* enum seccomp_mode of privileges.h */
	bool strict;	  /* --check-config: warnings affect the exit status, too */
	/* Parsers search for IPAM plugins, which may block: --check-config and --strict. A running
	 * daemon searches on a worker (config_checks.c). */
	bool finds_plugins;
	uint32_t compat; /* 0 = none, 1 = node_exporter */
	bool port_counters;
	bool all_series;
	struct option_list optional_counters;
	bool no_bpf;
	bool unprivileged; /* use no capabilities, and report none as missing */
	struct option_list mirrors, packet_ports; /* names of netdevs */
	bool packet_pods;
	uint32_t packet_flows, mirror_flows; /* entries per netdev, 0 = none */
	uint32_t bpf_memory;		     /* MiB */
	uint32_t event_source;		     /* enum event_source */
	uint32_t event_buffer;		     /* bytes of each event socket's receive buffer */
	uint32_t settle_ms;
	uint32_t rescan_interval_ms; /* given in seconds; 0 = only on events */
	uint32_t max_connections;
	uint32_t request_timeout_ms; /* given in seconds */
	uint32_t lock_wait_ms;	     /* given in seconds */
	bool take_over;
	uint32_t registration;	  /* enum registration */
	uint32_t shutdown_policy; /* enum shutdown_policy */
	uint32_t lost_pool;	  /* enum lost_pool_policy */
	char resource_prefix[OPTION_TEXT_SIZE];
	bool use_cdi;
	char cdi_dir[OPTION_TEXT_SIZE], devinfo_dir[OPTION_TEXT_SIZE];
	char features_dir[OPTION_TEXT_SIZE]; /* "" = none */
	struct thresholds diagnosis;
	/* Actions instead of running the daemon; "" = not given. */
	char install_cni[OPTION_TEXT_SIZE], uninstall_cni[OPTION_TEXT_SIZE];
	char remove_features[OPTION_TEXT_SIZE];
	struct option_list link; /* for install_cni: names of links to the plugin */
	bool set_aside;		 /* for install_cni: rename other plugins of these names */
};

/* True if BPF programs should be loaded. */
static inline bool options_want_bpf(const struct options *o)
{
	return !o->no_bpf && !o->unprivileged;
}

enum event_source { EVENT_SOURCE_AUTO, EVENT_SOURCE_UDEV, EVENT_SOURCE_KERNEL };

enum shutdown_policy { SHUTDOWN_KEEP, SHUTDOWN_ZERO };

/* Reaction to a new configuration in which a pool loses all its devices on this node: see
 * pools_lost.h. */
enum lost_pool_policy { LOST_POOL_HOLD, LOST_POOL_REFUSE, LOST_POOL_ACCEPT };

/* The action that the command line requests. */
enum option_action {
	ACTION_RUN,
	ACTION_CHECK_CONFIG,
	ACTION_PRINT_CONFIG,
	ACTION_PRINT_SCHEMA,
	ACTION_SUGGEST_CONFIG,
	ACTION_VERSION,
	ACTION_HELP
};

/* Called for each problem in the config file that is not an error. options_load() warns of unknown
 * keys, and of dev-root and proc-root if there is no such folder. */
typedef void options_warn_fn(const char *sentence, void *arg);

struct config_file;
struct json_t;

/* Sets defaults and flags, without the file. -EINVAL with a message that names the flag. */
int options_of_flags(struct options *ret, enum option_action *ret_action, int argc,
		     char *const argv[], struct err *);
/* Sets the defaults, then the config file with the group of this node, then the flags. A file named
 * by --config must exist. Actions that need no file (--help, --version, --suggest-config,
 * --print-schema) do not read it. -EINVAL with a message that names flag or file, line and key:
 * *ret is untouched. ret_file: the file and its group for other parsers, also if the file is
 * invalid; the caller frees it; NULL = not needed. A reload calls this again with the same
 * arguments. */
int options_load(struct options *ret, enum option_action *ret_action, struct config_file *ret_file,
		 int argc, char *const argv[], options_warn_fn *, void *arg, struct err *);
/* As options_load(), for a text that was read before; messages name the file of --config. Sets the
 * group in *file, which remains the caller's. */
int options_load_text(struct options *ret, enum option_action *ret_action, struct config_file *file,
		      int argc, char *const argv[], options_warn_fn *, void *arg, struct err *);

/* True if this flag is among the arguments. */
bool options_has_flag(const char *name, int argc, char *const argv[]);

/* Returns the number of options whose flag overrides a different value of the file; names as in
 * options_changed(). */
size_t options_overridden(const struct options *, const struct config_file *, char *names,
			  size_t size);

/* Parses the top level of a config file's text into *o, without its groups. `name` is for messages.
 * An unknown key causes a warning, or an error if it resembles a key that protects the TCP
 * listener. Keys of pools (pool_config_key()) are left to pool_config.h. */
int options_parse_json(struct options *o, const char *text, size_t len, const char *name,
		       options_warn_fn *, void *arg, struct err *);

/* Checks the options of the group file->group, as if this node were in it. */
int options_check_group(const struct options *, const struct config_file *, options_warn_fn *,
			void *arg, struct err *);

/* Prefixes the message with the place of an option in the file, or with its flag; returns the
 * code. */
int options_wrap(struct err *, const struct options *, const struct config_file *, const char *key);

/* True if no device may be changed: with --dry-run, and with --observe. */
static inline bool options_change_nothing(const struct options *o)
{
	return o->dry_run || o->observe;
}

/* True if the state folder keeps the last good configuration (last_good.h). A daemon that changes
 * nothing does not write the folder; a daemon on a copy of sysfs does not lock it, and must not
 * change that of the node's daemon. */
bool options_keep_config(const struct options *);

/* Sets the built-in defaults. */
void options_defaults(struct options *);

void options_help(FILE *);
void options_markdown(FILE *);
/* Returns the active options as a config file. pools: from pool_config_tree(), NULL = none; takes
 * ownership. Heap; NULL if out of memory. */
char *options_json(const struct options *, struct json_t *pools);
/* Returns the number of differing options that need a restart of the daemon; `names` gets their
 * names, "a, b", truncated to size. */
size_t options_changed(const struct options *, const struct options *, char *names, size_t size);

/* True for the name of an option that can be a key of the file. */
bool option_is_key(const char *name);
/* Writes a suggestion for an unknown key of the file: ' (did you mean "listen"?)'; "" = none. */
#define OPTION_HINT_SIZE 96
void option_hint(const char *key, char ret[OPTION_HINT_SIZE]);
/* The file's keys that are not options, read by pool_config.h. pool_config_key() ignores case and
 * returns N_POOL_CONFIG_KEYS for other keys. */
enum pool_config_key {
	KEY_RESOURCE_LIST,
	KEY_CONFIG_LIST,
	KEY_INTERVAL,
	KEY_POOLS,
	KEY_MODE,
	KEY_PF_NETDEVICES,
	KEY_GROUPS, /* read by groups.h */
	N_POOL_CONFIG_KEYS
};
extern const char *const pool_config_keys[N_POOL_CONFIG_KEYS];
enum pool_config_key pool_config_key(const char *key);
