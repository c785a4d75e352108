/* SPDX-License-Identifier: Apache-2.0 */
/* netdev_state.h - detects changes of netdev state that is not restored by value: a keyed digest of
 * each part of the state. Pure.
 *
 * Two snapshots with the same key can be compared. The key is secret, so that a pod cannot craft a
 * different state with the same digest. State that a move to another namespace resets anyway is
 * left out: addresses, neighbours, routes, sysctls, queueing disciplines, address lists
 * (linux/net/core/dev.c, __dev_change_net_namespace()). */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Each section: its key in the journal, and its name in messages. */
/* clang-format off */
#define NETDEV_SECTIONS(X) \
	/* RTM_GETLINK; attributes without a section of their own are in LINK. */ \
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

#define STATE_UNKNOWN 0 /* could not be read */
/* Read, and nothing is set. */
#define STATE_UNSET   1

struct netdev_state {
	uint64_t key[2]; /* 0, 0: no snapshot was taken */
	uint64_t digest[N_NETDEV_SECTIONS];
};

/* Begins a snapshot: keeps the key, resets the digests. */
void netdev_state_begin(struct netdev_state *);
/* Adds an item to the digest of a section; the order matters. A section without items is
 * STATE_UNSET, which differs from unknown. */
void netdev_state_add(struct netdev_state *, enum netdev_section, uint32_t what, const void *bytes,
		      size_t len);
/* Marks the section as unreadable, whatever was added before. */
void netdev_state_unknown(struct netdev_state *, enum netdev_section);

/* Returns the changed sections as bits. *ret_unknown: sections unknown in either snapshot, and XPS
 * if it was unset before, since some drivers set it when the netdev is first used. */
uint32_t netdev_state_differ(const struct netdev_state *was, const struct netdev_state *is,
			     uint32_t *ret_unknown);
/* Formats the names of the sections: "an XDP program, rings". */
void netdev_sections_text(uint32_t sections, char *text, size_t size);
