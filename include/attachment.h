/* SPDX-License-Identifier: Apache-2.0 */
/* attachment.h - the data types of the attach engine: the desired interface of a pod, the original
 * state of a device, and its owner. Pure data without pointers, so all of it may be copied and
 * stored. */
#pragma once

#include "model.h"
#include "netdev_state.h"
#include "plugin.h"

/* --- desired state -------------------------------------------------------------------------- */

/* Settings of a VF that are set through its PF (IFLA_VF_INFO). */
enum vf_field {
	VF_MAC = 1 << 0,
	VF_VLAN = 1 << 1, /* id, QoS and protocol are set together */
	VF_SPOOFCHK = 1 << 2,
	VF_TRUST = 1 << 3,
	VF_LINK_STATE = 1 << 4,
	VF_MIN_RATE = 1 << 5,
	VF_MAX_RATE = 1 << 6,
	VF_NODE_GUID = 1 << 7,
	VF_PORT_GUID = 1 << 8,
};

struct vf_settings {
	unsigned fields; /* enum vf_field bits: which members are known, or desired */
	uint8_t mac[6];
	uint16_t vlan;	     /* 0 = none */
	uint8_t vlan_qos;    /* 0..7 */
	uint16_t vlan_proto; /* ETH_P_8021Q or ETH_P_8021AD, host order */
	bool spoofchk, trust;
	enum vf_link link_state;
	uint32_t min_rate, max_rate;   /* Mbit/s, 0 = unlimited */
	uint64_t node_guid, port_guid; /* host order */
};

struct ip_prefix {
	int family; /* AF_INET, AF_INET6; AF_UNSPEC = none */
	uint8_t addr[16];
	uint8_t len;
};

struct net_route {
	struct ip_prefix dst;	  /* len 0 = default */
	struct ip_prefix gateway; /* family AF_UNSPEC = on-link */
	uint32_t priority;	  /* 0 = kernel default */
};

#define PLAN_IPS_MAX	8
#define PLAN_ROUTES_MAX 16
#define PLAN_IPAM_SIZE	2048

/* How a return handles state that the pod left behind and that cannot be restored value by value:
 * AUTO recreates the function's netdev if needed, ALWAYS_RESET always does, RESTORE never does and
 * marks the device bad instead. */
enum clean_mode { CLEAN_AUTO, CLEAN_ALWAYS_RESET, CLEAN_RESTORE };

enum plan_kind { PLAN_VF, PLAN_MACVLAN, PLAN_IPVLAN };

/* The desired configuration of one interface of one pod. Zero-initialised: leave the device
 * unchanged. */
struct net_plan {
	enum plan_kind kind;
	char ifname[IFNAMSIZ]; /* name in the pod, "net1" */
	LINK_VALUES;	       /* 0 = unchanged */
	bool has_mac;
	uint8_t mac[6];
	struct vf_settings vf; /* `fields`: desired settings, with VF_MAC if has_mac */
	struct ip_prefix ips[PLAN_IPS_MAX];
	size_t n_ips;
	struct net_route routes[PLAN_ROUTES_MAX];
	size_t n_routes;
	char ipam[PLAN_IPAM_SIZE]; /* the "ipam" object of a CNI configuration, "" = none */
	bool soft_roce;		   /* create an rxe device on the interface */
	/* Host-network pod: the device stays in the host namespace and is only recorded, so that
	 * state left by the pod is found when it ends. */
	bool in_host;
	/* The function is bound to a user space driver (vfio, uio): the pod opens its device nodes,
	 * and only the settings of its PF are applied. */
	bool no_netdev;
	enum clean_mode clean; /* from the pool */
};

/* --- owner ---------------------------------------------------------------------------------- */

enum attach_door { DOOR_NATIVE, DOOR_CNI, DOOR_ADMIN };

/* The network namespace of an attachment. The path alone is not unique over time: a later pod may
 * get the same one. */
struct netns_id {
	char path[128];
	uint64_t dev, ino; /* identity of the nsfs file, 0 = unknown */
};

#define CNI_NETWORK_SIZE 128

/* The pod and container; for DOOR_ADMIN and DOOR_CNI the names may be "". An attachment of DOOR_CNI
 * is identified by (sandbox, plan.ifname), because a runtime passes nothing else to a DEL. */
struct attach_owner {
	enum attach_door door;
	char namespace[64], pod[256], container[64];
	char uid[POD_UID_SIZE];
	char sandbox[72]; /* sandbox id of the container runtime; DOOR_CNI: the container ID */
	char network[CNI_NETWORK_SIZE]; /* DOOR_CNI: name of the network, otherwise "" */
	struct netns_id netns;
};

/* --- original state ------------------------------------------------------------------------- */

/* Size of an interface alias (IFLA_IFALIAS): at most 255 bytes. */
#define ATTACH_ALIAS_SIZE 256

/* Alternative names as one string separated by spaces: room for 16 of maximum length. */
#define ALTNAMES_SIZE 2048

/* Identity of a function. A bus name alone does not identify it: it may change with each boot and
 * each change of the bus. */
struct function_identity {
	uint16_t vendor, device;     /* PCI ids, 0 = unknown */
	uint8_t pf_mac[HW_ADDR_MAX]; /* permanent MAC of its PF */
	unsigned pf_mac_len;	     /* 0 = unknown */
	/* Inode of its sysfs folder, unique within a boot: a function that was removed from the bus
	 * and added again has a new one. 0 = unknown */
	uint64_t folder;
};

/* Identity of an RDMA device. The kernel never reuses an index within a boot (assign_name() in
 * linux/drivers/infiniband/core/device.c); names and device numbers are reused. */
struct rdma_identity {
	bool known;
	uint32_t index;
	uint64_t node_guid; /* 0 = unknown */
};

/* The original state of a device, restored when it is returned. */
struct link_origin {
	char name[IFNAMSIZ];
	char alias[ATTACH_ALIAS_SIZE]; /* alias set by another program, "" = none */
	char altnames[ALTNAMES_SIZE];
	uint8_t addr[HW_ADDR_MAX];
	unsigned addr_len;
	LINK_VALUES; /* MTU 0: the state was not read, only our alias was found */
	bool up;
	char rdma[RDMA_NAME_SIZE];    /* its RDMA device, "" = none */
	struct rdma_identity rdma_id; /* known if it moves with its pod (exclusive mode) */
	char pf[DEV_ID_SIZE]; /* bus name of its PF, "" = none: the VF members below are unknown */
	int vf_index;
	struct vf_settings vf;
	struct netdev_state state;
	char parent[IFNAMSIZ]; /* macvlan, ipvlan: the parent netdev */
	struct function_identity identity;
};

/* --- one attachment ------------------------------------------------------------------------- */

enum attach_state {
	ATTACH_FREE, /* clean, in the host namespace, without an owner */
	ATTACH_ATTACHING,
	ATTACH_IN_POD,
	ATTACH_RETURNING,
	ATTACH_BAD, /* could not be cleaned; retried */
};

#define BOOT_ID_SIZE 37

/* The persistent record of an attachment; see journal.h. */
struct attach_record {
	enum attach_state state;
	uint64_t serial; /* incremented with each attachment of this device */
	char resource[RESOURCE_NAME_SIZE];
	char id[PLUGIN_ID_SIZE];
	char function[DEV_ID_SIZE]; /* its function, or that of its parent (macvlan, ipvlan) */
	struct attach_owner owner;
	struct net_plan plan;
	struct link_origin origin;
	/* Assigned by IPAM, in addition to the plan's. */
	struct ip_prefix ips[PLAN_IPS_MAX];
	size_t n_ips;
	struct net_route routes[PLAN_ROUTES_MAX];
	size_t n_routes;
	char rdma[RDMA_NAME_SIZE]; /* name in the pod when it was moved there; "" = none */
	struct rdma_identity rdma_id;
	/* Device node of the soft-RoCE device that was created, "" = none. The device cgroups of
	 * the pod's containers allow its device number until they end, even if another device gets
	 * that number. */
	char uverbs[CHARDEV_NAME_SIZE];
	/* Boot during which it was attached (boot_id_read()); "" = written by an older rocelet.
	 * Changes made to devices end with the boot; after a reboot the device must not be restored
	 * from this record. */
	char boot[BOOT_ID_SIZE];
	/* Identity of a macvlan or ipvlan netdev (struct netdev_upper), 0 = unknown. */
	uint64_t link_id;
	bool renewing; /* its driver is unbound and will be bound again at once */
};

/* True if this is the attachment's RDMA device: by the recorded index, or because it belongs to the
 * attachment's function according to its netdev or sysfs folder. Names are not trusted. */
bool attach_record_is_rdma(const struct attach_record *, const struct rdma_dev *);

/* Returns "free", "attaching", "in_pod", "returning" or "bad". */
const char *attach_state_name(enum attach_state);
/* True if the state machine allows the transition; otherwise the caller has a bug. */
bool attach_state_may_become(enum attach_state from, enum attach_state to);

/* Name prefix of the soft-RoCE devices that temporarily occupy a device number
 * (soft_roce_nodes.h). */
#define SOFT_ROCE_PLACEHOLDER "rxe_hold_"

/* Folder in /dev with the device nodes for containers that have soft-RoCE devices: all uverbsN,
 * rdma_cm, and copies of the host's infiniband/. by-name/ has one node for each device of the
 * plugin, because Allocate must name a node before its number is known. A container sees the folder
 * as its /dev/infiniband; its device cgroup decides which nodes it can open. */
#define SOFT_ROCE_DIR	    "rocelet"
#define SOFT_ROCE_NODE_SIZE (DEV_ID_SIZE + 32)
/* Makes the name of a device's node: "rocelet/by-name/0000:01:10.0"; '/' in ids becomes '_'. */
void soft_roce_node(const char *id, char ret[SOFT_ROCE_NODE_SIZE]);

/* Builds the alias that a netdev carries while it is attached: "rocelet ORIGINAL-NAME NAMESPACE/POD
 * UID". */
void attach_alias(const struct attach_record *, char ret[ATTACH_ALIAS_SIZE]);
/* Extracts the original name from an alias. False: the alias is not ours. */
bool attach_alias_origin(const char *alias, char ret[IFNAMSIZ]);
/* Extracts the pod UID from our alias, "" = absent or malformed. Any process with CAP_NET_ADMIN can
 * forge an alias. */
void attach_alias_uid(const char *alias, char ret[POD_UID_SIZE]);
