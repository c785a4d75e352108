// SPDX-License-Identifier: Apache-2.0
/* Answers to well-behaved clients. */
#include "http.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "fds.h"
#include "http_fixture.h"
#include "page.h"
#include "page_text.h"
#include "test_group.h"

static const struct http_opts defaults = {0};

static void assert_header(const struct answer *a, const char *name, const char *want)
{
	char got[256];

	if (!want) {
		assert_false(answer_header(a, name, got, sizeof(got)));
		return;
	}
	assert_true(answer_header(a, name, got, sizeof(got)));
	assert_string_equal(got, want);
}

static struct page *make_page(unsigned families, unsigned series)
{
	struct page *p = page_new();
	char name[64];
	unsigned i, j;

	assert_non_null(p);
	for (i = 0; i < families; i++) {
		snprintf(name, sizeof(name), "roce_family_%u_total", i);
		assert_int_equal(page_begin(p, name, "counter", "A family"), 0);
		for (j = 0; j < series; j++)
			text_addf(&p->text, "%s{device=\"mlx5_%u\",port=\"1\"} %u\n", name, j,
				  i * j * 7919);
		page_end(p);
	}
	return p;
}

static void assert_page(const struct answer *a, const struct page *p, enum metrics_format format)
{
	size_t len;
	char *want = page_text(p, format, &len);

	assert_int_equal(a->body_len, len);
	assert_memory_equal(a->body, want, len);
	free(want);
}

static void test_body_and_not_found(void **state)
{
	struct http_fixture f;
	struct client c;
	struct answer a;

	(void)state;
	http_fixture_start(&f, &defaults);
	http_ask(&f, &c, GET("/text"), &a);
	assert_int_equal(a.status, 200);
	assert_int_equal(a.body_len, 6);
	assert_memory_equal(a.body, "hello\n", 6);
	assert_header(&a, "Content-Type", "text/plain; charset=utf-8");
	assert_header(&a, "Content-Encoding", NULL);
	client_close(&c);

	http_ask(&f, &c, GET("/nowhere"), &a);
	assert_int_equal(a.status, 404);
	assert_true(a.body_len > 0);
	client_close(&c);
	assert_int_equal(f.self.http_requests, 2);
	assert_int_equal(f.self.http_errors, 1);
	assert_int_equal(f.self.http_connections, 2);
	assert_int_equal(f.self.http_evictions, 0);
	http_fixture_stop(&f);
}

static void test_a_static_body(void **state)
{
	struct http_fixture f;
	struct client c;
	struct answer a;

	(void)state;
	http_fixture_start(&f, &defaults);
	for (int i = 0; i < 2; i++) {
		http_ask(&f, &c, GET("/fixed"), &a);
		assert_int_equal(a.status, 200);
		assert_int_equal(a.body_len, 6);
		assert_memory_equal(a.body, "fixed\n", 6);
		assert_header(&a, "X-First", "1");
		assert_header(&a, "X-Second", "2");
		client_close(&c);
	}
	http_fixture_stop(&f);
}

static void test_head_has_headers_only(void **state)
{
	struct http_fixture f;
	struct client c;
	struct answer a;

	(void)state;
	http_fixture_start(&f, &defaults);
	f.page = make_page(3, 3);
	http_ask(&f, &c, "HEAD /page HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", &a);
	assert_int_equal(a.status, 200);
	assert_header(&a, "Content-Type", "text/plain; version=0.0.4; charset=utf-8");
	http_await_end(&f, &c);
	assert_int_equal(c.len, a.size);
	client_close(&c);
	http_fixture_stop(&f);
}

static void test_kept_connection(void **state)
{
	struct http_fixture f;
	struct client c;
	struct answer a;
	int i;

	(void)state;
	http_fixture_start(&f, &defaults);
	client_tcp(&c, f.port);
	for (i = 0; i < 20; i++) {
		client_send(&c, GET("/text"), strlen(GET("/text")));
		http_await(&f, &c, false, &a);
		assert_int_equal(a.status, 200);
		client_next(&c, &a);
		assert_int_equal(c.len, 0);
	}
	assert_false(c.ended);
	assert_int_equal(f.self.http_connections, 1);
	assert_int_equal(f.self.http_requests, 20);
	client_close(&c);
	http_fixture_stop(&f);
}

static void test_http_1_0_is_closed_after_its_answer(void **state)
{
	struct http_fixture f;
	struct client c;
	struct answer a;

	(void)state;
	http_fixture_start(&f, &defaults);
	http_ask(&f, &c, "GET /text HTTP/1.0\r\n\r\n", &a);
	assert_int_equal(a.status, 200);
	http_await_end(&f, &c);
	client_close(&c);
	http_fixture_stop(&f);
}

static void test_pipelined_requests_are_answered_in_order(void **state)
{
	static const char requests[] = GET("/text") GET("/nowhere") GET("/text") GET("/big");
	static const unsigned status[] = {200, 404, 200, 200};
	struct http_fixture f;
	struct client c;
	struct answer a;
	size_t i;

	(void)state;
	http_fixture_start(&f, &defaults);
	client_tcp(&c, f.port);
	client_send(&c, requests, strlen(requests));
	for (i = 0; i < 4; i++) {
		http_await(&f, &c, false, &a);
		assert_int_equal(a.status, status[i]);
		client_next(&c, &a);
	}
	assert_int_equal(f.self.http_connections, 1);
	client_close(&c);
	http_fixture_stop(&f);
}

static void test_page_in_both_formats(void **state)
{
	struct http_fixture f;
	struct client c;
	struct answer a;

	(void)state;
	http_fixture_start(&f, &defaults);
	f.page = make_page(700, 20); /* more pieces than IOV_MAX, cut by several blocks */
	http_ask(&f, &c, GET("/page"), &a);
	assert_int_equal(a.status, 200);
	assert_header(&a, "Content-Type", "text/plain; version=0.0.4; charset=utf-8");
	assert_header(&a, "Vary", "Accept-Encoding, Accept");
	assert_header(&a, "Content-Encoding", NULL);
	assert_page(&a, f.page, METRICS_PROMETHEUS);
	client_close(&c);

	http_ask(&f, &c,
		 "GET /page HTTP/1.1\r\nHost: x\r\nAccept: application/openmetrics-text\r\n\r\n",
		 &a);
	assert_header(&a, "Content-Type",
		      "application/openmetrics-text; version=1.0.0; charset=utf-8");
	assert_page(&a, f.page, METRICS_OPENMETRICS);
	client_close(&c);
	http_fixture_stop(&f);
}

/* On the heap. */
static char *inflate_body(const struct answer *a, size_t size)
{
	z_stream z = {0};
	char *out = malloc(size + 1);

	assert_non_null(out);
	z.next_in = (Bytef *)(uintptr_t)a->body;
	z.avail_in = (uInt)a->body_len;
	z.next_out = (Bytef *)out;
	z.avail_out = (uInt)size + 1;
	assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	assert_int_equal(z.total_out, size);
	assert_int_equal(z.avail_in, 0);
	inflateEnd(&z);
	return out;
}

static void test_gzip_inflates_to_the_page(void **state)
{
	static const char *const accept[] = {"*/*", "application/openmetrics-text"};
	struct http_fixture f;
	char request[256], *want, *got, *kept;
	struct client c;
	struct answer a;
	size_t len;
	int format;

	(void)state;
	http_fixture_start(&f, &defaults);
	f.page = make_page(50, 100);
	for (format = 0; format < N_METRICS_FORMATS; format++) {
		snprintf(request, sizeof(request),
			 "GET /page HTTP/1.1\r\nHost: x\r\nAccept: %s\r\n"
			 "Accept-Encoding: gzip\r\n\r\n",
			 accept[format]);
		http_ask(&f, &c, request, &a);
		assert_header(&a, "Content-Encoding", "gzip");
		assert_header(&a, "Vary", "Accept-Encoding, Accept");
		want = page_text(f.page, (enum metrics_format)format, &len);
		got = inflate_body(&a, len);
		assert_memory_equal(got, want, len);
		free(want);
		free(got);
		client_close(&c);
		/* compressed once per page: the second client gets the same bytes */
		kept = f.page->gzip[format].data;
		assert_non_null(kept);
		http_ask(&f, &c, request, &a);
		assert_ptr_equal(f.page->gzip[format].data, kept);
		client_close(&c);
	}
	http_fixture_stop(&f);
}

/* Without memory for compression the page is sent uncompressed. */
static void test_a_page_that_cannot_be_compressed(void **state)
{
	struct http_fixture f;
	struct client c;
	struct answer a;
	char *want;
	size_t len;

	(void)state;
	http_fixture_start(&f, &defaults);
	f.page = make_page(5, 10);
	f.page->gzip[METRICS_PROMETHEUS].failed = true;
	want = page_text(f.page, METRICS_PROMETHEUS, &len);
	http_ask(&f, &c, "GET /page HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n", &a);
	assert_header(&a, "Content-Encoding", NULL);
	assert_int_equal(a.body_len, len);
	assert_memory_equal(a.body, want, len);
	free(want);
	client_close(&c);
	http_fixture_stop(&f);
}

static void test_small_bodies_are_never_compressed(void **state)
{
	struct http_fixture f;
	struct client c;
	struct answer a;

	(void)state;
	http_fixture_start(&f, &defaults);
	http_ask(&f, &c, "GET /text HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n", &a);
	assert_true(f.last.accepts_gzip);
	assert_header(&a, "Content-Encoding", NULL);
	assert_memory_equal(a.body, "hello\n", 6);
	client_close(&c);
	http_fixture_stop(&f);
}

static void test_an_empty_page(void **state)
{
	struct http_fixture f;
	struct client c;
	struct answer a;

	(void)state;
	http_fixture_start(&f, &defaults);
	f.page = page_new();
	http_ask(&f, &c, GET("/page"), &a);
	assert_int_equal(a.status, 200);
	assert_int_equal(a.body_len, 0);
	client_close(&c);
	http_ask(&f, &c, "GET /page HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n", &a);
	assert_int_equal(a.status, 200);
	client_close(&c);
	http_fixture_stop(&f);
}

/* A page that is being sent stays alive when it is replaced. */
static void test_page_replaced_while_it_is_sent(void **state)
{
	struct http_fixture f;
	struct page *old;
	struct client c;
	struct answer a;

	(void)state;
	http_fixture_start(&f, &defaults);
	old = f.page = make_page(400, 400);
	client_tcp(&c, f.port);
	client_send(&c, GET("/page"), strlen(GET("/page")));
	while (f.asked == 0)
		uv_run(&f.loop, UV_RUN_ONCE);
	assert_int_equal(old->refs, 2);
	f.page = make_page(1, 1);
	http_await(&f, &c, false, &a);
	assert_page(&a, old, METRICS_PROMETHEUS);
	client_close(&c);
	page_unref(old);
	http_fixture_stop(&f);
}

static void test_unix_socket(void **state)
{
	char dir[] = "/tmp/test_http.XXXXXX", path[64];
	struct http_fixture f;
	struct client c;
	struct answer a;
	struct err e;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/sock", dir);
	http_fixture_start(&f, &defaults);
	f.page = make_page(30, 30);
	assert_int_equal(http_listen_unix(f.http, path, 0600, &e), 0);
	client_unix(&c, path);
	client_send(&c, GET("/page"), strlen(GET("/page")));
	http_await(&f, &c, false, &a);
	assert_page(&a, f.page, METRICS_PROMETHEUS);
	client_close(&c);
	http_fixture_stop(&f);
	assert_int_equal(access(path, F_OK), -1); /* closing the server removes its file */
	assert_int_equal(rmdir(dir), 0);
}

static void ask_unix(struct http_fixture *f, const char *path)
{
	struct client c;
	struct answer a;

	client_unix(&c, path);
	client_send(&c, GET("/text"), strlen(GET("/text")));
	http_await(f, &c, false, &a);
	assert_int_equal(a.status, 200);
	client_close(&c);
}

/* Another process empties the folder while we serve, as a starting kubelet does. */
static void test_a_unix_socket_whose_file_was_deleted(void **state)
{
	char dir[] = "/tmp/test_http.XXXXXX", path[64], other[64];
	struct http_fixture f;
	struct client old;
	struct answer a;
	unsigned n_fds;
	struct err e;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/sock", dir);
	snprintf(other, sizeof(other), "%s/other", dir);
	http_fixture_start(&f, &defaults);
	assert_int_equal(http_listen_unix(f.http, other, 0600, &e), 0);
	assert_int_equal(http_listen_unix(f.http, path, 0600, &e), 0);
	assert_int_equal(http_listen_unix(f.http, path, 0600, &e), 1);
	client_unix(&old, path);
	client_send(&old, GET("/text"), strlen(GET("/text")));
	http_await(&f, &old, false, &a);
	n_fds = fds_open();
	for (int i = 0; i < 3; i++) {
		assert_int_equal(unlink(path), 0);
		assert_int_equal(http_listen_unix(f.http, path, 0600, &e), 0);
		assert_int_equal(http_listen_unix(f.http, path, 0600, &e), 1);
		ask_unix(&f, path);
		ask_unix(&f, other);
	}
	/* The connection made over the old file continues. */
	client_next(&old, &a);
	client_send(&old, GET("/text"), strlen(GET("/text")));
	http_await(&f, &old, false, &a);
	assert_int_equal(a.status, 200);
	http_await_fds(&f, n_fds);
	client_close(&old);
	/* A file of another process at our path is left alone. */
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(http_listen_unix(f.http, path, 0600, &e), -EEXIST);
	ask_unix(&f, other);
	http_fixture_stop(&f);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(rmdir(dir), 0);
}

static void test_listen_errors_have_texts(void **state)
{
	struct http_fixture f;
	char address[32];
	struct err e;

	(void)state;
	http_fixture_start(&f, &defaults);
	snprintf(address, sizeof(address), "127.0.0.1:%u", f.port);
	assert_int_equal(http_listen_tcp(f.http, address, NULL, &e), -EADDRINUSE);
	assert_non_null(strstr(e.msg, "Address already in use"));
	assert_non_null(strstr(e.msg, address));
	assert_int_equal(http_listen_unix(f.http, "/nonexistent/sock", 0600, &e), -ENOENT);
	assert_non_null(strstr(e.msg, "No such file or directory"));
	http_fixture_stop(&f);
}

static void test_nothing_wakes_an_idle_server(void **state)
{
	struct http_fixture f;
	struct client c;
	struct answer a;

	(void)state;
	http_fixture_start(&f, &defaults);
	assert_true(loop_sleeps(&f.loop, 100, 1));
	http_ask(&f, &c, GET("/text"), &a);
	assert_true(loop_sleeps(&f.loop, 100, 2)); /* kept open with a deadline far away */
	client_close(&c);
	assert_true(loop_sleeps(&f.loop, 100, 1));
	http_fixture_stop(&f);
}

static void test_closing_with_connections_in_flight(void **state)
{
	static const char half[] = "GET /text HTTP/1.1\r\nHo";
	struct http_fixture f;
	struct client fresh, asking, taking, kept;
	struct answer a;

	(void)state;
	http_fixture_start(&f, &defaults);
	f.page = make_page(400, 400);
	client_tcp(&fresh, f.port);
	client_tcp(&asking, f.port);
	client_send(&asking, half, strlen(half));
	client_tcp(&taking, f.port);
	client_send(&taking, GET("/page"), strlen(GET("/page")));
	http_ask(&f, &kept, GET("/text"), &a);
	while (f.asked < 2)
		uv_run(&f.loop, UV_RUN_ONCE);
	assert_int_equal(f.page->refs, 2);
	http_fixture_stop(&f);
	client_close(&fresh);
	client_close(&asking);
	client_close(&taking);
	client_close(&kept);
}

TEST_GROUP(http)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_body_and_not_found),
		cmocka_unit_test(test_a_static_body),
		cmocka_unit_test(test_head_has_headers_only),
		cmocka_unit_test(test_kept_connection),
		cmocka_unit_test(test_http_1_0_is_closed_after_its_answer),
		cmocka_unit_test(test_pipelined_requests_are_answered_in_order),
		cmocka_unit_test(test_page_in_both_formats),
		cmocka_unit_test(test_gzip_inflates_to_the_page),
		cmocka_unit_test(test_a_page_that_cannot_be_compressed),
		cmocka_unit_test(test_small_bodies_are_never_compressed),
		cmocka_unit_test(test_an_empty_page),
		cmocka_unit_test(test_page_replaced_while_it_is_sent),
		cmocka_unit_test(test_unix_socket),
		cmocka_unit_test(test_a_unix_socket_whose_file_was_deleted),
		cmocka_unit_test(test_listen_errors_have_texts),
		cmocka_unit_test(test_nothing_wakes_an_idle_server),
		cmocka_unit_test(test_closing_with_connections_in_flight),
	};

	return test_group_run(tests, NULL, NULL);
}
