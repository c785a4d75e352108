/* SPDX-License-Identifier: Apache-2.0 */
/* packet_view.h - views of the watched ports. Private to packet_ports.c and packet_view.c. */
#pragma once

#include "packet_port.h"
#include "packet_ports.h"

/* A program attached to an interface, kept while the list or a view refers to it. Only the loop's
 * thread changes it; other threads read through fd. */
struct attached {
	struct packet_port_fd *fd;
	uint64_t memory;
	int result; /* of detaching it */
	unsigned refs;
	struct attached *next; /* in the list of programs to detach */
};

struct packet_view {
	struct packet_ports *owner;
	struct packet_port *ports;
	struct attached **attached; /* NULL: not watched */
	size_t n;
};

/* Creates a view with a copy of the ports; the caller fills in `attached`. NULL: out of memory. */
struct packet_view *packet_view_new(struct packet_ports *owner, const struct packet_port *,
				    size_t n);
void packet_view_free(struct packet_view *);
