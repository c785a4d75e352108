/* grpc_pair.h - a gRPC client and a server in memory, and what each of them has seen. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "grpc.h"

/* A call that was made: how it went. */
struct asked {
	struct grpc_call *call; /* NULL once it ended */
	unsigned n_messages, n_ends;
	size_t n_bytes;
	uint32_t sum; /* of all messages' bytes */
	enum grpc_status status;
	char text[256];
	unsigned cancel_at; /* cancels itself at this message, counted from 1 */
};

/* What the service did. /t.T/Echo answers with the request; /t.T/Stream with the messages that
 * `stream` says; /t.T/Fail with `fail`; /t.T/Hold keeps the call in `held`; others are unknown. */
struct service {
	unsigned n_requests, n_cancels;
	char path[128];
	size_t len;
	struct {
		unsigned n;
		size_t size;
	} stream;
	struct {
		enum grpc_status status;
		const char *text;
	} fail;
	struct grpc_call *held;
};

struct pair {
	struct grpc_conn *client, *server;
	struct service service;
	uint64_t now_ms;
	size_t step; /* bytes fed at a time, 0 = as they come */
	struct err client_err, server_err;
	int client_r, server_r;
};

void pair_open(struct pair *, const struct grpc_limits *client, const struct grpc_limits *server);
void pair_close(struct pair *);
/* Carries bytes to and fro, and time on both sides, until nothing moves. */
void pair_pump(struct pair *);
void pair_advance(struct pair *, uint64_t ms);
/* Starts a call whose fate is kept in *asked; fails the test when it cannot. */
void pair_ask(struct pair *, struct asked *, const char *path, const void *message, size_t len,
	      uint32_t timeout_ms);
struct grpc_reply asked_reply(struct asked *);
/* While it is on, ends of calls are not noted: the test that asked has returned, its struct asked
 * is gone. */
void asked_forget(bool on);
struct grpc_service service_hooks(struct service *);
/* All that the connection has to say now, appended to buf; how many bytes. */
size_t take_all(struct grpc_conn *, uint8_t *buf, size_t size);
uint32_t sum_of(const uint8_t *bytes, size_t len);
