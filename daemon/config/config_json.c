/* config_json.c - jansson reads; what it says of a wrong text is told in words of the file. */
#include "config_json.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "array.h"
#include "cleanup.h"
#include "pool_parse.h"
#include "utf8.h"

/* What is being read. */
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
	return 0;
}

/* Each byte that is no UTF-8 becomes '?'; where the first one is, or SIZE_MAX. */
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

/* --- what is wrong ---------------------------------------------------------------------------- */

/* The comma after which a list or an object ends before byte `end`; NULL: none does. */
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

static void explain(const struct reading *r, json_error_t *where, struct err *e)
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
	else
		err_set(e, -EINVAL, "%s:%d:%d: %s", r->name, where->line, where->column,
			where->text);
}

/* --- as Go reads it --------------------------------------------------------------------------- */

static bool has_key(const json_t *root, const char *name)
{
	return parse_find(root, name, NULL) != NULL;
}

static bool is_peers(const json_t *root)
{
	return json_is_object(root) && !has_key(root, "pools") &&
	       (has_key(root, "resourceList") || has_key(root, "configList") ||
		has_key(root, "mode"));
}

__attribute__((format(printf, 3, 4))) static void tell_warning(options_warn_fn *warn, void *arg,
							       const char *fmt, ...)
{
	char sentence[512];
	va_list ap;

	if (!warn)
		return;
	va_start(ap, fmt);
	vsnprintf(sentence, sizeof(sentence), fmt, ap);
	va_end(ap);
	parse_printable(sentence);
	warn(sentence, arg);
}

/* *why: replaced if the text is no JSON for Go either, which then is what is wrong with it. */
static json_t *read_copy(const struct reading *r, char *copy, options_warn_fn *warn, void *arg,
			 json_error_t *why)
{
	size_t odd = make_utf8(copy, r->len);
	json_error_t where = {0};
	json_t *strict, *root = json_loadb(copy, r->len, 0, &where);

	if (!root)
		*why = where;
	if (!root || !is_peers(root)) {
		json_decref(root);
		return NULL;
	}
	if (odd != SIZE_MAX)
		tell_warning(warn, arg, "%s:%u: byte 0x%02x is no UTF-8, going on without it",
			     r->name, line_of(r, odd), (unsigned char)r->text[odd]);
	strict = json_loadb(copy, r->len, JSON_REJECT_DUPLICATES, &where);
	if (!strict)
		tell_warning(warn, arg, "%s:%d: %s, the last one counts", r->name, where.line,
			     where.text);
	json_decref(strict);
	return root;
}

/* NULL: it is no file of the peers' grammars, or wrong in their eyes, too. */
static json_t *read_as_go(const struct reading *r, options_warn_fn *warn, void *arg,
			  json_error_t *why)
{
	char *copy = strndup(r->text, r->len);
	json_t *root = copy ? read_copy(r, copy, warn, arg, why) : NULL;

	free(copy);
	return root;
}

json_t *config_json(const char *text, size_t len, const char *name, options_warn_fn *warn,
		    void *arg, struct err *e)
{
	const struct reading r = {text, len, name};
	json_error_t where;
	json_t *root = NULL;

	if (check_bytes(&r, e) < 0)
		return NULL;
	root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &where);
	if (!root && (json_error_code(&where) == json_error_duplicate_key ||
		      json_error_code(&where) == json_error_invalid_utf8))
		root = read_as_go(&r, warn, arg, &where);
	if (!root) {
		parse_printable(where.text);
		explain(&r, &where, e);
	} else if (!json_is_object(root)) {
		err_set(e, -EINVAL, "%s:1: the file is not a JSON object", name);
		json_decref(root);
		root = NULL;
	}
	return root;
}
