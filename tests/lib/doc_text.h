/* SPDX-License-Identifier: Apache-2.0 */
/* doc_text.h - wraps prose of generated Markdown to lines of at most 100 columns. Pure. */
#pragma once

#include <stdio.h>

#define DOC_COLUMNS 100

/* Fills paragraphs and list items ("* ", "> "), which end at a blank line or where the next one
 * begins; a word, a code span or a link is never broken. Headings, tables and fenced code are
 * copied unchanged. */
void doc_put(FILE *, const char *markdown);
