// SPDX-License-Identifier: Apache-2.0
/* Slow, greedy or broken clients, which must not affect other clients. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "cleanup.h"
#include "http_fixture.h"
#include "page.h"
#include "test_group.h"
#include "tmptree.h"

static const struct http_opts defaults = {0};
static const struct http_opts impatient = {.request_ms = 100};

static void assert_served(struct http_fixture *f)
{
	struct client c;
	struct answer a;

	http_ask(f, &c, GET("/text"), &a);
	assert_int_equal(a.status, 200);
	client_close(&c);
}

/* Sends bytes on a separate connection until the server closes it; returns the status of the first
 * answer, 0 = no answer. */
static unsigned send_garbage(struct http_fixture *f, const char *bytes, size_t n)
{
	struct client c;
	struct answer a;
	unsigned status;

	client_tcp(&c, f->port);
	assert_true(c.fd >= 0);
	client_send(&c, bytes, n);
	http_await_end(f, &c);
	status = client_answer(&c, false, &a) ? a.status : 0;
	client_close(&c);
	return status;
}

static void test_other_methods_are_refused(void **state)
{
	static const char *const methods[] = {"POST", "PUT", "DELETE", "OPTIONS", "BREW"};
	char request[128], allow[64];
	struct http_fixture f;
	struct client c;
	struct answer a;
	size_t i;

	(void)state;
	http_fixture_start(&f, &defaults);
	for (i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		snprintf(request, sizeof(request),
			 "%s /text HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", methods[i]);
		http_ask(&f, &c, request, &a);
		assert_int_equal(a.status, 405);
		assert_true(answer_header(&a, "Allow", allow, sizeof(allow)));
		assert_string_equal(allow, "GET, HEAD");
		client_close(&c);
	}
	assert_int_equal(f.asked, 0);
	assert_int_equal(f.self.http_errors, 5);
	http_fixture_stop(&f);
}

static size_t fill(char *buf, const char *head, char filler, size_t size)
{
	size_t n = strlen(head);

	memcpy(buf, head, n);
	memset(buf + n, filler, size - n);
	return size;
}

/* The answer may be lost, because closing with unread bytes resets the connection. */
static void test_a_large_post_is_not_read(void **state)
{
	const size_t size = 1 << 20;
	char *post = malloc(size);
	struct http_fixture f;
	unsigned status;

	(void)state;
	http_fixture_start(&f, &defaults);
	fill(post, "POST /text HTTP/1.1\r\nHost: x\r\nContent-Length: 1048576\r\n\r\n", 'x', size);
	status = send_garbage(&f, post, size);
	assert_true(status == 405 || status == 0);
	assert_int_equal(f.self.http_errors, 1);
	assert_int_equal(f.asked, 0);
	assert_served(&f);
	http_fixture_stop(&f);
	free(post);
}

static void test_a_get_with_a_body_is_answered(void **state)
{
	struct http_fixture f;
	struct client c;
	struct answer a;

	(void)state;
	http_fixture_start(&f, &defaults);
	http_ask(&f, &c, "GET /text HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", &a);
	assert_int_equal(a.status, 200);
	client_close(&c);
	http_fixture_stop(&f);
}

static void test_garbage_bytes(void **state)
{
	static const char binary[] = "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n";
	static const char words[] = "hello world how are you\r\n\r\n";
	static const char space[] = "GET\r\n\r\n";
	struct http_fixture f;

	(void)state;
	http_fixture_start(&f, &impatient);
	send_garbage(&f, binary, sizeof(binary) - 1);
	send_garbage(&f, words, sizeof(words) - 1);
	send_garbage(&f, space, sizeof(space) - 1);
	assert_served(&f);
	assert_int_equal(f.asked, 1);
	http_fixture_stop(&f);
}

static void test_headers_are_bounded(void **state)
{
	const size_t size = 100000;
	char *request = malloc(size);
	struct http_fixture f;
	unsigned status;

	(void)state;
	http_fixture_start(&f, &defaults);
	fill(request, "GET /text HTTP/1.1\r\nHost: x\r\nX-Long: ", 'x', size);
	status = send_garbage(&f, request, size);
	assert_true(status == 431 || status == 413 || status == 0);
	fill(request, "GET /", 'x', size);
	status = send_garbage(&f, request, size);
	assert_true(status == 414 || status == 431 || status == 0);
	assert_int_equal(f.asked, 0);
	assert_served(&f);
	http_fixture_stop(&f);
	free(request);
}

/* --- requests of any size, each on a connection of its own: one answer, whatever it is ----------
 */

static unsigned count(const struct client *c, const char *word)
{
	const char *at = c->in, *end = c->in + c->len;
	unsigned n = 0;

	while (at && (at = memmem(at, (size_t)(end - at), word, strlen(word))) != NULL) {
		n++;
		at += strlen(word);
	}
	return n;
}

static unsigned ask_once(struct http_fixture *f, const char *request, size_t size)
{
	struct client c;
	struct answer a;

	client_tcp(&c, f->port);
	client_send(&c, request, size);
	http_await_end(f, &c);
	assert_int_equal(count(&c, "HTTP/1.1 "), 1);
	assert_true(client_answer(&c, false, &a));
	assert_true(a.body_len > 0);
	client_close(&c);
	return a.status;
}

/* Sizes around that of the memory that a request's headers share with the answer. */
static void test_headers_of_any_size_around_the_bound(void **state)
{
	struct http_fixture f;
	char *request = malloc(20000);
	unsigned served = 0, refused = 0, status;
	size_t size;

	(void)state;
	http_fixture_start(&f, &defaults);
	f.page = page_new();
	page_begin(f.page, "x", "gauge", "x");
	text_addf(&f.page->text, "x 1\n");
	page_end(f.page);
	for (size = 11000; size < 16600; size += 19) {
		fill(request, "GET /page HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Long: ", 'x',
		     size);
		memcpy(request + size - 4, "\r\n\r\n", 4);
		status = ask_once(&f, request, size);
		assert_true(status == 200 || status == 431);
		served += status == 200;
		refused += status == 431;
	}
	assert_true(served > 0 && refused > 0);
	assert_served(&f);
	http_fixture_stop(&f);
	free(request);
}

/* Repeats `piece` n times between head and tail; on the heap. */
static char *repeat(const char *head, const char *piece, size_t n, const char *tail)
{
	size_t size;
	char *text;
	FILE *out = open_memstream(&text, &size);

	fputs(head, out);
	for (size_t i = 0; i < n; i++)
		fputs(piece, out);
	fputs(tail, out);
	fclose(out);
	return text;
}

static unsigned ask_repeated(struct http_fixture *f, const char *head, const char *piece, size_t n,
			     const char *tail)
{
	char *request = repeat(head, piece, n, tail);
	unsigned status = ask_once(f, request, strlen(request));

	free(request);
	return status;
}

#define TAIL " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"

static void test_any_number_of_parameters(void **state)
{
	static const char *const pieces[] = {"a=1&", "&", "=&", "%41=%zz&", "limit=1&"};
	static const size_t numbers[] = {0,   1,   8,	31,  32,  33,  34,   100,  200,	 225,
					 230, 235, 240, 245, 250, 255, 1000, 5000, 20000};
	struct http_fixture f;

	(void)state;
	http_fixture_start(&f, &defaults);
	for (size_t k = 0; k < ARRAY_SIZE(pieces); k++) {
		for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
			unsigned status = ask_repeated(&f, "GET /text?", pieces[k], numbers[i],
						       TAIL);

			assert_int_equal(status, numbers[i] <= HTTP_PARAMS_MAX ? 200
						 : status == 414	       ? 414
									       : 400);
		}
	}
	assert_served(&f);
	http_fixture_stop(&f);
}

static void test_any_number_of_headers(void **state)
{
	struct http_fixture f;

	(void)state;
	http_fixture_start(&f, &defaults);
	for (size_t n = 0; n < 330; n += n < 150 ? 50 : 3) {
		unsigned status = ask_repeated(
			&f, "GET /text HTTP/1.1\r\nHost: x\r\nConnection: close\r\n", "X: 1\r\n", n,
			"\r\n");

		assert_int_equal(status, n <= 100 || status == 200 ? 200 : 431);
	}
	assert_served(&f);
	http_fixture_stop(&f);
}

static void test_queries_of_any_length(void **state)
{
	static const size_t numbers[] = {0,	1,     1000,  4000,  4080,  4100,  8000,  9000,
					 10000, 12000, 15000, 16000, 16300, 16400, 17000, 40000};
	struct http_fixture f;

	(void)state;
	http_fixture_start(&f, &defaults);
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		assert_int_equal(ask_repeated(&f, "GET /text?pod=", "x", numbers[i], TAIL),
				 numbers[i] <= 4080 ? 200 : 414);
	assert_served(&f);
	http_fixture_stop(&f);
}

/* Places kept by rejected requests would be missing here. */
static void test_rejected_requests_free_their_place(void **state)
{
	const struct http_opts small = {.max_connections = 8};
	struct http_fixture f;

	(void)state;
	http_fixture_start(&f, &small);
	for (int i = 0; i < 20; i++)
		assert_int_equal(ask_repeated(&f, "GET /text?", "a&", 300, TAIL), 400);
	assert_int_equal(f.asked, 0);
	assert_int_equal(f.self.http_requests, 20);
	assert_int_equal(f.self.http_errors, 20);
	assert_int_equal(f.self.http_evictions, 0);
	assert_served(&f);
	http_fixture_stop(&f);
}

/* An error on a connection with earlier answers. */
static void test_an_error_follows_earlier_answers(void **state)
{
	struct http_fixture f;
	char *request = repeat(GET("/text") "GET /text?", "a&", 300,
			       " HTTP/1.1\r\nHost: x\r\n\r\n" GET("/text"));
	struct client c;
	struct answer a;

	(void)state;
	http_fixture_start(&f, &defaults);
	client_tcp(&c, f.port);
	client_send(&c, request, strlen(request));
	http_await_end(&f, &c);
	assert_true(client_answer(&c, false, &a));
	assert_int_equal(a.status, 200);
	client_next(&c, &a);
	assert_true(client_answer(&c, false, &a));
	assert_int_equal(a.status, 400);
	client_next(&c, &a);
	assert_int_equal(c.len, 0);
	client_close(&c);
	http_fixture_stop(&f);
	free(request);
}

static void test_half_open_clients_do_not_starve_others(void **state)
{
	static const char half[] = "GET /text HTTP/1.1\r\nHo";
	struct http_fixture f;
	struct client slow[100];
	int i;

	(void)state;
	http_fixture_start(&f, &defaults); /* 64 places; a request may take 10 s */
	for (i = 0; i < 100; i++) {
		client_tcp(&slow[i], f.port);
		assert_true(slow[i].fd >= 0);
		if (i % 2)
			client_send(&slow[i], half, strlen(half));
	}
	assert_served(&f);
	assert_int_equal(f.self.http_connections, 101);
	assert_int_equal(f.self.http_evictions, 101 - 56); /* an eighth of 64 places is kept free */
	for (i = 0; i < 100; i++)
		client_close(&slow[i]);
	assert_served(&f);
	http_fixture_stop(&f);
}

/* On the smallest server, too, each new client gets a place, because an old client is evicted. */
static void test_many_slow_clients_on_the_smallest_server(void **state)
{
	static const char half[] = "GET /text HTTP/1.1\r\nHo";
	const struct http_opts few = {.max_connections = 8};
	struct client slow[60];
	struct http_fixture f;
	int i;

	(void)state;
	http_fixture_start(&f, &few);
	for (i = 0; i < 60; i++) {
		client_tcp(&slow[i], f.port);
		if (i % 3 == 0)
			client_send(&slow[i], half, strlen(half));
		else if (i % 3 == 1) /* never reads the answer */
			client_send(&slow[i], GET("/big"), strlen(GET("/big")));
	}
	assert_served(&f);
	assert_int_equal(f.self.http_connections, 61);
	assert_int_equal(f.self.http_evictions, 61 - 7);
	for (i = 0; i < 60; i++)
		client_close(&slow[i]);
	assert_served(&f);
	http_fixture_stop(&f);
}

static void test_idle_connections_make_room_first(void **state)
{
	const struct http_opts small = {.max_connections = 8};
	struct client idle[4], asking[4];
	struct http_fixture f;
	struct answer a;
	int i;

	(void)state;
	http_fixture_start(&f, &small);
	for (i = 0; i < 4; i++) {
		client_tcp(&asking[i], f.port);
		client_send(&asking[i], "GET /te", 7);
	}
	for (i = 0; i < 4; i++)
		http_ask(&f, &idle[i], GET("/text"), &a);
	/* seven may stay; the idle one is evicted although the others are older */
	http_await_end(&f, &idle[0]);
	for (i = 0; i < 4; i++) {
		client_send(&asking[i], "xt HTTP/1.1\r\nHost: x\r\n\r\n", 24);
		http_await(&f, &asking[i], false, &a);
		assert_int_equal(a.status, 200);
		client_close(&asking[i]);
		client_close(&idle[i]);
	}
	assert_int_equal(f.self.http_evictions, 1);
	http_fixture_stop(&f);
}

static void test_slow_request_is_cut_at_its_deadline(void **state)
{
	struct http_fixture f;
	struct client c;
	struct answer a;
	uint64_t start_ms;

	(void)state;
	http_fixture_start(&f, &impatient);
	client_tcp(&c, f.port);
	uv_update_time(&f.loop);
	start_ms = uv_now(&f.loop);
	client_send(&c, "GET /text HT", 12);
	http_await_end(&f, &c);
	assert_true(uv_now(&f.loop) - start_ms >= 95);
	assert_false(client_answer(&c, false, &a));
	assert_int_equal(f.self.http_evictions, 1);
	client_close(&c);
	assert_served(&f);
	http_fixture_stop(&f);
}

/* Single bytes do not extend the deadline of a request. */
struct byte_sender {
	struct client *client;
	unsigned sent;
};

static bool sends_bytes_until_cut(void *arg)
{
	static const char line[] =
		"GET /text HTTP/1.1\r\nX: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy";
	struct byte_sender *d = arg;

	if (d->sent < sizeof(line) - 1)
		client_send(d->client, line + d->sent++, 1);
	client_step(d->client);
	return d->client->ended;
}

static void test_a_slowly_sent_request_is_cut_at_its_deadline(void **state)
{
	struct http_fixture f;
	struct byte_sender d = {0};
	struct client c;

	(void)state;
	http_fixture_start(&f, &impatient);
	client_tcp(&c, f.port);
	d.client = &c;
	assert_true(loop_until(&f.loop, sends_bytes_until_cut, &d, PATIENCE_MS));
	assert_true(d.sent > 3);
	assert_int_equal(f.self.http_evictions, 1);
	client_close(&c);
	http_fixture_stop(&f);
}

/* On a kept connection the deadline runs from the first line of each request. */
static void test_second_request_has_the_same_deadline(void **state)
{
	struct http_fixture f;
	struct client c;
	struct answer a;

	(void)state;
	http_fixture_start(&f, &impatient);
	http_ask(&f, &c, GET("/text"), &a);
	client_next(&c, &a);
	client_send(&c, "GET /text HTTP/1.1\r\nHo", 22);
	http_await_end(&f, &c);
	assert_int_equal(f.self.http_evictions, 1);
	client_close(&c);
	http_fixture_stop(&f);
}

/* A timeout is not counted as an eviction. */
static void test_an_idle_connection_is_closed(void **state)
{
	const struct http_opts short_idle = {.request_ms = 100, .idle_s = 1};
	struct http_fixture f;
	struct client c;
	struct answer a;

	(void)state;
	http_fixture_start(&f, &short_idle);
	http_ask(&f, &c, GET("/text"), &a);
	client_next(&c, &a);
	http_await_end(&f, &c);
	assert_int_equal(c.len, 0);
	assert_int_equal(f.self.http_evictions, 0);
	client_close(&c);
	assert_true(loop_sleeps(&f.loop, 100, 1));
	http_fixture_stop(&f);
}

static bool is_cut(void *arg)
{
	return ((struct http_fixture *)arg)->self.http_evictions == 1;
}

static void test_client_that_never_reads_is_cut(void **state)
{
	struct http_fixture f;
	int small = 4096;
	struct client c;

	(void)state;
	http_fixture_start(&f, &impatient);
	client_tcp(&c, f.port);
	setsockopt(c.fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	assert_int_equal(send(c.fd, GET("/big"), strlen(GET("/big")), 0), strlen(GET("/big")));
	assert_true(loop_until(&f.loop, is_cut, &f, PATIENCE_MS));
	assert_int_equal(f.asked, 1);
	http_await_end(&f, &c);
	assert_true(c.len < BIG_SIZE);
	client_close(&c);
	assert_served(&f);
	http_fixture_stop(&f);
}

static void test_a_client_that_disconnects_during_the_answer(void **state)
{
	struct http_fixture f;
	struct client c;

	(void)state;
	http_fixture_start(&f, &defaults);
	client_tcp(&c, f.port);
	send(c.fd, GET("/big"), strlen(GET("/big")), 0);
	while (f.asked == 0)
		uv_run(&f.loop, UV_RUN_ONCE);
	client_close(&c); /* with unread bytes, so that the connection is reset */
	assert_served(&f);
	assert_int_equal(f.self.http_evictions, 0);
	http_fixture_stop(&f);
}

/* Several connections are waiting in the backlog at a time, so that even a slow machine exceeds the
 * permitted rate. */
static void test_too_many_connections_a_second(void **state)
{
	struct http_fixture f;
	struct client c;
	int i;

	(void)state;
	http_fixture_start(&f, &defaults);
	for (i = 0; i < 20000 && f.self.http_evictions == 0; i++) {
		client_tcp(&c, f.port);
		assert_true(c.fd >= 0);
		client_close(&c);
		if (i % 8 == 7)
			uv_run(&f.loop, UV_RUN_NOWAIT);
	}
	assert_true(i > 400);
	assert_true(f.self.http_evictions > 0);
	http_fixture_stop(&f);
}

static void flood(struct http_fixture *f, unsigned n)
{
	struct client c;

	for (unsigned i = 0; i < n; i++) {
		client_tcp(&c, f->port);
		assert_true(c.fd >= 0);
		client_close(&c);
		if (i % 8 == 7)
			uv_run(&f->loop, UV_RUN_NOWAIT);
	}
}

/* Clients from other addresses and over unix sockets are still served. */
static void test_a_flood_affects_only_its_own_address(void **state)
{
	struct http_fixture f;
	struct answer a;
	struct err e = {0};
	char *dir = tmptree_new(), path[128];
	(void)state;

	http_fixture_start(&f, &defaults);
	snprintf(path, sizeof(path), "%s/sock", dir);
	assert_int_equal(http_listen_unix(f.http, path, 0600, &e), 0);
	while (f.self.http_evictions == 0)
		flood(&f, 64);
	for (int i = 0; i < 30; i++) {
		struct client other, local;

		flood(&f, 32);
		client_tcp_from(&other, "127.0.0.2", f.port);
		client_send(&other, GET("/text"), strlen(GET("/text")));
		http_await(&f, &other, false, &a);
		assert_int_equal(a.status, 200);
		client_close(&other);
		flood(&f, 32);
		client_unix(&local, path);
		client_send(&local, GET("/text"), strlen(GET("/text")));
		http_await(&f, &local, false, &a);
		assert_int_equal(a.status, 200);
		client_close(&local);
	}
	http_fixture_stop(&f);
	tmptree_free(dir);
}

/* Lowers the limit so that no more descriptors can be opened. */
static void forbid_descriptors(struct rlimit *old)
{
	struct rlimit none;
	int lowest = dup(STDIN_FILENO);

	assert_true(lowest >= 0);
	close(lowest);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, old), 0);
	none = *old;
	none.rlim_cur = (rlim_t)lowest;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
}

static void test_running_out_of_descriptors(void **state)
{
	struct http_fixture f;
	struct rlimit old;
	struct client c;
	struct answer a;

	(void)state;
	http_fixture_start(&f, &defaults);
	client_tcp(&c, f.port);
	client_send(&c, GET("/text"), strlen(GET("/text")));
	forbid_descriptors(&old);
	assert_true(loop_sleeps(&f.loop, 300, 8)); /* waits without spinning */
	assert_int_equal(f.self.http_connections, 0);
	setrlimit(RLIMIT_NOFILE, &old);
	http_await(&f, &c, false, &a); /* the client was only delayed */
	assert_int_equal(a.status, 200);
	client_close(&c);
	http_fixture_stop(&f);
}

/* The slowest connection is closed to free its descriptor for the next client. */
static void test_descriptors_are_reclaimed(void **state)
{
	struct http_fixture f;
	struct client slow, c;
	struct rlimit old;
	struct answer a;

	(void)state;
	http_fixture_start(&f, &defaults);
	client_tcp(&slow, f.port);
	while (f.self.http_connections == 0)
		uv_run(&f.loop, UV_RUN_ONCE);
	client_tcp(&c, f.port);
	client_send(&c, GET("/text"), strlen(GET("/text")));
	forbid_descriptors(&old);
	http_await_end(&f, &slow);
	http_await(&f, &c, false, &a);
	setrlimit(RLIMIT_NOFILE, &old);
	assert_int_equal(a.status, 200);
	client_close(&slow);
	client_close(&c);
	http_fixture_stop(&f);
}

TEST_GROUP(http_abuse)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_other_methods_are_refused),
		cmocka_unit_test(test_a_large_post_is_not_read),
		cmocka_unit_test(test_a_get_with_a_body_is_answered),
		cmocka_unit_test(test_garbage_bytes),
		cmocka_unit_test(test_headers_are_bounded),
		cmocka_unit_test(test_headers_of_any_size_around_the_bound),
		cmocka_unit_test(test_any_number_of_parameters),
		cmocka_unit_test(test_any_number_of_headers),
		cmocka_unit_test(test_queries_of_any_length),
		cmocka_unit_test(test_rejected_requests_free_their_place),
		cmocka_unit_test(test_an_error_follows_earlier_answers),
		cmocka_unit_test(test_half_open_clients_do_not_starve_others),
		cmocka_unit_test(test_many_slow_clients_on_the_smallest_server),
		cmocka_unit_test(test_idle_connections_make_room_first),
		cmocka_unit_test(test_slow_request_is_cut_at_its_deadline),
		cmocka_unit_test(test_a_slowly_sent_request_is_cut_at_its_deadline),
		cmocka_unit_test(test_second_request_has_the_same_deadline),
		cmocka_unit_test(test_an_idle_connection_is_closed),
		cmocka_unit_test(test_client_that_never_reads_is_cut),
		cmocka_unit_test(test_a_client_that_disconnects_during_the_answer),
		cmocka_unit_test(test_too_many_connections_a_second),
		cmocka_unit_test(test_a_flood_affects_only_its_own_address),
		cmocka_unit_test(test_running_out_of_descriptors),
		cmocka_unit_test(test_descriptors_are_reclaimed),
	};

	return test_group_run(tests, NULL, NULL);
}
