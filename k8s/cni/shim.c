// SPDX-License-Identifier: Apache-2.0
#include "shim.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "client.h"
#include "cni_limits.h"
#include "kill_point.h"
#include "shim_call.h"
#include "shim_config.h"
#include "shim_devinfo.h"
#include "shim_io.h"
#include "shim_result.h"
#include "version.h"

/* Time for which connecting is retried, because the daemon may be restarting. */
#define DAEMON_RESTART_MS 2000
/* Timeouts of the verbs. Runtimes allow two minutes or more for the creation of a sandbox
 * (kubelet), and one minute for the DELs of all of its interfaces (CRI-O). */
#define ADD_MS		  CNI_ADD_WAIT_MS
#define DEL_MS		  20000
#define CHECK_MS	  20000
#define GC_MS		  60000
#define STATUS_MS	  5000
/* Deadline for standard input. */
#define STDIN_MS	  10000
/* Maximum size of a DEL's configuration. The rest of a larger one is dropped, because a DEL does
 * not need it. */
#define DEL_CONFIG_MAX	  ((size_t)4 << 20)

struct shim {
	const struct shim_places *places;
	struct shim_env env;
	json_t *config;
	const char *devinfo; /* name of the device-info file, borrowed from the configuration; NULL
				= none */
	uint64_t began;	     /* client_now_ms() */
};

/* --- DEL -------------------------------------------------------------------------------------- */

/* Stores the request for a later daemon. */
static int shim_spool(const struct shim *s, const char *body, const struct shim_error *why,
		      struct shim_error *e)
{
	struct err err = {0};

	if (shim_spool_put(s->places->state_dir, body, &err) == 0)
		return 0;
	return shim_fail(e, SHIM_LATER, "%.300s; and the DEL cannot be stored: %s", why->msg,
			 err.msg);
}

/* Removes the device-info file and has the daemon execute the DEL. Returns 0 if it was executed, or
 * stored for later. */
static int shim_del(const struct shim *s, uint64_t deadline, struct shim_error *e)
{
	struct shim_error why = {0};
	AUTO_FREE char *body = shim_request(&s->env, SHIM_DEL, s->config, e);
	struct shim_call call = {.socket = s->places->socket, .body = body, .deadline = deadline};
	json_t *answer = NULL;
	int r;

	if (!body)
		return -EPROTO;
	if (s->devinfo)
		shim_devinfo_remove(s->places->devinfo_dir, s->devinfo);
	if (shim_call_daemon(&call, &answer, &why) != SHIM_ANSWERED)
		return shim_spool(s, body, &why, e);
	r = shim_answer_error(answer, &why);
	json_decref(answer);
	if (r == 0)
		return 0;
	/* If the daemon is stopping or cannot execute it now, store the DEL: the runtime may not
	 * repeat it. */
	if (why.code == SHIM_LATER || why.code == SHIM_UNAVAILABLE)
		return shim_spool(s, body, &why, e);
	*e = why;
	return r;
}

/* --- ADD -------------------------------------------------------------------------------------- */

/* Undoes an ADD whose result does not reach the runtime. *e keeps the reason, and gets the result
 * of the rollback as a detail. */
static void shim_undo(const struct shim *s, struct shim_error *e)
{
	struct shim_error failed = {0};

	if (shim_del(s, client_now_ms() + DEL_MS, &failed) == 0)
		shim_details(e, "%srolled back with a DEL", e->details[0] ? "; " : "");
	else
		shim_details(e, "%sthe DEL to roll it back failed, too: %s",
			     e->details[0] ? "; " : "", failed.msg);
}

/* Writes the device-info file. If the answer has no deviceInfo, no file is written: the
 * specification does not cover this kind of device. */
static int shim_add_devinfo(const struct shim *s, const json_t *answer, struct shim_error *e)
{
	const json_t *info = json_object_get(answer, "deviceInfo");

	if (!s->devinfo || !json_is_object(info))
		return 0;
	return shim_devinfo_write(s->places->devinfo_dir, s->devinfo, info, e);
}

static int shim_add_print(const char *text, struct shim_error *e)
{
	int r;

	kill_point("cni-print", "before");
	r = shim_io_print(text);
	kill_point("cni-print", "after");
	return r < 0 ? shim_fail(e, SHIM_IO, "cannot write the result: %s", shim_errno(r)) : 0;
}

/* Prints the result of an answer in the configuration's version. */
static int shim_add_result(const struct shim *s, const json_t *answer, const json_t *previous,
			   struct shim_error *e)
{
	const char *version = shim_config_version(s->config);
	json_t *result = shim_result_read(json_object_get(answer, "result"), "1.1.0",
					  "rocelet's result", e);
	AUTO_FREE char *text = NULL;
	json_t *shaped = NULL;
	int r = result ? 0 : -EPROTO;

	if (r == 0 && previous)
		r = shim_result_chain(result, previous, e);
	if (r == 0)
		shaped = shim_result_write(result, version, e);
	if (shaped)
		text = json_dumps(shaped, JSON_INDENT(4));
	json_decref(shaped);
	json_decref(result);
	if (!text)
		return e->code ? -EPROTO : shim_fail(e, SHIM_INTERNAL, "out of memory");
	r = shim_add_devinfo(s, answer, e);
	return r < 0 ? r : shim_add_print(text, e);
}

static int shim_add_answered(const struct shim *s, const json_t *answer, const json_t *previous,
			     struct shim_error *e)
{
	int r = shim_answer_error(answer, e);

	/* The daemon has undone the ADD, unless it was stopped meanwhile. */
	if (r < 0 && e->code == SHIM_LATER)
		shim_undo(s, e);
	if (r < 0)
		return r;
	r = shim_add_result(s, answer, previous, e);
	if (r < 0)
		shim_undo(s, e);
	return r;
}

static int shim_add_with(const struct shim *s, const json_t *previous, struct shim_error *e)
{
	AUTO_FREE char *body = shim_request(&s->env, SHIM_ADD, s->config, e);
	const uint64_t now = client_now_ms();
	const struct shim_call call = {.socket = s->places->socket,
				       .body = body,
				       .connect_deadline = now + DAEMON_RESTART_MS,
				       .deadline = now + ADD_MS};
	json_auto_t *answer = NULL;
	int r = -EPROTO;

	if (!body)
		return r;
	switch (shim_call_daemon(&call, &answer, e)) {
	case SHIM_ANSWERED:
		r = shim_add_answered(s, answer, previous, e);
		break;
	case SHIM_LOST:
		shim_undo(s, e);
		break;
	case SHIM_NOT_DONE:
		break;
	}
	return r;
}

/* Reads prevResult; *ret NULL: there is none. */
static int shim_previous(const json_t *config, json_t **ret, struct shim_error *e)
{
	const json_t *value = json_object_get(config, "prevResult");

	if (!value || json_is_null(value))
		return 0;
	*ret = shim_result_read(value, shim_config_version(config), "prevResult", e);
	return *ret ? 0 : -EPROTO;
}

static int shim_add(struct shim *s, struct shim_error *e)
{
	json_auto_t *previous = NULL;
	int r = shim_env_check_args(s->env.args, e);

	if (r == 0)
		r = shim_devinfo_name(&s->devinfo, s->places->devinfo_dir, &s->env, s->config, e);
	if (r == 0)
		r = shim_env_check_netns(&s->env, e);
	if (r == 0)
		r = shim_previous(s->config, &previous, e);
	if (r == 0)
		r = shim_add_with(s, previous, e);
	return r;
}

/* --- the other verbs -------------------------------------------------------------------------- */

static int shim_call_plain(const struct shim *s, uint64_t limit_ms, struct shim_error *e)
{
	AUTO_FREE char *body = shim_request(&s->env, s->env.verb, s->config, e);
	const uint64_t now = client_now_ms();
	const struct shim_call call = {.socket = s->places->socket,
				       .body = body,
				       .connect_deadline = now + DAEMON_RESTART_MS,
				       .deadline = now + limit_ms};
	json_auto_t *answer = NULL;
	int r = -EPROTO;

	if (body && shim_call_daemon(&call, &answer, e) == SHIM_ANSWERED)
		r = shim_answer_error(answer, e);
	else if (body && s->env.verb == SHIM_STATUS)
		e->code = SHIM_UNAVAILABLE;
	return r;
}

static int shim_check(const struct shim *s, struct shim_error *e)
{
	json_auto_t *previous = NULL;
	int r = shim_env_check_args(s->env.args, e);

	if (r == 0)
		r = shim_env_check_netns(&s->env, e);
	if (r == 0)
		r = shim_previous(s->config, &previous, e);
	return r < 0 ? r : shim_call_plain(s, CHECK_MS, e);
}

static int shim_version(struct shim_error *e)
{
	json_t *doc = json_pack("{sss[]}", "cniVersion", "1.1.0", "supportedVersions");
	AUTO_FREE char *text = NULL;
	int r;

	for (unsigned i = 0; shim_versions[i]; i++)
		json_array_append_new(json_object_get(doc, "supportedVersions"),
				      json_string(shim_versions[i]));
	text = json_dumps(doc, JSON_COMPACT);
	json_decref(doc);
	if (!text)
		return shim_fail(e, SHIM_INTERNAL, "out of memory");
	r = shim_io_print(text);
	return r < 0 ? shim_fail(e, SHIM_IO, "cannot write: %s", shim_errno(r)) : 0;
}

/* --- one run ---------------------------------------------------------------------------------- */

/* Parses the configuration. A DEL needs only container ID and interface name, so one with too long
 * a configuration is executed without it. */
static int shim_load(struct shim *s, struct shim_input *in, struct shim_error *e)
{
	bool is_long = in->too_long || in->len > SHIM_CONFIG_MAX;
	bool del = s->env.verb == SHIM_DEL;
	int r;

	if (is_long && !del)
		return shim_fail(e, SHIM_DECODE, "the network configuration exceeds %zu bytes",
				 SHIM_CONFIG_MAX);
	r = in->too_long ? -EPROTO : shim_config_load(&s->config, in->text, in->len, e);
	if (r == 0 && s->env.verb != SHIM_UNKNOWN)
		r = shim_config_check_version(s->config, s->env.verb, e);
	if (r == 0 || !is_long)
		return r;
	json_decref(s->config);
	s->config = json_object();
	*e = (struct shim_error){0};
	return s->config ? 0 : shim_fail(e, SHIM_INTERNAL, "out of memory");
}

static int shim_read(struct shim *s, struct shim_error *e)
{
	const size_t max = s->env.verb == SHIM_DEL ? DEL_CONFIG_MAX : SHIM_CONFIG_MAX;
	struct shim_input in = {0};
	int r = shim_io_read(&in, max, s->began + STDIN_MS, e);

	if (r == 0)
		r = shim_load(s, &in, e);
	free(in.text);
	return r;
}

static int shim_act(struct shim *s, struct shim_error *e)
{
	int r = s->env.verb == SHIM_VERSION_VERB ? 0 : shim_read(s, e);

	if (r < 0)
		return r;
	switch (s->env.verb) {
	case SHIM_ADD:
		return shim_add(s, e);
	case SHIM_DEL:
		/* Ignore invalid paths, which ADD rejects: a DEL must work anyway. */
		(void)shim_devinfo_name(&s->devinfo, s->places->devinfo_dir, &s->env, s->config,
					&(struct shim_error){0});
		return shim_del(s, s->began + DEL_MS, e);
	case SHIM_CHECK:
		return shim_check(s, e);
	case SHIM_GC:
		return shim_call_plain(s, GC_MS, e);
	case SHIM_STATUS:
		return shim_call_plain(s, STATUS_MS, e);
	case SHIM_VERSION_VERB:
		return shim_version(e);
	case SHIM_UNKNOWN:
	case N_SHIM_VERBS:
		break;
	}
	return shim_fail(e, SHIM_ENV, "unknown CNI_COMMAND: %.200s", s->env.command);
}

/* Prints a description: without CNI_COMMAND, a user has started the program. */
static int shim_about(void)
{
	fputs("CNI plugin rocelet-cni v" ROCELET_VERSION
	      ": attaches VFs and RDMA devices to pods through rocelet\n"
	      "CNI protocol versions supported: ",
	      stderr);
	for (unsigned i = 0; shim_versions[i]; i++)
		fprintf(stderr, "%s%s", i ? ", " : "", shim_versions[i]);
	fputc('\n', stderr);
	return EXIT_SUCCESS;
}

static void shim_report(struct shim_error *e)
{
	AUTO_FREE char *text = shim_error_text(e);

	if (!text)
		shim_io_print("{\"code\": 999, \"msg\": \"out of memory\"}");
	else if (shim_io_print(text) < 0)
		fprintf(stderr, "rocelet-cni: %s\n", e->msg);
}

int shim_run(const struct shim_places *places)
{
	struct shim s = {.places = places, .began = client_now_ms()};
	const char *command = getenv("CNI_COMMAND");
	struct shim_error e = {0};
	int r;

	shim_io_begin();
	if (!command || !*command)
		return shim_about();
	r = shim_env_read(&s.env, &e);
	if (r == 0)
		r = shim_act(&s, &e);
	if (r < 0)
		shim_report(&e);
	json_decref(s.config);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
