// SPDX-License-Identifier: Apache-2.0
/* groups.c - conditions are parsed and evaluated in one pass, because a condition that is not met
 * must be valid, too. */
#include "groups.h"

#include <ctype.h>
#include <strings.h>

#include "cleanup.h"
#include "config_schema.h"
#include "pool_parse.h"

/* --- patterns --------------------------------------------------------------------------------- */

/* Matches from left to right. On a mismatch, the last '*' matches one more character. Earlier ones
 * need no retry, so the time is at most the product of both lengths. */
bool groups_glob(const char *pattern, const char *text)
{
	const char *star = NULL, *from = NULL;

	while (*text) {
		if (*pattern == '*') {
			star = ++pattern;
			from = text;
		} else if (*pattern == '?' ||
			   tolower((unsigned char)*pattern) == tolower((unsigned char)*text)) {
			pattern++;
			text++;
		} else if (star) {
			pattern = star;
			text = ++from;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return *pattern == '\0';
}

/* --- conditions ------------------------------------------------------------------------------- */

/* State of the evaluation: fails is set if any condition is not met. */
struct group_match {
	const struct node_facts *facts;
	bool fails;
};

/* Sets m->fails unless one of the words is a pattern that matches the text. */
static int groups_read_patterns(struct parse *p, const struct json_place *at, const json_t *value,
				const char *text, struct group_match *m)
{
	struct word_list words = {0};
	bool any = false;
	int r = parse_words(p, at, value, &words);

	for (size_t i = 0; i < words.n && r == 0; i++)
		any |= groups_glob(words.words[i], text);
	if (r == 0 && words.n == 0)
		r = parse_fail(p, at, "is an empty list, which matches no node");
	for (size_t i = 0; i < words.n; i++)
		free(words.words[i]);
	free(words.words);
	m->fails |= !any;
	return r;
}

static int groups_read_nodes(struct parse *p, const struct json_place *at, const json_t *value,
			     void *target)
{
	struct group_match *m = target;

	return groups_read_patterns(p, at, value, m->facts->node, m);
}

static int groups_read_products(struct parse *p, const struct json_place *at, const json_t *value,
				void *target)
{
	struct group_match *m = target;

	return groups_read_patterns(p, at, value, m->facts->product, m);
}

/* One entry of "devices". */
struct device_match {
	const char *model; /* borrowed from the value */
	uint32_t min, max;
	bool has_count, has_range;
};

static int groups_read_model(struct parse *p, const struct json_place *at, const json_t *value,
			     void *field)
{
	const char *word = json_string_value(value);

	if (!word)
		return parse_fail(p, at, "is not a string");
	if (!strchr(word, ':') || strspn(word, "0123456789abcdefABCDEF:*?") != strlen(word))
		return parse_fail(p, at,
				  "'%.40s' is not a PCI id like 15b3:1021, with * and ? allowed",
				  word);
	*(const char **)field = word;
	return 0;
}

static int groups_read_count(struct parse *p, const struct json_place *at, const json_t *value,
			     void *target)
{
	struct device_match *d = target;
	int r = parse_count(p, at, value, 0, UINT16_MAX, &d->min);

	d->max = d->min;
	d->has_count = true;
	return r;
}

static int groups_read_min(struct parse *p, const struct json_place *at, const json_t *value,
			   void *target)
{
	struct device_match *d = target;

	d->has_range = true;
	return parse_count(p, at, value, 0, UINT16_MAX, &d->min);
}

static int groups_read_max(struct parse *p, const struct json_place *at, const json_t *value,
			   void *target)
{
	struct device_match *d = target;

	d->has_range = true;
	return parse_count(p, at, value, 0, UINT16_MAX, &d->max);
}

static const struct parse_key device_keys[] = {
	PARSE_KEY("model", groups_read_model, struct device_match, model),
	{"count", groups_read_count, 0},
	{"min", groups_read_min, 0},
	{"max", groups_read_max, 0},
};

static unsigned groups_count(const struct node_facts *f, const char *model)
{
	unsigned n = 0;

	for (size_t i = 0; i < f->n_models; i++)
		if (groups_glob(model, f->models[i].id))
			n += f->models[i].n;
	return n;
}

static int groups_read_device(struct parse *p, const struct json_place *at, const json_t *value,
			      void *target)
{
	struct device_match d = {.min = 1, .max = UINT16_MAX};
	struct group_match *m = target;
	int r = parse_object(p, at, value, device_keys, ARRAY_SIZE(device_keys), &d);
	unsigned n;

	if (r < 0)
		return r;
	if (!d.model)
		return parse_fail(p, at, "\"model\" is missing");
	if (d.has_count && d.has_range)
		return parse_fail(p, at, "\"count\" excludes \"min\" and \"max\"");
	if (d.min > d.max)
		return parse_fail(p, at, "the range %u-%u is empty", d.min, d.max);
	n = groups_count(m->facts, d.model);
	m->fails |= n < d.min || n > d.max;
	return 0;
}

static int groups_read_devices(struct parse *p, const struct json_place *at, const json_t *value,
			       void *target)
{
	if (json_is_array(value) && json_array_size(value) == 0)
		return parse_fail(p, at, "is an empty list; leave it out to match any devices");
	return parse_each(p, at, value, "a list of objects", groups_read_device, target);
}

static const struct parse_key match_keys[] = {
	{"nodes", groups_read_nodes, 0},
	{"products", groups_read_products, 0},
	{"devices", groups_read_devices, 0},
};

/* --- groups ----------------------------------------------------------------------------------- */

/* True for a valid label value of Kubernetes, so that the same word can label the group's nodes. */
static bool groups_name_is_valid(const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)name[i]) && !strchr("-_.", name[i]))
			return false;
	return n > 0 && n < GROUP_NAME_SIZE && isalnum((unsigned char)name[0]) &&
	       isalnum((unsigned char)name[n - 1]);
}

bool groups_own_key(const char *key)
{
	return strcasecmp(key, "name") == 0 || strcasecmp(key, "match") == 0;
}

static int groups_read_name(struct parse *p, const struct json_place *at, const json_t *root,
			    const json_t *group, const char **ret)
{
	struct json_place here = {at, "name", 0};
	const json_t *value = json_find(group, "name", &here.key);
	const char *name = json_string_value(value);
	size_t first;

	if (!value)
		return parse_fail(p, at, "\"name\" is missing");
	if (!name || !groups_name_is_valid(name))
		return parse_fail(p, &here,
				  "is not a name of up to %d letters, digits and '-', '_', '.' "
				  "between them",
				  GROUP_NAME_SIZE - 1);
	if (groups_find(root, name, &first) && first != at->index)
		return parse_fail(p, &here, "'%.63s' is the name of two groups", name);
	*ret = name;
	return 0;
}

/* Rejects keys that cannot depend on the group. */
static int groups_check_keys(struct parse *p, const struct json_place *at, const json_t *group)
{
	static const char *const refused[][2] = {
		{"groups", "groups cannot be nested"},
		{"sysfs-root",
		 "cannot depend on the group, because the group depends on the files there"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(refused); i++)
		if (json_find(group, refused[i][0], NULL))
			return parse_reject(p, at, group, refused[i][0], refused[i][1]);
	return 0;
}

/* Checks the conditions of a group. 1: it matches; 0: it does not, or has no conditions. */
static int groups_match(struct parse *p, const struct json_place *at, const json_t *group,
			const struct node_facts *facts)
{
	struct json_place here = {at, "match", 0};
	const json_t *match = json_find(group, "match", &here.key);
	struct group_match m = {.facts = facts};
	int r;

	if (!match)
		return 0;
	r = parse_object(p, &here, match, match_keys, ARRAY_SIZE(match_keys), &m);
	return r < 0 ? r : !m.fails;
}

struct groups_choice {
	const json_t *root;
	const struct node_facts *facts;
	const char *wanted, *first; /* first: the first group that matches */
	bool has_wanted;
};

static int groups_read_group(struct parse *p, const struct json_place *at, const json_t *group,
			     void *target)
{
	struct groups_choice *c = target;
	const char *name = NULL;
	int r;

	if (!json_is_object(group))
		return parse_fail(p, at, "is not an object");
	r = groups_read_name(p, at, c->root, group, &name);
	if (r == 0)
		r = groups_check_keys(p, at, group);
	if (r == 0)
		r = groups_match(p, at, group, c->facts);
	if (r > 0 && !c->first)
		c->first = name;
	c->has_wanted |= r >= 0 && name && strcmp(name, c->wanted) == 0;
	return r < 0 ? r : 0;
}

static void groups_no_warning(const char *sentence, void *arg)
{
	(void)sentence, (void)arg;
}

int groups_choose(const json_t *root, const struct groups_text *t, const char *wanted,
		  const struct node_facts *facts, char ret[GROUP_NAME_SIZE], struct err *e)
{
	struct json_place at = {NULL, "groups", 0};
	const json_t *list = json_find(root, "groups", &at.key);
	struct err wrong = {0};
	struct parse p = {.file = t->name,
			  .text = t->text,
			  .len = t->len,
			  .warn = groups_no_warning,
			  .strict = true,
			  .err = &wrong};
	struct groups_choice c = {.root = root, .facts = facts, .wanted = wanted};
	int r = 0;

	if (json_array_size(list) > GROUPS_MAX)
		r = parse_fail(&p, &at, "more than %d groups", GROUPS_MAX);
	else if (list)
		r = parse_each(&p, &at, list, "a list of objects", groups_read_group, &c);
	if (r < 0)
		return err_set(e, r, "%s", wrong.msg);
	if (wanted[0] && !c.has_wanted)
		return err_set(e, -EINVAL,
			       "%s: there is no group \"%.63s\", which ROCELET_GROUP or --group "
			       "requests",
			       t->name, wanted);
	snprintf(ret, GROUP_NAME_SIZE, "%s", wanted[0] ? wanted : c.first ? c.first : "");
	return 0;
}

const json_t *groups_find(const json_t *root, const char *name, size_t *ret_index)
{
	const json_t *list = json_find(root, "groups", NULL), *group;
	size_t i;

	json_array_foreach (list, i, group) {
		const char *other = json_string_value(json_find(group, "name", NULL));

		if (other && strcmp(other, name) == 0) {
			*ret_index = i;
			return group;
		}
	}
	return NULL;
}

size_t groups_names(const struct config_file *file, char ret[GROUPS_MAX][GROUP_NAME_SIZE])
{
	json_auto_t *root = file->text ? config_json(file->text, file->len, "", NULL, NULL, NULL)
				       : NULL;
	const json_t *list = json_find(root, "groups", NULL), *group;
	size_t i, n = 0;

	json_array_foreach (list, i, group) {
		const char *name = json_string_value(json_find(group, "name", NULL));

		if (name && n < GROUPS_MAX)
			snprintf(ret[n++], GROUP_NAME_SIZE, "%s", name);
	}
	return n;
}

/* --- schema ----------------------------------------------------------------------------------- */

#define GROUPS_PATTERNS "{\"type\": \"array\", \"minItems\": 1, \"items\": " SCHEMA_WORD "}"
#define GROUPS_COUNT	"{\"type\": \"integer\", \"minimum\": 0, \"maximum\": 65535}"

json_t *config_schema_of_match(void)
{
	static const struct config_schema_shape shapes[] = {
		{groups_read_model, NULL,
		 "{\"type\": \"string\", \"pattern\": \"^[0-9a-fA-F*?]*:[0-9a-fA-F:*?]*$\"}", NULL},
		{groups_read_count, NULL, GROUPS_COUNT, NULL},
		{groups_read_min, NULL, GROUPS_COUNT, NULL},
		{groups_read_max, NULL, GROUPS_COUNT, NULL},
		{groups_read_nodes, NULL, GROUPS_PATTERNS, NULL},
		{groups_read_products, NULL, GROUPS_PATTERNS, NULL},
		{groups_read_devices, NULL, SCHEMA_ANY, NULL}, /* replaced below */
	};
	json_t *match = config_schema_table(match_keys, ARRAY_SIZE(match_keys), shapes,
					    ARRAY_SIZE(shapes));
	json_t *device = config_schema_table(device_keys, ARRAY_SIZE(device_keys), shapes,
					     ARRAY_SIZE(shapes));

	config_schema_require(device, "model");
	config_schema_property(match, "devices", config_schema_list(device, 1));
	return match;
}
