/* ctl_bundle.h - the support bundle: what somebody who cannot log in needs to see of this node, in
 * one archive. Nothing of it is a secret, nothing is endless, and what could not be read is said.
 * docs/reference/rocectl.md lists what is in it. */
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "ctl.h"
#include "ctl_args.h"
#include "secrets.h"

/* Of one file in it, and of all before they are packed. */
#define BUNDLE_FILE_MAX ((size_t)16 << 20)
#define BUNDLE_MAX	((size_t)64 << 20)

struct bundle_file {
	char name[96];
	json_t *json; /* or */
	char *text;
};

struct bundle {
	struct secrets secrets;
	struct bundle_file *files;
	size_t n_files;
	size_t bytes;
	FILE *missed; /* a line for each thing that could not be read */
	size_t n_missed;
	int error; /* -ENOMEM */
};

/* Both take what is added; NULL is out of memory. */
void bundle_add_json(struct bundle *, const char *name, json_t *);
void bundle_add_text(struct bundle *, const char *name, char *text);
__attribute__((format(printf, 2, 3))) void bundle_miss(struct bundle *, const char *fmt, ...);

/* The command. */
enum ctl_exit ctl_bundle(const struct ctl_args *, FILE *out, FILE *err);
