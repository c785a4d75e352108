/* SPDX-License-Identifier: Apache-2.0 */
/* pool_config.h - parses the resources that this node offers from the configuration file. Pure.
 *
 * Four grammars, distinguished by their top-level keys, which may be combined in one file:
 * "resourceList" (sriov-network-device-plugin), "configList" (k8s-rdma-shared-dev-plugin), "mode"
 * (k8s-rdma-sriov-dev-plugin), "pools" (ours). The other keys of the file are options (options.h).
 * docs/reference/pools.md documents every key. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "attachment.h"
#include "err.h"
#include "model.h"
#include "options.h"
#include "plugin.h"
#include "utc_text.h"

struct config_file;
struct json_t;

/* Words from the file; owns them. */
struct word_list {
	char **words;
	size_t n;
};

/* "name#0,2-5": a PF and ranges of its VFs; no ranges: all VFs and the PF itself. */
struct pf_range {
	uint32_t first, last;
};
struct pf_selector {
	char *name; /* netdev or RDMA device of the PF, or its PCI address; case is ignored */
	struct pf_range *ranges;
	size_t n_ranges;
};
struct pf_selectors {
	struct pf_selector *list;
	size_t n;
};

/* Maximum number of slots of a shared pool; the kubelet's list of them has about 2 MB. */
#define POOL_SLOTS_MAX 65536

enum vdpa_kind { VDPA_NONE, VDPA_VIRTIO, VDPA_VHOST };

/* A function is selected if it matches every list that is not empty. */
struct selector {
	struct word_list vendors, devices; /* "15b3", compared ignoring case */
	struct word_list drivers;
	struct word_list pci_addresses;
	struct word_list acpi_indexes;
	struct word_list aux_types;  /* "sf" */
	struct word_list if_names;   /* of the function itself (shared pools' ifNames, devices) */
	struct word_list link_types; /* "ether", "infiniband" */
	struct word_list pkeys;	     /* "0x8001": the port's pkey at index 0 */
	struct pf_selectors pf_names, root_devices;
	struct word_list rdma_names; /* only in our own grammar: "mlx5_0" */
	bool is_rdma;
	bool need_vhost_net;
	enum vdpa_kind vdpa;
};

enum device_type { DEVICE_NET, DEVICE_AUX_NET, DEVICE_ACCELERATOR };

/* The functions behind one ID of a pool. */
enum pool_kind {
	POOL_EXCLUSIVE,	 /* one function, used by one container at a time; ID = its bus name */
	POOL_SHARED_ALL, /* a slot on all of the pool's HCAs at once */
	POOL_SHARED_ONE, /* a slot on one HCA */
};

enum id_style {
	ID_FUNCTION,	/* "0000:03:00.2" */
	ID_NUMBER,	/* "0".."N-1" (k8s-rdma-shared-dev-plugin, k8s-rdma-sriov-dev-plugin) */
	ID_DEVICE_SLOT, /* "mlx5_0-7" */
};

enum health_reason {
	HEALTH_GONE,	   /* the function, or the last HCA of a shared pool, was removed */
	HEALTH_NO_DRIVER,  /* no driver bound, or another one than the pool selects */
	HEALTH_NO_CHARDEV, /* RDMA required, but a /dev/infiniband node is missing */
	HEALTH_NO_RDMA,	   /* RDMA required, but there is no RDMA device */
	HEALTH_LINK_DOWN,  /* no carrier, or the VF's link state is "disable" */
	HEALTH_PORT_DOWN,  /* the RDMA port is not ACTIVE */
	HEALTH_PCI,	   /* reads of the (parent's) configuration space return all ones */
	HEALTH_DEVLINK,	   /* a devlink health reporter is in state error */
	HEALTH_NOT_CLEAN, /* residual state of a pod could not be cleaned, or the device is attached
			     by an admin request */
	HEALTH_LEAVING,	  /* still in its previous pod, or returning from it */
	HEALTH_NODE_CHANGED, /* device nodes given to its container now belong to another device */
	HEALTH_NODE_HELD,    /* another pod's container may open one of its device nodes */
	N_HEALTH_REASONS
};
#define HEALTH_BIT(reason) (1u << (reason))

/* A reason makes the device unhealthy after it has persisted for down_ms, and healthy again after
 * it has been absent for up_ms. */
struct hold_times {
	uint32_t down_ms, up_ms;
};

struct extra_info {
	char *device; /* "*" or a device ID */
	char *key, *value;
};

enum drift_policy { DRIFT_REPORT, DRIFT_REPAIR };

/* Default timeout of PreStartContainer; the kubelet's own is 30 s. */
#define POOL_ATTACH_MS 20000

#define POOL_SUBNETS_MAX 16

/* How rocelet attaches a pool's devices to pods ("network", "softRoce", "interface"). */
struct pool_network {
	struct net_plan plan;	 /* of pods without an annotation; ifname "" = net1, net2, ... */
	enum drift_policy drift; /* whether drift is only reported, or repaired */
	uint32_t timeout_ms;	 /* of the attach; then PreStartContainer fails */
	unsigned allow; /* NETWORK_BIT()s (networks.h) of the keys allowed in a pod's annotation */
	struct ip_prefix subnets[POOL_SUBNETS_MAX]; /* allowed for a pod's "ips"; none = any */
	size_t n_subnets;
};

struct pool {
	char *name, *prefix; /* the resource is prefix/name */
	unsigned line;	     /* line of its name in the file, for messages; 0 = unknown */
	enum pool_kind kind;
	enum id_style ids;
	enum device_type type;
	struct selector *selectors; /* a function has to match one of them */
	size_t n_selectors;
	struct extra_info *extra;
	size_t n_extra;
	uint32_t slots; /* shared pools: as configured; 0 = derived from the sizes of GID tables */
	bool slots_given;      /* rdmaHcaMax is in the file (then 0 means none) */
	bool exclude_topology; /* report no NUMA node */
	bool fixed_slots;      /* advertise all slots even if no HCA matches (mode "hca": 1000) */
	bool nics_only;	       /* shared pools: only PCI functions of class 02, no sub-functions */
	bool whole_directory;  /* one node "/dev/infiniband" (k8s-rdma-sriov-dev-plugin) */
	char permissions[4];   /* for device nodes: "rw"; the two shared grammars "rwm" */
	bool issm;	       /* grant issm nodes, too */
	bool umad;	       /* grant umad nodes, too */
	bool require_umad;     /* a device without umad is not treated as RDMA
				  (k8s-rdma-shared-dev-plugin) */
	bool cdi;
	bool device_info; /* write device-info files for Multus */
	bool pod_status;  /* containers can read the status of their devices (pod_status.h) */
	bool ignore_link; /* link and port state do not affect health */
	struct hold_times hold[N_HEALTH_REASONS];
	struct pool_network *network; /* NULL: rocelet does not attach the devices (CNI plugin, or
					 none); owned */
};

/* An invalid resource in another plugin's grammar. Valid resources of the file are still used. */
struct pool_refusal {
	char resource[RESOURCE_NAME_SIZE]; /* "" = not in the definition */
	char name[64];			   /* without prefix; "" = not in the definition */
	size_t before;			   /* number of pools before it in the file */
	bool kept;     /* the resource keeps its previous definition (pool_config_keep()) */
	char why[256]; /* 'c.json:12: "pfNames": ...' */
};

struct pool_refusals {
	struct pool_refusal *list;
	size_t n;
};

/* A key that has no effect in its pool (pool_idle.h). */
struct pool_idle {
	char resource[RESOURCE_NAME_SIZE];
	char what[256]; /* 'c.json:12: "umad": has no effect with "softRoce": true' */
};

/* Maximum number that is kept; warnings are limited, too. */
#define POOL_IDLE_MAX 32

struct pool_idles {
	struct pool_idle *list;
	size_t n;
};

/* A warning that may explain why a resource is not in the file: a misspelt or duplicate key. */
struct pool_mistake {
	char why[256]; /* 'c.json:12: "pool": unknown key'; "" = none */
	bool weak;     /* only relevant if nothing defines a resource */
};

struct pool_config {
	struct pool *pools; /* in the file's order: the first that matches gets a function */
	size_t n_pools;
	struct pool_refusals refusals;
	struct pool_mistake mistake;
	struct pool_idles idle;
};

/* A resource that pods cannot use because its IPAM plugin is not installed. */
struct missing_plugin {
	char resource[RESOURCE_NAME_SIZE];
	char what[352]; /* 'no IPAM plugin "whereabouts" in /opt/cni/bin (--cni-path)' */
};

/* The state of the configuration file. All zero: its content is active. */
struct config_state {
	struct err error;    /* the whole file was rejected; code 0 = no */
	bool held;	     /* valid, but not active until pods release devices */
	bool lost;	     /* valid, but a pool would lose all of its devices here */
	bool offers_nothing; /* rejected, and there is no previous configuration */
	bool observes;	     /* offers_nothing, and the file's options are unknown */
	/* Rejected at the start, and the last good one of this time is in use; "" = no. */
	char last_good_of[UTC_TEXT_SIZE];
	char no_last_good[256]; /* offers_nothing, and why a kept one cannot be used; "" = none */
	struct pool_refusals refusals; /* of the active configuration; the list is owned */
	struct pool_idles idle;	       /* of the active configuration; the list is owned */
	struct missing_plugin *lacks;  /* of the active configuration; owned */
	size_t n_lacks;
	size_t n_ignored; /* valid pools that are not used (--observe) */
	char beside[352]; /* there is no file, but others are in its folder; "" = no */
};

/* The format for n_ignored, in the log and in /readyz; rocectl prints lines that begin so. */
#define POOLS_IGNORED "observes only (--observe): the configured pools (%zu) are not offered"

static inline bool config_state_ok(const struct config_state *c)
{
	return c->error.code == 0 && c->refusals.n == 0 && !c->beside[0];
}

/* Frees its members and leaves it all zero. */
void config_state_done(struct config_state *);

/* All zero: the empty configuration. */
void pool_config_done(struct pool_config *);

/* Removes the pools, and nothing else; returns their number. */
size_t pool_config_drop(struct pool_config *);

/* Parses a configuration. -EINVAL with a message "file:line: ..." for invalid JSON, wrong types or
 * an invalid pool in our own grammar. An invalid resource in another plugin's grammar is rejected
 * alone: it is added to ret->refusals, without a warning. Unknown keys cause warnings, with a
 * suggestion. *ret is untouched on failure. */
int pool_config_parse(struct pool_config *ret, const char *text, size_t len, const char *name,
		      options_warn_fn *, void *arg, struct err *);
/* As pool_config_parse(), for a file read by options_load(), with the defaults of pools from the
 * options resource-prefix and use-cdi. No file: no pools. */
int pool_config_load(struct pool_config *ret, const struct config_file *, const struct options *,
		     options_warn_fn *, void *arg, struct err *);
/* As pool_config_load(), for only those resources that the group file->group itself defines. */
int pool_config_load_group(struct pool_config *ret, const struct config_file *,
			   const struct options *, options_warn_fn *, void *arg, struct err *);
/* True if nothing in it may be a mistake. */
static inline bool pool_config_is_whole(const struct pool_config *c)
{
	return c->refusals.n == 0 && !c->mistake.why[0];
}

/* Checks that there is a resource. -EINVAL with a message: there is none, and a mistake may be the
 * reason: each resource was rejected, or c->mistake is set. A daemon that starts with such a file
 * offers nothing, and is not ready. */
int pool_config_check_any(const struct pool_config *, struct err *);
/* If the new definition of a resource in use was rejected, keeps the previous one: adds copies of
 * its pools to *c, in the place of the rejected text. If that text has no resource name, it may
 * define any resource that the file would otherwise remove, so all of these are kept. -ENOMEM,
 * -E2BIG for too many: *c is unchanged. -EINVAL with a message: a resource in use would be removed,
 * possibly by a mistake (c->mistake); or pool_config_check_any(). */
int pool_config_keep(struct pool_config *c, const struct pool_config *used, struct err *);
/* "intel.com/a keeps its definition in use: c.json:12: ..." */
#define POOL_REFUSAL_TEXT (RESOURCE_NAME_SIZE + 320)
void pool_refusal_text(const struct pool_refusal *, char ret[POOL_REFUSAL_TEXT]);
/* Returns the pools in our own grammar with all keys, as the value of "pools". The caller owns it;
 * NULL if out of memory. */
struct json_t *pool_config_tree(const struct pool_config *);
/* The keys of an item of "pools"; returns their number. */
#define POOL_KEYS_MAX 32
size_t pool_key_names(const char *ret[POOL_KEYS_MAX]);
/* Returns why this cannot be the prefix of a resource; NULL: it can. */
const char *pool_prefix_wrong(const char *prefix);
/* Writes "prefix/name". */
void pool_resource(const struct pool *, char ret[RESOURCE_NAME_SIZE]);
const char *health_reason_name(enum health_reason); /* "link_down" */
