/* ctl_document.h - a document as it is printed: JSON or YAML (YAML 1.2, of which JSON is a part),
 * in characters that no terminal takes for a command. Pure. */
#pragma once

#include <jansson.h>
#include <stdio.h>

/* format: "json" or "yaml". 0, or -ENOMEM. */
int ctl_document_put(const json_t *, const char *format, FILE *);
/* One line of JSON. */
int ctl_document_line(const json_t *, FILE *);
