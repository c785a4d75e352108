/* ipam_needs.h - which program an "ipam" object names and what it may do on the host. Pure.
 *
 *   {"type": "dhcp", .., "needs": {"network": "host", "capabilities": ["NET_RAW"],
 *                                  "write": ["/run/cni"]}}
 * Only a pool's is read, or an order of root's. "needs" is not the plugin's. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "err.h"

#define IPAM_TYPE_SIZE	64
#define IPAM_WRITE_MAX	4
#define IPAM_FOLDER_MAX 256

struct json_t;

struct ipam_needs {
	char type[IPAM_TYPE_SIZE]; /* a plain file name */
	bool host_network;
	uint64_t capabilities; /* bits by CAP_NET_ADMIN .. of linux/capability.h */
	/* Absolute, without "..": "write", and host-local's "dataDir". */
	char write[IPAM_WRITE_MAX + 1][IPAM_FOLDER_MAX];
	unsigned n_write;
	/* A folder of "write" may have a service's socket in it; leases have none. */
	bool unix_sockets;
};

/* -EINVAL: a sentence that begins with the key in question; *ret is untouched then. */
int ipam_needs_read(struct ipam_needs *ret, const struct json_t *ipam, struct err *);
