/* uds_bench.h - a gRPC server and a client on a socket in a throw-away folder. */
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

/* For a test group: the first loop of a process opens descriptors that stay. */
int uds_bench_warm(void **state);
/* Loop and folder; neither server nor client. */
void uds_bench_open(struct uds_bench *);
/* Closes what is open; fails the test when handles or descriptors are left. */
void uds_bench_close(struct uds_bench *);
/* The same for a test whose initial state is the bench. */
int uds_bench_setup(void **state);
int uds_bench_teardown(void **state);
/* These two fail the test when they cannot. */
void uds_bench_serve(struct uds_bench *);
void uds_bench_connect(struct uds_bench *);
/* A call whose fate is kept in *asked; returns its id. */
uint64_t uds_bench_ask(struct uds_bench *, struct asked *, const char *path, const void *message,
		       size_t len, uint32_t timeout_ms);
/* Runs the loop until the call has ended, and checks that it did so once. */
void uds_bench_wait(struct uds_bench *, struct asked *);
/* Runs the loop until *what is at least n. */
void uds_bench_wait_count(struct uds_bench *, const unsigned *what, unsigned n);
/* /t.T/Echo with some bytes succeeds. */
void uds_bench_echo(struct uds_bench *);
/* A raw socket that listens at, or is connected to, the path. */
int raw_listen(const char *path, int backlog);
int raw_connect(const char *path);
