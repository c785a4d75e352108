/* icrc.h - the invariant CRC at the end of a RoCE packet. Pure.
 *
 * CRC-32 of 8 bytes of ones in place of the link header, then from the network header on with the
 * fields as ones that routers change: TOS, TTL and checksum of IPv4; traffic class, flow label and
 * hop limit of IPv6 and of a GRH; UDP's checksum; byte 4 of the BTH. Its least significant byte
 * comes first. Sources: IBTA volume 1, 7.8.1; annex A17.3;
 * linux/drivers/infiniband/sw/rxe/rxe_icrc.c.
 */
#pragma once

#include "roce_decode.h"

enum icrc_verdict {
	ICRC_GOOD,
	ICRC_BAD,
	ICRC_UNVERIFIABLE, /* not whole here; or with IP options, for which the rule has no word */
	N_ICRC_VERDICTS
};

/* Of what was decoded as ROCE_PACKET. */
enum icrc_verdict icrc_check(const struct roce_frame *, const struct roce_packet *);
