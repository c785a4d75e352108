// SPDX-License-Identifier: Apache-2.0
#include "shim_call.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cleanup.h"
#include "client.h"
#include "json_text.h"
#include "kill_point.h"

/* --- parts that a DEL does not need ----------------------------------------------------------- */

/* Members that a DEL needs to find a device without a journal record and to release its
 * addresses. */
static const char *const shim_del_keys[] = {
	"cniVersion", "name",	    "type", "deviceID", "pciBusID",	 "device",
	"hwaddr",     "kernelpath", "ipam", "args",	"runtimeConfig",
};
/* Members of the smallest configuration: error messages and metrics contain them. */
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
	LEAST, /* ONLY_KNOWN without CNI_ARGS, CNI_PATH and long paths */
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

/* Returns the name of the command for the daemon. An ADD is undone with the command DEL. */
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

/* Builds the body with this part of the configuration. NULL with the error. */
static char *shim_request_cut(const struct shim_env *env, enum shim_verb verb, const json_t *config,
			      enum shim_extent extent, struct shim_error *e)
{
	json_auto_t *doc = json_pack("{ss}", "command", shim_verb_word(env, verb));
	json_auto_t *cut = shim_cut(config, extent);
	char *text = NULL;

	if (doc && cut && shim_put_env(doc, env, verb == SHIM_DEL, extent == LEAST, e) == 0) {
		json_object_set(doc, "config", cut);
		text = json_dumps(doc, JSON_COMPACT);
	}
	if (!text && e->code == 0)
		shim_fail(e, SHIM_INTERNAL, "out of memory");
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

#define RETRY_MS 50

/* --- the connection --------------------------------------------------------------------------- */

static bool shim_may_restart(int code)
{
	return code == -ENOENT || code == -ECONNREFUSED || code == -ECONNRESET;
}

static int shim_connect(const struct shim_call *c, struct shim_error *e)
{
	const struct timespec pause = {.tv_nsec = RETRY_MS * 1000000L};
	struct err why;
	int fd;

	while ((fd = client_connect(c->socket, c->deadline, &why)) < 0 && shim_may_restart(fd) &&
	       client_now_ms() + RETRY_MS < c->connect_deadline)
		nanosleep(&pause, NULL);
	if (fd >= 0)
		return fd;
	return shim_fail(e, SHIM_LATER, "rocelet does not serve %.108s: %s", c->socket,
			 shim_errno(fd));
}

/* Checks that the daemon runs as root, or, for tests, as our own user. */
static int shim_check_peer(const struct shim_call *c, int fd, struct shim_error *e)
{
	uid_t uid;

	if (client_peer_uid(fd, &uid) < 0)
		return shim_fail(e, SHIM_INTERNAL, "%.108s: its server's user is unknown",
				 c->socket);
	if (uid == 0 || uid == geteuid())
		return 0;
	return shim_fail(e, SHIM_INTERNAL, "%.108s is served by user %u, not by root", c->socket,
			 (unsigned)uid);
}

/* --- the reply -------------------------------------------------------------------------------- */

static enum shim_fate shim_no_answer(int code, uint64_t ms, struct shim_error *e)
{
	if (code == -ETIMEDOUT)
		shim_fail(e, SHIM_LATER, "rocelet did not answer within %llu s",
			  (unsigned long long)(ms + 999) / 1000);
	else if (code == -EBADMSG)
		shim_fail(e, SHIM_INTERNAL, "rocelet's answer is malformed");
	else
		shim_fail(e, SHIM_LATER, "the connection to rocelet ended before it answered (%s)",
			  shim_errno(code));
	return SHIM_LOST;
}

/* Handles an HTTP status of 400 or more: the daemon rejected the request before processing it (RFC
 * 9110, section 15). */
static enum shim_fate shim_rejected(const struct client_answer *a, const json_t *doc,
				    struct shim_error *e)
{
	const char *why = json_string_value(json_object_get(doc, "error"));

	if (a->status == 404)
		shim_fail(e, SHIM_INTERNAL,
			  "this rocelet has no CNI endpoint; its version is older "
			  "than the plugin's");
	else
		shim_fail(e, a->status == 503 || a->status == 429 ? SHIM_LATER : SHIM_INTERNAL,
			  "rocelet rejected the request with status %u", a->status);
	if (why)
		shim_details(e, "%s", why);
	return a->status == 503 || a->status / 100 == 4 ? SHIM_NOT_DONE : SHIM_LOST;
}

static enum shim_fate shim_read_answer(const struct client_answer *a, json_t **ret,
				       struct shim_error *e)
{
	json_t *doc = json_text_load(a->body, a->len, 0, NULL);
	enum shim_fate fate = SHIM_ANSWERED;

	if (a->status != 200)
		fate = shim_rejected(a, doc, e);
	else if (!json_is_object(doc))
		fate = shim_no_answer(-EBADMSG, 0, e);
	if (fate == SHIM_ANSWERED)
		*ret = doc;
	else
		json_decref(doc);
	return fate;
}

enum shim_fate shim_call_daemon(const struct shim_call *c, json_t **ret, struct shim_error *e)
{
	const uint64_t began = client_now_ms();
	struct client_answer answer = {0};
	AUTO_FD fd = shim_connect(c, e);
	enum shim_fate fate;
	int r;

	if (fd < 0 || shim_check_peer(c, fd, e) < 0)
		return SHIM_NOT_DONE;
	kill_point("cni-send", "before");
	r = client_exchange(&answer, fd, "/api/v1/cni", c->body, c->deadline);
	kill_point("cni-answer", "after");
	fate = r < 0 ? shim_no_answer(r, c->deadline - began, e)
		     : shim_read_answer(&answer, ret, e);
	free(answer.body);
	return fate;
}

int shim_answer_error(const json_t *answer, struct shim_error *e)
{
	const json_t *error = json_object_get(answer, "error");
	const char *msg = json_string_value(json_object_get(error, "msg"));
	const char *details = json_string_value(json_object_get(error, "details"));
	json_int_t code = json_integer_value(json_object_get(error, "code"));

	if (!error || json_is_null(error))
		return 0;
	shim_fail(e, code > 0 ? code : SHIM_INTERNAL, "%s", msg ? msg : "rocelet gave no reason");
	return details ? shim_details(e, "%s", details) : -EPROTO;
}
