/* json_line.c - walks the text along the place, stepping over what is beside it. */
#include "json_line.h"

#include <jansson.h>
#include <stdbool.h>
#include <string.h>

struct cursor {
	const char *text;
	size_t len, pos;
	unsigned line;
};

/* '\0' at the end: never a part of JSON. */
static char peek(const struct cursor *c)
{
	return c->pos < c->len ? c->text[c->pos] : '\0';
}

static void advance(struct cursor *c)
{
	c->line += c->text[c->pos] == '\n';
	c->pos++;
}

static void skip_space(struct cursor *c)
{
	while (c->pos < c->len && strchr(" \t\r\n", peek(c)) && peek(c) != '\0')
		advance(c);
}

static bool take_char(struct cursor *c, char wanted)
{
	skip_space(c);
	if (peek(c) != wanted)
		return false;
	advance(c);
	return true;
}

/* From one quote to past the other. */
static void skip_string(struct cursor *c)
{
	advance(c);
	while (c->pos < c->len && peek(c) != '"') {
		if (peek(c) == '\\' && c->pos + 1 < c->len)
			advance(c);
		advance(c);
	}
	if (c->pos < c->len)
		advance(c);
}

/* Counts brackets instead of calling itself: the text decides how deep it is. */
static void skip_value(struct cursor *c)
{
	size_t depth = 0;

	skip_space(c);
	while (c->pos < c->len) {
		char here = peek(c);

		if (here == '"') {
			skip_string(c);
		} else if (here == '{' || here == '[') {
			depth++;
			advance(c);
		} else if (here == '}' || here == ']') {
			if (depth == 0)
				return;
			depth--;
			advance(c);
		} else if (depth == 0 && strchr(", \t\r\n", here)) {
			return;
		} else {
			advance(c);
			continue; /* inside a number or a word, or between values */
		}
		if (depth == 0)
			return;
	}
}

/* Is the string token, quotes included, that key? Escapes are jansson's to read. */
static bool token_is(const char *token, size_t len, const char *key)
{
	json_t *string;
	bool same;

	if (len < 2)
		return false;
	if (!memchr(token, '\\', len))
		return len - 2 == strlen(key) && memcmp(token + 1, key, len - 2) == 0;
	string = json_loadb(token, len, JSON_DECODE_ANY, NULL);
	same = json_is_string(string) && strcmp(json_string_value(string), key) == 0;
	json_decref(string);
	return same;
}

/* To the key's value; *line is the key's line. */
static bool enter_key(struct cursor *c, const char *key, unsigned *line)
{
	if (!take_char(c, '{'))
		return false;
	do {
		size_t start;
		unsigned key_line;

		skip_space(c);
		if (peek(c) != '"')
			return false;
		start = c->pos;
		key_line = c->line;
		skip_string(c);
		if (token_is(c->text + start, c->pos - start, key)) {
			*line = key_line;
			return take_char(c, ':');
		}
		if (!take_char(c, ':'))
			return false;
		skip_value(c);
	} while (take_char(c, ','));
	return false;
}

static bool enter_element(struct cursor *c, size_t index, unsigned *line)
{
	if (!take_char(c, '['))
		return false;
	for (; index > 0; index--) {
		skip_value(c);
		if (!take_char(c, ','))
			return false;
	}
	skip_space(c);
	*line = c->line;
	return true;
}

unsigned json_line(const char *text, size_t len, const struct json_place *place)
{
	const struct json_place *steps[JSON_PLACE_MAX];
	struct cursor c = {text, len, 0, 1};
	unsigned line = place ? 0 : 1;
	size_t n = 0;

	for (; place && n < JSON_PLACE_MAX; place = place->up)
		steps[n++] = place;
	if (place)
		return 0;
	while (n > 0) {
		const struct json_place *step = steps[--n];

		if (!(step->key ? enter_key(&c, step->key, &line)
				: enter_element(&c, step->index, &line)))
			break;
	}
	return line;
}
