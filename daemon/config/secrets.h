/* secrets.h - what must not leave the node with a support bundle or the API: known by what it is
 * called, and then taken out wherever it stands. Pure.
 *
 * Called so is what a key names: password, secret, token, credential, key ... (not a partition
 * key), the value beside such a name ({"name": "DB_PASSWORD", "value": ...}), and what follows such
 * an option in a list. Besides, whatever it is called: the user of a URL, what follows Bearer and
 * Basic, and PEM. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define SECRET_MASK "(masked)"

/* Those that were found; zero-initialised: none yet. */
struct secrets {
	char **values;
	size_t n;
};

void secrets_done(struct secrets *);
bool secret_name(const char *name, size_t len);
/* Masks in place what keys name, also within strings that are JSON themselves, and remembers what
 * it was. -ENOMEM. */
int secrets_learn(struct secrets *, json_t *document);
/* Masks in place, in all strings, those remembered and what is told by its own form. -ENOMEM. */
int secrets_scrub(const struct secrets *, json_t *document);
/* The same of a text, also "password=x" and "token: x" in it. Heap, NULL when out of memory. */
char *secrets_scrub_text(const struct secrets *, const char *text);
