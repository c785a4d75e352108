// SPDX-License-Identifier: Apache-2.0
#include "secrets.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "array.h"
#include "cleanup.h"
#include "json_text.h"
#include "search.h"

/* Minimum length: a shorter value would be part of too many words. */
#define VALUE_MIN 4

void secrets_done(struct secrets *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->values[i]);
	free(s->values);
	*s = (struct secrets){0};
}

static bool secrets_has_word(const char *name, size_t len, const char *word)
{
	size_t n = strlen(word);

	for (size_t i = 0; i + n <= len; i++)
		if (strncasecmp(name + i, word, n) == 0)
			return true;
	return false;
}

/* True if the name ends with the word, such as "pass" and "db_pass", not "bypass". */
static bool ends_with_word(const char *name, size_t len, const char *word)
{
	size_t n = strlen(word);

	return len >= n && strncasecmp(name + len - n, word, n) == 0 &&
	       (len == n || !isalnum((unsigned char)name[len - n - 1]));
}

bool secret_name(const char *name, size_t len)
{
	static const char *const words[] = {"passw",	"passphrase", "secret",
					    "token",	"credential", "cookie",
					    "authoriz", "bearer",     "private"};
	static const char *const ends[] = {"pass", "pwd", "psk", "auth", "dsn"};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (secrets_has_word(name, len, words[i]))
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		if (ends_with_word(name, len, ends[i]))
			return true;
	return secrets_has_word(name, len, "key") && !secrets_has_word(name, len, "pkey");
}

/* --- named secrets ---------------------------------------------------------------------------- */

static bool secrets_is_known(const struct secrets *s, const char *value)
{
	return any_of(s->n, i, strcmp(s->values[i], value) == 0);
}

static int secrets_remember(struct secrets *s, const char *value)
{
	char **place;

	if (strlen(value) < VALUE_MIN || strcmp(value, SECRET_MASK) == 0 ||
	    secrets_is_known(s, value))
		return 0;
	place = array_push(s->values, s->n);
	if (!place)
		return -ENOMEM;
	*place = strdup(value);
	if (!*place) {
		s->n--;
		return -ENOMEM;
	}
	return 0;
}

/* Remembers all strings in the value. */
static int remember_all(struct secrets *s, json_t *value)
{
	const char *key;
	json_t *child;
	size_t i;
	int r = json_is_string(value) ? secrets_remember(s, json_string_value(value)) : 0;

	json_object_foreach (value, key, child) {
		r = r < 0 ? r : remember_all(s, child);
	}
	json_array_foreach (value, i, child) {
		r = r < 0 ? r : remember_all(s, child);
	}
	return r;
}

static bool holds_something(const json_t *v)
{
	return json_is_string(v) || json_is_number(v) || json_is_object(v) || json_is_array(v);
}

static int learn_string(struct secrets *s, json_t *string)
{
	/* Only an object or a list is parsed. */
	json_auto_t *inner = json_text_load(json_string_value(string), json_string_length(string),
					    0, NULL);
	AUTO_FREE char *text = NULL;
	int r = inner ? secrets_learn(s, inner) : 0;

	if (inner && r == 0) {
		text = json_dumps(inner, JSON_COMPACT);
		r = !text || json_string_set(string, text) < 0 ? -ENOMEM : 0;
	}
	return r;
}

/* True if this is the "value" next to the "name" of a secret. */
static bool secrets_is_named(json_t *object, const char *key)
{
	const char *name = json_string_value(json_object_get(object, "name"));

	return name && strcmp(key, "value") == 0 && secret_name(name, strlen(name));
}

/* True for a flag such as "--password", after which the next element is the secret. */
static bool names_next(const json_t *string)
{
	const char *s = json_string_value(string);

	return s && *s == '-' && !strchr(s, '=') && secret_name(s, strlen(s));
}

int secrets_learn(struct secrets *s, json_t *document)
{
	const char *key;
	json_t *child;
	void *next;
	size_t i;
	int r = json_is_string(document) ? learn_string(s, document) : 0;

	json_object_foreach_safe(document, next, key, child)
	{
		if (r < 0)
			return r;
		if (!holds_something(child) ||
		    !(secret_name(key, strlen(key)) || secrets_is_named(document, key))) {
			r = secrets_learn(s, child);
			continue;
		}
		r = remember_all(s, child);
		if (r == 0 && json_object_set_new(document, key, json_string(SECRET_MASK)) < 0)
			r = -ENOMEM;
	}
	json_array_foreach (document, i, child) {
		bool named = i > 0 && json_is_string(child) &&
			     names_next(json_array_get(document, i - 1));

		if (r == 0 && named)
			r = secrets_remember(s, json_string_value(child));
		if (r == 0)
			r = !named ? secrets_learn(s, child) : json_string_set(child, SECRET_MASK);
	}
	return r < 0 ? -ENOMEM : 0;
}

/* --- secrets in a text ------------------------------------------------------------------------ */

static size_t word_len(const char *at)
{
	size_t n = 0;

	while (isalnum((unsigned char)at[n]) || (at[n] && strchr("_-.", at[n])))
		n++;
	return n;
}

static size_t value_len(const char *at)
{
	if (strncmp(at, SECRET_MASK, strlen(SECRET_MASK)) == 0)
		return strlen(SECRET_MASK);
	return strcspn(at, " \t\r\n\"'\\,;&)}]");
}

/* Returns the length of the text between a name and its value: `": "`, `=`, `: Bearer `; 0 = no
 * value. */
static size_t lead_len(const char *at)
{
	size_t n = strspn(at, "\"'\\ ");

	if (at[n] != '=' && at[n] != ':')
		return 0;
	n++;
	n += strspn(at + n, "\"'\\ \t");
	if (strncasecmp(at + n, "Bearer ", 7) == 0)
		n += 7;
	else if (strncasecmp(at + n, "Basic ", 6) == 0)
		n += 6;
	return n;
}

/* Returns the length of a secret recognised by its form; 0 = none. *lead: length of the text before
 * it that is kept. */
static size_t formed_len(const char *at, size_t *lead)
{
	const char *end;
	size_t host;

	*lead = 0;
	if (strncmp(at, "-----BEGIN ", 11) == 0) {
		end = strstr(at, "-----END ");
		return end ? (size_t)(end - at) + strcspn(end, "\r\n\"") : strlen(at);
	}
	if (strncasecmp(at, "Bearer ", 7) == 0 || strncasecmp(at, "Basic ", 6) == 0) {
		*lead = strcspn(at, " ") + 1;
		return value_len(at + *lead);
	}
	if (strncmp(at, "://", 3) == 0) {
		*lead = 3;
		/* A password may contain a slash, so more than the user may be masked. */
		host = strcspn(at + 3, "/ \t\r\n\"'");
		if (!memchr(at + 3, '@', host) && memchr(at + 3, ':', host))
			host = strcspn(at + 3, " \t\r\n\"'");
		for (size_t i = host; i > 0; i--)
			if (at[2 + i] == '@')
				return i - 1;
	}
	return 0;
}

static size_t known_len(const struct secrets *s, const char *at)
{
	size_t longest = 0;

	for (size_t i = 0; i < s->n; i++) {
		size_t n = strlen(s->values[i]);

		if (n > longest && strncmp(at, s->values[i], n) == 0)
			longest = n;
	}
	return longest;
}

/* Prints the next character, or masks the secret that begins here; returns the length of the text
 * read. */
static size_t scrub_step(FILE *f, const struct secrets *s, const char *at, bool word_begins)
{
	size_t lead = 0, n = known_len(s, at);

	if (n == 0)
		n = formed_len(at, &lead);
	if (n == 0 && word_begins) {
		size_t word = word_len(at);

		lead = word && secret_name(at, word) ? lead_len(at + word) : 0;
		if (lead > 0) {
			lead += word;
			n = value_len(at + lead);
		}
	}
	if (n == 0) {
		fputc(*at, f);
		return 1;
	}
	fprintf(f, "%.*s" SECRET_MASK, (int)lead, at);
	return lead + n;
}

char *secrets_scrub_text(const struct secrets *s, const char *text)
{
	char *clean = NULL, before = ' ';
	size_t len;
	FILE *f = open_memstream(&clean, &len);

	if (!f)
		return NULL;
	while (*text) {
		text += scrub_step(f, s, text, !isalnum((unsigned char)before));
		before = text[-1];
	}
	if (fclose(f) == 0)
		return clean;
	free(clean);
	return NULL;
}

int secrets_scrub(const struct secrets *s, json_t *document)
{
	const char *key;
	json_t *child;
	size_t i;
	int r = 0;

	if (json_is_string(document)) {
		AUTO_FREE char *clean = secrets_scrub_text(s, json_string_value(document));

		return !clean || json_string_set(document, clean) < 0 ? -ENOMEM : 0;
	}
	json_object_foreach (document, key, child) {
		r = r < 0 ? r : secrets_scrub(s, child);
	}
	json_array_foreach (document, i, child) {
		r = r < 0 ? r : secrets_scrub(s, child);
	}
	return r;
}
