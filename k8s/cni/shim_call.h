/* SPDX-License-Identifier: Apache-2.0 */
/* shim_call.h - sends one request to the daemon. */
#pragma once

#include <stdint.h>

#include "shim_error.h"

enum shim_fate {
	SHIM_ANSWERED,
	SHIM_NOT_DONE, /* no daemon received the request, or it rejected the request unread */
	SHIM_LOST,     /* no reply: the daemon may have done it */
};

struct shim_call {
	const char *socket, *body;
	uint64_t patience; /* time of client_now_ms() until which to wait for a daemon that restarts
			    */
	uint64_t deadline; /* for the reply, a time of client_now_ms() */
};

/* SHIM_ANSWERED: *ret is the reply, an object owned by the caller. Otherwise the error has the
 * reason. The request is only sent if root serves the socket, because the runtime trusts the
 * result. */
enum shim_fate shim_call_daemon(const struct shim_call *, json_t **ret, struct shim_error *);
/* Returns the error of a reply; 0: none. */
int shim_answer_error(const json_t *answer, struct shim_error *);
