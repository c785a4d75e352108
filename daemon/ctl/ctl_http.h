/* ctl_http.h - one question over the daemon's socket, and its answer: HTTP/1.1 as far as the daemon
 * speaks it (RFC 9112). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"

/* A longer answer is not taken in. */
#define CTL_ANSWER_MAX ((size_t)64 << 20)
/* Longer than the daemon lets anybody wait. */
#define CTL_WAIT_MS    45000

struct ctl_answer {
	unsigned status;
	char *body; /* heap, terminated; NULL when out of memory or not there yet */
	size_t len;
};

/* Pure: the answer in what has come so far; ended: nothing more will come. 1 = it is whole; 0 = not
 * yet; -EBADMSG, -ENOMEM. */
int ctl_answer_decode(struct ctl_answer *ret, const char *bytes, size_t len, bool ended);

/* body NULL: a GET. Question and answer take wait_ms at most. -ENOTCONN: nobody serves the socket;
 * -EACCES; -ETIMEDOUT; -EBADMSG. The caller frees ret->body. */
int ctl_ask(struct ctl_answer *ret, const char *socket, const char *path, const char *body,
	    uint64_t wait_ms, struct err *);
