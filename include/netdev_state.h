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

/* Each part: its key in the journal, and what people call it. */
/* clang-format off */
#define NETDEV_SECTIONS(X) \
	/* RTM_GETLINK; all of it that has no row of its own is LINK. */ \
	X(LINK, link, "link attributes"), \
	X(FLAGS, flags, "flags"), \
	X(LINK_MODE, link_mode, "link mode"), \
	X(GROUP, group, "group"), \
	X(QUEUE_LENGTH, queue_length, "queue length"), \
	X(LIMITS, limits, "GSO and GRO limits"), \
	X(LISTENERS, listeners, "promiscuous listeners"), \
	X(XDP, xdp, "XDP program"), \
	/* BPF_PROG_QUERY */ \
	X(TCX, tcx, "tcx program"), \
	/* ethtool */ \
	X(OFFLOADS, offloads, "offloads"), \
	X(RINGS, rings, "rings"), \
	X(COALESCING, coalescing, "coalescing"), \
	X(CHANNELS, channels, "channels"), \
	X(MESSAGES, messages, "message level"), \
	X(WAKE, wake, "wake on LAN"), \
	X(PRIVATE_FLAGS, private_flags, "private flags"), \
	X(PAUSE, pause, "pause frames"), \
	X(EEE, eee, "EEE"), \
	X(FEC, fec, "FEC"), \
	X(RSS, rss, "RSS"), \
	X(RULES, rules, "flow rules"), \
	X(TIMESTAMPS, timestamps, "time stamping"), \
	/* netdev netlink, sysfs */ \
	X(NAPI, napi, "NAPI settings"), \
	X(RPS, rps, "RPS"), \
	X(XPS, xps, "XPS"), \
	X(QUEUES, queues, "queue settings")
/* clang-format on */

#define NETDEV_SECTION_ID(id, ...) STATE_##id
enum netdev_section { NETDEV_SECTIONS(NETDEV_SECTION_ID), N_NETDEV_SECTIONS };

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
