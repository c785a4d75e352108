/* question.h - one question to the daemon, as a command line asks it, and what is said when there
 * is no answer to it. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "ctl.h"
#include "ctl_args.h"

struct ctl_answer;

/* One run of rocectl; all of it borrowed. */
struct ctl {
	const struct ctl_args *args;
	FILE *out, *err;
};

/* *ret is the document, the caller's; or NULL with the exit code returned, and the reason told.
 * body NULL: a GET. */
enum ctl_exit question_ask(const struct ctl *, const char *path, const char *body, json_t **ret);
/* The same where the rest is worth showing without it: NULL, and nobody is told why.
 * *ret_no_daemon: nobody answers at all, which is told, and keeps from asking again. */
json_t *question_ask_quietly(const struct ctl *, const char *path, bool *ret_no_daemon);
/* Tells the sentence of an answer that is none, or what stands in its place. */
void question_complain(const struct ctl *, const struct ctl_answer *, const json_t *document);
enum ctl_exit question_no_memory(const struct ctl *);

/* The path with what the command line chooses (device, pod, limit, top). Heap, NULL when out of
 * memory. */
char *question_path(const struct ctl_args *, const char *path);
/* With another limit; NULL = none. */
char *question_path_with(const struct ctl_args *, const char *path, const char *limit);
