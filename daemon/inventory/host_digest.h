/* host_digest.h - one number for everything that a reader of a struct host can see. Pure. */
#pragma once

#include <stdint.h>

#include "model.h"

/* Equal hosts (same values in the same order) have equal digests; different ones differ, but for a
 * chance of 1 in 2^64. */
uint64_t host_digest(const struct host *);
