/* cri_internal.h - what cri.c, which asks, and cri_connect.c, the connection to a runtime, share.
 *
 * Hooks of calls only note what has come and that something is due; everything else is done then:
 * the connection is closed and the owner told from there, and never from within a hook. */
#pragma once

#include "cri.h"
#include "cri_details.h"
#include "cri_hints.h"
#include "due.h"
#include "file_id.h"

#define CRI_SOCKETS_MAX	    2
#define CRI_SERVICE(method) "/runtime.v1.RuntimeService/" method

/* A question for details. */
struct cri_slot {
	struct cri *cri;
	bool open;
	char id[SANDBOX_ID_SIZE];
	bool got;
	struct cri_detail detail;
};

struct cri {
	struct uv_loop_s *loop;
	struct due due;
	cri_fn *fn;
	void *arg;
	bool closing;

	/* cri_connect.c */
	char *sockets[CRI_SOCKETS_MAX]; /* to be tried in turn */
	size_t n_sockets, at;
	struct dir_watch *watches[CRI_SOCKETS_MAX];
	struct uds_client *client; /* NULL = none now */
	struct file_id sock_id;
	bool over; /* the connection: its client is still to be closed */
	bool up;   /* the runtime has said its name */
	bool found, greeted;
	struct cri_version version;
	enum cri_hints hints;
	uint64_t stream_ms; /* since when events come */
	uint64_t connect_ms;
	uint32_t pause_ms;

	/* cri.c */
	struct sandbox_list list;
	struct cri_details details;
	struct cri_await await;
	struct cri_slot slots[CRI_DETAILS_OPEN];
	bool wanted, asking, got, expecting;
	int refused; /* why the answer was no list, 0 = it was or there was none */
	uint64_t asked_ms, answered_ms; /* when the last question was sent, and that of the list */
	uint64_t next_ms, await_ms;
	uint64_t silent_since_ms; /* 0 = the last question was answered */
	bool tell_list, tell_failure, told_trouble;
	size_t told_left_out;
	struct cri_status status;
};

/* --- cri_connect.c ---------------------------------------------------------------------------- */

/* socket: as in cri.h. */
int cri_sockets_open(struct cri *, const char *socket, struct err *);
void cri_sockets_close(struct cri *);
void cri_connect(struct cri *);
/* A question, or the attempt to ask one that was sent or tried then, has failed. */
__attribute__((format(printf, 3, 4))) void cri_failed(struct cri *, uint64_t since_ms,
						      const char *fmt, ...);
/* Starts anew, after a pause. */
void cri_lost(struct cri *);
/* Closes what is over. */
void cri_hang_up(struct cri *);
/* It has answered well. */
void cri_pause_reset(struct cri *);
