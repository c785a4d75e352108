/* SPDX-License-Identifier: Apache-2.0 */
/* netns_announce.h - Ethernet frames that announce or probe an address. netns_announce() and
 * netns_probe() (netns.h) send them.
 *
 * IPv4: an ARP announcement (RFC 5227, section 3), a request for the address with the same address
 * as sender. IPv6: an unsolicited neighbour advertisement (RFC 4861, sections 4.4 and 7.2.6) to
 * all nodes, with the override flag and the link-layer address.
 *
 * A probe has no sender address, so that it does not change neighbour tables. IPv4: an ARP probe
 * (RFC 5227, section 2.1.1). IPv6: a solicitation from :: (RFC 4862, section 5.4.2). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attachment.h"

#define ANNOUNCE_FRAME_MAX 86

/* Pure: build a frame. Return its length, 0 for another family. Drivers pad frames shorter than 60
 * bytes. */
size_t announce_frame(const uint8_t mac[6], const struct ip_prefix *,
		      uint8_t ret[ANNOUNCE_FRAME_MAX]);
size_t probe_frame(const uint8_t mac[6], const struct ip_prefix *, uint8_t ret[ANNOUNCE_FRAME_MAX]);
/* Whether a frame from another station claims the address: any ARP packet with it as sender (RFC
 * 5227, section 2.1.1), or an advertisement of it. ret_mac: the frame's source MAC. */
bool probe_is_answered(const uint8_t *frame, size_t len, const uint8_t mac[6],
		       const struct ip_prefix *, uint8_t ret_mac[6]);
