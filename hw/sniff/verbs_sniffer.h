/* SPDX-License-Identifier: Apache-2.0 */
/* verbs_sniffer.h - captures the RoCE packets of a NIC with RoCE in hardware: a raw packet queue
 * pair and a flow rule of type sniffer, which copies the packets of the first port, received and
 * sent (ibv_create_flow(3); supported by mlx5). Needs CAP_NET_RAW. The copies compete with the
 * traffic for PCIe bandwidth: capture for seconds, not permanently. */
#pragma once

#include "err.h"
#include "sniffed.h"

struct verbs_sniffer;

/* Starts the capture. -ENODEV: no such RDMA device; -EOPNOTSUPP and others: not supported. */
int verbs_sniffer_open(struct verbs_sniffer **ret, const char *rdma_device, struct err *);
void verbs_sniffer_close(struct verbs_sniffer *);
/* Like packet_socket_next(). time_ns is the time at which we polled the packet. */
int verbs_sniffer_next(struct verbs_sniffer *, int wait_ms, sniffed_fn *, void *arg, struct err *);
