/* raw_peer.h - tests that speak HTTP/2 by hand to one gRPC server, or to one client, of ours. */
#pragma once

#include "grpc_pair.h"
#include "h2_raw.h"

#define END NGHTTP2_FLAG_END_STREAM

extern struct h2_raw *raw;

/* A new server, for which the client's preface is written but not yet fed. */
extern struct service raw_service;
int raw_server_setup(void **state);
int raw_server_teardown(void **state);
void raw_server_reopen(const struct grpc_limits *);
/* A request that stays open. */
void raw_hold(int32_t stream, const char *timeout);
void assert_answer(int32_t stream, const char *http, enum grpc_status, const char *message);
/* The connection still serves. */
void assert_alive(int32_t stream);
/* It failed, with this text, and stays so. */
void assert_lost(int code, const char *text);

/* A new client, for which the server's preface is written but not yet fed. */
int raw_client_setup(void **state);
int raw_client_teardown(void **state);
void raw_client_reopen(const struct grpc_limits *);
/* Starts a call and reads its request. */
void raw_ask(struct asked *, uint32_t timeout_ms);
void raw_answer_head(int32_t stream);
void raw_answer_end(int32_t stream);
void assert_call_end(const struct asked *, enum grpc_status, const char *text);
