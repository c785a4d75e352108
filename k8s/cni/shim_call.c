// SPDX-License-Identifier: Apache-2.0
#include "shim_call.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cleanup.h"
#include "client.h"
#include "json_text.h"
#include "kill_point.h"

#define RETRY_MS 50

/* --- the connection --------------------------------------------------------------------------- */

static bool shim_may_come(int code)
{
	return code == -ENOENT || code == -ECONNREFUSED || code == -ECONNRESET;
}

static int shim_connect(const struct shim_call *c, struct shim_error *e)
{
	const struct timespec pause = {.tv_nsec = RETRY_MS * 1000000L};
	struct err why;
	int fd;

	while ((fd = client_connect(c->socket, c->deadline, &why)) < 0 && shim_may_come(fd) &&
	       client_now_ms() + RETRY_MS < c->patience)
		nanosleep(&pause, NULL);
	if (fd >= 0)
		return fd;
	return shim_fail(e, SHIM_LATER, "rocelet does not serve %.108s: %s", c->socket,
			 shim_errno(fd));
}

/* The daemon runs as root, or in tests as our own user. */
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

static enum shim_fate shim_lost(int code, uint64_t ms, struct shim_error *e)
{
	if (code == -ETIMEDOUT)
		shim_fail(e, SHIM_LATER, "rocelet did not answer within %llu s",
			  (unsigned long long)(ms + 999) / 1000);
	else if (code == -EBADMSG)
		shim_fail(e, SHIM_INTERNAL, "rocelet's answer is malformed");
	else
		shim_fail(e, SHIM_LATER, "rocelet went away before it answered (%s)",
			  shim_errno(code));
	return SHIM_LOST;
}

/* Handles an HTTP status of 400 or more: the daemon rejected the request before processing it (RFC
 * 9110, section 15). */
static enum shim_fate shim_refused(const struct client_answer *a, const json_t *doc,
				   struct shim_error *e)
{
	const char *why = json_string_value(json_object_get(doc, "error"));

	if (a->status == 404)
		shim_fail(e, SHIM_INTERNAL,
			  "this rocelet has no CNI endpoint; its version is older "
			  "than the plugin's");
	else
		shim_fail(e, a->status == 503 || a->status == 429 ? SHIM_LATER : SHIM_INTERNAL,
			  "rocelet refuses the request with status %u", a->status);
	if (why)
		shim_details(e, "%s", why);
	return a->status == 503 || a->status / 100 == 4 ? SHIM_NOT_DONE : SHIM_LOST;
}

static enum shim_fate shim_judge(const struct client_answer *a, json_t **ret, struct shim_error *e)
{
	json_t *doc = json_text_load(a->body, a->len, 0, NULL);
	enum shim_fate fate = SHIM_ANSWERED;

	if (a->status != 200)
		fate = shim_refused(a, doc, e);
	else if (!json_is_object(doc))
		fate = shim_lost(-EBADMSG, 0, e);
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
	fate = r < 0 ? shim_lost(r, c->deadline - began, e) : shim_judge(&answer, ret, e);
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
