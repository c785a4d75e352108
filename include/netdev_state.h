/* netdev_state.h - what a netdev is like beyond what is put back by value: a keyed digest of each
 * part of its state. Pure.
 *
 * Two looks with the same key can be compared; the key is secret, so that whoever had the netdev
 * between them cannot make another state look the same. What a move to another namespace makes anew
 * is not part of it: addresses, neighbours, routes, sysctls, queueing disciplines, lists of
 * addresses (linux/net/core/dev.c, __dev_change_net_namespace()). */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum netdev_section {
	/* RTM_GETLINK; all of it that has no name of its own is STATE_LINK. */
	STATE_LINK,
	STATE_FLAGS,
	STATE_LINK_MODE,
	STATE_GROUP,
	STATE_QUEUE_LENGTH,
	STATE_LIMITS,
	STATE_LISTENERS,
	STATE_XDP,
	/* BPF_PROG_QUERY */
	STATE_TCX,
	/* ethtool */
	STATE_OFFLOADS,
	STATE_RINGS,
	STATE_COALESCING,
	STATE_CHANNELS,
	STATE_MESSAGES,
	STATE_WAKE,
	STATE_PRIVATE_FLAGS,
	STATE_PAUSE,
	STATE_EEE,
	STATE_FEC,
	STATE_RSS,
	STATE_RULES,
	STATE_TIMESTAMPS,
	/* netdev netlink, sysfs */
	STATE_NAPI,
	STATE_RPS,
	STATE_XPS,
	STATE_QUEUES,
	N_NETDEV_SECTIONS
};

#define STATE_UNKNOWN 0 /* nobody could look */
/* Nobody has set it. */
#define STATE_UNSET   1

struct netdev_state {
	uint64_t key[2]; /* 0, 0: nobody has looked */
	uint64_t digest[N_NETDEV_SECTIONS];
};

/* Begins a look: the key stays. */
void netdev_state_begin(struct netdev_state *);
/* Something of that section is so; the order counts. A section to which nothing is added is as
 * unlike an unknown one as another. */
void netdev_state_add(struct netdev_state *, enum netdev_section, uint32_t what, const void *bytes,
		      size_t len);
/* Nobody can tell it, whatever was added. */
void netdev_state_unknown(struct netdev_state *, enum netdev_section);

/* Sections that are not as they were, as bits; *ret_unknown: those of which one look or the other
 * says nothing, and XPS that was not set before: some drivers set it when their netdev is first
 * used. */
uint32_t netdev_state_differ(const struct netdev_state *was, const struct netdev_state *is,
			     uint32_t *ret_unknown);
/* "an XDP program, rings" */
void netdev_sections_text(uint32_t sections, char *text, size_t size);
