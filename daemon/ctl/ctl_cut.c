// SPDX-License-Identifier: Apache-2.0
#include "ctl_cut.h"

#include <string.h>

/* Longest last word that is kept whole: "-4", "-q4z7m", an ordinal or Kubernetes' random suffix, in
 * which the pods of a set differ. */
#define LAST_WORD_MAX 6
/* Number of characters that are kept of a longer last word. */
#define SUFFIX	      3

void ctl_cut_middle(char *text, size_t size, size_t width, size_t after, bool ascii)
{
	const char *mark = ascii ? "~" : "\u2026";
	size_t len = strlen(text), before, n = ascii ? 1 : sizeof("\u2026") - 1;

	if (len <= width || width == 0)
		return;
	after = after < width ? after : width - 1;
	before = width - 1 - after;
	if (before + n + after + 1 > size)
		return;
	memmove(text + before + n, text + len - after, after + 1);
	memcpy(text + before, mark, n);
}

void ctl_cut_pod(char *text, size_t size, size_t width, bool ascii)
{
	const char *dash = strrchr(text, '-');
	size_t word = dash ? strlen(dash) : 0;

	ctl_cut_middle(text, size, width, word > 0 && word <= LAST_WORD_MAX ? word : SUFFIX, ascii);
}
