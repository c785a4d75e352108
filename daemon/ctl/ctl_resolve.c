// SPDX-License-Identifier: Apache-2.0
#include "ctl_resolve.h"

#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "client.h"
#include "ctl_document.h"
#include "ctl_table.h"
#include "json_text.h"
#include "listing.h"
#include "search.h"
#include "suggest.h"

/* HTTP status of the daemon's reply if no device has the name. */
#define STATUS_UNKNOWN 404
/* At most this many candidates are listed. */
#define NAMED_MAX      8

/* Pods as texts NAMESPACE/NAME, each once. */
struct pod_names {
	char **list;
	size_t n;
};

static void pod_names_done(struct pod_names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->list[i]);
	free(names->list);
}

/* Adds the name of an object's pod, unless it is listed already or memory is out. */
static void pod_names_add(struct pod_names *names, const json_t *object, const char *key)
{
	const char *namespace = json_string_value(json_object_get(object, "namespace"));
	const char *pod = json_string_value(json_object_get(object, key));
	char **list, *text;

	if (!pod || asprintf(&text, "%s/%s", namespace ? namespace : "", pod) < 0)
		return;
	list = reallocarray(names->list, names->n + 1, sizeof(*list));
	if (list)
		names->list = list;
	if (!list || any_of(names->n, i, strcmp(list[i], text) == 0))
		free(text);
	else
		list[names->n++] = text;
}

static bool is_named(const json_t *object, const char *key, const char *name)
{
	const char *is = json_string_value(json_object_get(object, key));

	return is && strcmp(is, name) == 0;
}

/* True if the attachment has the address `name`, given without its prefix length. */
static bool has_address(const json_t *attachment, const char *name)
{
	size_t len = strlen(name), i;
	json_t *ip;

	json_array_foreach (json_object_get(attachment, "ips"), i, ip) {
		const char *text = json_string_value(ip);

		if (text && strncmp(text, name, len) == 0 && (text[len] == '/' || !text[len]))
			return true;
	}
	return false;
}

/* Adds the pods with this name, uid or address; name NULL: all pods. */
static void pod_names_of(struct pod_names *names, const json_t *pods, const json_t *attachments,
			 const char *name)
{
	json_t *object;
	size_t i;

	json_array_foreach (json_object_get(pods, "pods"), i, object) {
		if (!name || is_named(object, "name", name) || is_named(object, "uid", name))
			pod_names_add(names, object, "name");
	}
	json_array_foreach (json_object_get(attachments, "attachments"), i, object) {
		if (!name || is_named(object, "pod", name) || is_named(object, "uid", name) ||
		    has_address(object, name))
			pod_names_add(names, object, "pod");
	}
}

/* Returns the pod with the nearest name (compared without the namespace if `name` has none), else
 * one whose name contains `name`; NULL: none. */
static const char *nearest(const struct pod_names *all, const char *name)
{
	const char **words = reallocarray(NULL, all->n + 1, sizeof(*words)), *near = NULL;

	for (size_t i = 0; words && i < all->n; i++)
		words[i] = strchr(name, '/') ? all->list[i] : strchr(all->list[i], '/') + 1;
	if (words)
		near = suggest(name, strlen(name), words, all->n);
	for (size_t i = 0; near && i < all->n; i++)
		if (words[i] == near) {
			near = all->list[i];
			break;
		}
	free(words);
	for (size_t i = 0; !near && *name && i < all->n; i++)
		if (all->list[i] && strstr(all->list[i], name))
			near = all->list[i];
	return near;
}

void ctl_resolve_suggest(const char *name, const json_t *pods, const json_t *attachments, FILE *f)
{
	struct pod_names all = {.n = 0};
	const char *near;

	pod_names_of(&all, pods, attachments, NULL);
	near = nearest(&all, name);
	if (near) {
		fputs("; did you mean ", f);
		table_put(near, f);
		fputc('?', f);
	}
	pod_names_done(&all);
}

static void complain_several(const struct ctl *c, const char *name, const struct pod_names *names)
{
	fputs("rocectl: several pods are named ", c->err);
	table_put(name, c->err);
	for (size_t i = 0; i < names->n && i < NAMED_MAX; i++) {
		fputs(i ? ", " : ": ", c->err);
		table_put(names->list[i], c->err);
	}
	if (names->n > NAMED_MAX)
		fprintf(c->err, " and %zu more", names->n - NAMED_MAX);
	fputc('\n', c->err);
}

/* Sets args->pod if one pod has the name. */
static enum ctl_exit resolve_pod(const struct ctl *c, struct ctl_args *args, const char *name,
				 const json_t *pods, const json_t *attachments)
{
	struct pod_names names = {.n = 0};
	enum ctl_exit r = CTL_OK;

	pod_names_of(&names, pods, attachments, name);
	if (names.n > 1) {
		complain_several(c, name, &names);
		r = CTL_NO;
	} else if (names.n == 1 && strlen(names.list[0]) < sizeof(args->pod_text)) {
		strcpy(args->pod_text, names.list[0]);
		args->pod = args->pod_text;
	}
	pod_names_done(&names);
	return r;
}

/* Requests the device with this name. If there is none, sets *ret to the daemon's reply. */
static enum ctl_exit request_device(const struct ctl *c, json_t **ret)
{
	const struct ctl_args args = {.device = c->args->device, .limit = -1};
	AUTO_FREE char *path = question_path(&args, "/api/v1/explain");
	struct client_answer a = {0};
	struct err e = {0};

	if (!path)
		return question_no_memory(c);
	if (client_ask(&a, c->args->socket, path, NULL, ctl_args_wait_ms(c->args), &e) < 0)
		return question_no_answer(c, &e);
	if (a.status == STATUS_UNKNOWN)
		*ret = json_text_load(a.body, a.len, 0, NULL);
	free(a.body);
	return CTL_OK;
}

/* Sets args->pod if the argument, which names no device, names a pod; else prints that it names
 * neither. */
static enum ctl_exit resolve_word(const struct ctl *c, struct ctl_args *args, const json_t *unknown,
				  const json_t *pods, const json_t *attachments)
{
	const char *sentence = json_string_value(json_object_get(unknown, "error")) ?: "no device";
	enum ctl_exit r = resolve_pod(c, args, args->device, pods, attachments);

	if (r == CTL_OK && !args->pod) {
		if (ctl_args_want_document(args))
			ctl_document_put(unknown, args->format, c->out);
		fputs("rocectl: ", c->err);
		table_put(sentence, c->err);
		if (!strstr(sentence, "did you mean")) {
			fputs(", and no pod with that name has a device", c->err);
			ctl_resolve_suggest(args->device, pods, attachments, c->err);
		}
		fputc('\n', c->err);
		r = CTL_NO;
	}
	args->device = NULL;
	return r;
}

/* True if the command needs one pod. In lists, a name without namespace selects the pods of all
 * namespaces. */
static bool needs_one_pod(enum ctl_command command)
{
	return command == CTL_DIAGNOSE || command == CTL_EXPLAIN || command == CTL_ATTACH ||
	       command == CTL_SNIFF;
}

enum ctl_exit ctl_resolve(const struct ctl *c, struct ctl_args *args)
{
	bool is_word = args->device && !args->pod &&
		       (args->command == CTL_DIAGNOSE || args->command == CTL_EXPLAIN ||
			args->is_word);
	bool is_bare = args->pod && !strchr(args->pod, '/') && needs_one_pod(args->command);
	json_auto_t *pods = NULL, *attachments = NULL, *unknown = NULL;
	bool no_daemon = false;
	enum ctl_exit r = is_word ? request_device(c, &unknown) : CTL_OK;

	if (r != CTL_OK || (!unknown && !is_bare))
		return r;
	pods = question_ask_quietly(c, "/api/v1/pods", &no_daemon);
	attachments = question_ask_quietly(c, "/api/v1/attachments", &no_daemon);
	if (no_daemon)
		return CTL_NO_DAEMON;
	return unknown ? resolve_word(c, args, unknown, pods, attachments)
		       : resolve_pod(c, args, args->pod, pods, attachments);
}
