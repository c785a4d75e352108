/* SPDX-License-Identifier: Apache-2.0 */
/* shim_call.h - sends one request to the daemon. */
#pragma once

#include <stdint.h>

#include "shim_env.h"
#include "shim_io.h"

enum shim_fate {
	SHIM_ANSWERED,
	SHIM_NOT_DONE, /* no daemon received the request, or it rejected the request unread */
	SHIM_LOST,     /* no reply: the daemon may have executed the request */
};

struct shim_call {
	const char *socket, *body;
	/* Both on the clock of client_now_ms(). */
	uint64_t connect_deadline; /* until then, retry while the daemon restarts */
	uint64_t deadline;	   /* for the reply */
};

/* Sends a request and waits for the reply. SHIM_ANSWERED: *ret is the reply, an object owned by the
 * caller. Otherwise the error has the reason. The request is only sent if root serves the socket,
 * because the runtime trusts the result. */
enum shim_fate shim_call_daemon(const struct shim_call *, json_t **ret, struct shim_error *);
/* Returns the error of a reply; 0: none. */
int shim_answer_error(const json_t *answer, struct shim_error *);

/* Maximum body that the daemon accepts. */
#define SHIM_REQUEST_MAX ((size_t)1 << 20)

/* Builds the request body of POST /api/v1/cni, on the heap. For a DEL, parts that it does not need
 * are left out until the body is short enough: container ID and interface name suffice. config is
 * borrowed. NULL with the error: too long, a variable is not UTF-8, or out of memory. */
char *shim_request(const struct shim_env *, enum shim_verb, const json_t *config,
		   struct shim_error *);
