/* SPDX-License-Identifier: Apache-2.0 */
/* raw_peer.h - for tests that exchange hand-made HTTP/2 frames with our gRPC server or client. */
#pragma once

#include "grpc_pair.h"
#include "h2_raw.h"

#define END NGHTTP2_FLAG_END_STREAM

extern struct h2_raw *raw;

/* Creates a server; the client's preface is written to `raw`, but not fed yet. */
extern struct service raw_service;
int raw_server_setup(void **state);
int raw_server_teardown(void **state);
void raw_server_reopen(const struct grpc_limits *);
/* Sends a request that stays open. */
void raw_hold(int32_t stream, const char *timeout);
void assert_answer(int32_t stream, const char *http, enum grpc_status, const char *message);
/* Asserts that the connection still serves requests. */
void assert_alive(int32_t stream);
/* Asserts that the connection has failed with this text, permanently. */
void assert_lost(int code, const char *text);

/* Creates a client; the server's preface is written to `raw`, but not fed yet. */
int raw_client_setup(void **state);
int raw_client_teardown(void **state);
void raw_client_reopen(const struct grpc_limits *);
/* Starts a call and reads its request. */
void raw_ask(struct asked *, uint32_t timeout_ms);
void raw_answer_head(int32_t stream);
void raw_answer_end(int32_t stream);
void assert_call_end(const struct asked *, enum grpc_status, const char *text);
