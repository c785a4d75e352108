/* SPDX-License-Identifier: Apache-2.0 */
/* http_client.h - a non-blocking HTTP client that sends arbitrary bytes and parses replies. Driven
 * by client_step() from the test's loop. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

struct client {
	int fd;
	const char *out; /* borrowed, still to send */
	size_t out_len;
	char *in;
	size_t len, cap;
	bool ended; /* the server closed, or reset, the connection */
};

/* In client.in; valid until the next client_step(). */
struct answer {
	unsigned status;
	const char *head, *body;
	size_t body_len;
	size_t size; /* of the whole reply */
};

/* Connects; on failure fd < 0 and errno is set. */
void client_tcp(struct client *, unsigned port);
/* The same from another address of ours. */
void client_tcp_from(struct client *, const char *source, unsigned port);
void client_unix(struct client *, const char *path);
void client_close(struct client *);

void client_send(struct client *, const char *bytes, size_t n);
/* Sends and receives without blocking. */
void client_step(struct client *);
/* Parses the first reply in the buffer; false: incomplete. A reply to HEAD has no body. */
bool client_answer(const struct client *, bool to_head, struct answer *ret);
/* Runs the loop until the reply is complete; fails the test on a timeout. */
void client_await(struct client *, uv_loop_t *, bool to_head, struct answer *ret);
/* Removes that reply from the buffer. */
void client_next(struct client *, const struct answer *);
/* Copies the value of a header of the reply to buf; false: none. */
bool answer_header(const struct answer *, const char *name, char *buf, size_t size);
