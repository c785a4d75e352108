/* http_wing.h - the HTTP server's sockets, and what guards the one on TCP: a certificate, tokens
 * and passwords, from files that are followed (a Secret's are switched by a symlink). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "due.h"
#include "err.h"
#include "options.h"

struct config_watch;
struct http;

enum { GUARD_CERT, GUARD_KEY, GUARD_TOKENS, GUARD_USERS, N_GUARD_FILES };

struct http_wing {
	struct config_watch *watches[N_GUARD_FILES];
	uint64_t digest; /* of the files as they were last read */
	bool serves;	 /* the TCP listener is there */
	struct err err;	 /* why what was last read is not in use; code 0: it is */
	struct due look; /* whether rocelet.sock is still there */
	bool had_socket;
	struct err socket_err; /* why it is not; told */
	struct due again;      /* when the listener is tried once more */
	struct err port_err;   /* why it is not there; code 0: it is, or is not to be yet */
};

/* The files of these options as the server would take them; http NULL: only looks. -EINVAL and a
 * sentence for what is missing, unreadable or wrong: nothing of it is in use then. */
int http_guard_load(const struct options *, struct http *, uint64_t *ret_digest, struct err *);
