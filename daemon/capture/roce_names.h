/* SPDX-License-Identifier: Apache-2.0 */
/* roce_names.h - names of a RoCE packet's values, as used in JSON. Pure. */
#pragma once

#include <netinet/in.h>

#include "roce_decode.h"

/* transport: enum roce_transport, or another number below 8. */
const char *roce_transport_name(unsigned transport);
const char *roce_op_name(enum roce_op);
/* "ack", "rnrNak", "sequenceNak", ..., "other" */
const char *roce_syndrome_name(enum roce_syndrome);
/* For the two low bits of a traffic class: "notEct", "ect1", "ect0", "ce". */
const char *roce_ecn_name(unsigned ecn);
/* Prints ::ffff:a.b.c.d as IPv4. */
void roce_address_text(const uint8_t address[16], char ret[INET6_ADDRSTRLEN]);
