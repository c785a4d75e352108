/* port_packets.h - what BPF tells diagnosis of soft-RoCE ports: congestion marks, notifications and
 * refusals from the packets that pass their netdevs, timers and wrong ICRCs from the kernel's
 * functions. Pure.
 *
 * Of soft-RoCE only: all that its ports send and receive passes the kernel, of a NIC what does is
 * no measure. Where nobody looks, or nothing is seen of packets that are known to have passed, all
 * of it is unknown. */
#pragma once

#include "event_series.h"
#include "observation.h"
#include "packet_sample.h"

/* Into the ports' values and sources of bytes, before the device's own readings, which take the
 * place of whatever they tell, too. NULL: nobody counts packets, or events. */
void port_packets_tell(struct port_observation *ports, size_t n_ports, const struct packet_sample *,
		       const struct event_summary *);
