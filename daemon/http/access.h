/* access.h - who may read over TCP: bearer tokens (RFC 6750), and users with passwords (RFC 7617)
 * whose hashes crypt(3) knows. Pure: texts in, verdicts out; but that a password takes long to be
 * tried.
 *
 * What is compared is compared whole, however early it differs. A password that was right is
 * remembered as it was sent, so that only its first use takes long. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "err.h"

struct access;

/* A text and what it is called in messages; text NULL: there is none. */
struct access_source {
	const char *text;
	size_t len;
	const char *name;
};

#define ACCESS_TOKEN_MIN   16
#define ACCESS_TOKEN_MAX   512
#define ACCESS_ENTRIES_MAX 64

/* tokens: one on each line. users: "NAME:HASH" on each line, as htpasswd(1) -B and mkpasswd(1) make
 * them. Empty lines and those that begin with '#' count for nothing. -EINVAL: "FILE:LINE: .." for
 * what is none, and for a file that has none. */
int access_new(struct access **ret, const struct access_source *tokens,
	       const struct access_source *users, struct err *);
void access_free(struct access *); /* NULL is fine */

enum access_verdict {
	ACCESS_GRANTED,
	ACCESS_REFUSED,
	ACCESS_TO_TRY, /* a password, which access_try() finds out about */
};

struct access_claim {
	char user[128], password[256];
	char hash[256]; /* of that user, or of another one for who is unknown */
	bool known;
};

/* header: of Authorization, "" = none. */
enum access_verdict access_judge(const struct access *, const char *header,
				 struct access_claim *ret);
/* Takes long, and touches nothing else: for a worker. */
bool access_try(const struct access_claim *);
/* It was right. Nothing is remembered of a user who is not there any more, or has another hash. */
void access_remember(struct access *, const struct access_claim *);
/* What the other one remembers, of users whose hash is the same. */
void access_carry(struct access *, const struct access *from);
