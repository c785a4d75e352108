/* SPDX-License-Identifier: Apache-2.0 */
/* secrets.h - masks secrets that must not leave the node with a support bundle or the API:
 * recognised by their names, then masked wherever they occur. Pure.
 *
 * A secret's name is a key: password, secret, token, credential, key ... (not a partition key), or
 * a "name" next to the value ({"name": "DB_PASSWORD", "value": ...}), or an option before it in a
 * list. These need no name: user and password in a URL, the word after Bearer and Basic, and PEM.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define SECRET_MASK "(masked)"

/* The secrets found; zero-initialised: none yet. */
struct secrets {
	char **values;
	size_t n;
};

void secrets_done(struct secrets *);
bool secret_name(const char *name, size_t len);
/* Masks named secrets in place, also inside strings that are JSON, and remembers their values.
 * -ENOMEM. */
int secrets_learn(struct secrets *, json_t *document);
/* Masks in place, in all strings, the remembered values and secrets recognised by their form.
 * -ENOMEM. */
int secrets_scrub(const struct secrets *, json_t *document);
/* As secrets_scrub(), for a text, including "password=x" and "token: x". On the heap, NULL when out
 * of memory. */
char *secrets_scrub_text(const struct secrets *, const char *text);
