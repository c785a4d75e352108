/* SPDX-License-Identifier: Apache-2.0 */
/* ipam_needs.h - parses the plugin and its permissions on the host from an "ipam" object. Pure,
 * except for ipam_plugin_find().
 *
 *   {"type": "dhcp", .., "needs": {"network": "host", "capabilities": ["NET_RAW"],
 *                                  "write": ["/run/cni"]}}
 * Only read from a pool, or from root's admin request. "needs" is not passed to the plugin. */
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
	uint64_t capabilities; /* bits 1 << CAP_* of linux/capability.h */
	/* Absolute, without "..": "write", and host-local's "dataDir". */
	char write[IPAM_WRITE_MAX + 1][IPAM_FOLDER_MAX];
	unsigned n_write;
	/* A folder of "write" may contain a service's socket; the leases of host-local need
	 * none. */
	bool unix_sockets;
};

/* Parses "needs". -EINVAL with a message that begins with the key; *ret is untouched then. */
int ipam_needs_read(struct ipam_needs *ret, const struct json_t *ipam, struct err *);
/* Returns the part of "needs" without which a plugin of that type never works, if it is missing:
 * JSON, without the outer braces; NULL = nothing is known to be missing. */
const char *ipam_needs_missing(const struct ipam_needs *);
/* Searches the folders (absolute paths, separated by ':') for the plugin's program, and writes the
 * first path found. May block as long as a folder's file system does, so not in the loop. Uses
 * neither malloc nor stdio. */
#define IPAM_PATH_SIZE 4096
bool ipam_plugin_find(char ret[IPAM_PATH_SIZE], const char *folders, const char *type);
/* Like ipam_plugin_find(), without the path. */
bool ipam_plugin_exists(const char *folders, const char *type);
