/* SPDX-License-Identifier: Apache-2.0 */
/* grpc_pair.h - a gRPC client and server connected in memory, with a record of their calls. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "grpc.h"

/* A call of the client and its result. */
struct asked {
	struct grpc_call *call; /* NULL once it ended */
	unsigned n_messages, n_ends;
	size_t n_bytes;
	uint32_t sum; /* of all messages' bytes */
	enum grpc_status status;
	char text[256];
	unsigned cancel_at; /* cancels itself at this message, counted from 1 */
};

/* The server's calls. /t.T/Echo answers with the request, /t.T/Stream with the messages described
 * by `stream`, /t.T/Fail with `fail`; /t.T/Hold keeps the call open in `held`; other methods are
 * unknown. */
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
	size_t step; /* bytes to feed at a time; 0 = all */
	struct err client_err, server_err;
	int client_r, server_r;
};

void pair_open(struct pair *, const struct grpc_limits *client, const struct grpc_limits *server);
void pair_close(struct pair *);
/* Exchanges bytes and calls timers on both sides until both are idle. */
void pair_pump(struct pair *);
void pair_advance(struct pair *, uint64_t ms);
/* Starts a call and records its result in *asked; fails the test if it cannot. */
void pair_ask(struct pair *, struct asked *, const char *path, const void *message, size_t len,
	      uint32_t timeout_ms);
struct grpc_reply asked_reply(struct asked *);
/* While on, ends of calls are not recorded, because the test has returned and its struct asked is
 * invalid. */
void asked_forget(bool on);
struct grpc_service service_hooks(struct service *);
/* Appends all pending output of the connection to buf; returns the number of bytes. */
size_t take_all(struct grpc_conn *, uint8_t *buf, size_t size);
uint32_t sum_of(const uint8_t *bytes, size_t len);
