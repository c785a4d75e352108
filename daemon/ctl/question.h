/* SPDX-License-Identifier: Apache-2.0 */
/* question.h - sends one request to the daemon and reports failures to the user. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "ctl.h"
#include "ctl_args.h"

struct client_answer;

/* One run of rocectl; all pointers are borrowed. */
struct ctl {
	const struct ctl_args *args;
	FILE *out, *err;
};

/* Requests a document; body NULL: GET, else POST. The caller owns *ret. On failure, *ret is NULL,
 * the reason has been printed, and the exit code is returned. */
enum ctl_exit question_ask(const struct ctl *, const char *path, const char *body, json_t **ret);
/* The same with another timeout. */
enum ctl_exit question_ask_within(const struct ctl *, const char *path, const char *body,
				  uint64_t wait_ms, json_t **ret);
/* For optional documents: returns NULL without a message if the request fails. If the daemon does
 * not answer at all, prints that and sets *ret_no_daemon; while it is set, returns NULL without a
 * request. */
json_t *question_ask_quietly(const struct ctl *, const char *path, bool *ret_no_daemon);
/* Prints the error message of a failed reply, or its first line, or its HTTP status. */
void question_complain(const struct ctl *, const struct client_answer *, const json_t *document);
enum ctl_exit question_no_memory(const struct ctl *);
/* Prints why the daemon did not answer; for -ETIMEDOUT also how to wait longer. */
enum ctl_exit question_no_answer(const struct ctl *, const struct err *);

/* Appends the query parameters of the command line (device, pod, limit, top) to a path. Heap; NULL
 * if out of memory. */
char *question_path(const struct ctl_args *, const char *path);
/* The same with another limit; NULL = none. */
char *question_path_with(const struct ctl_args *, const char *path, const char *limit);
