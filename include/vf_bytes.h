/* SPDX-License-Identifier: Apache-2.0 */
/* vf_bytes.h - whether roce_bytes_total of a physical function contains the bytes of its VFs, so
 * that the sum of both counts them twice. Pure. */
#pragma once

enum vf_bytes {
	VF_BYTES_UNKNOWN, /* not documented for this driver: do not add both */
	VF_BYTES_SEPARATE,
	VF_BYTES_CONTAINED
};

/* Returns the value for the driver of an RDMA device and the source of its bytes: as in struct
 * sampled_port, or "bpf". */
enum vf_bytes vf_bytes_of(const char *driver, const char *bytes_source);
/* Returns the bytes on a PF's wire: its own and those of its VFs. If it is unknown whether its own
 * contain them, the larger ones. NaN is unknown. */
double vf_bytes_wire(enum vf_bytes, double own, double vfs);
