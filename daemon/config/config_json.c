// SPDX-License-Identifier: Apache-2.0
/* config_json.c - parses with jansson, and improves its error messages. */
#include "config_json.h"

#include <ctype.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "array.h"
#include "cleanup.h"
#include "json_text.h"
#include "utf8.h"

/* Parts of the file are quoted in messages, so control characters and truncated ones are replaced.
 */
void text_printable(char *text)
{
	for (size_t n; *text; text += n) {
		n = utf8_char(text);
		if (n == 0 || (n == 1 && ((unsigned char)*text < 0x20 || *text == 0x7f))) {
			*text = '?';
			n = 1;
		}
	}
}

const json_t *json_find(const json_t *object, const char *name, const char **ret_key)
{
	const json_t *found = NULL;
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)object, key, value)
		if (strcasecmp(key, name) == 0 && !json_is_null(value)) {
			if (ret_key)
				*ret_key = key;
			found = value;
		}
	return found;
}

/* The text being parsed. */
struct reading {
	const char *text;
	size_t len;
	const char *name;
};

static unsigned line_of(const struct reading *r, size_t pos)
{
	unsigned line = 1;

	for (size_t i = 0; i < pos; i++)
		line += r->text[i] == '\n';
	return line;
}

/* --- bytes ------------------------------------------------------------------------------------ */

static bool is_blank(const struct reading *r)
{
	size_t i = 0;

	while (i < r->len && strchr(" \t\r\n", r->text[i]))
		i++;
	return i == r->len;
}

static int check_bytes(const struct reading *r, struct err *e)
{
	const char *zero = memchr(r->text, '\0', r->len);

	if (r->len >= 3 && memcmp(r->text, "\xef\xbb\xbf", 3) == 0)
		return err_set(e, -EINVAL,
			       "%s:1: begins with a byte order mark; save it as UTF-8 without one",
			       r->name);
	if (r->len >= 2 &&
	    (memcmp(r->text, "\xff\xfe", 2) == 0 || memcmp(r->text, "\xfe\xff", 2) == 0))
		return err_set(e, -EINVAL, "%s:1: is UTF-16; save it as UTF-8", r->name);
	if (zero)
		return err_set(e, -EINVAL, "%s:%u: a zero byte; is this a text file?", r->name,
			       line_of(r, (size_t)(zero - r->text)));
	if (is_blank(r))
		return err_set(e, -EINVAL, "%s:1: the file is empty; write {} to offer nothing",
			       r->name);
	return 0;
}

/* Replaces each byte of invalid UTF-8 with '?'; returns the offset of the first one, or
 * SIZE_MAX. */
static size_t make_utf8(char *text, size_t len)
{
	size_t first = SIZE_MAX;

	for (size_t i = 0, n; i < len; i += n) {
		n = utf8_char(text + i);
		if (n > 0)
			continue;
		first = first == SIZE_MAX ? i : first;
		text[i] = '?';
		n = 1;
	}
	return first;
}

/* --- error messages --------------------------------------------------------------------------- */

/* Returns the trailing comma of a list or an object that ends before byte `end`; NULL: none. */
static const char *trailing_comma(const struct reading *r, size_t end)
{
	const char *comma = NULL;
	bool in_string = false;

	for (size_t i = 0; i < r->len && i < end; i++) {
		char c = r->text[i];

		if (in_string) {
			in_string = c != '"';
			i += c == '\\';
		} else if (c == ',') {
			comma = r->text + i;
		} else if (comma && (c == ']' || c == '}')) {
			return comma;
		} else if (!strchr(" \t\r\n", c)) {
			in_string = c == '"';
			comma = NULL;
		}
	}
	return NULL;
}

/* Removes the quoted text (" near '..'") except for keys: it may be a password, and any user may
 * read the message. */
static void hide_values(json_error_t *where)
{
	char *near = strstr(where->text, " near '");

	if (near && json_error_code(where) != json_error_duplicate_key)
		*near = '\0';
}

/* True if a comment of another language begins on this line, outside of a string. */
static bool has_comment(const char *line, const char *end)
{
	bool in_string = false;

	for (const char *at = line; at < end && *at != '\n'; at++) {
		if (*at == '"')
			in_string = !in_string;
		else if (in_string)
			at += *at == '\\';
		else if (*at == '#' || (*at == '/' && at + 1 < end && strchr("/*", at[1])))
			return true;
	}
	return false;
}

/* Returns a hint if jansson stopped behind a word or a quotation mark of Python or YAML; "" = none.
 */
static const char *foreign_word(const struct reading *r, const json_error_t *where)
{
	static const struct {
		const char *word, *hint;
	} known[] = {
		{"True", "; write true"},
		{"yes", "; write true"},
		{"on", "; write true"},
		{"False", "; write false"},
		{"no", "; write false"},
		{"off", "; write false"},
		{"None", "; write null"},
		{"true", ""},
		{"false", ""},
		{"null", ""},
	};
	size_t end = (size_t)where->position < r->len ? (size_t)where->position : r->len;
	size_t start = end, len;

	/* Other errors may be inside a string. */
	if (strncmp(where->text, "invalid token", 13) != 0 &&
	    strncmp(where->text, "string or '}' expected", 22) != 0)
		return "";
	if (end > 0 && r->text[end - 1] == '\'')
		return "; keys and strings need double quotes";
	while (start > 0 && isalpha((unsigned char)r->text[start - 1]))
		start--;
	len = end - start;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (len == strlen(known[i].word) && !memcmp(r->text + start, known[i].word, len))
			return known[i].hint;
	return len > 0 ? "; keys and strings need double quotes" : "";
}

/* Returns a hint if the file is in a similar language, such as YAML; "" = none. */
static const char *foreign_syntax(const struct reading *r, const json_error_t *where)
{
	const char *at = r->text, *end = r->text + r->len, *next;
	int line = where->line;

	while (at < end && strchr(" \t\r\n", *at))
		at++;
	if (at < end && !strchr("{[\"/#", *at))
		return "; YAML is not supported, write JSON";
	for (at = r->text; line > 1 && (next = memchr(at, '\n', (size_t)(end - at))); line--)
		at = next + 1;
	return has_comment(at, end) ? "; JSON has no comments, write a key \"_comment\""
				    : foreign_word(r, where);
}

/* True if it is JSON, but neither an object nor a list. */
static bool is_scalar(const struct reading *r)
{
	json_auto_t *value = json_text_load(r->text, r->len, JSON_DECODE_ANY, NULL);

	return value && !json_is_object(value) && !json_is_array(value);
}

static int not_an_object(const struct reading *r, struct err *e)
{
	return err_set(e, -EINVAL, "%s:1: the file is not a JSON object", r->name);
}

static void syntax_explain(const struct reading *r, json_error_t *where, struct err *e)
{
	const char *comma = NULL;

	if (json_error_code(where) == json_error_invalid_syntax)
		comma = trailing_comma(r, (size_t)where->position);
	if (comma)
		err_set(e, -EINVAL, "%s:%u: a trailing comma: nothing follows it", r->name,
			line_of(r, (size_t)(comma - r->text)));
	else if (json_error_code(where) == json_error_null_character ||
		 json_error_code(where) == json_error_null_byte_in_key)
		err_set(e, -EINVAL, "%s:%d: \\u0000 in a string: no name has such a character",
			r->name, where->line);
	else if (is_scalar(r))
		not_an_object(r, e);
	else
		err_set(e, -EINVAL, "%s:%d:%d: %s%s", r->name, where->line, where->column,
			where->text, foreign_syntax(r, where));
}

/* --- Go's rules ------------------------------------------------------------------------------- */

static bool config_json_has_key(const json_t *root, const char *name)
{
	return json_find(root, name, NULL) != NULL;
}

static bool is_peers(const json_t *root)
{
	return json_is_object(root) && !config_json_has_key(root, "pools") &&
	       (config_json_has_key(root, "resourceList") ||
		config_json_has_key(root, "configList") || config_json_has_key(root, "mode"));
}

__attribute__((format(printf, 3, 4))) static void odd_text_warn(options_warn_fn *warn, void *arg,
								const char *fmt, ...)
{
	char sentence[512];
	va_list ap;

	if (!warn)
		return;
	va_start(ap, fmt);
	vsnprintf(sentence, sizeof(sentence), fmt, ap);
	va_end(ap);
	text_printable(sentence);
	warn(sentence, arg);
}

/* Parses a copy of the text by Go's rules; NULL as read_as_go(). *why is replaced by the new error
 * if the text is invalid by these rules, too. */
static json_t *read_copy(const struct reading *r, char *copy, options_warn_fn *warn, void *arg,
			 json_error_t *why)
{
	size_t odd = make_utf8(copy, r->len);
	json_error_t where = {0};
	json_t *strict, *root = json_text_load(copy, r->len, 0, &where);

	if (!root)
		*why = where;
	if (!root || !is_peers(root)) {
		json_decref(root);
		return NULL;
	}
	if (odd != SIZE_MAX)
		odd_text_warn(warn, arg, "%s:%u: byte 0x%02x is not UTF-8, going on without it",
			      r->name, line_of(r, odd), (unsigned char)r->text[odd]);
	strict = json_text_load(copy, r->len, JSON_REJECT_DUPLICATES, &where);
	if (!strict)
		odd_text_warn(warn, arg, "%s:%d: %s, the last one counts", r->name, where.line,
			      where.text);
	json_decref(strict);
	return root;
}

/* Parses the text by Go's rules. NULL: not a file of another device plugin, or invalid by these
 * rules, too. */
static json_t *read_as_go(const struct reading *r, options_warn_fn *warn, void *arg,
			  json_error_t *why)
{
	char *copy = strndup(r->text, r->len);
	json_t *root = copy ? read_copy(r, copy, warn, arg, why) : NULL;

	free(copy);
	return root;
}

/* --- ignored keys ----------------------------------------------------------------------------- */

/* True for keys whose values are passed on unchanged to containers or an IPAM plugin. */
static bool is_others(const char *key)
{
	return strcasecmp(key, "additionalInfo") == 0 || strcasecmp(key, "ipam") == 0;
}

static bool is_absent(const char *key, const json_t *value)
{
	return json_is_null(value) || strcmp(key, CONFIG_COMMENT) == 0;
}

/* Removes ignored keys at every depth, which jansson limits. */
static void absent_remove(json_t *value)
{
	const char *key;
	json_t *child;
	void *next;
	size_t i;

	json_object_foreach_safe(value, next, key, child)
	{
		if (is_absent(key, child))
			json_object_del(value, key);
		else if (!is_others(key))
			absent_remove(child);
	}
	json_array_foreach (value, i, child) {
		absent_remove(child);
	}
}

/* Rejects an API object: every one has these two keys, and no configuration has them. */
static int check_manifest(const struct reading *r, const json_t *root, struct err *e)
{
	const char *kind = json_string_value(json_object_get(root, "kind"));
	const struct json_place at = {NULL, "kind", 0};

	if (!kind || !json_is_string(json_object_get(root, "apiVersion")))
		return 0;
	return err_set(
		e, -EINVAL,
		"%s:%u: \"kind\": the file is a manifest (%.40s), not a configuration; write "
		"what is below \"data\" of a ConfigMap",
		r->name, json_line(r->text, r->len, &at), kind);
}

json_t *config_json(const char *text, size_t len, const char *name, options_warn_fn *warn,
		    void *arg, struct err *e)
{
	const struct reading r = {text, len, name};
	json_error_t where;
	json_t *root = NULL;

	if (check_bytes(&r, e) < 0)
		return NULL;
	root = json_text_load(text, len, JSON_REJECT_DUPLICATES, &where);
	if (!root && (json_error_code(&where) == json_error_duplicate_key ||
		      json_error_code(&where) == json_error_invalid_utf8))
		root = read_as_go(&r, warn, arg, &where);
	if (!root && json_text_no_memory(&where)) {
		err_set(e, -ENOMEM, "%s: out of memory", name);
	} else if (!root) {
		hide_values(&where);
		text_printable(where.text);
		syntax_explain(&r, &where, e);
	} else if (!json_is_object(root) ? not_an_object(&r, e) : check_manifest(&r, root, e)) {
		json_decref(root);
		root = NULL;
	}
	if (!root && e)
		text_printable(e->msg);
	if (root)
		absent_remove(root);
	json_object_del(root, CONFIG_SCHEMA);
	return root;
}

/* --- line of a value -------------------------------------------------------------------------- */

struct cursor {
	const char *text;
	size_t len, pos;
	unsigned line;
};

/* Returns '\0' at the end, which is never part of JSON. */
static char cursor_peek(const struct cursor *c)
{
	return c->pos < c->len ? c->text[c->pos] : '\0';
}

static void cursor_advance(struct cursor *c)
{
	c->line += c->text[c->pos] == '\n';
	c->pos++;
}

static void skip_space(struct cursor *c)
{
	while (c->pos < c->len && strchr(" \t\r\n", cursor_peek(c)) && cursor_peek(c) != '\0')
		cursor_advance(c);
}

static bool cursor_take(struct cursor *c, char wanted)
{
	skip_space(c);
	if (cursor_peek(c) != wanted)
		return false;
	cursor_advance(c);
	return true;
}

/* Moves from one quote past the closing one. */
static void skip_string(struct cursor *c)
{
	cursor_advance(c);
	while (c->pos < c->len && cursor_peek(c) != '"') {
		if (cursor_peek(c) == '\\' && c->pos + 1 < c->len)
			cursor_advance(c);
		cursor_advance(c);
	}
	if (c->pos < c->len)
		cursor_advance(c);
}

/* Counts brackets instead of recursing, because the text determines the depth. */
static void skip_value(struct cursor *c)
{
	size_t depth = 0;

	skip_space(c);
	while (c->pos < c->len) {
		char here = cursor_peek(c);

		if (here == '"') {
			skip_string(c);
		} else if (here == '{' || here == '[') {
			depth++;
			cursor_advance(c);
		} else if (here == '}' || here == ']') {
			if (depth == 0)
				return;
			depth--;
			cursor_advance(c);
		} else if (depth == 0 && strchr(", \t\r\n", here)) {
			return;
		} else {
			cursor_advance(c);
			continue; /* inside a number or a word, or between values */
		}
		if (depth == 0)
			return;
	}
}

/* True if the string token, including the quotes, is this key. jansson decodes its escapes. */
static bool token_is(const char *token, size_t len, const char *key)
{
	json_auto_t *string = NULL;

	if (len < 2)
		return false;
	if (!memchr(token, '\\', len))
		return len - 2 == strlen(key) && memcmp(token + 1, key, len - 2) == 0;
	string = json_text_load(token, len, JSON_DECODE_ANY, NULL);
	return json_is_string(string) && strcmp(json_string_value(string), key) == 0;
}

/* Moves to the key's value; *line is the key's line. */
static bool enter_key(struct cursor *c, const char *key, unsigned *line)
{
	if (!cursor_take(c, '{'))
		return false;
	do {
		size_t start;
		unsigned key_line;

		skip_space(c);
		if (cursor_peek(c) != '"')
			return false;
		start = c->pos;
		key_line = c->line;
		skip_string(c);
		if (token_is(c->text + start, c->pos - start, key)) {
			*line = key_line;
			return cursor_take(c, ':');
		}
		if (!cursor_take(c, ':'))
			return false;
		skip_value(c);
	} while (cursor_take(c, ','));
	return false;
}

static bool enter_element(struct cursor *c, size_t index, unsigned *line)
{
	if (!cursor_take(c, '['))
		return false;
	for (; index > 0; index--) {
		skip_value(c);
		if (!cursor_take(c, ','))
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
