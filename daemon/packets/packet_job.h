/* SPDX-License-Identifier: Apache-2.0 */
/* packet_job.h - attaches a counting program to one port: the worker's part of packet_ports.c.
 * Synchronous; does not log. */
#pragma once

#include "hw.h"
#include "packet_plan.h"
#include "packet_port.h"

struct packet_job {
	const struct hw *hw;
	struct packet_wanted want;
	uint64_t room; /* number of bytes left for its maps */
	bool no_flows; /* its flow table is known to exceed the room, so it is not tried */

	/* Results. result 0: fd is attached; err has a message if the flow table was omitted.
	 * Otherwise fd is NULL and err is the reason; -ESTALE: the namespace was removed; -ENODEV:
	 * the interface was removed. */
	int result;
	struct packet_port_fd *fd;
	enum packet_hook hook;
	uint32_t flows;
	uint64_t memory;
	uint64_t needs; /* minimum of bytes that it needs, if measured; else 0 */
	uint64_t needs_with_flows;
	struct err err;
};

void packet_job_attach(struct packet_job *);
