// SPDX-License-Identifier: Apache-2.0
#include "ctl_known.h"

#include <stdlib.h>

#include "cleanup.h"
#include "client.h"
#include "ctl_resolve.h"
#include "ctl_table.h"
#include "json_text.h"
#include "listing.h"

/* HTTP status of the daemon's reply if no device has the name. */
#define STATUS_UNKNOWN 404

static bool any_names_pod(const char *wanted, const json_t *list, const char *key)
{
	json_t *object;
	size_t i;

	json_array_foreach ((json_t *)list, i, object) {
		if (listing_has_pod(object, "namespace", key, wanted))
			return true;
	}
	return false;
}

static enum ctl_exit known_pod(const struct ctl *c, const char *pod)
{
	bool no_daemon = false;
	json_auto_t *pods = question_ask_quietly(c, "/api/v1/pods", &no_daemon);
	json_auto_t *attached = question_ask_quietly(c, "/api/v1/attachments", &no_daemon);
	bool known = any_names_pod(pod, json_object_get(pods, "pods"), "name|uid") ||
		     any_names_pod(pod, json_object_get(attached, "attachments"), "pod|uid");

	bool is_list = pods && !json_is_null(json_object_get(pods, "source"));

	if (!known && !no_daemon) {
		fputs("rocectl: ", c->err);
		table_put(pod, c->err);
		fputs(is_list && attached ? " has no device on this node"
					  : ": the pods of this node are not known",
		      c->err);
		ctl_resolve_suggest(pod, pods, attached, c->err);
		fputc('\n', c->err);
	}
	return no_daemon ? CTL_NO_DAEMON : known ? CTL_OK : CTL_NO;
}

static enum ctl_exit known_device(const struct ctl *c)
{
	const struct ctl_args args = {.device = c->args->device, .limit = -1};
	AUTO_FREE char *path = question_path(&args, "/api/v1/explain");
	struct client_answer a = {0};
	enum ctl_exit r = CTL_OK;
	struct err e = {0};

	if (!path)
		return question_no_memory(c);
	if (client_ask(&a, c->args->socket, path, NULL, ctl_args_wait_ms(c->args), &e) < 0)
		return question_no_answer(c, &e);
	if (a.status == STATUS_UNKNOWN) {
		json_t *document = json_text_load(a.body, a.len, 0, NULL);

		question_complain(c, &a, document);
		json_decref(document);
		r = CTL_NO;
	}
	free(a.body);
	return r;
}

enum ctl_exit ctl_known(const struct ctl *c)
{
	enum ctl_exit r = c->args->device ? known_device(c) : CTL_OK;

	return r == CTL_OK && c->args->pod ? known_pod(c, c->args->pod) : r;
}
