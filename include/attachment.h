/* attachment.h - the plain values of the attach engine: what a pod's interface is to look like,
 * what a device was like before, and whose it is. Pure data; no pointers, so that all of it may be
 * copied and kept. */
#pragma once

#include "model.h"
#include "netdev_state.h"
#include "plugin.h"

/* --- what is wanted ------------------------------------------------------------------------- */

/* Settings of a VF that are made through its PF (IFLA_VF_INFO). */
enum vf_field {
	VF_MAC = 1 << 0,
	VF_VLAN = 1 << 1, /* id, QoS and protocol together */
	VF_SPOOFCHK = 1 << 2,
	VF_TRUST = 1 << 3,
	VF_LINK_STATE = 1 << 4,
	VF_MIN_RATE = 1 << 5,
	VF_MAX_RATE = 1 << 6,
	VF_NODE_GUID = 1 << 7,
	VF_PORT_GUID = 1 << 8,
};

struct vf_settings {
	unsigned fields; /* enum vf_field bits: those that are known, or wanted */
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
	struct ip_prefix gateway; /* family AF_UNSPEC = on the link */
	uint32_t priority;	  /* 0 = the kernel's */
};

#define PLAN_IPS_MAX	8
#define PLAN_ROUTES_MAX 16
#define PLAN_IPAM_SIZE	2048

/* What a return does about things that its pod has left behind and that are not put back one by
 * one: gives the function a new netdev then, or always; or never, the device is bad then. */
enum clean_mode { CLEAN_AUTO, CLEAN_ALWAYS_RESET, CLEAN_RESTORE };

enum plan_kind { PLAN_VF, PLAN_MACVLAN, PLAN_IPVLAN };

/* One interface of one pod. Zero-initialised: the device as it is. */
struct net_plan {
	enum plan_kind kind;
	char ifname[IFNAMSIZ]; /* in the pod, "net1" */
	LINK_VALUES;	       /* 0 = as it is */
	bool has_mac;
	uint8_t mac[6];
	struct vf_settings vf; /* `fields`: what is wanted; a MAC above is among them */
	struct ip_prefix ips[PLAN_IPS_MAX];
	size_t n_ips;
	struct net_route routes[PLAN_ROUTES_MAX];
	size_t n_routes;
	char ipam[PLAN_IPAM_SIZE]; /* the "ipam" object of a CNI configuration, "" = none */
	bool soft_roce;		   /* an rxe device is made on the interface */
	/* The pod has the host's network: the device stays in the host, and is only recorded, so
	 * that what the pod leaves on it is found when it ends. */
	bool in_host;
	enum clean_mode clean; /* the pool's */
};

/* --- who has it ----------------------------------------------------------------------------- */

enum attach_door { DOOR_NATIVE, DOOR_CNI, DOOR_ADMIN };

/* The namespace that an attachment belongs to. A path alone does not name it: the next pod's may
 * have the same one. */
struct netns_id {
	char path[128];
	uint64_t dev, ino; /* of the nsfs file, 0 = unknown */
};

/* The container's pod; for DOOR_ADMIN names may be "". */
struct attach_owner {
	enum attach_door door;
	char namespace[64], pod[256], container[64];
	char uid[POD_UID_SIZE];
	char sandbox[72]; /* the runtime's id of the sandbox */
	struct netns_id netns;
};

/* --- what it was ---------------------------------------------------------------------------- */

/* Of a netdev (IFLA_IFALIAS), at most 255 bytes. */
#define ATTACH_ALIAS_SIZE 256

/* Alternative names as one text, with a space between two: 16 of the greatest. */
#define ALTNAMES_SIZE 2048

/* Who a function is; a bus name may be another's after each boot, and each change of the bus. */
struct function_identity {
	uint16_t vendor, device;     /* PCI, 0 = unknown */
	uint8_t pf_mac[HW_ADDR_MAX]; /* its PF's permanent one */
	unsigned pf_mac_len;	     /* 0 = unknown */
	/* Inode of its folder in sysfs, which none has had before in this boot: one that left the
	 * bus and came back is a new one. 0 = unknown */
	uint64_t folder;
};

/* Who an RDMA device is. The kernel counts the index up and gives it to no second device of a boot
 * (assign_name() in linux/drivers/infiniband/core/device.c); a name, or the number of a device
 * node, passes from one device to the next. */
struct rdma_identity {
	bool known;
	uint32_t index;
	uint64_t node_guid; /* 0 = not told */
};

/* A device before anything was changed: what it is given back as. */
struct link_origin {
	char name[IFNAMSIZ];
	char alias[ATTACH_ALIAS_SIZE]; /* somebody else's, "" = none */
	char altnames[ALTNAMES_SIZE];
	uint8_t addr[HW_ADDR_MAX];
	unsigned addr_len;
	LINK_VALUES; /* MTU 0: nobody has looked, only the mark on the netdev was found */
	bool up;
	char rdma[RDMA_NAME_SIZE];    /* its RDMA device, "" = none */
	struct rdma_identity rdma_id; /* known where it moves with its pod (exclusive mode) */
	char pf[DEV_ID_SIZE]; /* bus name of its PF, "" = it has none: nothing below is known */
	int vf_index;
	struct vf_settings vf;
	struct netdev_state state;
	char parent[IFNAMSIZ]; /* macvlan, ipvlan: the netdev below */
	struct function_identity identity;
};

/* --- one attachment ------------------------------------------------------------------------- */

enum attach_state {
	ATTACH_FREE, /* clean, in the host, nobody's */
	ATTACH_ATTACHING,
	ATTACH_IN_POD,
	ATTACH_RETURNING,
	ATTACH_BAD, /* could not be cleaned; tried again */
};

#define BOOT_ID_SIZE 37

/* What must survive a crash; see journal.h. */
struct attach_record {
	enum attach_state state;
	uint64_t serial; /* grows with each attachment of this device */
	char resource[RESOURCE_NAME_SIZE];
	char id[PLUGIN_ID_SIZE];
	char function[DEV_ID_SIZE]; /* a macvlan's or ipvlan's: that of its parent */
	struct attach_owner owner;
	struct net_plan plan;
	struct link_origin origin;
	/* What IPAM gave, in addition to the plan's. */
	struct ip_prefix ips[PLAN_IPS_MAX];
	size_t n_ips;
	struct net_route routes[PLAN_ROUTES_MAX];
	size_t n_routes;
	char rdma[RDMA_NAME_SIZE]; /* in the pod, its name when it came there; "" = none */
	struct rdma_identity rdma_id;
	/* The device node of the soft-RoCE device that was made: the device cgroups of the pod's
	 * containers let them open its number until they end, whatever device has it. "" = none */
	char uverbs[CHARDEV_NAME_SIZE];
	/* In which it was attached (boot_id_read()); "" = an older rocelet did not say. What was
	 * done to devices before ended with the boot, and what they are now is not ours to change.
	 */
	char boot[BOOT_ID_SIZE];
	/* A macvlan's or ipvlan's: which netdev it is (struct netdev_upper), 0 = unknown. */
	uint64_t link_id;
	bool renewing; /* its driver is taken from it, to be given back at once */
};

/* The attachment's RDMA device: by the index that is recorded, or as the function's own, which the
 * kernel tells by the netdev or folder below it. Names are no proof. */
bool attach_record_is_rdma(const struct attach_record *, const struct rdma_dev *);

/* "free", "attaching", "in_pod", "returning", "bad" */
const char *attach_state_name(enum attach_state);
/* The table of allowed moves; any other is a bug. */
bool attach_state_may_become(enum attach_state from, enum attach_state to);

/* How the names of soft-RoCE devices begin that occupy a number for a moment
 * (soft_roce_number.h). */
#define SOFT_ROCE_PLACEHOLDER "rxe_hold_"

/* Where the device nodes of soft-RoCE devices that are made for containers are, below the root of
 * devices: all uverbsN, rdma_cm and what the host's own infiniband/ has, and in by-name/ one for
 * each of the plugin's devices, which a container is given leave for before the number is known. A
 * container sees the folder as its /dev/infiniband; what it may open is the device cgroup's
 * business. */
#define SOFT_ROCE_DIR	    "rocelet"
#define SOFT_ROCE_NODE_SIZE (DEV_ID_SIZE + 32)
/* "rocelet/by-name/0000:01:10.0"; '/' in ids becomes '_'. */
void soft_roce_node(const char *id, char ret[SOFT_ROCE_NODE_SIZE]);

/* The alias that travels with a netdev while it is ours:
 * "rocelet ORIGINAL-NAME NAMESPACE/POD UID". */
void attach_alias(const struct attach_record *, char ret[ATTACH_ALIAS_SIZE]);
/* The original name that an alias carries. False: it is not one of ours. */
bool attach_alias_origin(const char *alias, char ret[IFNAMSIZ]);
/* The UID of the pod that one of ours carries, "" = none, or nothing that could be one. Whoever may
 * set an alias may set any. */
void attach_alias_uid(const char *alias, char ret[POD_UID_SIZE]);
