/* SPDX-License-Identifier: Apache-2.0 */
/* ctl_words.h - what the words mean that lists print as CAUSES and that are no causes of verdicts:
 * troubles of a device, its attachment, its link and its resource. Pure. */
#pragma once

#include <stddef.h>

struct ctl_word {
	const char *word;     /* as `word` of a trouble */
	const char *kind;     /* as `kind` of a trouble */
	const char *severity; /* text */
	const char *sentence, *advice;
};

/* NULL: no such trouble. Static. */
const struct ctl_word *ctl_word_find(const char *word);
/* The i-th; NULL: there are no more. */
const struct ctl_word *ctl_word(size_t i);
