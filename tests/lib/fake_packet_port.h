/* SPDX-License-Identifier: Apache-2.0 */
/* fake_packet_port.h - packet programs without BPF: the test decides what can be attached and what
 * is counted. The linker redirects the calls of packet_port.h here (--wrap, see the Makefile). */
#pragma once

#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "packet_port.h"

struct fake_packet_ports {
	int failure;		 /* of packet_port_open(), negative; 0 = none */
	int failing_ifindex;	 /* fail for this interface only; 0 = for all */
	int read_failure;	 /* of packet_port_read() */
	uint64_t memory;	 /* of each port, without flows */
	uint64_t memory_by_flow; /* and for each of them */
	unsigned n_flows;	 /* in each table */
	struct roce_counts counts[N_ROCE_DIRECTIONS];
	bool held; /* packet_port_open() waits for `go` and posts `entered` before */
	sem_t entered, go;

	/* What was called; written by workers. */
	atomic_uint opened, open, tried;
	atomic_int last_ifindex;
	atomic_bool in_namespace; /* the last one was given a namespace */
};

/* NULL: call the real functions. */
extern struct fake_packet_ports *fake_packet_ports;
