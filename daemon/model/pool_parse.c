/* pool_parse.c - messages with a place, and the readers that every grammar uses. */
#include "pool_parse.h"

#include <strings.h>

#include "array.h"
#include "cleanup.h"
#include "suggest.h"
#include "utf8.h"

#define WARNINGS_MAX 32
/* Keys of one table. */
#define KEYS_MAX     64

/* What the file says stands in the sentence; no terminal control characters, no cut characters. */
void parse_printable(char *text)
{
	for (size_t n; *text; text += n) {
		n = utf8_char(text);
		if (n == 0 || (n == 1 && ((unsigned char)*text < 0x20 || *text == 0x7f))) {
			*text = '?';
			n = 1;
		}
	}
}

/* 'entry 2: routes: item 1: gw: ' */
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

/* 'line: "key": ' and for an element of a list also 'item 3: '. */
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

static void describe(const struct parse *p, const struct json_place *at, const char *fmt,
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
	parse_printable(text);
}

int parse_fail(struct parse *p, const struct json_place *at, const char *fmt, ...)
{
	char text[sizeof(((struct err *)0)->msg)];
	va_list ap;

	va_start(ap, fmt);
	describe(p, at, fmt, ap, text, sizeof(text));
	va_end(ap);
	return err_set(p->err, -EINVAL, "%s", text);
}

int parse_no_memory(struct parse *p)
{
	return err_set(p->err, -ENOMEM, "%s: out of memory", p->file);
}

void parse_warn_text(struct parse *p, const char *sentence)
{
	if (p->n_warnings++ < WARNINGS_MAX)
		p->warn(sentence, p->arg);
}

void parse_warn(struct parse *p, const struct json_place *at, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	if (p->n_warnings >= WARNINGS_MAX) { /* finding its line costs time */
		p->n_warnings++;
		return;
	}
	va_start(ap, fmt);
	describe(p, at, fmt, ap, text, sizeof(text));
	va_end(ap);
	parse_warn_text(p, text);
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

static const struct parse_key *find_key(const struct parse_key *keys, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcasecmp(keys[i].name, name) == 0)
			return &keys[i];
	return NULL;
}

static int unknown_key(struct parse *p, const struct json_place *at, const struct parse_key *keys,
		       size_t n)
{
	const char *names[KEYS_MAX], *near;
	char hint[PARSE_WORD_SIZE] = "";

	for (size_t i = 0; i < n; i++)
		names[i] = keys[i].name;
	near = suggest(at->key, strlen(at->key), names, n);
	if (near)
		snprintf(hint, sizeof(hint), " (did you mean \"%.30s\"?)", near);
	if (p->strict)
		return parse_fail(p, at, "unknown key%s", hint);
	parse_warn(p, at, "unknown key%s, ignoring it", hint);
	return 0;
}

int parse_object(struct parse *p, const struct json_place *at, const json_t *object,
		 const struct parse_key *keys, size_t n, void *target)
{
	const char *name;
	json_t *value;
	uint64_t seen = 0;
	int r = 0;

	if (!json_is_object(object))
		return parse_fail(p, at, "is not an object");
	json_object_foreach ((json_t *)object, name, value) {
		struct json_place here = {at, name, 0};
		const struct parse_key *key = find_key(keys, n, name);

		uint64_t bit = key ? UINT64_C(1) << (key - keys) : 0;

		if (!key)
			r = unknown_key(p, &here, keys, n);
		else if (seen & bit)
			r = parse_fail(p, &here, "stands here twice, spelt differently");
		else if (key->read && !json_is_null(value))
			r = key->read(p, &here, value, (char *)target + key->offset);
		if (r < 0)
			return r;
		seen |= bit;
	}
	return 0;
}

const json_t *parse_find(const json_t *object, const char *name, const char **ret_key)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)object, key, value)
		if (strcasecmp(key, name) == 0 && !json_is_null(value)) {
			if (ret_key)
				*ret_key = key;
			return value;
		}
	return NULL;
}

/* --- values ----------------------------------------------------------------------------------- */

int parse_text(struct parse *p, const struct json_place *at, const json_t *value, void *field)
{
	char *text;

	if (!json_is_string(value))
		return parse_fail(p, at, "is not a string");
	text = strdup(json_string_value(value));
	if (!text)
		return parse_no_memory(p);
	free(*(char **)field);
	*(char **)field = text;
	return 0;
}

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

static int add_word(struct parse *p, const struct json_place *at, const json_t *value,
		    struct word_list *list, parse_word_fn *check)
{
	char canonical[PARSE_WORD_SIZE] = "";
	const char *word = json_string_value(value), *wrong;

	if (!word)
		return parse_fail(p, at, "is not a string");
	if (*word == '\0')
		return parse_fail(p, at, "is empty");
	wrong = check ? check(word, canonical) : NULL;
	if (wrong)
		return parse_fail(p, at, "'%.40s' %s", word, wrong);
	if (word_list_add(list, *canonical ? canonical : word) < 0)
		return parse_no_memory(p);
	return 0;
}

int parse_word_list(struct parse *p, const struct json_place *at, const json_t *value,
		    struct word_list *list, parse_word_fn *check)
{
	const json_t *item;
	size_t i;

	if (!json_is_array(value))
		return parse_fail(p, at, "is not a list of strings");
	json_array_foreach (value, i, item) {
		struct json_place here = {at, NULL, i};
		int r = add_word(p, &here, item, list, check);

		if (r < 0)
			return r;
	}
	return 0;
}

int parse_words(struct parse *p, const struct json_place *at, const json_t *value, void *field)
{
	return parse_word_list(p, at, value, field, NULL);
}
