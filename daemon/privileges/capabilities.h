/* capabilities.h - which capabilities the daemon has a use for, and what stops without each. Pure.
 *
 * One table: it is what the daemon keeps, what it names when it was not given it, and what
 * SECURITY.md and the manifests are compared with. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What can be wanted of a daemon; bits. */
enum capability_use {
	USE_OBSERVE = 1,	/* inventory and counters */
	USE_BPF = 2,		/* programs, unless --no-bpf */
	USE_ATTACH = 4,		/* devices into pods and back */
	USE_SOFT_ROCE = 8,	/* with device nodes of their own */
	USE_IPAM = 16,		/* CNI's address plugins, in a cage */
	USE_LOW_PORT = 32,	/* --listen on a port below 1024 */
	USE_PLUGIN_PORTS = 128, /* IPAM plugins that need them low */
	USE_INSIDE = 64, /* looks from inside pods' namespaces at what cannot be seen from here */
};

struct capability_row {
	const char *name;    /* "CAP_NET_ADMIN" */
	unsigned capability; /* linux/capability.h */
	enum capability_use use;
	bool fatal;	   /* what is asked of the daemon cannot be done at all: not ready */
	const char *stops; /* without it: a clause without a full stop */
	uint64_t covered;  /* bits of others, any of which does as well */
};

extern const struct capability_row capability_table[];
extern const size_t n_capability_rows;

/* Bits by CAP_CHOWN .. of linux/capability.h: all that can be of use. */
uint64_t capabilities_for(unsigned uses);
/* Without those that others among them cover: what is to be given. */
uint64_t capabilities_least(unsigned uses);

/* A capability that is missing. */
struct capability_lack {
	const char *name;
	bool fatal;
	char stops[512]; /* of all uses, "a; b" */
};

#define CAPABILITY_LACKS_MAX 16

/* What these uses want and `have` has not, in the table's order; at most CAPABILITY_LACKS_MAX. */
size_t capabilities_lacking(unsigned uses, uint64_t have,
			    struct capability_lack ret[CAPABILITY_LACKS_MAX]);
