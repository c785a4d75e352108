/* SPDX-License-Identifier: Apache-2.0 */
/* listing.h - selects and sorts rows of one of the daemon's documents, and prints them as a table,
 * names, JSON or YAML. Pure: JSON in, text out.
 *
 * A path selects a value of a row: members separated by dots. If a member is a list, it selects the
 * values of all elements, shown separated by commas. Of several paths, separated by '|', the first
 * with a value is used. A value that is missing or of another type is shown as "-". */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "err.h"

struct listing_column {
	const char *head;
	const char *path;		  /* NULL: see make */
	char *(*make)(const json_t *row); /* heap; NULL = unknown */
	const char *age;		  /* path of a time; the column shows its age */
	bool wide;			  /* only shown by -o wide */
	bool after_slash;		  /* a selector may omit the part before the '/' */
	bool remark;			  /* a selector may omit what follows the first space */
	bool zeros;			  /* 0 is a warning */
};

struct listing {
	const char *source;  /* document below /api/v1; NULL: made by ctl_merge.h */
	const char *list;    /* member of the document that lists its objects */
	const char *nothing; /* printed to stderr if the node has none */
	/* Returns the message to print instead of `nothing` if it is unknown whether the node has
	 * any; heap. NULL: it is known. */
	char *(*unknown)(const json_t *document);
	const char *noun; /* name of its objects, "ports" */
	const struct listing_column *columns;
	size_t n_columns;
	/* The rows of an object, a new array; NULL: the object is the row. */
	json_t *(*rows_of)(const json_t *object);
	/* Name of a row, usable as a command's argument or a flag's value; heap. NULL: none. */
	char *(*name)(const json_t *row);
	/* Paths that --namespace, --pod and --device are compared with; NULL: the daemon selects. A
	 * device may also be given as a port, NAME/NUMBER. */
	const char *namespace, *pod, *device;
	/* How bad a row is, 0 = not at all: a table lists the worst objects first unless --sort-by
	 * is given. NULL: in the document's order, as other formats. */
	int (*level)(const json_t *row);
	bool newest_last;  /* a limit keeps the last rows */
	const char *other; /* another list of the document, omitted from JSON; NULL = none */
	/* Prints notes below the table; NULL: none. The document has n objects. */
	void (*notes)(const json_t *document, size_t n, FILE *);
};

/* Selection and format; NULL = not given. */
struct listing_choice {
	const char *format; /* "table", "wide", "json", "yaml", "name"; NULL = table */
	const char *namespace, *pod, *device, *sort_by, *selector;
	/* "HEAD,HEAD,HEAD:PATH": show these columns, in this order. */
	const char *columns;
	int64_t now_s; /* unix time, to compute ages */
	long limit;    /* maximum number of rows; -1 = all */
	bool no_headers, colours;
	bool *ret_empty; /* set to true if there are no rows, else to false; NULL = not needed */
	/* NULL, or the state of repeated calls: then only new and changed rows are shown, headings
	 * only once, and JSON as one line per object. */
	struct listing_seen *seen;
};

struct listing_seen;

/* NULL if out of memory. */
struct listing_seen *listing_seen_new(void);
void listing_seen_free(struct listing_seen *);

/* -EINVAL with a message: unknown column, or malformed selector. */
int listing_check(const struct listing *, const char *sort_by, const char *selector,
		  const char *columns, struct err *);
/* Prints the selected rows to out; if there are none, the reason to err. 0, or -ENOMEM. */
int listing_show(const struct listing *, const struct listing_choice *, const json_t *document,
		 FILE *out, FILE *err);
/* The text at a path below a value; heap, NULL if there is none. */
char *listing_text(const json_t *value, const char *path);
/* True if the values at these paths are those of NAMESPACE/NAME, or of NAME in any namespace. */
bool listing_has_pod(const json_t *value, const char *namespace_path, const char *pod_path,
		     const char *pod);
/* True if one of the values at the path is this text. */
bool listing_has(const json_t *value, const char *path, const char *text);
