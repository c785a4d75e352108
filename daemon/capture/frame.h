/* frame.h - a captured packet as the decoder takes it, whatever link it was captured on. Pure.
 * Sources: tcpdump.org/linktypes/LINKTYPE_LINUX_SLL.html, LINKTYPE_LINUX_SLL2.html. */
#pragma once

#include "capture_file.h"
#include "roce_decode.h"

bool link_is_known(uint32_t link);
/* What the type of a link that is not known here is called (tcpdump.org/linktypes.html), without
 * LINKTYPE_; "" for one that hardly anybody captures. */
const char *link_name(uint32_t link);
/* False: a link of another kind, or not even its header is here. *ret borrows the packet's bytes;
 * *ret_bytes: as many as an Ethernet frame with the same payload has. */
bool frame_of(struct roce_frame *ret, uint32_t *ret_bytes, const struct capture_packet *);

/* --- ICRC ------------------------------------------------------------------------------------- */

/* The invariant CRC at the end of a RoCE packet. Pure.
 *
 * CRC-32 of 8 bytes of ones in place of the link header, then from the network header on with the
 * fields as ones that routers change: TOS, TTL and checksum of IPv4; traffic class, flow label and
 * hop limit of IPv6 and of a GRH; UDP's checksum; byte 4 of the BTH. Its least significant byte
 * comes first. Sources: IBTA volume 1, 7.8.1; annex A17.3;
 * linux/drivers/infiniband/sw/rxe/rxe_icrc.c.
 */

enum icrc_verdict {
	ICRC_GOOD,
	ICRC_BAD,
	ICRC_UNVERIFIABLE, /* not whole here; or with IP options, for which the rule has no word */
	N_ICRC_VERDICTS
};

/* Of what was decoded as ROCE_PACKET. */
enum icrc_verdict icrc_check(const struct roce_frame *, const struct roce_packet *);
