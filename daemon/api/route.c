// SPDX-License-Identifier: Apache-2.0
#include "route.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "api_attachments.h"
#include "json_text.h"
#include "routes.h"
#include "search.h"
#include "utc_text.h"
#include "version.h"

bool route_is_api(const struct route *route)
{
	return strncmp(route->path, "/api/", 5) == 0;
}

static size_t route_n_keys(const struct route *route)
{
	size_t n = 0;

	while (n < ROUTE_KEYS_MAX && route->keys[n].name)
		n++;
	return n;
}

static bool route_has_key(const struct route *route, const char *name)
{
	return any_of(route_n_keys(route), i, strcmp(route->keys[i].name, name) == 0);
}

static size_t route_times_given(const struct http_request *request, const char *name)
{
	size_t n = 0;

	for (size_t i = 0; i < request->n_params; i++)
		n += strcmp(request->params[i].name, name) == 0;
	return n;
}

/* True if value is one of the words, which '|' separates. */
static bool route_is_word(const char *words, const char *value)
{
	size_t len = strlen(value);

	for (size_t n; *words; words += n + (words[n] == '|')) {
		n = strcspn(words, "|");
		if (n == len && strncmp(words, value, n) == 0)
			return true;
	}
	return false;
}

static int route_check_key(const struct route_key *key, const struct http_request *request,
			   struct err *e)
{
	size_t n = route_times_given(request, key->name);

	if (n > 1)
		return err_set(e, -EINVAL, "%s is given more than once", key->name);
	if (n == 0)
		return key->is_required ? err_set(e, -EINVAL, "%s is missing", key->name) : 0;
	if (key->words && !route_is_word(key->words, http_param(request, key->name)))
		return err_set(e, -EINVAL, "%s is not one of %s", key->name, key->words);
	return 0;
}

int route_check_query(const struct route *route, const struct http_request *request, struct err *e)
{
	char names[160] = "";

	for (size_t i = 0; i < route_n_keys(route); i++)
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s",
			 i ? ", " : "", route->keys[i].name);
	for (size_t i = 0; i < request->n_params; i++)
		if (!route_has_key(route, request->params[i].name))
			return err_set(e, -EINVAL, "unknown parameter %.60s; %s has %s",
				       request->params[i].name, route->path,
				       names[0] ? names : "none");
	for (size_t i = 0; i < route_n_keys(route); i++)
		if (route_check_key(&route->keys[i], request, e) < 0)
			return e->code;
	return 0;
}

/* --- the index -------------------------------------------------------------------------------- */

static json_t *route_keys(const struct route *route)
{
	json_t *keys = json_array();

	for (size_t i = 0; i < route_n_keys(route); i++)
		json_array_append_new(keys,
				      json_pack("{ss ss ss}", "name", route->keys[i].name, "type",
						route->keys[i].type, "what", route->keys[i].what));
	return keys;
}

static json_t *route_list(void)
{
	json_t *list = json_array();
	size_t n;
	const struct route *table = routes_table(&n);

	for (size_t i = 0; i < n; i++)
		json_array_append_new(list,
				      json_pack("{ss ss so}", "path", table[i].path, "what",
						table[i].what, "query", route_keys(&table[i])));
	return list;
}

char *route_index(const struct routes *r, uint64_t now_ms, size_t *ret_len)
{
	uint64_t unix_ms = r->epoch_ms + now_ms;
	char started[UTC_TEXT_SIZE];

	utc_text(r->started_unix_ms, started);
	return api_print(
		json_pack("{so ss so so so}", "node", json_text(r->node ? r->node : ""), "version",
			  ROCELET_VERSION, "started", json_text(started), "upSeconds",
			  r->started_unix_ms && unix_ms >= r->started_unix_ms
				  ? json_integer((json_int_t)(unix_ms - r->started_unix_ms) / 1000)
				  : json_null(),
			  "routes", route_list()),
		ret_len);
}
