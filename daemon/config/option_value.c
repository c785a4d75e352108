// SPDX-License-Identifier: Apache-2.0
/* option_value.c - see option_value.h. */
#include "option_value.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config_schema.h"
#include "ipam_grants.h"
#include "listen_address.h"
#include "pool_config.h"
#include "search.h"
#include "suggest.h"

/* --- texts ------------------------------------------------------------------------------------ */

static int check_address(const char *value, struct err *e)
{
	struct listen_address at;

	return listen_address_read(value, &at, e);
}

static int check_prefix(const char *value, struct err *e)
{
	const char *wrong = pool_prefix_wrong(value);

	return wrong ? err_set(e, -EINVAL, "'%.70s' %s", value, wrong) : 0;
}

#define PORT_PATTERN "(6553[0-5]|655[0-2][0-9]|65[0-4][0-9]{2}|6[0-4][0-9]{3}|[0-5]?[0-9]{1,4})"

/* Kinds of text, by the placeholder of the value in --help; others may be any text. */
static const struct text_kind {
	const char *arg;
	const char *pattern; /* of the schema: of values in the file */
	/* Checks a value that is not empty. */
	int (*check)(const char *value, struct err *);
	bool named; /* not empty: an empty name would resolve to the root folder */
	bool paths; /* paths, separated by ':' */
} text_kinds[] = {
	{"DIR", "^/", NULL, true, true},
	{"FILE", "^/", NULL, true, true},
	{"PATH", "^(/|$)", NULL, false, true},
	{"DIRS", "^:*(/[^:]*(:+|$))*$", NULL, false, true},
	{"ADDR:PORT", "^(([0-9.]*|\\[[0-9A-Fa-f:.]+(%[^\\]]+)?\\]):" PORT_PATTERN ")?$",
	 check_address, false, false},
	{"PREFIX", "^([a-z0-9]([a-z0-9-]*[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*)?$",
	 check_prefix, false, false},
	{NULL, NULL, NULL, false, false},
};

static const struct text_kind *text_kind(const struct option_def *d)
{
	const struct text_kind *k = text_kinds;

	while (k->arg && strcmp(k->arg, d->arg) != 0)
		k++;
	return k;
}

static int set_text(const struct option_def *d, char *field, const char *value, struct err *e)
{
	const struct text_kind *k = text_kind(d);
	int r;

	if (*value == '\0' && k->named)
		return err_set(e, -EINVAL, "is empty");
	if (strlen(value) >= OPTION_TEXT_SIZE)
		return err_set(e, -EINVAL, "longer than %d bytes", OPTION_TEXT_SIZE - 1);
	r = *value && k->check ? k->check(value, e) : 0;
	if (r == 0)
		strcpy(field, value);
	return r;
}

/* Rejects a relative path in the file. Those of flags are relative to the current folder; the file
 * has none. */
static int option_check_absolute(const struct option_def *d, const char *value, struct err *e)
{
	for (; text_kind(d)->paths && *value; value += *value == ':') {
		size_t len = strcspn(value, ":");

		if (len > 0 && *value != '/')
			return err_set(e, -EINVAL, "'%.*s' does not begin with \"/\"",
				       len > 80 ? 80 : (int)len, value);
		value += len;
	}
	return 0;
}

/* --- values of other types -------------------------------------------------------------------- */

static int set_number(const struct option_def *d, uint32_t *field, const char *value, struct err *e)
{
	char *end;
	double scale = d->type == OPT_SECONDS ? 1000 : 1, v;

	errno = 0;
	v = isdigit((unsigned char)*value) || *value == '.' ? strtod(value, &end) : (end = NULL, 0);
	if (end == NULL || *end != '\0' || errno != 0 || !isfinite(v))
		return err_set(e, -EINVAL, "'%.40s' is not a number", value);
	if (v < d->min || v > d->max)
		return err_set(e, -EINVAL, "%.40s is not between %.10g and %.10g", value, d->min,
			       d->max);
	if (d->type == OPT_NUMBER && v != (double)(uint32_t)v)
		return err_set(e, -EINVAL, "'%.40s' is not a whole number", value);
	*field = (uint32_t)(v * scale + 0.5);
	return 0;
}

static int set_choice(const struct option_def *d, uint32_t *field, const char *value, struct err *e)
{
	char all[128] = "";

	for (uint32_t i = 0; d->choices[i]; i++) {
		if (strcmp(d->choices[i], value) == 0) {
			*field = i;
			return 0;
		}
		snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s", i ? ", " : "",
			 d->choices[i]);
	}
	return err_set(e, -EINVAL, "'%.40s' is none of %s", value, all);
}

static int set_bool(bool *field, const char *value, struct err *e)
{
	bool on = strcmp(value, "true") == 0;

	if (!on && strcmp(value, "false") != 0)
		return err_set(e, -EINVAL, "'%.40s' is neither true nor false", value);
	*field = on;
	return 0;
}

/* True for a valid name (dev_valid_name() in linux/net/core/dev.c) without a comma. */
static bool is_netdev_name(const char *name, size_t len)
{
	if (len >= IFNAMSIZ || (len <= 2 && strspn(name, ".") >= len))
		return false;
	return !any_of(len, i, strchr("/:,", name[i]) || isspace((unsigned char)name[i]));
}

static int option_list_add(struct option_list *list, const struct option_def *d, const char *item,
			   size_t len, struct err *e)
{
	if (list->n == OPTION_LIST_MAX)
		return err_set(e, -EINVAL, "more than %d items", OPTION_LIST_MAX);
	if (len == 0 || len >= OPTION_LIST_ITEM)
		return err_set(e, -EINVAL, "item %u is empty or longer than %d bytes", list->n + 1,
			       OPTION_LIST_ITEM - 1);
	if (d->netdevs && !is_netdev_name(item, len))
		return err_set(e, -EINVAL, "'%.*s' cannot be the name of a netdev",
			       len > 40 ? 40 : (int)len, item);
	memcpy(list->items[list->n], item, len);
	list->items[list->n++][len] = '\0';
	return d->grants ? ipam_grant_check(list->items[list->n - 1], e) : 0;
}

/* Parses "a,b,c"; "" is the empty list. */
static int set_list(const struct option_def *d, struct option_list *field, const char *value,
		    struct err *e)
{
	struct option_list list = {0};
	int r = 0;

	while (*value != '\0' && r == 0) {
		size_t len = strcspn(value, ",");

		r = option_list_add(&list, d, value, len, e);
		value += len + (value[len] == ',');
	}
	if (r == 0)
		*field = list;
	return r;
}

int option_set(struct options *o, const struct option_def *d, const char *value, struct err *e)
{
	void *field = (char *)o + d->offset;

	switch (d->type) {
	case OPT_TEXT:
		return set_text(d, field, value, e);
	case OPT_BOOL:
		return set_bool(field, value, e);
	case OPT_NUMBER:
	case OPT_SECONDS:
		return set_number(d, field, value, e);
	case OPT_CHOICE:
		return set_choice(d, field, value, e);
	case OPT_LIST:
		return set_list(d, field, value, e);
	case OPT_THRESHOLDS:
		thresholds_init(field);
		break;
	case OPT_ACTION:
		break;
	}
	return 0;
}

/* --- values in JSON --------------------------------------------------------------------------- */

static int set_json_list(struct option_list *field, const struct option_def *d, const json_t *value,
			 struct err *e)
{
	struct option_list list = {0};
	const json_t *item;
	size_t i;
	int r = 0;

	json_array_foreach (value, i, item) {
		if (!json_is_string(item))
			return err_set(e, -EINVAL, "item %zu is not a string", i + 1);
		r = option_list_add(&list, d, json_string_value(item),
				    strlen(json_string_value(item)), e);
		if (r < 0)
			return r;
	}
	*field = list;
	return 0;
}

static int unknown_threshold(const char *key, struct err *e)
{
	const char *names[N_THRESHOLDS], *near;

	for (int i = 0; i < N_THRESHOLDS; i++)
		names[i] = threshold_key((enum threshold)i)->name;
	near = suggest(key, strlen(key), names, N_THRESHOLDS);
	return err_set(e, -EINVAL, "unknown key%s%s%s", near ? ", did you mean \"" : "",
		       near ? near : "", near ? "\"?" : "");
}

static const struct threshold_key *find_threshold(const char *key)
{
	for (int i = 0; i < N_THRESHOLDS; i++)
		if (strcmp(threshold_key((enum threshold)i)->name, key) == 0)
			return threshold_key((enum threshold)i);
	return NULL;
}

/* Sets the thresholds of an object. *ret_key: the wrong key. */
static int set_thresholds(struct thresholds *t, const json_t *object, const char **ret_key,
			  struct err *e)
{
	const char *key;
	json_t *value;

	if (!json_is_object(object))
		return err_set(e, -EINVAL, "is not an object");
	json_object_foreach ((json_t *)object, key, value) {
		const struct threshold_key *k = find_threshold(key);
		double v = json_number_value(value);

		*ret_key = key;
		if (!k)
			return unknown_threshold(key, e);
		if (!json_is_number(value))
			return err_set(e, -EINVAL, "is not a number");
		if (!(v >= k->least && v <= k->greatest))
			return err_set(e, -EINVAL, "%.10g is not between %.10g and %.10g", v,
				       k->least, k->greatest);
		thresholds_set(t, key, v, e);
	}
	*ret_key = NULL;
	return 0;
}

/* Numbers are converted to text so that both parsers share one check. */
int option_set_json(struct options *o, const struct option_def *d, const json_t *value,
		    const char **ret_key, struct err *e)
{
	char number[32];

	if (d->type == OPT_LIST)
		return json_is_array(value)
			       ? set_json_list((void *)((char *)o + d->offset), d, value, e)
			       : err_set(e, -EINVAL, "is not a list of strings");
	if (d->type == OPT_THRESHOLDS)
		return set_thresholds((void *)((char *)o + d->offset), value, ret_key, e);
	if (d->type == OPT_BOOL)
		return json_is_boolean(value)
			       ? option_set(o, d, json_is_true(value) ? "true" : "false", e)
			       : err_set(e, -EINVAL, "is neither true nor false");
	if (d->type == OPT_NUMBER || d->type == OPT_SECONDS) {
		if (!json_is_number(value))
			return err_set(e, -EINVAL, "is not a number");
		snprintf(number, sizeof(number), "%.15g", json_number_value(value));
		return option_set(o, d, number, e);
	}
	if (!json_is_string(value))
		return err_set(e, -EINVAL, "is not a string");
	if (d->type == OPT_TEXT && option_check_absolute(d, json_string_value(value), e) < 0)
		return -EINVAL;
	return option_set(o, d, json_string_value(value), e);
}

static json_t *list_json(const struct option_list *list)
{
	json_t *array = json_array();

	for (unsigned i = 0; i < list->n; i++)
		json_array_append_new(array, json_string(list->items[i]));
	return array;
}

static json_t *thresholds_json(const struct thresholds *t)
{
	json_t *object = json_object();

	for (int i = 0; i < N_THRESHOLDS; i++)
		json_object_set_new(object, threshold_key((enum threshold)i)->name,
				    json_real(t->value[i]));
	return object;
}

/* Converts the paths of a flag to the form required in the file: absolute. */
static json_t *option_text_json(const struct option_def *d, const char *value)
{
	char here[PATH_MAX], text[OPTION_TEXT_SIZE * 2 + PATH_MAX] = "";
	size_t n = 0;

	if (option_check_absolute(d, value, NULL) == 0 || !getcwd(here, sizeof(here)))
		return json_string(value);
	for (; *value && n < sizeof(text); value += *value == ':') {
		size_t len = strcspn(value, ":");
		bool relative = len > 0 && *value != '/';

		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s%.*s%.1s",
				      relative ? here : "", relative ? "/" : "", (int)len, value,
				      value + len);
		value += len;
	}
	return json_string(text);
}

json_t *option_value_json(const struct options *o, const struct option_def *d)
{
	const void *field = (const char *)o + d->offset;
	uint32_t number;

	switch (d->type) {
	case OPT_TEXT:
		return option_text_json(d, field);
	case OPT_BOOL:
		return json_boolean(*(const bool *)field);
	case OPT_NUMBER:
		return json_integer(*(const uint32_t *)field);
	case OPT_SECONDS:
		number = *(const uint32_t *)field;
		return number % 1000 ? json_real(number / 1000.0) : json_integer(number / 1000);
	case OPT_CHOICE:
		return json_string(d->choices[*(const uint32_t *)field]);
	case OPT_LIST:
		return list_json(field);
	case OPT_THRESHOLDS:
		return thresholds_json(field);
	case OPT_ACTION:
		break;
	}
	return NULL;
}

/* --- schema ----------------------------------------------------------------------------------- */

static json_t *option_list_schema(void)
{
	return json_pack("{s:s, s:i, s:{s:s, s:i, s:i}}", "type", "array", "maxItems",
			 OPTION_LIST_MAX, "items", "type", "string", "minLength", 1, "maxLength",
			 OPTION_LIST_ITEM - 1);
}

static json_t *option_thresholds_schema(void)
{
	json_t *object = config_schema_object();

	for (int i = 0; i < N_THRESHOLDS; i++) {
		const struct threshold_key *k = threshold_key((enum threshold)i);

		config_schema_property(object, k->name,
				       json_pack("{s:s, s:f, s:f, s:f, s:s}", "type", "number",
						 "minimum", k->least, "maximum", k->greatest,
						 "default", k->fallback, "description", k->help));
	}
	return object;
}

json_t *option_schema(const struct option_def *d)
{
	json_t *text;
	size_t n = 0;

	switch (d->type) {
	case OPT_BOOL:
		return config_schema_json(SCHEMA_BOOL);
	case OPT_NUMBER:
		return config_schema_integer(d->min, d->max);
	case OPT_SECONDS:
		return json_pack("{s:s, s:f, s:f}", "type", "number", "minimum", d->min, "maximum",
				 d->max);
	case OPT_CHOICE:
		while (d->choices[n])
			n++;
		return config_schema_words(d->choices, n);
	case OPT_LIST:
		return option_list_schema();
	case OPT_THRESHOLDS:
		return option_thresholds_schema();
	case OPT_TEXT:
	case OPT_ACTION:
		break;
	}
	text = json_pack("{s:s, s:i, s:i}", "type", "string", "maxLength", OPTION_TEXT_SIZE - 1,
			 "minLength", text_kind(d)->named);
	if (text_kind(d)->pattern)
		json_object_set_new(text, "pattern", json_string(text_kind(d)->pattern));
	return text;
}
