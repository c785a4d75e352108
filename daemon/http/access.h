/* SPDX-License-Identifier: Apache-2.0 */
/* access.h - authenticates clients over TCP: bearer tokens (RFC 6750), and users with passwords
 * (RFC 7617) whose hashes crypt(3) supports. Pure, but checking a password is slow. Comparisons
 * take constant time. A correct password is remembered as it was sent, so that only its first use
 * is slow. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "err.h"

struct access;

/* The contents of a file, and its name for messages; text NULL: no such file. */
struct access_source {
	const char *text;
	size_t len;
	const char *name;
};

#define ACCESS_TOKEN_MIN   16
#define ACCESS_TOKEN_MAX   512
#define ACCESS_ENTRIES_MAX 64

/* Parses the files. tokens: one per line. users: "NAME:HASH" per line, as made by htpasswd(1) -B
 * and mkpasswd(1). Empty lines and lines that begin with '#' are ignored. -EINVAL: "FILE:LINE: .."
 * for an invalid line, or for a file without entries. */
int access_new(struct access **ret, const struct access_source *tokens,
	       const struct access_source *users, struct err *);
void access_free(struct access *); /* NULL is fine */

enum access_verdict {
	ACCESS_GRANTED,
	ACCESS_REFUSED,
	ACCESS_TO_CHECK, /* a password that has to be checked by access_check() */
};

struct access_claim {
	char user[128], password[256];
	char hash[256]; /* the user's hash; for an unknown user, the hash of another one */
	bool known;
};

/* Decides from the Authorization header ("" = none). *ret is set for ACCESS_TO_CHECK. */
enum access_verdict access_judge(const struct access *, const char *header,
				 struct access_claim *ret);
/* Checks the password. Slow and without side effects, so run it on a worker. */
bool access_check(const struct access_claim *);
/* Remembers a correct password, unless the user was removed or has another hash now. */
void access_remember(struct access *, const struct access_claim *);
/* Copies the passwords remembered by `from`, for users with the same hash. */
void access_carry(struct access *, const struct access *from);
