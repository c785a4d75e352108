/* SPDX-License-Identifier: Apache-2.0 */
/* ctl_document.h - prints a document as JSON or YAML (YAML 1.2, which includes JSON), in ASCII
 * without control characters. Pure. */
#pragma once

#include <jansson.h>
#include <stdio.h>

/* format: "json" or "yaml". 0, or -ENOMEM. */
int ctl_document_put(const json_t *, const char *format, FILE *);
/* Prints one line of JSON. 0, or -ENOMEM. */
int ctl_document_line(const json_t *, FILE *);
