// SPDX-License-Identifier: Apache-2.0
/* pool_parse.c - messages with a place, and the readers shared by all grammars. */
#include "pool_parse.h"

#include <strings.h>

#include "array.h"
#include "cleanup.h"
#include "search.h"
#include "suggest.h"

#define WARNINGS_MAX 32
/* Maximum number of keys in a table. */
#define KEYS_MAX     64
/* Maximum number of keys listed in the message if none is similar to an unknown key. */
#define LISTED_MAX   12

/* Prints 'entry 2: routes: item 1: gw: '. */
static void describe_way(const struct json_place *at, char *text, size_t size)
{
	size_t n;

	if (!at)
		return;
	describe_way(at->up, text, size);
	n = strlen(text);
	if (at->key)
		snprintf(text + n, size - n, "%.60s: ", at->key);
	else
		snprintf(text + n, size - n, "%s %zu: ", at->up ? "item" : "entry", at->index + 1);
}

/* Prints 'line: "key": ' and for an element of a list also 'item 3: '. */
static void describe_line(const struct parse *p, const struct json_place *at, char *text,
			  size_t size)
{
	const struct json_place *named = at;
	size_t n = strlen(text);

	snprintf(text + n, size - n, "%u: ", json_line(p->text, p->len, at));
	while (named && !named->key)
		named = named->up;
	n = strlen(text);
	if (named)
		snprintf(text + n, size - n, "\"%.60s\": ", named->key);
	n = strlen(text);
	if (at && !at->key)
		snprintf(text + n, size - n, "item %zu: ", at->index + 1);
}

static void sentence_write(const struct parse *p, const struct json_place *at, const char *fmt,
			   va_list ap, char *text, size_t size)
{
	size_t n;

	snprintf(text, size, "%s:%s", p->file, p->text ? "" : " ");
	if (p->text)
		describe_line(p, at, text, size);
	else
		describe_way(at, text, size);
	n = strlen(text);
	vsnprintf(text + n, size - n, fmt, ap);
	text_printable(text);
}

void parse_sentence(const struct parse *p, const struct json_place *at, char *ret, size_t size,
		    const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	sentence_write(p, at, fmt, ap, ret, size);
	va_end(ap);
}

int parse_fail(struct parse *p, const struct json_place *at, const char *fmt, ...)
{
	char text[sizeof(((struct err *)0)->msg)];
	va_list ap;

	va_start(ap, fmt);
	sentence_write(p, at, fmt, ap, text, sizeof(text));
	va_end(ap);
	return err_set(p->err, -EINVAL, "%s", text);
}

int parse_no_memory(struct parse *p)
{
	return err_set(p->err, -ENOMEM, "%s: out of memory", p->file);
}

static void parse_warn_text(struct parse *p, const char *sentence)
{
	if (p->n_warnings++ < WARNINGS_MAX)
		p->warn(sentence, p->arg);
}

void parse_warn(struct parse *p, const struct json_place *at, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	if (p->n_warnings >= WARNINGS_MAX) { /* not printed, because finding its line takes time */
		p->n_warnings++;
		return;
	}
	va_start(ap, fmt);
	sentence_write(p, at, fmt, ap, text, sizeof(text));
	va_end(ap);
	parse_warn_text(p, text);
}

void parse_mistake(struct parse *p, const struct json_place *at, bool weak, const char *fmt, ...)
{
	struct pool_mistake *mistake = p->config ? &p->config->mistake : NULL;
	va_list ap;

	if (!mistake || (mistake->why[0] && (weak || !mistake->weak)))
		return;
	va_start(ap, fmt);
	sentence_write(p, at, fmt, ap, mistake->why, sizeof(mistake->why));
	va_end(ap);
	mistake->weak = weak;
}

void parse_warnings_end(struct parse *p)
{
	char text[128];

	if (p->n_warnings <= WARNINGS_MAX)
		return;
	snprintf(text, sizeof(text), "%.80s: and %u more warnings", p->file,
		 p->n_warnings - WARNINGS_MAX);
	p->warn(text, p->arg);
}

/* --- objects ---------------------------------------------------------------------------------- */

static const struct parse_key *pool_parse_find_key(const struct parse_key *keys, size_t n,
						   const char *name)
{
	return find_first(keys, n, i, strcasecmp(keys[i].name, name) == 0);
}

/* Writes " (there are a, b and c)". */
static void list_keys(char *ret, size_t size, const char *const *names, size_t n)
{
	int len = snprintf(ret, size, " (there are ");

	for (size_t i = 0; i < n && (size_t)len < size; i++)
		len += snprintf(ret + len, size - (size_t)len, "%s%s", names[i],
				i + 2 < n   ? ", "
				: i + 1 < n ? " and "
					    : ")");
}

static int unknown_key(struct parse *p, const struct json_place *at, const struct parse_key *keys,
		       size_t n)
{
	const char *names[KEYS_MAX] = {NULL}, *near;
	char hint[192] = "";

	for (size_t i = 0; i < n; i++)
		names[i] = keys[i].name;
	near = suggest(at->key, strlen(at->key), names, n);
	if (near)
		snprintf(hint, sizeof(hint), " (did you mean \"%.30s\"?)", near);
	else if (n <= LISTED_MAX)
		list_keys(hint, sizeof(hint), names, n);
	if (p->strict)
		return parse_fail(p, at, "unknown key%s", hint);
	parse_warn(p, at, "unknown key%s, ignoring it", hint);
	if (near && strcmp(near, "resourcePrefix") == 0)
		parse_mistake(p, at, false, "unknown key%s", hint);
	return 0;
}

int parse_twice(struct parse *p, const struct json_place *at, bool forgiving)
{
	if (!forgiving)
		return parse_fail(p, at, "appears twice, spelt differently");
	parse_warn(p, at, "appears twice, spelt differently; the last one counts");
	parse_mistake(p, at, false, "appears twice, spelt differently");
	return 0;
}

/* Returns a later key with another spelling; NULL: none. */
static const char *later_spelling(json_t *object, const char *name)
{
	void *i = json_object_iter_at(object, name);

	while ((i = json_object_iter_next(object, i)))
		if (strcasecmp(json_object_iter_key(i), name) == 0 &&
		    !json_is_null(json_object_iter_value(i)))
			return json_object_iter_key(i);
	return NULL;
}

static int read_member(struct parse *p, const struct json_place *at, json_t *object,
		       const json_t *value, const struct parse_key *keys, size_t n, void *target)
{
	const struct parse_key *key = pool_parse_find_key(keys, n, at->key);
	struct json_place again = {at->up, key ? later_spelling(object, at->key) : NULL, 0};

	if (json_is_null(value))
		return 0;
	if (!key)
		return unknown_key(p, at, keys, n);
	if (again.key)
		return parse_twice(p, &again, p->forgiving);
	p->key = key;
	return key->read ? key->read(p, at, value, (char *)target + key->offset) : 0;
}

int parse_object(struct parse *p, const struct json_place *at, const json_t *object,
		 const struct parse_key *keys, size_t n, void *target)
{
	json_t *members = (json_t *)(uintptr_t)object, *value;
	const char *name;
	int r = 0;

	if (!json_is_object(object))
		return parse_fail(p, at, "is not an object");
	json_object_foreach (members, name, value) {
		struct json_place here = {at, name, 0};

		if (r == 0)
			r = read_member(p, &here, members, value, keys, n, target);
	}
	return r;
}

int parse_reject(struct parse *p, const struct json_place *at, const json_t *item, const char *key,
		 const char *sentence)
{
	struct json_place here = {at, key, 0};

	json_find(item, key, &here.key);
	return parse_fail(p, &here, "%s", sentence);
}

int parse_each(struct parse *p, const struct json_place *at, const json_t *list, const char *what,
	       parse_read_fn *read, void *field)
{
	const json_t *item;
	size_t i;

	if (!json_is_array(list))
		return parse_fail(p, at, "is not %s", what);
	json_array_foreach (list, i, item) {
		struct json_place here = {at, NULL, i};
		int r = read(p, &here, item, field);

		if (r < 0)
			return r;
	}
	return 0;
}

/* --- values ----------------------------------------------------------------------------------- */

int parse_bool(struct parse *p, const struct json_place *at, const json_t *value, void *field)
{
	if (!json_is_boolean(value))
		return parse_fail(p, at, "is neither true nor false");
	*(bool *)field = json_is_true(value);
	return 0;
}

int parse_count(struct parse *p, const struct json_place *at, const json_t *value, uint32_t min,
		uint32_t max, uint32_t *ret)
{
	if (!json_is_integer(value))
		return parse_fail(p, at, "is not a whole number");
	if (json_integer_value(value) < min || json_integer_value(value) > max)
		return parse_fail(p, at, "%" JSON_INTEGER_FORMAT " is not between %u and %u",
				  json_integer_value(value), min, max);
	*ret = (uint32_t)json_integer_value(value);
	return 0;
}

int parse_choice(struct parse *p, const struct json_place *at, const json_t *value,
		 const char *const *words, size_t n, unsigned *ret)
{
	char all[128] = "";

	if (!json_is_string(value))
		return parse_fail(p, at, "is not a string");
	for (unsigned i = 0; i < n; i++) {
		if (strcmp(words[i], json_string_value(value)) == 0) {
			*ret = i;
			return 0;
		}
		snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s", i ? ", " : "",
			 words[i]);
	}
	return parse_fail(p, at, "'%.40s' is none of %s", json_string_value(value), all);
}

int word_list_add(struct word_list *list, const char *word)
{
	char *copy = strdup(word), **slot;

	slot = copy ? array_push(list->words, list->n) : NULL;
	if (!slot) {
		free(copy);
		return -ENOMEM;
	}
	*slot = copy;
	return 0;
}

struct words_reader {
	struct word_list *list;
	parse_word_fn *check;
};

static int pool_parse_add_word(struct parse *p, const struct json_place *at, const json_t *value,
			       void *field)
{
	const struct words_reader *w = field;
	char canonical[PARSE_WORD_SIZE] = "";
	const char *word = json_string_value(value), *wrong;

	if (!word)
		return parse_fail(p, at, "is not a string");
	if (*word == '\0')
		return parse_fail(p, at, "is empty");
	wrong = w->check ? w->check(word, canonical) : NULL;
	if (wrong)
		return parse_fail(p, at, "'%.40s' %s", word, wrong);
	if (word_list_add(w->list, *canonical ? canonical : word) < 0)
		return parse_no_memory(p);
	return 0;
}

int parse_word_list(struct parse *p, const struct json_place *at, const json_t *value,
		    struct word_list *list, parse_word_fn *check)
{
	struct words_reader w = {list, check};

	return parse_each(p, at, value, "a list of strings", pool_parse_add_word, &w);
}

int parse_words(struct parse *p, const struct json_place *at, const json_t *value, void *field)
{
	return parse_word_list(p, at, value, field, NULL);
}

/* --- printing --------------------------------------------------------------------------------- */

void json_put(struct json_writer *w, const char *key, json_t *value)
{
	w->failed |= json_object_set_new(w->object, key, value) < 0;
}

void json_append(struct json_writer *w, json_t *array, json_t *value)
{
	w->failed |= json_array_append_new(array, value) < 0;
}

json_t *json_finish(struct json_writer *w)
{
	if (!w->failed)
		return w->object;
	json_decref(w->object);
	return NULL;
}
