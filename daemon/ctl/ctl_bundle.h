/* SPDX-License-Identifier: Apache-2.0 */
/* ctl_bundle.h - the support bundle: this node's state in one archive, for support staff without
 * access to the node. It contains no secrets, its size is bounded, and it lists the parts that
 * could not be read. docs/reference/rocectl.md lists its contents. */
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "ctl.h"
#include "ctl_args.h"
#include "secrets.h"

/* Limits of one file, and of all files before packing. */
#define BUNDLE_FILE_MAX ((size_t)16 << 20)
#define BUNDLE_MAX	((size_t)64 << 20)

struct bundle_file {
	char name[96];
	json_t *json; /* either json or text */
	char *text;
};

struct bundle {
	struct secrets secrets;
	struct bundle_file *files;
	size_t n_files;
	size_t bytes; /* packed so far, before compression */
	FILE *missed; /* one line for each item that could not be read */
	size_t n_missed;
	int error; /* 0 or -ENOMEM */
};

/* Both add a file, and take ownership of its content; NULL means out of memory. */
void bundle_add_json(struct bundle *, const char *name, json_t *);
void bundle_add_text(struct bundle *, const char *name, char *text);
__attribute__((format(printf, 2, 3))) void bundle_miss(struct bundle *, const char *fmt, ...);

/* Runs `rocectl support-bundle`. */
enum ctl_exit ctl_bundle(const struct ctl_args *, FILE *out, FILE *err);
