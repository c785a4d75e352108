/* packet_view.h - what packet_ports.c shares with the reading of a view. For nobody else. */
#pragma once

#include "packet_port.h"
#include "packet_ports.h"

/* A program at an interface, as long as the list or a view needs it. Only the loop's thread counts
 * and changes it; others read through fd. */
struct attached {
	struct packet_port_fd *fd;
	uint64_t memory;
	int result; /* of detaching it */
	unsigned refs;
	struct attached *next; /* among those that are to be detached */
};

struct packet_view {
	struct packet_ports *owner;
	struct packet_port *ports;
	struct attached **attached; /* NULL: not watched */
	size_t n;
};

/* Copies the ports; attached is to be filled in. NULL: out of memory. */
struct packet_view *packet_view_new(struct packet_ports *owner, const struct packet_port *,
				    size_t n);
void packet_view_free(struct packet_view *);
