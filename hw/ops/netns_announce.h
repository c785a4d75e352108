/* netns_announce.h - frames that tell the neighbours on an Ethernet who has an address now.
 * netns_announce() (netns.h) sends them.
 *
 * IPv4: an ARP announcement (RFC 5227, section 3), a request for the address that names it as the
 * sender's, too. IPv6: an unsolicited neighbour advertisement (RFC 4861, sections 4.4 and 7.2.6) to
 * all nodes, with the override flag and the link-layer address. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "attachment.h"

#define ANNOUNCE_FRAME_MAX 86

/* Pure. Returns the frame's length, 0 for another family. Networks pad what is shorter than 60
 * bytes. */
size_t announce_frame(const uint8_t mac[6], const struct ip_prefix *,
		      uint8_t ret[ANNOUNCE_FRAME_MAX]);
