/* SPDX-License-Identifier: Apache-2.0 */
/* http_wiring.h - the HTTP server's sockets, and the guards of the one on TCP: a certificate,
 * tokens and passwords, from files that are watched (a Secret's are switched by a symlink). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "err.h"
#include "options.h"
#include "timer.h"

struct config_watch;
struct http;

enum { GUARD_CERT, GUARD_KEY, GUARD_TOKENS, GUARD_USERS, N_GUARD_FILES };

struct http_wiring {
	struct config_watch *watches[N_GUARD_FILES];
	uint64_t digest;   /* of the files as last read */
	bool serves;	   /* the TCP listener is open */
	struct err err;	   /* why the files last read are not in use; code 0: they are */
	struct timer look; /* timer for checking that rocelet.sock still exists */
	bool had_socket;
	struct err socket_err; /* why it does not; logged */
	struct timer again;    /* timer for retrying the listener */
	struct err port_err;   /* why it is not open; code 0: it is, or need not be yet */
};

/* Loads the files named by these options into the server; http NULL: only checks them. -EINVAL with
 * a message for a missing, unreadable or wrong file: none of them is used then. */
int http_guard_load(const struct options *, struct http *, uint64_t *ret_digest, struct err *);
/* The option whose file the sentence of an error names; NULL: none. */
const char *http_guard_option(const struct options *, const char *sentence);
