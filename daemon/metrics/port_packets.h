/* SPDX-License-Identifier: Apache-2.0 */
/* port_packets.h - BPF's counters for soft-RoCE ports as input of the diagnosis: congestion marks,
 * CNPs and NAKs from the packets on their netdevs; timers and wrong ICRCs from kernel functions.
 * Pure.
 *
 * Only for soft-RoCE, because all its traffic passes through the kernel, while that of a NIC does
 * not. Values are unknown if no program is attached, or if it did not count packets that are known
 * to have passed. */
#pragma once

#include "event_series.h"
#include "observation.h"
#include "packet_sample.h"

/* Sets the ports' values and sources of bytes. Call before the device's own readings are set, which
 * replace these. NULL: packets, or events, are not counted. */
void port_packets_set(struct port_observation *ports, size_t n_ports, const struct packet_sample *,
		      const struct event_summary *);
