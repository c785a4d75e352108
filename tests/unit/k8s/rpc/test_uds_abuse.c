// SPDX-License-Identifier: Apache-2.0
/* Misbehaving peers and clients, and failing allocations and sockets. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "faults.h"
#include "fds.h"
#include "loop_helpers.h"
#include "test_group.h"
#include "uds_bench.h"

static struct uds_bench b;

/* --- peers ------------------------------------------------------------------------------------ */

struct transcript {
	int fd;
	char text[4096];
	size_t len;
	bool is_closed;
};

static bool has_ended(void *arg)
{
	struct transcript *h = arg;
	ssize_t n = recv(h->fd, h->text + h->len, sizeof(h->text) - 1 - h->len, MSG_DONTWAIT);

	if (n > 0)
		h->len += (size_t)n;
	h->is_closed = n == 0 || (n < 0 && errno != EAGAIN);
	return h->is_closed;
}

/* Waits until the server has closed the connection; returns the bytes that it sent. */
static struct transcript read_to_end(int fd)
{
	struct transcript h = {.fd = fd};

	if (!loop_until(&b.loop, has_ended, &h, PATIENCE_MS))
		fail_msg("the connection was not closed");
	close(fd);
	return h;
}

static void serve_and_connect(void)
{
	uds_bench_serve(&b);
	uds_bench_connect(&b);
}

static void http1_on_the_socket(void **state)
{
	static const char get[] = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";
	struct transcript h;
	int fd;

	(void)state;
	serve_and_connect();
	fd = raw_connect(b.path);
	assert_int_equal(write(fd, get, sizeof(get) - 1), sizeof(get) - 1);
	h = read_to_end(fd);
	assert_int_equal(strncmp(h.text, "HTTP/1.1 505", 12), 0);
	uds_bench_echo(&b);
}

static void noise_on_the_socket(void **state)
{
	(void)state;
	serve_and_connect();
	for (unsigned seed = 1; seed < 50; seed++) {
		uint8_t noise[300];
		int fd = raw_connect(b.path);

		for (size_t i = 0; i < sizeof(noise); i++)
			noise[i] = (uint8_t)(seed * 2654435761u >> (i % 24)) ^ (uint8_t)i;
		if (seed % 2) /* valid bytes first */
			memcpy(noise, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 24);
		assert_int_equal(write(fd, noise, sizeof(noise)), sizeof(noise));
		shutdown(fd, SHUT_WR);
		read_to_end(fd);
	}
	uds_bench_echo(&b);
}

static void peers_that_disconnect(void **state)
{
	(void)state;
	serve_and_connect();
	for (int i = 0; i < 100; i++) {
		int fd = raw_connect(b.path);

		if (i % 3)
			assert_true(write(fd, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
					  8u * (unsigned)(i % 3)) > 0);
		if (i % 2)
			uv_run(&b.loop, UV_RUN_NOWAIT);
		close(fd);
		if (i % 5 == 0)
			uv_run(&b.loop, UV_RUN_NOWAIT);
	}
	uds_bench_echo(&b);
}

/* Connections beyond the server's limit of eight are not accepted; idle ones do not block other
 * clients. */
static void a_flood_of_connections(void **state)
{
	int fds[60];
	unsigned before = fds_open();

	(void)state;
	serve_and_connect();
	for (int round = 0; round < 4; round++) {
		for (int i = 0; i < 60; i++)
			assert_true((fds[i] = raw_connect(b.path)) >= 0);
		uv_run(&b.loop, UV_RUN_NOWAIT);
		uv_run(&b.loop, UV_RUN_NOWAIT);
		assert_true(fds_open() <= before + 1 + 60 + 8 + 1);
		uds_bench_echo(&b);
		for (int i = 0; i < 60; i++)
			close(fds[i]);
	}
}

/* The limit is reached by clients with requests: the next connection is closed at once. */
static void a_full_server(void **state)
{
	struct uds_client *clients[8];
	struct asked asked[8] = {0};
	int fd;

	(void)state;
	uds_bench_serve(&b);
	for (unsigned i = 0; i < 8; i++) {
		uds_bench_connect(&b);
		uds_bench_ask(&b, &asked[i], "/t.T/Hold", "x", 1, 0);
		uds_bench_wait_count(&b, &b.service.n_requests, i + 1);
		clients[i] = b.client;
	}
	fd = raw_connect(b.path);
	assert_int_equal(read_to_end(fd).len, 0);
	assert_int_equal(b.service.n_cancels, 0);
	for (unsigned i = 1; i < 8; i++)
		uds_client_close(clients[i]);
	uds_bench_wait_count(&b, &b.service.n_cancels, 7);
	b.client = clients[0];
	uds_bench_echo(&b);
}

static size_t backlog;

static bool backlog_is_steady(void *arg)
{
	static unsigned n;
	size_t now = grpc_backlog(b.service.held);

	(void)arg;
	n = now == backlog ? n + 1 : 0;
	backlog = now;
	return n > 50;
}

/* Sends a request whose answer it never reads. */
static int ask_and_not_read(struct grpc_conn **ret)
{
	struct grpc_reply reply = {.message = NULL};
	struct grpc_limits limits = {64 << 20, 100, 0};
	const uint8_t *bytes;
	ssize_t n;
	int fd = raw_connect(b.path);

	assert_int_equal(grpc_client_new(ret, &limits, 0), 0);
	assert_non_null(grpc_start(*ret, "/t.T/Hold", (const uint8_t *)"x", 1, 0, &reply, 0));
	n = grpc_take(*ret, &bytes);
	assert_int_equal(write(fd, bytes, (size_t)n), n);
	return fd;
}

/* Unread messages stay in the queue of the call, where grpc_backlog() reports them. */
static void a_peer_that_never_reads(void **state)
{
	struct grpc_conn *conn;
	uint8_t *message = calloc(1, 8 << 20);
	int fd;

	(void)state;
	serve_and_connect();
	fd = ask_and_not_read(&conn);
	uds_bench_wait_count(&b, &b.service.n_requests, 1);
	assert_int_equal(grpc_send(b.service.held, message, 8 << 20), 0);
	free(message);
	faults_alloc(-1);
	uds_server_flush(b.server);
	assert_true(loop_until(&b.loop, backlog_is_steady, NULL, PATIENCE_MS));
	assert_true(faults_allocated() < 300000);
	/* less than the client's window was sent */
	assert_true(backlog > (8 << 20) - (1 << 20) + 100000);
	uds_bench_echo(&b); /* other clients are served */
	close(fd);
	uds_bench_wait_count(&b, &b.service.n_cancels, 1);
	grpc_conn_free(conn);
}

/* The answer to each PING is not read. */
static void a_peer_that_pings_and_never_reads(void **state)
{
	static const uint8_t ping[17] = {0, 0, 8, 6};
	uint8_t pings[17 * 256];
	struct grpc_conn *conn;
	size_t sent = 0;
	ssize_t n;
	int fd;

	(void)state;
	serve_and_connect();
	fd = ask_and_not_read(&conn);
	for (size_t i = 0; i < 256; i++)
		memcpy(pings + 17 * i, ping, 17);
	/* Sends whole frames: after a partial write the rest of the frame comes first. */
	for (size_t at = 0; sent < 64u << 20; sent += (size_t)n, at = (at + (size_t)n) % 17) {
		n = send(fd, pings + at, sizeof(pings) - at, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n < 0 && errno != EAGAIN)
			break;
		n = n < 0 ? 0 : n;
		uv_run(&b.loop, UV_RUN_NOWAIT);
	}
	assert_true(sent < 32u << 20); /* the server closed the connection */
	close(fd);
	grpc_conn_free(conn);
	uds_bench_echo(&b);
}

/* The client sends a whole request and shuts down its sending side: the answer is still sent. */
static void a_peer_that_closes_its_half(void **state)
{
	struct grpc_reply reply = {.message = NULL};
	struct grpc_conn *conn;
	struct transcript h;
	const uint8_t *bytes;
	ssize_t n;
	int fd;

	(void)state;
	serve_and_connect();
	fd = raw_connect(b.path);
	assert_int_equal(grpc_client_new(&conn, NULL, 0), 0);
	grpc_start(conn, "/t.T/Echo", (const uint8_t *)"half-closed", 11, 0, &reply, 0);
	n = grpc_take(conn, &bytes);
	assert_int_equal(write(fd, bytes, (size_t)n), n);
	shutdown(fd, SHUT_WR);
	h = read_to_end(fd);
	assert_non_null(memmem(h.text, h.len, "half-closed", 11));
	grpc_conn_free(conn);
}

/* A GOAWAY is sent before the connection closes. */
static void a_goodbye(void **state)
{
	struct transcript h;
	int fd;

	(void)state;
	serve_and_connect();
	uds_bench_echo(&b);
	fd = raw_connect(b.path);
	uds_client_close(b.client);
	b.client = NULL;
	uv_run(&b.loop, UV_RUN_NOWAIT);
	uds_server_close(b.server);
	b.server = NULL;
	h = read_to_end(fd);
	/* GOAWAY: 8 bytes, type 7, no flags, stream 0. */
	assert_non_null(memmem(h.text, h.len, "\0\0\x08\x07\0\0\0\0\0", 9));
}

/* Without free descriptors connections stay in the backlog, and the loop does not spin. */
static void no_descriptors_left(void **state)
{
	struct rlimit old, none;
	struct asked a = {0};
	unsigned wakeups;

	(void)state;
	serve_and_connect();
	uds_bench_ask(&b, &a, "/t.T/Echo", "x", 1, 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	none = (struct rlimit){.rlim_cur = (rlim_t)dup(0), .rlim_max = old.rlim_max};
	close((int)none.rlim_cur);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	wakeups = loop_wakeups(&b.loop, 150);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	assert_int_equal(a.n_ends, 0);
	assert_in_range(wakeups, 0, 20);
	uds_bench_wait(&b, &a);
	assert_int_equal(a.status, GRPC_OK);
}

static void a_server_that_speaks_http1(void **state)
{
	static const char answer[] = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n";
	struct asked a = {0};
	int fd = raw_listen(b.path, 8), peer;

	(void)state;
	uds_bench_connect(&b);
	uds_bench_ask(&b, &a, "/t.T/Echo", "x", 1, 0);
	peer = accept(fd, NULL, NULL);
	assert_int_equal(write(peer, answer, sizeof(answer) - 1), sizeof(answer) - 1);
	uds_bench_wait(&b, &a);
	assert_int_equal(a.status, GRPC_UNAVAILABLE);
	assert_non_null(strstr(a.text, "HTTP/1"));
	close(peer);
	close(fd);
}

/* A server that accepts, reads nothing and closes: the request is lost and not repeated. */
static void a_server_that_hangs_up(void **state)
{
	struct asked a[20] = {0};
	int fd = raw_listen(b.path, 8);

	(void)state;
	uds_bench_connect(&b);
	for (int i = 0; i < 20; i++) {
		uds_bench_ask(&b, &a[i], "/t.T/Echo", "x", 1, 0);
		if (i % 2) /* before or after the request was written */
			uv_run(&b.loop, UV_RUN_NOWAIT);
		close(accept(fd, NULL, NULL));
		uds_bench_wait(&b, &a[i]);
		assert_int_equal(a[i].status, GRPC_UNAVAILABLE);
		assert_non_null(strstr(a[i].text, b.path));
	}
	close(fd);
}

static void answer_at_once(struct grpc_call *call, const char *path, const uint8_t *message,
			   size_t len, void *arg)
{
	(void)path, (void)arg;
	grpc_send(call, message, len);
	grpc_finish(call, GRPC_OK, NULL);
}

/* A server that answers and closes with the request unread, which resets the connection: the answer
 * counts. */
static void a_server_that_resets(void **state)
{
	struct grpc_service service = {.request = answer_at_once};
	struct asked a = {0};
	int fd = raw_listen(b.path, 8), peer;
	struct grpc_conn *conn;
	uint8_t request[1024];
	const uint8_t *answer;
	ssize_t n;

	(void)state;
	uds_bench_connect(&b);
	uds_bench_ask(&b, &a, "/t.T/Echo", "x", 1, 0);
	peer = accept(fd, NULL, NULL);
	uv_run(&b.loop, UV_RUN_NOWAIT);
	n = recv(peer, request, sizeof(request), MSG_PEEK);
	assert_int_equal(grpc_server_new(&conn, NULL, &service, 0), 0);
	assert_int_equal(grpc_feed(conn, request, (size_t)n, 0, NULL), 0);
	n = grpc_take(conn, &answer);
	assert_int_equal(write(peer, answer, (size_t)n), n);
	grpc_conn_free(conn);
	close(peer);
	uds_bench_wait(&b, &a);
	if (a.status != GRPC_OK)
		fail_msg("%s: %s", grpc_status_name(a.status), a.text);
	assert_int_equal(a.n_messages, 1);
	close(fd);
}

static void an_idle_connection_causes_no_wakeups(void **state)
{
	unsigned idle = loop_wakeups(&b.loop, 100);

	(void)state;
	serve_and_connect();
	uds_bench_echo(&b);
	assert_true(loop_sleeps(&b.loop, 100, idle + 1));
}

/* --- failing calls ---------------------------------------------------------------------------- */

static void start_fails_or_ends(struct asked *a, const char *path)
{
	struct grpc_reply reply = asked_reply(a);

	if (uds_client_call(b.client, path, (const uint8_t *)"x", 1, 0, &reply, NULL) < 0)
		a->n_ends = 1;
	uds_bench_wait(&b, a);
}

/* Server, client, a call, a stream, and their end. Whatever fails, every call ends once and nothing
 * leaks. */
static void one_life(void)
{
	struct uds_server_opts opts = {{1 << 20, 100, 0}, 8, 0600};
	struct grpc_service hooks = service_hooks(&b.service);
	struct asked a = {0}, s = {0};

	b.service.stream.n = 5;
	b.service.stream.size = 100000;
	if (uds_server_open(&b.server, &b.loop, b.path, &opts, &hooks, NULL) < 0)
		b.server = NULL;
	if (uds_client_open(&b.client, &b.loop, b.path, NULL, NULL) < 0) {
		b.client = NULL;
		return;
	}
	start_fails_or_ends(&a, "/t.T/Echo");
	start_fails_or_ends(&s, "/t.T/Stream");
}

static void any_failed_allocation_is_survived(void **state)
{
	bool failed = true;
	long n;

	(void)state;
	uds_bench_close(&b);
	for (n = 0; failed; n++) {
		uds_bench_open(&b);
		faults_alloc(n);
		one_life();
		failed = faults_end();
		uds_bench_close(&b);
	}
	assert_true(n > 25);
	uds_bench_open(&b);
}

static void any_failed_send_is_survived(void **state)
{
	static const int codes[] = {EPIPE, ECONNRESET, EAGAIN, EINTR, ENOBUFS, ENOMEM};

	(void)state;
	uds_bench_close(&b);
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		bool failed = true;
		long n;

		for (n = 0; failed; n++) {
			uds_bench_open(&b);
			faults_send(n, codes[i]);
			one_life();
			failed = faults_end();
			if (codes[i] == EAGAIN || codes[i] == EINTR)
				assert_int_equal(b.service.n_requests, 2);
			uds_bench_close(&b);
		}
		assert_true(n > 5);
	}
	uds_bench_open(&b);
}

#define UDS_TEST(f)                                                                                \
	cmocka_unit_test_prestate_setup_teardown(f, uds_bench_setup, uds_bench_teardown, &b)

TEST_GROUP(uds_abuse)
{
	const struct CMUnitTest tests[] = {
		UDS_TEST(http1_on_the_socket),
		UDS_TEST(noise_on_the_socket),
		UDS_TEST(peers_that_disconnect),
		UDS_TEST(a_flood_of_connections),
		UDS_TEST(a_full_server),
		UDS_TEST(a_peer_that_never_reads),
		UDS_TEST(a_peer_that_pings_and_never_reads),
		UDS_TEST(a_peer_that_closes_its_half),
		UDS_TEST(a_goodbye),
		UDS_TEST(no_descriptors_left),
		UDS_TEST(a_server_that_speaks_http1),
		UDS_TEST(a_server_that_hangs_up),
		UDS_TEST(a_server_that_resets),
		UDS_TEST(an_idle_connection_causes_no_wakeups),
		UDS_TEST(any_failed_allocation_is_survived),
		UDS_TEST(any_failed_send_is_survived),
	};

	return test_group_run(tests, uds_bench_warm, NULL);
}
