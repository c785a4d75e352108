/* SPDX-License-Identifier: Apache-2.0 */
/* http_wiring.h - the HTTP server's sockets, and the guards of the one on TCP: a certificate,
 * tokens and passwords, from files that are watched (for a Secret, the kubelet switches a symlink).
 */
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
	uint64_t digest; /* of the files as last read */
	bool serves;	 /* the TCP listener is open */
	struct err err;	 /* why the last read files are not in use; code 0: they are in use */
	struct timer check_socket; /* checks that rocelet.sock still exists */
	bool had_socket;
	struct err socket_err; /* why rocelet.sock does not exist; was logged */
	struct err
		metrics_err; /* why the socket for metrics in the kubelet's folder does not exist */
	struct timer again;  /* retries the listener */
	struct err port_err; /* why the port is not open; code 0: it is open, or not needed yet */
};

/* Loads the files named by these options into the server; http NULL: only checks them. -EINVAL: a
 * file is missing, unreadable or wrong, and none of them is used. */
int http_guard_load(const struct options *, struct http *, uint64_t *ret_digest, struct err *);
/* Returns the option whose file is named in the message of an error; NULL: none. */
const char *http_guard_option(const struct options *, const char *sentence);
