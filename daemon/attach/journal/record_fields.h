/* SPDX-License-Identifier: Apache-2.0 */
/* record_fields.h - the key and format of each member of a record in the journal. Pure. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum form {
	FORM_TEXT,
	FORM_NUMBER, /* 1, 2 or 4 bytes, unsigned */
	FORM_INT,    /* int */
	FORM_HEX64,  /* uint64_t */
	FORM_BOOL,
	FORM_WORD,   /* an enum, as one of `words` */
	FORM_BYTES,  /* their number is at `count_at`; FIELD_ALL: the whole member */
	FORM_PREFIX, /* struct ip_prefix */
	FORM_OBJECT, /* a struct, as `items` */
	FORM_LIST,   /* an array of `items`; their number is at `count_at` */
};

#define FIELD_ALL SIZE_MAX

struct field {
	const char *key; /* NULL ends a table */
	enum form form;
	size_t at, size; /* offset and size; of a list: size of one element */
	const struct field *items;
	const char *const *words; /* NULL ends the list */
	size_t count_at;	  /* offset of the count: a size_t for lists, unsigned for bytes */
	size_t max;
};

/* The tables of struct attach_record and of its plan. */
extern const struct field record_fields[], plan_fields[];
