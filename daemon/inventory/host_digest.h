/* SPDX-License-Identifier: Apache-2.0 */
/* host_digest.h - a 64-bit hash of everything in a struct host that a reader can see. Pure. */
#pragma once

#include <stdint.h>

#include "model.h"

/* Returns the digest of a host. Equal hosts (same values in the same order) have equal digests;
 * different hosts have equal digests with a probability of about 2^-64. */
uint64_t host_digest(const struct host *);
