/* options.h - the daemon's options: one table makes the flags, the config file's keys, --help,
 * --print-config and docs/reference/options.md. Pure but for reading the file.
 *
 * Precedence: built-in default < config file < flag. After options_load() the struct is treated as
 * const. */
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
	char sysfs_root[OPTION_TEXT_SIZE], dev_root[OPTION_TEXT_SIZE], proc_root[OPTION_TEXT_SIZE];
	char kubelet_dir[OPTION_TEXT_SIZE], cri_socket[OPTION_TEXT_SIZE];
	char listen[OPTION_TEXT_SIZE];
	char tls_cert[OPTION_TEXT_SIZE], tls_key[OPTION_TEXT_SIZE];
	char auth_token_file[OPTION_TEXT_SIZE], basic_auth_file[OPTION_TEXT_SIZE];
	char run_dir[OPTION_TEXT_SIZE], state_dir[OPTION_TEXT_SIZE];
	char cni_path[OPTION_TEXT_SIZE];
	uint32_t sample_interval_ms; /* given in seconds */
	uint32_t log_level;	     /* enum log_level */
	uint32_t log_format;	     /* enum log_format */
	bool dry_run;
	uint32_t seccomp; /* enum seccomp_mode of privileges.h */
	bool strict;	  /* --check-config: warnings are an exit status, too */
	uint32_t compat;  /* 0 = none, 1 = node_exporter */
	bool port_counters;
	struct option_list optional_counters;
	bool no_bpf;
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
	char resource_prefix[OPTION_TEXT_SIZE];
	bool use_cdi;
	char cdi_dir[OPTION_TEXT_SIZE], devinfo_dir[OPTION_TEXT_SIZE];
	struct thresholds diagnosis;
};

enum event_source { EVENT_SOURCE_AUTO, EVENT_SOURCE_UDEV, EVENT_SOURCE_KERNEL };

enum shutdown_policy { SHUTDOWN_KEEP, SHUTDOWN_ZERO };

/* What the command line asks for instead of running. */
enum option_action {
	ACTION_RUN,
	ACTION_CHECK_CONFIG,
	ACTION_PRINT_CONFIG,
	ACTION_SUGGEST_CONFIG,
	ACTION_VERSION,
	ACTION_HELP
};

/* Called for each thing in the config file that is odd but harmless; options_load() tells keys that
 * nobody knows, and nothing else. */
typedef void options_warn_fn(const char *sentence, void *arg);

struct config_file;
struct json_t;

/* Defaults, then the flags alone. -EINVAL and a sentence that names the flag. */
int options_of_flags(struct options *ret, enum option_action *ret_action, int argc,
		     char *const argv[], struct err *);
/* Defaults, then the config file (none is fine unless --config named it; not read for what does not
 * go by one: --help, --version, --suggest-config), then the flags. -EINVAL
 * and a sentence that names flag or file, line and key; nothing is returned then. ret_file: the
 * file as it was read, for who parses the rest of it; NULL = not wanted. Also for a reload: the
 * same arguments again, and the file as it is now. */
int options_load(struct options *ret, enum option_action *ret_action, struct config_file *ret_file,
		 int argc, char *const argv[], options_warn_fn *, void *arg, struct err *);

/* Is it among the arguments? */
bool options_has_flag(const char *name, int argc, char *const argv[]);

/* How many options the file and the flags say differently, so that the flags count; names as of
 * options_changed(). */
size_t options_overridden(const struct options *, const struct config_file *, char *names,
			  size_t size);

/* Parses the text of a config file on top of *o. `name` is for messages. Unknown keys are warned
 * about, and refused if they resemble one that guards the TCP listener; those of pools
 * (pool_config_key()) are pool_config.h's. */
int options_parse_json(struct options *o, const char *text, size_t len, const char *name,
		       options_warn_fn *, void *arg, struct err *);

/* The built-in defaults. */
void options_defaults(struct options *);

void options_help(FILE *);
void options_markdown(FILE *);
/* The options in effect as a config file, with the pools in our own grammar (pool_config_tree();
 * taken, NULL: none); heap, NULL when out of memory. */
char *options_json(const struct options *, struct json_t *pools);
/* How many options differ that a running daemon does not follow; `names` gets theirs, "a, b", cut
 * to size. */
size_t options_changed(const struct options *, const struct options *, char *names, size_t size);

/* Is it an option, be it a key of the file or a flag only? */
bool option_is_key(const char *name);
/* The file's other keys, which pool_config.h reads. N_POOL_CONFIG_KEYS: none of them. Compared
 * without case. */
enum pool_config_key {
	KEY_RESOURCE_LIST,
	KEY_CONFIG_LIST,
	KEY_INTERVAL,
	KEY_POOLS,
	KEY_MODE,
	KEY_PF_NETDEVICES,
	N_POOL_CONFIG_KEYS
};
extern const char *const pool_config_keys[N_POOL_CONFIG_KEYS];
enum pool_config_key pool_config_key(const char *key);
