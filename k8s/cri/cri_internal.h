/* SPDX-License-Identifier: Apache-2.0 */
/* cri_internal.h - shared by cri.c (queries) and cri_connect.c (the connection to a runtime).
 *
 * Hooks of calls only store results and set the timer. The timer's callback closes the connection
 * and calls the owner, neither of which may happen in a hook. */
#pragma once

#include "cri.h"
#include "cri_details.h"
#include "cri_hints.h"
#include "file_id.h"
#include "timer.h"

#define CRI_SOCKETS_MAX	    5
#define CRI_SERVICE(method) "/runtime.v1.RuntimeService/" method

/* A query for details. */
struct cri_slot {
	struct cri *cri;
	bool open;
	char id[SANDBOX_ID_SIZE];
	bool got;
	struct cri_detail detail;
};

struct cri {
	struct uv_loop_s *loop;
	struct timer timer;
	cri_fn *fn;
	void *arg;
	bool closing;

	/* cri_connect.c */
	char *sockets[CRI_SOCKETS_MAX]; /* tried in turn */
	size_t n_sockets, at;
	struct dir_watch *watches[CRI_SOCKETS_MAX];
	struct uds_client *client; /* NULL = not connected */
	struct file_id sock_id;
	bool over;	  /* the connection has ended, its client has to be closed */
	bool up;	  /* the runtime has returned its name and version */
	bool found;	  /* `up` was set at least once */
	bool has_version; /* the runtime has returned its version on this connection */
	struct cri_version version;
	enum cri_hints hints;
	uint64_t stream_ms; /* when the event stream was started */
	uint64_t connect_ms;
	uint32_t pause_ms;

	/* cri.c */
	struct sandbox_list list;
	struct cri_details details;
	struct cri_await await;
	struct cri_slot slots[CRI_DETAILS_OPEN];
	/* A query is requested; is running; has returned a valid list. */
	bool wanted, asking, got;
	bool expecting;	      /* a caller waits for a new sandbox */
	int refused;	      /* errno for which the answer was rejected; 0 = valid, or no answer */
	uint64_t asked_ms;    /* when the last query was sent */
	uint64_t answered_ms; /* when the query that returned `list` was sent */
	uint64_t next_ms, await_ms;
	uint64_t silent_since_ms; /* 0 = the last query was answered */
	bool notify_list, notify_failure, failure_logged;
	size_t logged_left_out;
	struct cri_status status;
};

/* --- cri_connect.c ---------------------------------------------------------------------------- */

/* Lists the sockets and watches their folders; socket: see cri.h. */
int cri_sockets_open(struct cri *, const char *socket, struct err *);
void cri_sockets_close(struct cri *);
void cri_connect(struct cri *);
/* Records the failure of a query or of an attempt to connect, begun at since_ms. */
__attribute__((format(printf, 3, 4))) void cri_failed(struct cri *, uint64_t since_ms,
						      const char *fmt, ...);
/* Connects again after a pause. */
void cri_lost(struct cri *);
/* Closes a connection that has ended. */
void cri_hang_up(struct cri *);
/* Resets the pause after a successful answer. */
void cri_pause_reset(struct cri *);
