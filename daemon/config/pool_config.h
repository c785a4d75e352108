/* pool_config.h - which resources this node offers, as the configuration file says. Pure: text in,
 * values out.
 *
 * Four grammars, told apart by their top-level keys, which may stand together in one file:
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

struct config_file;
struct json_t;

/* Words from the file; owned. */
struct word_list {
	char **words;
	size_t n;
};

/* "name#0,2-5": a PF and the VFs of it that are meant; no ranges = all, the PF itself included. */
struct pf_range {
	uint32_t first, last;
};
struct pf_selector {
	char *name; /* netdev or RDMA device of the PF, or its PCI address; compared without case */
	struct pf_range *ranges;
	size_t n_ranges;
};
struct pf_selectors {
	struct pf_selector *list;
	size_t n;
};

/* More slots than this are never offered: a list of a shared pool then has about 2 MB. */
#define POOL_SLOTS_MAX 65536

enum vdpa_kind { VDPA_NONE, VDPA_VIRTIO, VDPA_VHOST };

/* A function is selected when it matches every list that is not empty. */
struct selector {
	struct word_list vendors, devices; /* "15b3", compared without case */
	struct word_list drivers;
	struct word_list pci_addresses;
	struct word_list acpi_indexes;
	struct word_list aux_types; /* "sf" */
	struct word_list
		if_names; /* netdev of the function itself (shared pools' ifNames, devices) */
	struct word_list link_types; /* "ether", "infiniband" */
	struct word_list pkeys;	     /* "0x8001": the port's pkey at index 0 */
	struct pf_selectors pf_names, root_devices;
	struct word_list rdma_names; /* ours: "mlx5_0" */
	bool is_rdma;
	bool need_vhost_net;
	enum vdpa_kind vdpa;
};

enum device_type { DEVICE_NET, DEVICE_AUX_NET, DEVICE_ACCELERATOR };

/* What one ID of a pool stands for. */
enum pool_kind {
	POOL_EXCLUSIVE,	 /* one function, given to one container at a time; ID = its bus name */
	POOL_SHARED_ALL, /* a slot on all of the pool's HCAs at once */
	POOL_SHARED_ONE, /* a slot on one HCA */
};

enum id_style {
	ID_FUNCTION,	/* "0000:03:00.2" */
	ID_NUMBER,	/* "0".."N-1" (k8s-rdma-shared-dev-plugin, k8s-rdma-sriov-dev-plugin) */
	ID_DEVICE_SLOT, /* "mlx5_0-7" */
};

enum health_reason {
	HEALTH_GONE,	     /* the function, or a shared pool's last HCA, is not there any more */
	HEALTH_NO_DRIVER,    /* bound to no driver, or to another one than the pool selects */
	HEALTH_NO_CHARDEV,   /* RDMA wanted and a /dev/infiniband node is missing */
	HEALTH_NO_RDMA,	     /* RDMA wanted and there is no RDMA device */
	HEALTH_LINK_DOWN,    /* no carrier, or the VF's link state is set to disable */
	HEALTH_PORT_DOWN,    /* the RDMA port is not ACTIVE */
	HEALTH_PCI,	     /* the bus reads all ones from the (parent's) configuration space */
	HEALTH_DEVLINK,	     /* a devlink health reporter is in state error */
	HEALTH_NOT_CLEAN,    /* what a pod left could not be cleaned, or a person has attached it */
	HEALTH_LEAVING,	     /* still in the pod that had it before, or on its way back from it */
	HEALTH_NODE_CHANGED, /* its container was given device nodes that are not the device's now
			      */
	HEALTH_NODE_HELD,    /* a container of another pod may open a device node of it */
	N_HEALTH_REASONS
};

/* How long a reason must hold before it counts, and how long it must be gone before it does not. */
struct hold_times {
	uint32_t down_ms, up_ms;
};

struct extra_info {
	char *device; /* "*" or a device ID */
	char *key, *value;
};

enum drift_policy { DRIFT_REPORT, DRIFT_REPAIR };

/* From PreStartContainer's question to its answer; the kubelet gives up after 30 s. */
#define POOL_ATTACH_MS 20000

#define POOL_SUBNETS_MAX 16

/* How rocelet itself puts a pool's devices into pods ("network", "softRoce", "interface"). */
struct pool_network {
	struct net_plan
		plan; /* what a pod gets that asks for nothing else; ifname "" = net1, net2 */
	enum drift_policy drift; /* what differs later is reported only, or set right */
	uint32_t timeout_ms;	 /* of the attach, until the container is refused */
	unsigned allow; /* NETWORK_BIT()s (networks.h) that a pod's annotation may say, too */
	struct ip_prefix subnets[POOL_SUBNETS_MAX]; /* of a pod's "ips"; none = any */
	size_t n_subnets;
};

struct pool {
	char *name, *prefix; /* the resource is prefix/name */
	unsigned line;	     /* of its name in the file, for messages; 0 = unknown */
	enum pool_kind kind;
	enum id_style ids;
	enum device_type type;
	struct selector *selectors; /* any of them */
	size_t n_selectors;
	struct extra_info *extra;
	size_t n_extra;
	uint32_t slots;	       /* shared pools: as configured; 0 = derived from the GID tables */
	bool slots_given;      /* rdmaHcaMax stood in the file (0 means none then) */
	bool exclude_topology; /* tell no NUMA node */
	bool fixed_slots;     /* advertise all slots even while no HCA matches (mode "hca": 1000) */
	bool nics_only;	      /* shared pools: PCI functions of class 02 alone, no sub-functions */
	bool whole_directory; /* one node "/dev/infiniband" (k8s-rdma-sriov-dev-plugin) */
	char permissions[4];  /* of device nodes: "rw"; the two shared grammars "rwm" */
	bool issm;	      /* also hand out issm nodes */
	bool umad;	      /* also hand out umad nodes */
	bool require_umad;    /* a device without umad does not count as RDMA
				 (k8s-rdma-shared-dev-plugin) */
	bool cdi;
	bool device_info; /* write device-info files for Multus */
	bool pod_status;  /* a container reads how its devices do (pod_status.h) */
	bool ignore_link; /* link and port state are not health */
	struct hold_times hold[N_HEALTH_REASONS];
	struct pool_network *network; /* NULL: somebody else attaches (CNI), or nobody; owned */
};

/* A resource of a peer's grammar whose text cannot be meant. The others are read all the same. */
struct pool_refusal {
	char resource[RESOURCE_NAME_SIZE]; /* "" = the text does not tell it */
	char name[64];			   /* without prefix; "" = nor that */
	size_t before;			   /* pools of the file that stand before it */
	bool kept;     /* the resource is offered, as it was defined before (pool_config_keep()) */
	char why[256]; /* 'c.json:12: "pfNames": ...' */
};

struct pool_refusals {
	struct pool_refusal *list;
	size_t n;
};

/* Something that was only warned about, though it may be why a resource is not in the file: a key
 * that is misspelt or stands there twice. */
struct pool_doubt {
	char why[256]; /* 'c.json:12: "pool": unknown key'; "" = nothing */
	bool faint;    /* unless anything names a resource */
};

struct pool_config {
	struct pool *pools; /* in the file's order: the first that matches takes a function */
	size_t n_pools;
	struct pool_refusals refusals;
	struct pool_doubt doubt;
};

/* Is the configuration file, as it stands now, what rocelet goes by? Zero-initialised: it is. */
struct config_state {
	struct err error;	       /* the file was refused as a whole; code 0 = it was not */
	bool offers_nothing;	       /* and there is no earlier one to go by */
	struct pool_refusals refusals; /* of the configuration in use; the list is owned */
};

static inline bool config_state_ok(const struct config_state *c)
{
	return c->error.code == 0 && c->refusals.n == 0;
}

/* Zero-initialised it is the empty configuration. */
void pool_config_done(struct pool_config *);

/* -EINVAL and "file:line: ..." for what cannot be meant: not JSON, wrong types, a pool of our own
 * grammar that is wrong. A wrong resource of the peers' grammars is refused alone: ret->refusals
 * has it, and nothing is warned about it. Unknown keys are warned about, with a suggestion. *ret is
 * untouched on failure. */
int pool_config_parse(struct pool_config *ret, const char *text, size_t len, const char *name,
		      options_warn_fn *, void *arg, struct err *);
/* The same of the file that options_load() has read, with what the options say about pools that do
 * not say it themselves (resource-prefix, use-cdi). No file: no pools. */
int pool_config_load(struct pool_config *ret, const struct config_file *, const struct options *,
		     options_warn_fn *, void *arg, struct err *);
/* Resources in use whose new text was refused stay as they were, at the place of that text: puts
 * copies of their pools into *c. Where the text does not tell its resource, all stay that the file
 * would otherwise have lost, since it may be any of them. -ENOMEM, -E2BIG for too many: *c is as
 * before. -EINVAL and a sentence: a resource in use would be lost, and that may be a slip
 * (c->doubt). */
int pool_config_keep(struct pool_config *c, const struct pool_config *used, struct err *);
/* "intel.com/a keeps its definition in use: c.json:12: ..." */
#define POOL_REFUSAL_TEXT (RESOURCE_NAME_SIZE + 320)
void pool_refusal_text(const struct pool_refusal *, char ret[POOL_REFUSAL_TEXT]);
/* The pools in our own grammar, every key spelt out: the value of "pools" for jansson; the caller
 * owns it; NULL when out of memory. */
struct json_t *pool_config_tree(const struct pool_config *);
/* prefix/name */
void pool_resource(const struct pool *, char ret[RESOURCE_NAME_SIZE]);
const char *health_reason_name(enum health_reason); /* "link_down" */
