/* netns_announce.h - frames that tell the neighbours on an Ethernet who has an address now, and
 * that ask them. netns_announce() and netns_probe() (netns.h) send them.
 *
 * IPv4: an ARP announcement (RFC 5227, section 3), a request for the address that names it as the
 * sender's, too. IPv6: an unsolicited neighbour advertisement (RFC 4861, sections 4.4 and 7.2.6) to
 * all nodes, with the override flag and the link-layer address.
 *
 * A probe names no sender's address, so that it changes no neighbour's table. IPv4: an ARP probe
 * (RFC 5227, section 2.1.1). IPv6: a solicitation from :: (RFC 4862, section 5.4.2). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attachment.h"

#define ANNOUNCE_FRAME_MAX 86

/* Pure. Returns the frame's length, 0 for another family. Networks pad what is shorter than 60
 * bytes. */
size_t announce_frame(const uint8_t mac[6], const struct ip_prefix *,
		      uint8_t ret[ANNOUNCE_FRAME_MAX]);
size_t probe_frame(const uint8_t mac[6], const struct ip_prefix *, uint8_t ret[ANNOUNCE_FRAME_MAX]);
/* A frame of another station says that it has the address: any ARP packet with that sender (RFC
 * 5227, section 2.1.1), or an advertisement of it. ret_mac: of that station, as it says. */
bool probe_is_answered(const uint8_t *frame, size_t len, const uint8_t mac[6],
		       const struct ip_prefix *, uint8_t ret_mac[6]);
