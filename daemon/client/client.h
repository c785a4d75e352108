/* SPDX-License-Identifier: Apache-2.0 */
/* client.h - sends one request over the daemon's unix socket and receives the reply, in the subset
 * of HTTP/1.1 (RFC 9112) that the daemon uses. Blocking; for rocectl, rocelet-cni and the successor
 * of a daemon. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "err.h"

/* The socket in the default --run-dir. */
#define CLIENT_SOCKET	  "/run/rocelet/rocelet.sock"
/* A longer reply is an error. */
#define CLIENT_ANSWER_MAX ((size_t)64 << 20)
/* Longer than the daemon's longest wait before a reply. */
#define CLIENT_WAIT_MS	  45000

struct client_answer {
	unsigned status;
	char *body; /* heap, terminated; NULL if incomplete or out of memory */
	size_t len;
};

/* Pure: parses the bytes received so far; ended: no more will follow. 1: complete; 0: incomplete;
 * -EBADMSG, -ENOMEM. */
int client_answer_decode(struct client_answer *ret, const char *bytes, size_t len, bool ended);

/* Returns the time by CLOCK_MONOTONIC. */
uint64_t client_now_ms(void);
/* Connects to the daemon. Returns a descriptor, which the caller closes. deadline: a time of
 * client_now_ms(). -ENOENT, -ECONNREFUSED: no process serves the socket; -EACCES; -ETIMEDOUT;
 * -ENAMETOOLONG. */
int client_connect(const char *socket, uint64_t deadline, struct err *);
/* Reads the uid of the process that listens on the socket (SO_PEERCRED, unix(7)). */
int client_peer_uid(int fd, uid_t *ret);
/* Sends a request and receives the reply; body NULL: GET, else POST. -ETIMEDOUT; -ECONNRESET: the
 * peer closed the connection before the reply was complete; -EBADMSG: the reply is not HTTP. The
 * caller frees ret->body. */
int client_exchange(struct client_answer *ret, int fd, const char *path, const char *body,
		    uint64_t deadline);

/* Connects, sends a request and receives the reply, within wait_ms in total. Errors of
 * client_connect() and client_exchange(). The caller frees ret->body. */
int client_ask(struct client_answer *ret, const char *socket, const char *path, const char *body,
	       uint64_t wait_ms, struct err *);
