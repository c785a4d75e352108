// SPDX-License-Identifier: Apache-2.0
#include "ctl_document.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "cleanup.h"

/* Every double keeps 15 significant digits. */
#define JSON_STYLE (JSON_REAL_PRECISION(15) | JSON_ENSURE_ASCII | JSON_ENCODE_ANY)

static int ctl_document_put_json(const json_t *value, size_t flags, FILE *f)
{
	if (json_dumpf(value, f, JSON_STYLE | flags) < 0)
		return ferror(f) ? 0 : -ENOMEM; /* write errors are reported at the end */
	fputc('\n', f);
	return 0;
}

int ctl_document_line(const json_t *value, FILE *f)
{
	return ctl_document_put_json(value, JSON_COMPACT, f);
}

/* --- YAML ------------------------------------------------------------------------------------- */

struct yaml {
	FILE *f;
	bool failed; /* out of memory */
};

/* True if the word begins with a letter and needs no quotes: YAML 1.1 and 1.2 both read it as a
 * string. */
static bool ctl_document_is_plain(const char *s)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	static const char others[] = "0123456789_./-";
	static const char *const reserved[] = {"true", "false", "yes", "no", "on",
					       "off",  "null",	"y",   "n"};
	size_t n = strspn(s, letters);

	for (size_t i = 0; i < ARRAY_SIZE(reserved); i++)
		if (strcasecmp(s, reserved[i]) == 0)
			return false;
	while (n > 0 && s[n] && (strchr(letters, s[n]) || strchr(others, s[n])))
		n++;
	return n > 0 && s[n] == '\0';
}

static void put_quoted(struct yaml *y, const json_t *scalar)
{
	AUTO_FREE char *text = json_dumps(scalar, JSON_STYLE);

	if (text)
		fputs(text, y->f);
	else
		y->failed = true;
}

static void put_scalar(struct yaml *y, const json_t *scalar)
{
	const char *text = json_string_value(scalar);

	if (text && ctl_document_is_plain(text))
		fputs(text, y->f);
	else
		put_quoted(y, scalar);
}

static void put_key(struct yaml *y, const char *key)
{
	json_t *text = json_string(key);

	if (text)
		put_scalar(y, text);
	else
		y->failed = true;
	json_decref(text);
	fputc(':', y->f);
}

static bool has_parts(const json_t *value)
{
	return json_object_size(value) > 0 || json_array_size(value) > 0;
}

static void put_members(struct yaml *y, const json_t *object, int depth, bool goes_on);
static void put_items(struct yaml *y, const json_t *array, int depth);

/* Writes a value after "key:" or "-". */
static void put_value(struct yaml *y, const json_t *value, int depth, bool is_item)
{
	bool members = json_object_size(value) > 0;

	fputc(members && !is_item ? '\n' : has_parts(value) && !members ? '\n' : ' ', y->f);
	if (members)
		put_members(y, value, is_item ? depth + 2 : depth, is_item);
	else if (has_parts(value))
		put_items(y, value, is_item ? depth + 2 : depth);
	else
		put_scalar(y, value);
	if (!has_parts(value))
		fputc('\n', y->f);
}

/* goes_on: write the first member on the current line. */
static void put_members(struct yaml *y, const json_t *object, int depth, bool goes_on)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)object, key, value) {
		fprintf(y->f, "%*s", goes_on ? 0 : depth, "");
		put_key(y, key);
		put_value(y, value, json_is_object(value) ? depth + 2 : depth, false);
		goes_on = false;
	}
}

static void put_items(struct yaml *y, const json_t *array, int depth)
{
	json_t *item;
	size_t i;

	json_array_foreach ((json_t *)array, i, item) {
		fprintf(y->f, "%*s-", depth, "");
		put_value(y, item, depth, true);
	}
}

static int put_yaml(const json_t *value, FILE *f)
{
	struct yaml y = {.f = f};

	if (json_object_size(value) > 0)
		put_members(&y, value, 0, false);
	else if (has_parts(value))
		put_items(&y, value, 0);
	else
		put_value(&y, value, 0, false);
	return y.failed ? -ENOMEM : 0;
}

int ctl_document_put(const json_t *value, const char *format, FILE *f)
{
	return strcmp(format, "yaml") == 0 ? put_yaml(value, f)
					   : ctl_document_put_json(value, JSON_INDENT(2), f);
}
