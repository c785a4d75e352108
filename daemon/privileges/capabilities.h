/* SPDX-License-Identifier: Apache-2.0 */
/* capabilities.h - defines the capabilities that the daemon needs, and what does not work without
 * each. Pure. One table defines the capabilities that the daemon keeps and reports as missing.
 * Tests compare SECURITY.md and the manifests with it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Functions of the daemon; bits. */
enum capability_use {
	USE_OBSERVE = 1,	/* inventory and counters */
	USE_BPF = 2,		/* BPF programs, unless --no-bpf */
	USE_ATTACH = 4,		/* attach devices to pods and return them */
	USE_SOFT_ROCE = 8,	/* soft-RoCE devices with device nodes of their own */
	USE_IPAM = 16,		/* CNI's IPAM plugins, in a sandbox */
	USE_LOW_PORT = 32,	/* --listen on a port below 1024 */
	USE_PLUGIN_PORTS = 128, /* IPAM plugins that need ports below 1024 */
	USE_INSIDE = 64,	/* inspect pods' namespaces from inside */
};

struct capability_row {
	const char *name;    /* "CAP_NET_ADMIN" */
	unsigned capability; /* linux/capability.h */
	enum capability_use use;
	bool fatal; /* a requested function is impossible without it: the daemon is not ready */
	const char *stops; /* what does not work without it: a clause without a full stop */
	uint64_t covered;  /* bits of other capabilities, each of which is sufficient instead */
};

extern const struct capability_row capability_table[];
extern const size_t n_capability_rows;

/* Returns all capabilities of these uses, as bits by CAP_CHOWN .. of linux/capability.h. */
uint64_t capabilities_for(unsigned uses);
/* Returns the minimal set: without capabilities that others of the set cover. */
uint64_t capabilities_least(unsigned uses);

/* A capability that is missing. */
struct missing_capability {
	const char *name;
	bool fatal;
	char stops[512]; /* what does not work without it: for all uses, "a; b" */
};

#define MISSING_CAPABILITIES_MAX 16

/* Lists the capabilities that these uses need and that are not in `have`, in the table's order.
 * Returns their number, at most MISSING_CAPABILITIES_MAX. */
size_t capabilities_missing(unsigned uses, uint64_t have,
			    struct missing_capability ret[MISSING_CAPABILITIES_MAX]);
