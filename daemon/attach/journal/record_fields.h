/* record_fields.h - which member of a record has which key and form in the journal. Pure. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum form {
	FORM_TEXT,
	FORM_NUMBER, /* 1, 2 or 4 bytes, unsigned */
	FORM_INT,    /* int */
	FORM_HEX64,  /* uint64_t */
	FORM_BOOL,
	FORM_WORD,   /* an enum, by its words */
	FORM_BYTES,  /* as many as `count_at` says, or all */
	FORM_PREFIX, /* struct ip_prefix */
	FORM_OBJECT, /* `items`, up to the one without a key */
	FORM_LIST,   /* of `items`, as many as `count_at` says */
};

#define FIELD_ALL SIZE_MAX

struct field {
	const char *key; /* NULL ends a table */
	enum form form;
	size_t at, size; /* where it is; of a list: one element's size */
	const struct field *items;
	const char *const *words; /* NULL ends them */
	size_t count_at;	  /* offset of a size_t or unsigned */
	size_t max;
};

/* Of struct attach_record, and of its plan. */
extern const struct field record_fields[], plan_fields[];
