/* SPDX-License-Identifier: Apache-2.0 */
/* uds_bench.h - a gRPC server and a client on a socket in a temporary folder. */
#pragma once

#include <limits.h>
#include <uv.h>

#include "grpc_pair.h"
#include "uds.h"

struct uds_bench {
	uv_loop_t loop;
	char *dir;
	char path[108];
	struct service service;
	struct uds_server *server;
	struct uds_client *client;
	unsigned n_fds;
};

/* Group setup: runs one loop, so that descriptors that libuv opens once per process do not count as
 * leaked. */
int uds_bench_warm(void **state);
/* Creates loop and folder, but neither server nor client. */
void uds_bench_open(struct uds_bench *);
/* Closes everything; fails the test if handles or descriptors are left. */
void uds_bench_close(struct uds_bench *);
/* cmocka setup and teardown: call uds_bench_open() and _close() on *state. */
int uds_bench_setup(void **state);
int uds_bench_teardown(void **state);
/* These two assert success. */
void uds_bench_serve(struct uds_bench *);
void uds_bench_connect(struct uds_bench *);
/* Starts a call and records its result in *asked; returns its id. */
uint64_t uds_bench_ask(struct uds_bench *, struct asked *, const char *path, const void *message,
		       size_t len, uint32_t timeout_ms);
/* Runs the loop until the call has ended, and asserts that it ended once. */
void uds_bench_wait(struct uds_bench *, struct asked *);
/* Runs the loop until *what is at least n. */
void uds_bench_wait_count(struct uds_bench *, const unsigned *what, unsigned n);
/* Asserts that /t.T/Echo with some bytes succeeds. */
void uds_bench_echo(struct uds_bench *);
/* A raw socket that listens at, or is connected to, the path. */
int raw_listen(const char *path, int backlog);
int raw_connect(const char *path);
