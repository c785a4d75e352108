/* server.h - what the files behind http.h share: http.c (the loop), listeners.c (new connections)
 * and requests.c (what libmicrohttpd calls). For nobody else. */
#pragma once

#include <sys/stat.h>
#include <uv.h>

#include "bucket.h"
#include "connections.h"
#include "http.h"

struct MHD_Daemon;

struct listener {
	uv_poll_t poll;
	struct http *http;
	struct listener *next;
	int fd;
	char *path;	  /* of a unix socket, owned; NULL = TCP */
	struct stat file; /* that path, when we made it */
};

struct http {
	uv_loop_t *loop;
	struct MHD_Daemon *mhd;
	uv_poll_t mhd_poll;
	uv_timer_t timer;
	struct listener *listeners;
	struct connections connections;
	struct bucket rate; /* of new connections */
	uint64_t resume_ms; /* accepting is paused until then; 0 = it is not */
	struct self_counters *self;
	http_handler_fn *handler;
	void *handler_arg;
	unsigned open_handles;
	void (*on_closed)(void *);
	void *closed_arg;
};

/* What every callback on the loop ends with: deadlines, libmicrohttpd's work, the timer. */
void http_run(struct http *);
/* Shuts the connection down and counts it. */
void http_evict(struct http *, struct connection *);
/* The close callback of every handle; its data is the struct http. */
void http_handle_closed(uv_handle_t *);

/* Stops accepting for a moment; http_run() resumes. */
void listeners_pause(struct http *);
void listeners_resume(struct http *);
/* Takes fd and path (NULL = TCP), also on failure. */
int listeners_add(struct http *, int fd, char *path);
/* There is a listener on this path and its file is still the one it made. One whose file is gone or
 * somebody else's is closed. */
bool listeners_has(struct http *, const char *path);
/* Closes sockets and handles and removes the files. */
void listeners_close(struct http *);

/* A daemon without a listening socket; NULL: out of memory or descriptors. */
struct MHD_Daemon *requests_start(struct http *);
