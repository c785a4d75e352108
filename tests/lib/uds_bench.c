// SPDX-License-Identifier: Apache-2.0
#include "uds_bench.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "fds.h"
#include "loop_helpers.h"
#include "tmptree.h"

int uds_bench_warm(void **state)
{
	uv_loop_t loop;

	(void)state;
	assert_int_equal(uv_loop_init(&loop), 0);
	return loop_end(&loop);
}

void uds_bench_open(struct uds_bench *b)
{
	*b = (struct uds_bench){.n_fds = fds_open()};
	assert_int_equal(uv_loop_init(&b->loop), 0);
	b->dir = tmptree_new();
	snprintf(b->path, sizeof(b->path), "%s/rocelet.sock", b->dir);
}

void uds_bench_close(struct uds_bench *b)
{
	uds_client_close(b->client);
	uds_server_close(b->server);
	assert_int_equal(loop_end(&b->loop), 0);
	assert_int_equal(fds_open(), b->n_fds);
	tmptree_free(b->dir);
}

int uds_bench_setup(void **state)
{
	uds_bench_open(*state);
	return 0;
}

int uds_bench_teardown(void **state)
{
	uds_bench_close(*state);
	return 0;
}

void uds_bench_serve(struct uds_bench *b)
{
	struct uds_server_opts opts = {
		.limits = {8 << 20, 100, 0}, .max_connections = 8, .mode = 0600};
	struct grpc_service hooks = service_hooks(&b->service);
	struct err e = {0};

	if (uds_server_open(&b->server, &b->loop, b->path, &opts, &hooks, &e) < 0)
		fail_msg("%s", e.msg);
}

void uds_bench_connect(struct uds_bench *b)
{
	struct grpc_limits limits = {8 << 20, 100, 0};
	struct err e = {0};

	if (uds_client_open(&b->client, &b->loop, b->path, &limits, &e) < 0)
		fail_msg("%s", e.msg);
}

uint64_t uds_bench_ask(struct uds_bench *b, struct asked *a, const char *path, const void *message,
		       size_t len, uint32_t timeout_ms)
{
	struct grpc_reply reply = asked_reply(a);
	uint64_t id = 0;

	assert_int_equal(uds_client_call(b->client, path, message, len, timeout_ms, &reply, &id),
			 0);
	assert_int_equal(a->n_ends, 0); /* not called before uds_client_call() returns */
	assert_true(id != 0);
	return id;
}

static bool has_ended(void *arg)
{
	return ((struct asked *)arg)->n_ends > 0;
}

void uds_bench_wait(struct uds_bench *b, struct asked *a)
{
	if (!loop_until(&b->loop, has_ended, a, PATIENCE_MS))
		fail_msg("the call has not ended");
	assert_int_equal(a->n_ends, 1);
}

struct count {
	const unsigned *what;
	unsigned n;
};

static bool is_reached(void *arg)
{
	const struct count *c = arg;

	return *c->what >= c->n;
}

void uds_bench_wait_count(struct uds_bench *b, const unsigned *what, unsigned n)
{
	struct count c = {what, n};

	if (!loop_until(&b->loop, is_reached, &c, PATIENCE_MS))
		fail_msg("%u instead of %u", *what, n);
}

void uds_bench_echo(struct uds_bench *b)
{
	struct asked a = {0};

	uds_bench_ask(b, &a, "/t.T/Echo", "hello", 5, 0);
	uds_bench_wait(b, &a);
	if (a.status != GRPC_OK)
		fail_msg("%s: %s", grpc_status_name(a.status), a.text);
	assert_int_equal(a.sum, sum_of((const uint8_t *)"hello", 5));
}

static struct sockaddr_un address(const char *path)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};

	assert_true(strlen(path) < sizeof(sa.sun_path));
	strcpy(sa.sun_path, path);
	return sa;
}

int raw_listen(const char *path, int backlog)
{
	struct sockaddr_un sa = address(path);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	assert_int_equal(listen(fd, backlog), 0);
	return fd;
}

int raw_connect(const char *path)
{
	struct sockaddr_un sa = address(path);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	assert_true(fd >= 0);
	if (connect(fd, (struct sockaddr *)&sa, sizeof(sa)) == 0)
		return fd;
	close(fd);
	return -1;
}
