/* model.h - the plain values that every part of rocelet speaks: what one host has.
 *
 * Pure data. Strings are fixed arrays, always terminated, "" where unknown; numbers that can be
 * unknown say how. struct host owns its arrays; everything else is a value that may be copied. */
#pragma once

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "link_fields.h"

/* Bus name of a device: "0000:03:00.1", "10000:e1:00.0" (domains may be wider than 16 bits),
 * "mlx5_core.sf.4". */
#define DEV_ID_SIZE	  64
/* RDMA device name, IB_DEVICE_NAME_MAX in linux/include/rdma/ib_verbs.h. */
#define RDMA_NAME_SIZE	  64
#define RDMA_FW_SIZE	  32 /* IB_FW_VERSION_NAME_MAX, same file */
/* What a driver calls a card: bnxt_re has 38 characters, hfi1 some 70, and 64 are the most of a
 * node description (IB_DEVICE_NODE_DESC_MAX, same file). */
#define RDMA_TEXT_SIZE	  128
#define CHARDEV_NAME_SIZE 16 /* "uverbs1023" */
#define NETNS_NAME_SIZE	  64
#define ALTNAME_SIZE	  128 /* ALTIFNAMSIZ, linux/if.h */
#define HW_ADDR_MAX	  32  /* MAX_ADDR_LEN, linux/netdevice.h */

/* Where an object lives, seen from our network namespace. Other values are the kernel's netns ids
 * (>= 0). */
#define NSID_HOST      (-1) /* our own namespace */
#define NSID_ELSEWHERE (-2) /* moved to a namespace that we cannot name */

struct pci_addr {
	uint32_t domain;
	uint8_t bus, dev, fn;
};

/* "DDDD:BB:DD.F" with a domain of 1 to 8 hex digits. False: not a PCI address, *ret untouched. */
bool pci_addr_parse(const char *s, struct pci_addr *ret);
int pci_addr_cmp(const struct pci_addr *, const struct pci_addr *);
/* Does the name look like a function's, a PCI address or an auxiliary sub-function
 * ("mlx5_core.sf.4", linux/drivers/net/ethernet/mellanox/mlx5/core/sf/dev/dev.c)? */
bool is_function_id(const char *name);

enum fn_kind {
	FN_PF, /* a physical function, SR-IOV capable or not */
	FN_VF,
	FN_SF,	    /* an auxiliary (sub-function) device */
	FN_VIRTUAL, /* an RDMA device without hardware below it; id = the RDMA device's name */
};

/* IFLA_VF_LINK_STATE of a VF, set through its PF: follow the PF's carrier, or always up or down. */
enum vf_link { VF_LINK_UNKNOWN, VF_LINK_AUTO, VF_LINK_ENABLE, VF_LINK_DISABLE };

/* Longest way from a root complex to a function, as bus names joined by '/': nine bridges. */
#define PCI_PATH_SIZE 128

/* One function on a bus that is, or can carry, a network or RDMA device, or is a processing
 * accelerator. */
struct function {
	char id[DEV_ID_SIZE];
	enum fn_kind kind;
	char parent[DEV_ID_SIZE]; /* VF: its PF. SF: its PCI function. PF: "" */
	int vf;			  /* index on the PF, -1 unless FN_VF */
	int sfnum;		  /* sub-function number, -1 unless FN_SF */
	uint16_t vendor, device;  /* PCI ids, 0 = unknown */
	uint32_t class;		  /* PCI class code, 24 bits */
	int numa;		  /* -1 = none or unknown */
	char driver[32];	  /* "" = unbound */
	bool sriov;		  /* has sriov_totalvfs */
	unsigned vfs, vfs_total;
	uint32_t acpi_index; /* firmware's number of an on-board device, 0 = none */
	/* Bus names from the root complex down to the function's parent, "pci0000:00/0000:00:01.0";
	 * "" = unknown. Functions with a common start share a switch. */
	char path[PCI_PATH_SIZE];
	/* Names below /dev for a function that is bound to a user space driver; "" = none:
	 * "vfio/12", "vfio/noiommu-3", "uio0", "vhost-vdpa-0". */
	char vfio[32], uio[16], vdpa_node[32];
	char vdpa_driver[32]; /* of its vDPA device, "vhost_vdpa" or "virtio_vdpa"; "" = none */
	enum vf_link vf_link;
	uint64_t vf_settings;	/* VF: digest of what is set through its PF; 0 = unknown */
	bool unreachable;	/* its (a VF's: its PF's) configuration space reads all ones */
	char devlink_error[32]; /* a devlink health reporter in state error; "" = none known */
};

enum carrier { CARRIER_UNKNOWN, CARRIER_OFF, CARRIER_ON };

/* Of a pod's UID. */
#define POD_UID_SIZE 40

struct netdev {
	int nsid;    /* NSID_HOST, NSID_ELSEWHERE or a netns id */
	int ifindex; /* within its namespace, 0 = unknown */
	char name[IFNAMSIZ];
	/* As many as fit, each terminated; an empty one ends them. Four of usual length do, or one
	 * of the greatest. */
	char altnames[ALTNAME_SIZE + 1];
	char function[DEV_ID_SIZE]; /* the function below it, "" = none (veth, bridge, bond, ...) */
	char kind[16];		    /* IFLA_INFO_KIND: "bond", "bridge", "vlan"; "" for hardware */
	uint8_t addr[HW_ADDR_MAX];
	unsigned addr_len;
	LINK_VALUES;
	unsigned flags;	    /* IFF_*; only IFF_UP is set from sysfs */
	char operstate[16]; /* RFC 2863 as sysfs spells it: "up", "down", "lowerlayerdown" ... */
	enum carrier carrier;
	unsigned carrier_changes;
	int master;		    /* ifindex, 0 = none */
	char master_name[IFNAMSIZ]; /* "" = none or unknown */
	int lower;	    /* IFLA_LINK within its namespace (of a VLAN, macvlan ...), 0 = none */
	uint16_t type;	    /* ARPHRD_*, 0 = unknown */
	bool default_route; /* an IPv4 or IPv6 default route leaves through it (host only) */
	char port_name[16]; /* IFLA_PHYS_PORT_NAME: "p0" uplink, "pf0vf3" representor; "" = none */
	/* Its name before we attached it to a pod, as our alias on it tells (attachment.h); "" = it
	 * bears none of ours. */
	char origin[IFNAMSIZ];
	char origin_uid[POD_UID_SIZE]; /* of the pod, as that alias tells; "" = unknown */
};

/* The next alternative name, from `name` = NULL on; NULL past the last. */
const char *netdev_altname(const struct netdev *, const char *name);

enum gid_type { GID_UNKNOWN, GID_IB, GID_ROCE_V1, GID_ROCE_V2 };

struct gid {
	uint32_t index;
	uint8_t raw[16];
	enum gid_type type;
	char netdev[IFNAMSIZ]; /* "" = unknown */
};

/* IBTA port states, enum ib_port_state in linux/include/rdma/ib_verbs.h. 0 = unknown. */
enum port_state {
	PORT_UNKNOWN = 0,
	PORT_DOWN = 1,
	PORT_INIT = 2,
	PORT_ARMED = 3,
	PORT_ACTIVE = 4,
	PORT_ACTIVE_DEFER = 5
};
/* enum ib_port_phys_state, same file. 0 = unknown. */
enum phys_state {
	PHYS_UNKNOWN = 0,
	PHYS_SLEEP = 1,
	PHYS_POLLING = 2,
	PHYS_DISABLED = 3,
	PHYS_TRAINING = 4,
	PHYS_LINK_UP = 5,
	PHYS_ERROR_RECOVERY = 6,
	PHYS_TEST = 7,
};
enum link_layer { LINK_UNKNOWN, LINK_ETHERNET, LINK_INFINIBAND };

struct rdma_port {
	uint32_t num;
	enum port_state state;
	enum phys_state phys_state;
	enum link_layer link_layer;
	uint64_t rate_bps;		 /* 0 = unknown */
	int netdev_nsid, netdev_ifindex; /* 0 = no or unknown netdev */
	char netdev[IFNAMSIZ];
	uint16_t pkey; /* at index 0, InfiniBand; 0 = unknown */
	/* From here on: details, which a scan leaves out. */
	unsigned gid_table_len;	      /* 0 = unknown */
	unsigned active_mtu, max_mtu; /* bytes, 0 = unknown (only verbs tells) */
	unsigned n_gids;	      /* entries in use */
	struct gid *gids;	      /* owned */
};

#define RDMA_INDEX_NONE UINT32_MAX

struct rdma_dev {
	char name[RDMA_NAME_SIZE];
	int nsid;
	/* In nldev; the first device has 0. RDMA_INDEX_NONE = unknown (sysfs only). */
	uint32_t index;
	/* "" until known; virtual devices point at their port's netdev's function. */
	char function[DEV_ID_SIZE];
	/* The kernel driver's RDMA id: "mlx5", "bnxt_re", "rxe"; from the function's driver
	 * otherwise. */
	char driver[32];
	char fw[RDMA_FW_SIZE], board[RDMA_TEXT_SIZE], hca_type[RDMA_TEXT_SIZE];
	uint64_t node_guid, sys_image_guid; /* host order, 0 = unknown */
	/* Names below /dev/infiniband, the first port's for umad and issm; "" = none. */
	char uverbs[CHARDEV_NAME_SIZE], umad[CHARDEV_NAME_SIZE], issm[CHARDEV_NAME_SIZE],
		ucm[CHARDEV_NAME_SIZE];
	bool no_uverbs_node, no_umad_node; /* the kernel has the device, but /dev/infiniband has no
					      node of that name */
	unsigned n_ports;
	struct rdma_port *ports; /* owned */
	bool stale;		 /* its ports' details are to be read, see hw_read_details() */
};

/* What the kernel tells of a function, or of one of its VFs, beside the function itself; at its
 * place in struct function after host_join_reports(). */
struct report {
	char function[DEV_ID_SIZE];
	int vf; /* of VF number vf of the function, -1 = of the function itself */
	enum vf_link vf_link;
	uint64_t vf_settings;
	bool unreachable;
	char devlink_error[32];
};

struct netns {
	int nsid;
	char name[NETNS_NAME_SIZE]; /* of the bind mount in /run/netns, or "" */
};

enum rdma_netns_mode { RDMA_NETNS_UNKNOWN, RDMA_NETNS_SHARED, RDMA_NETNS_EXCLUSIVE };

/* What one host has. Zero-initialised it is the empty host. */
/* /dev/infiniband/rdma_cm, for librdmacm: one for all devices. */
enum rdma_cm_node {
	RDMA_CM_UNKNOWN,
	RDMA_CM_THERE,
	RDMA_CM_NO_NODE,   /* the kernel has it, /dev does not */
	RDMA_CM_NO_MODULE, /* rdma_ucm is not loaded */
};

struct host {
	struct function *functions;
	size_t n_functions;
	struct netdev *netdevs;
	size_t n_netdevs;
	struct rdma_dev *rdma;
	size_t n_rdma;
	struct netns *namespaces;
	size_t n_namespaces;
	struct report *reports;
	size_t n_reports;
	enum rdma_netns_mode rdma_mode;
	enum rdma_cm_node rdma_cm;
};

/* Frees what it owns and leaves the empty host. */
void host_done(struct host *);
/* Frees the ports and leaves a device without any. */
void rdma_dev_done(struct rdma_dev *);

/* Copies a device without its ports' details. -ENOMEM leaves *dst without ports. */
int rdma_dev_copy_bare(struct rdma_dev *dst, const struct rdma_dev *src);

/* Puts the arrays into the order of every list: functions by PCI address, then other ids; netdevs
 * by (nsid, ifindex); RDMA devices and namespaces by name; numbers inside names count as numbers;
 * reports by (function, VF). */
void host_sort(struct host *);
/* < 0, 0, > 0 as strcmp(), but "mlx5_2" stands before "mlx5_10". */
int natural_cmp(const char *, const char *);

/* Deep copy into an empty host; -ENOMEM leaves *dst empty. */
int host_copy(struct host *dst, const struct host *src);

/* Makes the FN_VIRTUAL functions those of the RDMA devices that stand on themselves (function ==
 * name), no more and no fewer. -ENOMEM leaves some out. */
int host_sync_virtual(struct host *);

/* Puts the reports, which must be sorted, where they belong; functions without any get the values
 * for unknown. */
void host_join_reports(struct host *);

/* First match or NULL; borrowed until the host changes. */
const struct function *host_function(const struct host *, const char *id);
const struct netdev *host_netdev(const struct host *, int nsid, int ifindex);
/* By the name alone; NULL, too, where several have it: in exclusive RDMA mode each namespace has
 * its own names, and who is in one chooses them. */
const struct rdma_dev *host_rdma(const struct host *, const char *name);
/* Of one namespace, which has each name once. */
const struct rdma_dev *host_rdma_in(const struct host *, int nsid, const char *name);
/* Name of the namespace: "" for the host's own and for one without a name. */
const char *host_netns_name(const struct host *, int nsid);

/* Words as the API and the metrics spell them; "unknown" for what is. */
const char *fn_kind_name(enum fn_kind);
const char *vf_link_name(enum vf_link);
const char *port_state_name(enum port_state);
const char *phys_state_name(enum phys_state);
const char *link_layer_name(enum link_layer);
const char *gid_type_name(enum gid_type);
const char *rdma_netns_mode_name(enum rdma_netns_mode);
