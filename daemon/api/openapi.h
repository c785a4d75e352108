/* SPDX-License-Identifier: Apache-2.0 */
/* openapi.h - the API as an OpenAPI 3.1 document, generated from the table of routes and the types
 * in schema.h. Pure. */
#pragma once

#include <stddef.h>

/* Heap, terminated; NULL if out of memory. */
char *openapi_text(size_t *ret_len);
