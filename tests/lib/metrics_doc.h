/* SPDX-License-Identifier: Apache-2.0 */
/* metrics_doc.h - generates docs/reference/metrics.md with every family of the daemon, from the
 * same tables as the metrics page. Pure. */
#pragma once

#include <stdio.h>

void metrics_doc(FILE *);

/* The prose around the tables, in metrics_doc_text.c. */
extern const char metrics_doc_conventions[];
extern const char metrics_doc_packets[];
extern const char metrics_doc_vendors[];
extern const char metrics_doc_queries[];
