/* SPDX-License-Identifier: Apache-2.0 */
/* frame.h - converts a captured packet of any supported link type to the decoder's input. Pure.
 * Sources: tcpdump.org/linktypes/LINKTYPE_LINUX_SLL.html, LINKTYPE_LINUX_SLL2.html. */
#pragma once

#include <netinet/in.h>

#include "capture_file.h"
#include "roce_decode.h"

bool link_is_known(uint32_t link);
/* Returns the name of an unsupported link type (tcpdump.org/linktypes.html), without LINKTYPE_; ""
 * for a rare one. */
const char *link_name(uint32_t link);
/* Converts a packet. False: an unsupported link type, or the header is truncated. *ret borrows the
 * packet's bytes; *ret_bytes: the size of an Ethernet frame with the same payload. */
bool frame_of(struct roce_frame *ret, uint32_t *ret_bytes, const struct capture_packet *);

/* --- ICRC ------------------------------------------------------------------------------------- */

/* The invariant CRC at the end of a RoCE packet is the CRC-32 of 8 bytes of ones instead of the
 * link header, then everything from the network header on, with the fields that routers change set
 * to ones: TOS, TTL and checksum of IPv4; traffic class, flow label and hop limit of IPv6 and of a
 * GRH; the UDP checksum; byte 4 of the BTH. It is stored least significant byte first. Sources:
 * IBTA volume 1, 7.8.1; annex A17.3; linux/drivers/infiniband/sw/rxe/rxe_icrc.c. */

enum icrc_verdict {
	ICRC_GOOD,
	ICRC_BAD,
	ICRC_UNVERIFIABLE, /* truncated; or with IP options, for which no ICRC is defined */
	N_ICRC_VERDICTS
};

/* Checks the ICRC of a packet that was decoded as ROCE_PACKET. Pure. */
enum icrc_verdict icrc_check(const struct roce_frame *, const struct roce_packet *);

/* --- names of a RoCE packet's values, as used in JSON ----------------------------------------- */

/* transport: enum roce_transport, or another number below 8. */
const char *roce_transport_name(unsigned transport);
const char *roce_op_name(enum roce_op);
/* Returns "ack", "rnrNak", "sequenceNak" and so on, or "other". */
const char *roce_syndrome_name(enum roce_syndrome);
/* Returns a name for the two low bits of a traffic class: "notEct", "ect1", "ect0", "ce". */
const char *roce_ecn_name(unsigned ecn);
/* Prints an address, ::ffff:a.b.c.d as IPv4. */
void roce_address_text(const uint8_t address[16], char ret[INET6_ADDRSTRLEN]);
