/* SPDX-License-Identifier: Apache-2.0 */
/* dictionary.h - maps a vendor's counter name to a family, labels and unit common to all vendors.
 *
 * Pure tables and a look-up. The names are those of the drivers of Linux 6.12 (mana, ionic: newer).
 * Unknown hw_counters names are passed through; unknown ethtool names are ignored. */
#pragma once

#include "sample.h"

/* The driver families with different names. */
enum nic {
	NIC_UNKNOWN, /* all tables are tried */
	NIC_MLX5,
	NIC_BNXT,
	NIC_IRDMA,
	NIC_HNS,
	NIC_IONIC,
	NIC_MANA,
	NIC_RXE,
	NIC_SIW,
	NIC_EFA,
	NIC_ERDMA,
	N_NICS
};

/* Returns the family by the name of the RDMA or PCI driver ("mlx5", "mlx5_core", "ice"), else by
 * the PCI vendor id (0 = unknown). */
enum nic dict_nic(const char *driver, uint16_t pci_vendor);
/* True for RDMA devices implemented in software by the kernel, which have no ethtool statistics,
 * PFC or firmware of their own. */
bool dict_is_software(enum nic);

/* The place where a name was found; each place has its own set of names. */
enum dict_place {
	DICT_HW,	/* ports/N/hw_counters/ and STAT_GET */
	DICT_HW_DEVICE, /* <dev>/hw_counters/ */
	DICT_PORT,	/* ports/N/counters/ */
	DICT_PORT_EXT,	/* ports/N/counters_ext/, of kernels before 4.5 */
	DICT_ETHTOOL,	/* ETHTOOL_GSTRINGS */
	DICT_PAUSE,	/* pause_decode(): "rx_frames", "tx_frames" */
	DICT_DCB,	/* decode_dcb_frames() in nlpoll.c: "requests0", "enabled0", ... */
	DICT_NETDEV,	/* decode_link() in nlpoll.c: "rx_bytes", "tx_bytes" */
	DICT_RESOURCE,	/* RES_GET summary: "qp", "mr", ... */
	DICT_OPTIONAL,	/* names of optional counters, 1 = enabled */
	N_DICT_PLACES
};

/* Longest vendor name that is accepted (ETH_GSTRING_LEN is 32, sysfs names are below 40). */
#define DICT_NAME_MAX	63
#define DICT_LABELS_MAX 128
#define DICT_MEANINGS	3

struct meaning {
	const struct family *family;
	char labels[DICT_LABELS_MAX]; /* format as in struct reading */
	enum unit unit;
	/* A port can have several vendor counters for one family. `rank` is the precedence of the
	 * place of measurement: only counters of the lowest rank are used for the family. `alias`
	 * is the precedence of the name: among those counters, for each set of labels only those of
	 * the lowest alias are used, so that one number under two names counts once (a driver's own
	 * name precedes a borrowed one). The values of the remaining counters with the same labels
	 * are added. */
	unsigned rank, alias;
	bool wraps32;	/* a 32-bit counter in hardware */
	bool monotonic; /* known to be a counter: a lower value means a reset */
};

/* Writes the meanings of `name` and returns their number, 0 if it is unknown. Names that are too
 * long or have other characters than printable ASCII are unknown. */
size_t dict_lookup(enum dict_place, enum nic, const char *name, struct meaning ret[DICT_MEANINGS]);
/* Like dict_lookup(), but returns node_exporter's name for a counter in hw_counters (DICT_HW),
 * counters (DICT_PORT) or counters_ext (DICT_PORT_EXT). At most one meaning. */
size_t dict_lookup_compat(enum dict_place, const char *name, struct meaning *ret);

/* node_exporter's series that are not from counters. */
enum dict_compat_gauge {
	COMPAT_STATE_ID,
	COMPAT_PHYSICAL_STATE_ID,
	COMPAT_RATE,
	COMPAT_LIFESPAN,
	COMPAT_INFO,
	N_COMPAT_GAUGES
};
const struct family *dict_compat_gauge(enum dict_compat_gauge);

/* Returns roce_bytes_total, the only family whose source is exported (sampled_port.bytes_source).
 */
const struct family *dict_bytes_family(void);

/* Returns the families that readings can have, in the order of the metrics page; NULL past the end.
 */
const struct family *dict_family(size_t index);
/* Returns the index of a family that this module has returned. */
size_t dict_family_index(const struct family *);

/* A row of the tables, for documentation and tests; '#' in the vendor's name stands for a number.
 * False past the end. */
struct dict_row {
	enum dict_place place;
	enum nic nic; /* NIC_UNKNOWN: all vendors */
	const char *name;
	const struct family *family;
	const char *labels; /* '#' is replaced by the number of the name */
	enum unit unit;
	unsigned rank, alias; /* as in struct meaning */
	bool wraps32;
};
bool dict_row(size_t index, struct dict_row *ret);
