/* api.h - the JSON documents of /api/v1. Pure: model values in, text out. */
#pragma once

#include <stddef.h>

#include "model.h"

/* The document of /api/v1/devices, heap, NULL when out of memory; *ret_len without the terminator.
 */
char *api_devices(const struct host *, uint64_t generation, size_t *ret_len);
