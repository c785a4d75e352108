// SPDX-License-Identifier: Apache-2.0
#include "shim_config.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "json_text.h"

const char *const shim_versions[] = {"0.1.0", "0.2.0", "0.3.0", "0.3.1",
				     "0.4.0", "1.0.0", "1.1.0", NULL};

/* --- numbers ---------------------------------------------------------------------------------- */

static size_t shim_string_length(const char *text)
{
	const char *at = text + 1;

	while (*at && *at != '"')
		at += *at == '\\' && at[1] ? 2 : 1;
	return (size_t)(at - text) + (*at == '"');
}

/* Overwrites a number by one that is not longer, padded with spaces. */
static void shim_replace(char *number, size_t len, const char *instead)
{
	if (strlen(instead) > len)
		return;
	memset(number, ' ', len);
	while (*instead)
		*number++ = *instead++;
}

/* Clips a number that overflows a double or an integer. Even the shortest one, 1e309, has room for
 * its replacement. */
static void shim_clip_number(char *number, size_t len)
{
	bool negative = *number == '-';
	size_t whole = strspn(number, "-0123456789");
	double v;

	if (whole == len) {
		errno = 0;
		if (strtoll(number, NULL, 10) && errno == ERANGE)
			shim_replace(number, len,
				     negative ? "-9223372036854775808" : "9223372036854775807");
		return;
	}
	v = strtod(number, NULL);
	if (v == HUGE_VAL || v == -HUGE_VAL)
		shim_replace(number, len, negative ? "-9e307" : "9e307");
}

/* Clips all numbers that are out of range: jansson would reject the document, even if the number is
 * in a key that we do not use, so a DEL would fail forever. A clipped number is still out of range
 * for every key that we use. */
static void shim_clip_numbers(char *text)
{
	while (*text) {
		size_t n = 1;

		if (*text == '"') {
			n = shim_string_length(text);
		} else if (isdigit((unsigned char)*text) || *text == '-') {
			n = strspn(text, "+-.0123456789eE");
			shim_clip_number(text, n);
		}
		text += n;
	}
}

/* --- the document ----------------------------------------------------------------------------- */

static int shim_check_name(const json_t *config, struct shim_error *e)
{
	const json_t *value = json_object_get(config, "name");
	const char *name = json_string_value(value), *at = name;

	if (value && !name && !json_is_null(value))
		return shim_fail(e, SHIM_DECODE,
				 "error unmarshall network config: name is not a "
				 "string");
	if (!name || !*name)
		return shim_fail(e, SHIM_CONFIG, "missing network name");
	while (isalnum((unsigned char)*at) || (at > name && *at && strchr("_.-", *at)))
		at++;
	if (*at == '\0')
		return 0;
	shim_fail(e, SHIM_CONFIG, "invalid characters found in network name");
	return shim_details(e, "%s", name);
}

int shim_config_load(json_t **ret, char *text, size_t len, struct shim_error *e)
{
	json_error_t where;
	json_t *config;
	int r;

	shim_clip_numbers(text);
	config = json_text_load(text, len, 0, &where);
	if (!config && json_text_no_memory(&where))
		return shim_fail(e, SHIM_INTERNAL, "out of memory");
	if (!config)
		return shim_fail(e, SHIM_DECODE, "error unmarshall network config: line %d: %s",
				 where.line, where.text);
	r = json_is_object(config) ? shim_check_name(config, e)
				   : shim_fail(e, SHIM_DECODE,
					       "error unmarshall network config: "
					       "it is not a JSON object");
	if (r < 0)
		json_decref(config);
	else
		*ret = config;
	return r;
}

/* --- versions --------------------------------------------------------------------------------- */

const char *shim_config_version(const json_t *config)
{
	const json_t *value = json_object_get(config, "cniVersion");
	const char *version = json_string_value(value);

	if (!value || json_is_null(value) || (version && !*version))
		return shim_versions[0];
	return version;
}

/* Parses up to three numbers, as compared by the Go library (pkg/version/plugin.go). -EINVAL. */
static int shim_version_parse(const char *version, unsigned parts[3])
{
	for (unsigned i = 0; i < 3; i++) {
		char *end;

		if (!isdigit((unsigned char)*version))
			return -EINVAL;
		parts[i] = (unsigned)strtoul(version, &end, 10);
		if (*end == '\0')
			return 0;
		if (*end != '.')
			return -EINVAL;
		version = end + 1;
	}
	return -EINVAL;
}

static bool shim_parts_reach(const unsigned parts[3], unsigned major, unsigned minor)
{
	return parts[0] > major || (parts[0] == major && parts[1] >= minor);
}

bool shim_version_reaches(const char *version, unsigned major, unsigned minor)
{
	unsigned parts[3] = {0};

	return shim_version_parse(version, parts) == 0 && shim_parts_reach(parts, major, minor);
}

static bool shim_version_is_ours(const char *version)
{
	for (unsigned i = 0; shim_versions[i]; i++)
		if (strcmp(shim_versions[i], version) == 0)
			return true;
	return false;
}

static int shim_incompatible(const char *version, struct shim_error *e)
{
	shim_fail(e, SHIM_VERSION, "incompatible CNI versions");
	shim_details(e, "config is \"%.100s\", plugin supports [", version);
	for (unsigned i = 0; shim_versions[i]; i++)
		shim_details(e, "%s\"%s\"", i ? " " : "", shim_versions[i]);
	return shim_details(e, "]");
}

/* Checks a verb that was added in MAJOR.MINOR of the specification. */
static int shim_check_verb(const char *version, const char *verb, unsigned major, unsigned minor,
			   struct shim_error *e)
{
	unsigned parts[3] = {0};

	if (shim_version_parse(version, parts) < 0)
		return shim_fail(e, SHIM_DECODE, "failed to parse version \"%.100s\"", version);
	if (!shim_parts_reach(parts, major, minor))
		return shim_fail(e, SHIM_VERSION, "config version does not allow %s", verb);
	if (shim_parts_reach(parts, 1, 2) || (shim_parts_reach(parts, 1, 1) && parts[2] > 0))
		return shim_fail(e, SHIM_VERSION, "plugin version does not allow %s", verb);
	return 0;
}

int shim_config_check_version(const json_t *config, enum shim_verb verb, struct shim_error *e)
{
	const char *version = shim_config_version(config);
	int r = 0;

	if (!version)
		return shim_fail(e, SHIM_DECODE,
				 "decoding version from network config: cniVersion is "
				 "not a string");
	if (verb == SHIM_CHECK)
		r = shim_check_verb(version, "CHECK", 0, 4, e);
	else if (verb == SHIM_GC)
		r = shim_check_verb(version, "GC", 1, 1, e);
	else if (verb == SHIM_STATUS)
		r = shim_check_verb(version, "STATUS", 1, 1, e);
	if (r == 0 && !shim_version_is_ours(version))
		r = shim_incompatible(version, e);
	return r;
}
