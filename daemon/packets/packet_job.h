/* packet_job.h - attaching one port, from its name to a program that counts: what a worker does for
 * packet_ports.c. Synchronous, no log. */
#pragma once

#include "hw.h"
#include "packet_plan.h"
#include "packet_port.h"

struct packet_job {
	const struct hw *hw;
	struct packet_wanted want;
	uint64_t room; /* bytes that its maps may take */
	bool no_flows; /* its table of flows is known not to fit: do not try */

	/* The answer. result 0: fd is attached; err has a sentence if it does without its table of
	 * flows. Otherwise fd is NULL and err says why; -ESTALE: its namespace, -ENODEV: the
	 * interface is gone. */
	int result;
	struct packet_port_fd *fd;
	enum packet_hook hook;
	uint32_t flows;
	uint64_t memory;
	uint64_t needs; /* bytes that it takes at least, once that was measured; else 0 */
	uint64_t needs_with_flows;
	struct err err;
};

void packet_job_attach(struct packet_job *);
