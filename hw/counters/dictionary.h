/* dictionary.h - what a vendor's counter name means: one family, labels and unit across vendors.
 *
 * Pure tables and a small matcher. The names are those of the drivers of Linux 6.12 (mana, ionic:
 * newer); unknown hw_counters names pass through, unknown ethtool names mean nothing to RoCE and
 * are ignored. */
#pragma once

#include "sample.h"

/* The driver families whose names differ. */
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

/* From the RDMA or PCI driver's name ("mlx5", "mlx5_core", "ice"), else from the PCI vendor id
 * (0 = unknown). */
enum nic dict_nic(const char *driver, uint16_t pci_vendor);
/* Made by the kernel in software: no ethtool statistics, PFC or firmware of its own. */
bool dict_is_software(enum nic);

/* Where a name was found; each place has its own vocabulary. */
enum dict_place {
	DICT_HW,	/* ports/N/hw_counters/ and STAT_GET */
	DICT_HW_DEVICE, /* <dev>/hw_counters/ */
	DICT_PORT,	/* ports/N/counters/ */
	DICT_PORT_EXT,	/* ports/N/counters_ext/, of kernels before 4.5 */
	DICT_ETHTOOL,	/* ETHTOOL_GSTRINGS */
	DICT_PAUSE,	/* pause_decode(): "rx_frames", "tx_frames" */
	DICT_DCB,	/* pfc_decode(): "requests0", "indications0", "enabled0", ... */
	DICT_NETDEV,	/* link_stats_decode(): "rx_bytes", "tx_bytes" */
	DICT_RESOURCE,	/* RES_GET summary: "qp", "mr", ... */
	DICT_OPTIONAL,	/* names of optional counters, 1 = enabled */
	N_DICT_PLACES
};

/* Longest vendor name that is taken (ETH_GSTRING_LEN is 32, sysfs names are below 40). */
#define DICT_NAME_MAX	63
#define DICT_LABELS_MAX 128
#define DICT_MEANINGS	3

struct meaning {
	const struct family *family;
	char labels[DICT_LABELS_MAX]; /* as in struct reading */
	enum unit unit;
	/* A port can have several vendor counters for one family. The lowest rank, which belongs to
	 * the place of measurement, decides for the family as a whole. Within it the lowest alias,
	 * which belongs to the name, decides for each set of labels: a driver's own name before one
	 * that it borrows, so that one number under two names counts once. Counters that agree in
	 * all of that are added up. */
	unsigned rank, alias;
	bool wraps32;	/* a 32-bit counter in hardware */
	bool monotonic; /* known to be a counter: when it falls, it started over */
};

/* Writes what `name` means and returns how many meanings (0: nothing). Names that are too long or
 * hold anything but printable ASCII mean nothing. */
size_t dict_lookup(enum dict_place, enum nic, const char *name, struct meaning ret[DICT_MEANINGS]);
/* The same for the names that node_exporter's InfiniBand collector gives to hw_counters (DICT_HW),
 * counters (DICT_PORT) and counters_ext (DICT_PORT_EXT). At most one meaning. */
size_t dict_lookup_compat(enum dict_place, const char *name, struct meaning *ret);

/* node_exporter's series that come from the host and not from counters. */
enum dict_compat_gauge {
	COMPAT_STATE_ID,
	COMPAT_PHYSICAL_STATE_ID,
	COMPAT_RATE,
	COMPAT_LIFESPAN,
	COMPAT_INFO,
	N_COMPAT_GAUGES
};
const struct family *dict_compat_gauge(enum dict_compat_gauge);

/* roce_bytes_total: the one family whose source is published (sampled_port.bytes_source). */
const struct family *dict_bytes_family(void);

/* Every family a reading can have, in the order of the metrics page; NULL past the end. */
const struct family *dict_family(size_t index);
/* The index of a family that came from this module. */
size_t dict_family_index(const struct family *);

/* A row of the tables, for documentation and tests: the vendor's name, '#' standing for a number.
 * False past the end. */
struct dict_row {
	enum dict_place place;
	enum nic nic; /* NIC_UNKNOWN: every vendor */
	const char *name;
	const struct family *family;
	const char *labels; /* '#' as in the name */
	enum unit unit;
	unsigned rank, alias; /* as in struct meaning */
	bool wraps32;
};
bool dict_row(size_t index, struct dict_row *ret);
