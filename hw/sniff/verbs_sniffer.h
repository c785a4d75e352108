/* verbs_sniffer.h - RoCE packets of a NIC that carries RoCE in hardware: a raw packet queue pair
 * and a flow rule of type sniffer, which copies what its first port sends and receives
 * (ibv_create_flow(3); mlx5 has it). Needs CAP_NET_RAW. The copies share the NIC's way to the
 * host's memory with the traffic itself: for seconds, not for good. */
#pragma once

#include "err.h"
#include "sniffed.h"

struct verbs_sniffer;

/* -ENODEV: no such RDMA device here; -EOPNOTSUPP and others: it cannot. */
int verbs_sniffer_open(struct verbs_sniffer **ret, const char *rdma_device, struct err *);
void verbs_sniffer_close(struct verbs_sniffer *);
/* As packet_socket_next(). Times are ours, of when the packet was taken up. */
int verbs_sniffer_next(struct verbs_sniffer *, int wait_ms, sniffed_fn *, void *arg, struct err *);
