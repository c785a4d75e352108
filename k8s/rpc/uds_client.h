/* uds_client.h - what the files behind a uds_client share: the client, its connections (channels),
 * its calls. */
#pragma once

#include "uds.h"
#include "uds_link.h"
#include "uds_socket.h"

struct uds_channel {
	struct uds_link link; /* first: the one is the other */
	struct uds_client *client;
	struct uds_channel *next, **at;
	unsigned n_calls;
	bool is_retired;
};

enum uds_call_state {
	CALL_WAITING, /* for a connection */
	CALL_RUNNING, /* on its channel */
	CALL_ENDED,   /* to be told from the loop */
	CALL_TOLD,    /* by the client's end; the channel's connection has still to let go of it */
};

/* Oldest first. */
struct uds_call_list {
	struct uds_call *first, **end;
};

struct uds_call {
	struct uds_client *client;
	struct uds_call_list *list;
	struct uds_call *next, **at;
	uint64_t id;
	enum uds_call_state state;
	struct grpc_reply reply;
	/* Waiting */
	char *path;
	uint8_t *message;
	size_t len;
	uint64_t deadline_ms; /* UINT64_MAX = none */
	uint64_t give_up_ms;
	/* Running */
	struct uds_channel *channel;
	struct grpc_call *grpc;
	uint64_t n_reads; /* of the link when it started */
	bool is_cancelled;
	/* Ended */
	enum grpc_status status;
	char text[256];
};

struct uds_client {
	struct sockaddr_un address;
	struct grpc_limits limits;
	const struct grpc_limits *limits_or_null;
	struct uv_loop_s *loop;
	uv_timer_t timer;
	struct uds_channel *channels;
	struct uds_call_list calls, ended;
	uint64_t last_id;
	unsigned n_users; /* the timer and links that point here */
	bool is_closed;
};

/* --- uds_channel.c ---------------------------------------------------------------------------- */

/* The one that is up, or a new one. -EAGAIN: the listener's queue is full. */
int uds_channel_find(struct uds_client *, struct uds_channel **ret);
/* A call has ended there. */
void uds_channel_leave(struct uds_call *, enum grpc_status);

/* --- uds_call.c ------------------------------------------------------------------------------- */

void uds_call_put(struct uds_call_list *, struct uds_call *);
void uds_call_take_out(struct uds_call *);
/* The first one, taken out; NULL = none. */
struct uds_call *uds_call_pop(struct uds_call_list *);
/* On a connection. -ENOMEM, -EBUSY. */
int uds_call_start(struct uds_channel *, struct uds_call *, const char *path,
		   const uint8_t *message, size_t len);
/* To be told from the loop. */
void uds_call_end(struct uds_call *, enum grpc_status, const char *text);
/* Its last word now; frees it. Not in a list any more. */
void uds_call_tell(struct uds_call *, enum grpc_status, const char *text);
void uds_call_free(struct uds_call *);

/* --- uds_client.c ----------------------------------------------------------------------------- */

/* Something is in `ended`. */
void uds_client_wake(struct uds_client *);
/* The timer or a channel does not point here any more. */
void uds_client_unuse(struct uds_client *);
