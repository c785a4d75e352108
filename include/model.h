/* SPDX-License-Identifier: Apache-2.0 */
/* model.h - the data model shared by all of rocelet: the inventory of one host.
 *
 * Pure data. Strings are fixed arrays, always terminated, "" where unknown; each number that can be
 * unknown documents how. struct host owns its arrays; everything else is a value that may be
 * copied. */
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
/* Driver description of a card: bnxt_re uses 38 characters, hfi1 about 70; a node description has
 * at most 64 (IB_DEVICE_NODE_DESC_MAX, same file). */
#define RDMA_TEXT_SIZE	  128
#define CHARDEV_NAME_SIZE 16 /* "uverbs1023" */
#define NETNS_NAME_SIZE	  64
#define ALTNAME_SIZE	  128 /* ALTIFNAMSIZ, linux/if.h */
#define HW_ADDR_MAX	  32  /* MAX_ADDR_LEN, linux/netdevice.h */

/* The network namespace of an object, relative to ours. Values >= 0 are the kernel's netns ids. */
#define NSID_HOST      (-1) /* the daemon's own namespace */
#define NSID_ELSEWHERE (-2) /* moved to a namespace without a netns id */

struct pci_addr {
	uint32_t domain;
	uint8_t bus, dev, fn;
};

/* Parses "DDDD:BB:DD.F" with a domain of 1 to 8 hex digits. False: not a PCI address, *ret
 * untouched. */
bool pci_addr_parse(const char *s, struct pci_addr *ret);
int pci_addr_cmp(const struct pci_addr *, const struct pci_addr *);
/* True if the name has the form of a function id: a PCI address or an auxiliary sub-function
 * ("mlx5_core.sf.4", linux/drivers/net/ethernet/mellanox/mlx5/core/sf/dev/dev.c). */
bool is_function_id(const char *name);

enum fn_kind {
	FN_PF, /* a physical function, SR-IOV capable or not */
	FN_VF,
	FN_SF,	    /* an auxiliary (sub-function) device */
	FN_VIRTUAL, /* placeholder for an RDMA device without hardware below it; id = the RDMA
		       device's name */
};

/* IFLA_VF_LINK_STATE of a VF, set through its PF: follow the PF's carrier, or always up or down. */
enum vf_link { VF_LINK_UNKNOWN, VF_LINK_AUTO, VF_LINK_ENABLE, VF_LINK_DISABLE };

/* Longest path from a root complex to a function, as bus names joined by '/': nine bridges. */
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
	uint32_t acpi_index; /* firmware index of an on-board device, 0 = none */
	/* Bus names from the root complex down to the function's parent, "pci0000:00/0000:00:01.0";
	 * "" = unknown. Functions with a common prefix share a switch. */
	char path[PCI_PATH_SIZE];
	/* Names below /dev for a function that is bound to a user space driver; "" = none:
	 * "vfio/12", "vfio/noiommu-3", "uio0", "vhost-vdpa-0". */
	char vfio[32], uio[16], vdpa_node[32];
	char vdpa_driver[32]; /* of its vDPA device: "vhost_vdpa", "virtio_vdpa"; "" = none */
	enum vf_link vf_link;
	uint64_t vf_settings;	/* VF: digest of its settings made through the PF; 0 = unknown */
	bool unreachable;	/* configuration space reads all ones (of a VF: its PF's does) */
	char devlink_error[32]; /* devlink health reporter in state error; "" = none known */
};

enum carrier { CARRIER_UNKNOWN, CARRIER_OFF, CARRIER_ON };

/* Size of a pod's UID, terminator included. */
#define POD_UID_SIZE 40

struct netdev {
	int nsid;    /* NSID_HOST, NSID_ELSEWHERE or a netns id */
	int ifindex; /* within its namespace, 0 = unknown */
	char name[IFNAMSIZ];
	/* As many names as fit, each terminated; an empty name ends the list. Holds four of usual
	 * length or one of maximum length. */
	char altnames[ALTNAME_SIZE + 1];
	char function[DEV_ID_SIZE]; /* the function that the netdev belongs to, "" = none (veth,
				       bridge, bond, ...) */
	char kind[16];		    /* IFLA_INFO_KIND: "bond", "bridge", "vlan"; "" for hardware */
	uint8_t addr[HW_ADDR_MAX];
	unsigned addr_len;
	LINK_VALUES;
	unsigned flags;	    /* IFF_*; only IFF_UP is set from sysfs */
	char operstate[16]; /* RFC 2863, as in sysfs: "up", "down", "lowerlayerdown" ... */
	enum carrier carrier;
	unsigned carrier_changes;
	int master;		    /* ifindex, 0 = none */
	char master_name[IFNAMSIZ]; /* "" = none or unknown */
	int lower;	    /* IFLA_LINK within its namespace (of a VLAN, macvlan ...), 0 = none */
	uint16_t type;	    /* ARPHRD_*, 0 = unknown */
	bool default_route; /* used by an IPv4 or IPv6 default route (host namespace only) */
	char port_name[16]; /* IFLA_PHYS_PORT_NAME: "p0" uplink, "pf0vf3" representor; "" = none */
	/* Its name before we attached it to a pod, taken from the alias that we set (attachment.h);
	 * "" = no such alias. */
	char origin[IFNAMSIZ];
	char origin_uid[POD_UID_SIZE]; /* the pod's UID from that alias; "" = unknown */
};

/* Iterates over the alternative names: NULL returns the first; returns NULL after the last. */
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
	/* The following members are details; a plain scan leaves them out. */
	unsigned gid_table_len;	      /* 0 = unknown */
	unsigned active_mtu, max_mtu; /* bytes, 0 = unknown (available from verbs only) */
	unsigned n_gids;	      /* entries in use */
	struct gid *gids;	      /* owned */
};

#define RDMA_INDEX_NONE UINT32_MAX

struct rdma_dev {
	char name[RDMA_NAME_SIZE];
	int nsid;
	/* nldev device index; the first device has 0. RDMA_INDEX_NONE = unknown (sysfs only). */
	uint32_t index;
	/* "" until known; a virtual device gets the function of its port's netdev. */
	char function[DEV_ID_SIZE];
	/* The kernel driver's RDMA id: "mlx5", "bnxt_re", "rxe"; if unavailable, derived from the
	 * function's driver. */
	char driver[32];
	char fw[RDMA_FW_SIZE], board[RDMA_TEXT_SIZE], hca_type[RDMA_TEXT_SIZE];
	uint64_t node_guid, sys_image_guid; /* host order, 0 = unknown */
	/* Names below /dev/infiniband; umad and issm are those of the first port; "" = none. */
	char uverbs[CHARDEV_NAME_SIZE], umad[CHARDEV_NAME_SIZE], issm[CHARDEV_NAME_SIZE],
		ucm[CHARDEV_NAME_SIZE];
	bool no_uverbs_node, no_umad_node; /* the kernel has the device, but /dev/infiniband has no
					      node for it */
	unsigned n_ports;
	struct rdma_port *ports; /* owned */
	bool stale; /* the details of its ports must be read again, see hw_read_details() */
};

/* State of a function or of one of its VFs that is read separately from the list of functions.
 * host_join_reports() copies it into struct function. */
struct report {
	char function[DEV_ID_SIZE];
	int vf; /* >= 0: about this VF of the function; -1: about the function itself */
	enum vf_link vf_link;
	uint64_t vf_settings;
	bool unreachable;
	char devlink_error[32];
};

struct netns {
	int nsid;
	char name[NETNS_NAME_SIZE]; /* name of its bind mount in /run/netns, or "" */
};

enum rdma_netns_mode { RDMA_NETNS_UNKNOWN, RDMA_NETNS_SHARED, RDMA_NETNS_EXCLUSIVE };

/* State of /dev/infiniband/rdma_cm, the node that librdmacm needs: one for all devices. */
enum rdma_cm_node {
	RDMA_CM_UNKNOWN,
	RDMA_CM_THERE,
	RDMA_CM_NO_NODE,   /* the kernel has the device, /dev has no node for it */
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

/* Copies a device without the details of its ports. -ENOMEM leaves *dst without ports. */
int rdma_dev_copy_bare(struct rdma_dev *dst, const struct rdma_dev *src);

/* Sorts the arrays: functions by PCI address, then other ids; netdevs by (nsid, ifindex); RDMA
 * devices and namespaces by name, digits compared as numbers; reports by (function, VF). */
void host_sort(struct host *);
/* Like strcmp(), but compares digits as numbers: "mlx5_2" sorts before "mlx5_10". */
int natural_cmp(const char *, const char *);

/* Makes a deep copy into an empty host; -ENOMEM leaves *dst empty. */
int host_copy(struct host *dst, const struct host *src);

/* Makes the list of FN_VIRTUAL functions match the RDMA devices that have no hardware function
 * (function == name): adds the missing ones, removes the others. -ENOMEM leaves some out. */
int host_sync_virtual(struct host *);

/* Copies the reports, which must be sorted, into their functions; functions without a report get
 * the "unknown" values. */
void host_join_reports(struct host *);

/* Return the first match or NULL; the pointer is valid until the host changes. */
const struct function *host_function(const struct host *, const char *id);
const struct netdev *host_netdev(const struct host *, int nsid, int ifindex);
/* Returns the first netdev of a function. */
const struct netdev *host_function_netdev(const struct host *, const char *function);
/* Finds a device by name alone. NULL also if several devices have the name: in exclusive RDMA mode
 * each namespace has its own names, and processes inside it can choose them. */
const struct rdma_dev *host_rdma(const struct host *, const char *name);
/* Like host_rdma(), in one namespace, where names are unique. */
const struct rdma_dev *host_rdma_in(const struct host *, int nsid, const char *name);
/* Returns the device to which this name refers in a sample: the device in the host's namespace,
 * else the only device with this name. The counters of other devices with the name are not read. */
const struct rdma_dev *host_rdma_sampled(const struct host *, const char *name);
/* Returns the name of the namespace: "" for the host's own and for unnamed ones. */
const char *host_netns_name(const struct host *, int nsid);

/* Return names as used in the API and the metrics; "unknown" for unknown values. */
const char *fn_kind_name(enum fn_kind);
const char *vf_link_name(enum vf_link);
const char *port_state_name(enum port_state);
const char *phys_state_name(enum phys_state);
const char *link_layer_name(enum link_layer);
const char *gid_type_name(enum gid_type);
const char *rdma_netns_mode_name(enum rdma_netns_mode);
