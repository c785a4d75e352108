/* roce_names.h - words for what a RoCE packet says, as documents have them. Pure. */
#pragma once

#include <netinet/in.h>

#include "roce_decode.h"

const char *roce_transport_name(unsigned transport); /* enum roce_transport, or another below 8 */
const char *roce_op_name(enum roce_op);
/* "ack", "rnrNak", "sequenceNak", ..., "other" */
const char *roce_syndrome_name(enum roce_syndrome);
/* "notEct", "ect1", "ect0", "ce", of the two low bits of a traffic class. */
const char *roce_ecn_name(unsigned ecn);
/* IPv4 where the address is ::ffff:a.b.c.d. */
void roce_address_text(const uint8_t address[16], char ret[INET6_ADDRSTRLEN]);
