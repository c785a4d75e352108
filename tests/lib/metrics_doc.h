/* metrics_doc.h - docs/reference/metrics.md: every family the daemon can publish, from the tables
 * that make the page, so that the two cannot differ. Pure. */
#pragma once

#include <stdio.h>

void metrics_doc(FILE *);

/* The prose around the tables, in metrics_doc_text.c. */
extern const char metrics_doc_conventions[];
extern const char metrics_doc_packets[];
extern const char metrics_doc_vendors[];
extern const char metrics_doc_queries[];
