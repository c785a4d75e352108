/* listing.h - rows out of one of the daemon's documents: which of them, in which order, and shown
 * as a table, as names, as JSON or YAML. Pure: JSON in, text out.
 *
 * A path names a value of a row: members with dots between them; of a list, those of all its
 * elements, with commas; with '|' between paths, the first that is there. What is not there, or of
 * another type, is shown as "-". */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "err.h"

struct listing_column {
	const char *head;
	const char *path;		  /* NULL: made by */
	char *(*make)(const json_t *row); /* heap; NULL = unknown */
	bool wide;			  /* shown by -o wide alone */
};

struct listing {
	const char *source; /* the path below /api/v1 of its document; NULL: ctl_merge.h makes it */
	const char *list;   /* the member that has its objects */
	const char *nothing; /* said of an empty one, in place of headings */
	const struct listing_column *columns;
	size_t n_columns;
	/* The rows of an object, a new array; NULL: it is one. */
	json_t *(*rows_of)(const json_t *object);
	/* Heap: what people call a row, which is a command's word or a flag's value; NULL: nothing.
	 */
	char *(*name)(const json_t *row);
	/* Paths of what --namespace, --pod and --device ask for; NULL: the daemon is asked for it.
	 */
	const char *namespace, *pod, *device;
	bool newest_last;  /* a limit keeps the last ones */
	const char *other; /* a list of the document that is not of this listing; NULL = none */
	/* What the table alone would not say; NULL: nothing. The document has n objects. */
	void (*notes)(const json_t *document, size_t n, FILE *);
};

/* What is wanted of it; NULL = not given. */
struct listing_choice {
	const char *format; /* "table", "wide", "json", "yaml", "name"; NULL = table */
	const char *namespace, *pod, *device, *sort_by, *selector;
	long limit; /* so many at most; -1 = all */
	bool no_headers, colours;
	/* NULL, or what was shown before: then only rows that are new or have changed are shown,
	 * without headings once there was one, and JSON as one line for each object. */
	struct listing_seen *seen;
};

struct listing_seen;

/* NULL when out of memory. */
struct listing_seen *listing_seen_new(void);
void listing_seen_free(struct listing_seen *);

/* -EINVAL: a column that it does not have, with a sentence. */
int listing_check(const struct listing *, const char *sort_by, const char *selector, struct err *);
/* -ENOMEM. */
int listing_show(const struct listing *, const struct listing_choice *, const json_t *document,
		 FILE *);
/* The text at a path of a value; heap, NULL when there is none. */
char *listing_text(const json_t *value, const char *path);
/* Any of the values at the path is this text. */
bool listing_has(const json_t *value, const char *path, const char *text);
