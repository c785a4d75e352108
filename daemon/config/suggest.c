// SPDX-License-Identifier: Apache-2.0
/* suggest.c - counts the edits between two words (optimal string alignment: swapping two neighbours
 * is one edit), with three rows. Words longer than WORD_MAX never match. */
#include "suggest.h"

#include <string.h>

#define WORD_MAX 64

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
	unsigned ab = a < b ? a : b;

	return ab < c ? ab : c;
}

static unsigned edit_distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
	unsigned rows[3][WORD_MAX + 1]; /* of i % 3 letters of a */

	for (size_t j = 0; j <= b_len; j++)
		rows[0][j] = (unsigned)j;
	for (size_t i = 1; i <= a_len; i++) {
		unsigned *row = rows[i % 3];
		const unsigned *above = rows[(i - 1) % 3], *two_above = rows[(i + 1) % 3];

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= b_len; j++) {
			row[j] = min3(above[j] + 1, row[j - 1] + 1,
				      above[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    two_above[j - 2] + 1 < row[j])
				row[j] = two_above[j - 2] + 1;
		}
	}
	return rows[a_len % 3][b_len];
}

const char *suggest(const char *word, size_t len, const char *const *known, size_t n)
{
	unsigned best = (unsigned)len / 3 + 1;
	const char *found = NULL;

	if (len > WORD_MAX)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		size_t known_len = strlen(known[i]);
		unsigned d;

		if (known_len > WORD_MAX)
			continue;
		d = edit_distance(word, len, known[i], known_len);
		if (d < best) {
			best = d;
			found = known[i];
		}
	}
	return found;
}
