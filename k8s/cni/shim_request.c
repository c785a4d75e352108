// SPDX-License-Identifier: Apache-2.0
#include "shim_request.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "json_text.h"

/* --- parts that a DEL does not need ----------------------------------------------------------- */

/* Members that a DEL needs to find a device without a journal record and to release its
 * addresses. */
static const char *const shim_del_keys[] = {
	"cniVersion", "name",	    "type", "deviceID", "pciBusID",	 "device",
	"hwaddr",     "kernelpath", "ipam", "args",	"runtimeConfig",
};
/* Members that error messages and metrics refer to. */
static const char *const shim_least_keys[] = {"cniVersion", "name", "type"};
#define SHIM_LEAST_MAX 256

static json_t *shim_pick(const json_t *config, const char *const *keys, size_t n)
{
	json_t *to = json_object();

	for (size_t i = 0; i < n; i++)
		if (json_object_get(config, keys[i]))
			json_object_set(to, keys[i], json_object_get(config, keys[i]));
	return to;
}

static json_t *shim_pick_least(const json_t *config)
{
	json_t *to = shim_pick(config, shim_least_keys, ARRAY_SIZE(shim_least_keys));

	for (size_t i = 0; i < ARRAY_SIZE(shim_least_keys); i++) {
		const json_t *value = json_object_get(to, shim_least_keys[i]);

		if (value && (!json_is_string(value) || json_string_length(value) > SHIM_LEAST_MAX))
			json_object_del(to, shim_least_keys[i]);
	}
	return to;
}

enum shim_extent {
	WHOLE,
	WITHOUT_PREVIOUS,
	ONLY_KNOWN,
	LEAST, /* without CNI_ARGS, CNI_PATH and long paths, too */
	N_EXTENTS,
};

static json_t *shim_cut(const json_t *config, enum shim_extent extent)
{
	json_t *to;

	switch (extent) {
	case WHOLE:
		return json_copy((json_t *)config);
	case WITHOUT_PREVIOUS:
		to = json_copy((json_t *)config);
		json_object_del(to, "prevResult");
		return to;
	case ONLY_KNOWN:
		return shim_pick(config, shim_del_keys, ARRAY_SIZE(shim_del_keys));
	case LEAST:
	case N_EXTENTS:
		break;
	}
	return shim_pick_least(config);
}

/* --- the request ------------------------------------------------------------------------------ */

/* Names, as the daemon reads them. */
static const char *shim_verb_word(const struct shim_env *env, enum shim_verb verb)
{
	return verb == SHIM_DEL ? "DEL" : env->command;
}

static int shim_put(json_t *to, const char *key, const char *value, bool tolerant,
		    struct shim_error *e)
{
	/* jansson accepts only UTF-8, but a valid path may have other bytes. */
	json_t *text = json_string(value);

	if (!text && tolerant)
		text = json_string("");
	if (!text)
		return shim_fail(e, SHIM_ENV, "environment variable of \"%s\" is not UTF-8", key);
	return json_object_set_new(to, key, text);
}

static int shim_put_env(json_t *to, const struct shim_env *env, bool is_del, bool least,
			struct shim_error *e)
{
	bool netns = !least || strlen(env->netns) < PATH_MAX;
	int r = shim_put(to, "containerID", env->container_id, is_del, e);

	if (r == 0)
		r = shim_put(to, "netns", netns ? env->netns : "", is_del, e);
	if (r == 0)
		r = shim_put(to, "ifname", env->ifname, false, e);
	if (r == 0)
		r = shim_put(to, "args", least ? "" : env->args, is_del, e);
	if (r == 0)
		r = shim_put(to, "path", least ? "" : env->path, is_del, e);
	return r;
}

/* NULL with the error. */
static char *shim_request_cut(const struct shim_env *env, enum shim_verb verb, const json_t *config,
			      enum shim_extent extent, struct shim_error *e)
{
	json_t *doc = json_pack("{ss}", "command", shim_verb_word(env, verb));
	json_t *cut = shim_cut(config, extent);
	char *text = NULL;

	if (doc && cut && shim_put_env(doc, env, verb == SHIM_DEL, extent == LEAST, e) == 0) {
		json_object_set(doc, "config", cut);
		text = json_dumps(doc, JSON_COMPACT);
	}
	if (!text && e->code == 0)
		shim_fail(e, SHIM_INTERNAL, "out of memory");
	json_decref(cut);
	json_decref(doc);
	return text;
}

char *shim_request(const struct shim_env *env, enum shim_verb verb, const json_t *config,
		   struct shim_error *e)
{
	unsigned extent = WHOLE, last = verb == SHIM_DEL ? LEAST : WHOLE;
	char *text = shim_request_cut(env, verb, config, WHOLE, e);

	while (text && strlen(text) > SHIM_REQUEST_MAX && extent < last) {
		free(text);
		text = shim_request_cut(env, verb, config, (enum shim_extent)++ extent, e);
	}
	if (text && strlen(text) > SHIM_REQUEST_MAX) {
		free(text);
		shim_fail(e, SHIM_DECODE,
			  "the network configuration and its environment exceed %zu bytes",
			  SHIM_REQUEST_MAX);
		return NULL;
	}
	return text;
}
