// SPDX-License-Identifier: Apache-2.0
#include "vf_bytes.h"

#include <math.h>
#include <string.h>

#include "search.h"

/* Drivers and sources that are not listed are unknown, because their documents do not describe it.
 *
 * mlx5: ethtool's rx_vport_rdma_* and counters/port_rcv_data are queries of one vport, the PF's own
 * (en_stats.c, ib_device counters in mad.c). Soft-RoCE counts in each RDMA device, and BPF programs
 * at each netdev. */
static const struct vf_bytes_row {
	const char *driver; /* also a part of the name: "mlx5_core", "rdma_rxe" */
	const char *source;
	enum vf_bytes bytes;
} rows[] = {
	{"mlx5", "ethtool", VF_BYTES_SEPARATE}, {"mlx5", "sysfs", VF_BYTES_SEPARATE},
	{"rxe", "netlink", VF_BYTES_SEPARATE},	{"rxe", "sysfs", VF_BYTES_SEPARATE},
	{"rxe", "bpf", VF_BYTES_SEPARATE},	{"siw", "bpf", VF_BYTES_SEPARATE},
};

enum vf_bytes vf_bytes_of(const char *driver, const char *bytes_source)
{
	const struct vf_bytes_row *row = find_first(
		rows, sizeof(rows) / sizeof(rows[0]), i,
		strstr(driver, rows[i].driver) && strcmp(rows[i].source, bytes_source) == 0);

	return row ? row->bytes : VF_BYTES_UNKNOWN;
}

double vf_bytes_wire(enum vf_bytes how, double own, double vfs)
{
	if (isnan(own) || isnan(vfs))
		return isnan(own) ? vfs : own;
	return how == VF_BYTES_SEPARATE	   ? own + vfs
	       : how == VF_BYTES_CONTAINED ? own
					   : fmax(own, vfs);
}
