/* SPDX-License-Identifier: Apache-2.0 */
/* listen_address.h - the address of a TCP listener as text. Pure. */
#pragma once

#include <stdbool.h>

#include "err.h"

struct listen_address {
	char host[64]; /* numeric; "" = all addresses */
	unsigned port; /* 0 = any free one */
};

/* Parses "ADDR:PORT", "[V6]:PORT" or ":PORT". False: not of that form, *ret untouched. Does not
 * check whether ADDR is an address. */
bool listen_address_parse(const char *s, struct listen_address *ret);

/* Like listen_address_parse(), but ADDR must be numeric. Returns 0, or -EINVAL with a message. */
int listen_address_read(const char *s, struct listen_address *ret, struct err *);
