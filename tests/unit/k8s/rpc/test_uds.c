// SPDX-License-Identifier: Apache-2.0
/* gRPC client and server over a socket: calls, their ends, and socket files that are replaced or
 * removed. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "test_group.h"
#include "tmptree.h"
#include "uds_bench.h"

static struct uds_bench b;

static void has_failed(const struct asked *a, enum grpc_status status, const char *text)
{
	if (a->status != status || !strstr(a->text, text))
		fail_msg("%s \"%s\" instead of %s \"%s\"", grpc_status_name(a->status), a->text,
			 grpc_status_name(status), text);
}

/* --- calls ------------------------------------------------------------------------------------ */

static void a_call_is_answered(void **state)
{
	(void)state;
	uds_bench_serve(&b);
	uds_bench_connect(&b);
	for (int i = 0; i < 3; i++)
		uds_bench_echo(&b);
	assert_int_equal(b.service.n_requests, 3);
}

static void many_calls_at_once(void **state)
{
	struct asked a[50] = {0};

	(void)state;
	uds_bench_serve(&b);
	uds_bench_connect(&b);
	for (int i = 0; i < 50; i++)
		uds_bench_ask(&b, &a[i], "/t.T/Echo", "abc", 3, 0);
	for (int i = 0; i < 50; i++)
		uds_bench_wait(&b, &a[i]);
	for (int i = 0; i < 50; i++)
		assert_int_equal(a[i].status, GRPC_OK);
}

/* Both sides have more to write at the same time than the socket buffers. */
static void large_messages_both_ways(void **state)
{
	size_t len = 3 << 20;
	uint8_t *message = malloc(len);
	struct asked a[3] = {0};

	(void)state;
	for (size_t i = 0; i < len; i++)
		message[i] = (uint8_t)(i * 7 + i / 1000);
	uds_bench_serve(&b);
	uds_bench_connect(&b);
	for (int i = 0; i < 3; i++)
		uds_bench_ask(&b, &a[i], "/t.T/Echo", message, len, 0);
	for (int i = 0; i < 3; i++) {
		uds_bench_wait(&b, &a[i]);
		assert_int_equal(a[i].status, GRPC_OK);
		assert_int_equal(a[i].n_bytes, len);
		assert_int_equal(a[i].sum, sum_of(message, len));
	}
	free(message);
}

static void a_stream_of_messages(void **state)
{
	struct asked a = {0}, cut = {.cancel_at = 3};

	(void)state;
	b.service.stream.n = 100;
	b.service.stream.size = 50000;
	uds_bench_serve(&b);
	uds_bench_connect(&b);
	uds_bench_ask(&b, &a, "/t.T/Stream", NULL, 0, 0);
	uds_bench_ask(&b, &cut, "/t.T/Stream", NULL, 0, 0);
	uds_bench_wait(&b, &a);
	uds_bench_wait(&b, &cut);
	assert_int_equal(a.n_messages, 100);
	assert_int_equal(a.n_bytes, 5000000);
	assert_int_equal(cut.n_messages, 3);
	has_failed(&cut, GRPC_CANCELLED, "");
}

/* As a device list, which is sent whenever it changes. */
static void messages_from_outside_of_a_hook(void **state)
{
	struct asked a = {0};

	(void)state;
	uds_bench_serve(&b);
	uds_bench_connect(&b);
	uds_bench_ask(&b, &a, "/t.T/Hold", "x", 1, 0);
	uds_bench_wait_count(&b, &b.service.n_requests, 1);
	for (unsigned i = 1; i <= 3; i++) {
		assert_int_equal(grpc_send(b.service.held, (const uint8_t *)"list", 4), 0);
		uds_server_flush(b.server);
		uds_bench_wait_count(&b, &a.n_messages, i);
	}
	grpc_finish(b.service.held, GRPC_NOT_FOUND, "no such thing");
	uds_server_flush(b.server);
	uds_bench_wait(&b, &a);
	has_failed(&a, GRPC_NOT_FOUND, "no such thing");
}

/* --- no server -------------------------------------------------------------------------------- */

static void no_server_at_the_path(void **state)
{
	struct asked a = {0}, other = {0};
	int fd;

	(void)state;
	uds_bench_connect(&b);
	uds_bench_ask(&b, &a, "/t.T/Echo", "x", 1, 60000);
	assert_int_equal(uv_backend_timeout(&b.loop), 0);
	uds_bench_wait(&b, &a);
	has_failed(&a, GRPC_UNAVAILABLE, "rocelet.sock: No such file");
	fd = raw_listen(b.path, 1);
	close(fd);
	uds_bench_ask(&b, &other, "/t.T/Echo", "x", 1, 0);
	uds_bench_wait(&b, &other);
	has_failed(&other, GRPC_UNAVAILABLE, "Connection refused");
	uds_bench_serve(&b); /* over the dead one */
	uds_bench_echo(&b);
}

/* Even if the loop has not yet seen the old connection's end. */
static void a_server_replaced_between_calls(void **state)
{
	(void)state;
	uds_bench_connect(&b);
	for (int i = 0; i < 50; i++) {
		uds_bench_serve(&b);
		uds_bench_echo(&b);
		uds_server_close(b.server);
		if (i % 2)
			uv_run(&b.loop, UV_RUN_NOWAIT);
	}
	b.server = NULL;
	assert_int_equal(b.service.n_requests, 50);
}

static void a_server_that_closes_during_a_call(void **state)
{
	struct asked a = {0}, next = {0};

	(void)state;
	uds_bench_serve(&b);
	uds_bench_connect(&b);
	uds_bench_ask(&b, &a, "/t.T/Hold", "x", 1, 0);
	uds_bench_wait_count(&b, &b.service.n_requests, 1);
	uds_server_close(b.server);
	assert_int_equal(b.service.n_cancels, 1);
	uds_bench_wait(&b, &a);
	has_failed(&a, GRPC_UNAVAILABLE, "rocelet.sock: ");
	assert_int_equal(access(b.path, F_OK), -1);
	uds_bench_ask(&b, &next, "/t.T/Echo", "x", 1, 0);
	uds_bench_wait(&b, &next);
	has_failed(&next, GRPC_UNAVAILABLE, "No such file");
	b.service.n_requests = 0;
	uds_bench_serve(&b);
	uds_bench_echo(&b);
	assert_int_equal(b.service.n_requests, 1); /* the failed calls were not repeated */
}

static void a_server_that_never_answers(void **state)
{
	struct asked a = {0};
	int fd = raw_listen(b.path, 8), peer;

	(void)state;
	uds_bench_connect(&b);
	uds_bench_ask(&b, &a, "/t.T/Echo", "x", 1, 20);
	peer = accept(fd, NULL, NULL);
	uds_bench_wait(&b, &a);
	has_failed(&a, GRPC_DEADLINE_EXCEEDED, "");
	/* The call that timed out is not repeated. */
	uds_bench_serve(&b);
	uds_bench_echo(&b);
	close(peer);
	close(fd);
}

static void a_listener_whose_queue_is_full(void **state)
{
	struct asked a = {0}, gone = {0}, served = {0};
	int fd = raw_listen(b.path, 0), peers[64], n = 0;
	uint64_t id;

	(void)state;
	while (n < 64 && (peers[n] = raw_connect(b.path)) >= 0)
		n++;
	assert_in_range(n, 1, 63);
	uds_bench_connect(&b);
	uds_bench_ask(&b, &a, "/t.T/Echo", "x", 1, 50);
	id = uds_bench_ask(&b, &gone, "/t.T/Echo", "x", 1, 0);
	uds_bench_ask(&b, &served, "/t.T/Echo", "x", 1, 0);
	uds_bench_wait(&b, &a);
	has_failed(&a, GRPC_DEADLINE_EXCEEDED, "");
	uds_client_cancel(b.client, id);
	assert_int_equal(gone.n_ends, 0);
	uds_bench_wait(&b, &gone);
	has_failed(&gone, GRPC_CANCELLED, "");
	assert_int_equal(served.n_ends, 0);
	uds_bench_serve(&b);
	uds_bench_wait(&b, &served);
	assert_int_equal(served.status, GRPC_OK);
	while (n > 0)
		close(peers[--n]);
	close(fd);
}

/* --- cancellation and deadlines --------------------------------------------------------------- */

static void a_call_is_cancelled(void **state)
{
	struct asked a = {0};
	uint64_t id;

	(void)state;
	uds_bench_serve(&b);
	uds_bench_connect(&b);
	id = uds_bench_ask(&b, &a, "/t.T/Hold", "x", 1, 0);
	uds_bench_wait_count(&b, &b.service.n_requests, 1);
	uds_client_cancel(b.client, id + 7);
	uds_client_cancel(b.client, id);
	uds_client_cancel(b.client, id);
	assert_int_equal(a.n_ends, 0);
	uds_bench_wait(&b, &a);
	has_failed(&a, GRPC_CANCELLED, "");
	uds_bench_wait_count(&b, &b.service.n_cancels, 1);
	uds_client_cancel(b.client, id);
	uds_bench_echo(&b);
}

static void a_call_times_out(void **state)
{
	struct asked a = {0};

	(void)state;
	uds_bench_serve(&b);
	uds_bench_connect(&b);
	uds_bench_ask(&b, &a, "/t.T/Hold", "x", 1, 20);
	uds_bench_wait(&b, &a);
	has_failed(&a, GRPC_DEADLINE_EXCEEDED, "");
	uds_bench_wait_count(&b, &b.service.n_cancels, 1);
	uds_bench_echo(&b);
}

static void a_client_closed_with_calls(void **state)
{
	struct asked a[3] = {0};

	(void)state;
	uds_bench_serve(&b);
	uds_bench_connect(&b);
	uds_bench_ask(&b, &a[0], "/t.T/Hold", "x", 1, 0);
	uds_bench_wait_count(&b, &b.service.n_requests, 1);
	uds_bench_ask(&b, &a[1], "/t.T/Echo", "x", 1, 0);
	uds_bench_ask(&b, &a[2], "/t.T/Echo", "x", 1, 1);
	uds_client_close(b.client);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(a[i].n_ends, 1);
		has_failed(&a[i], GRPC_CANCELLED, "");
	}
	b.client = NULL;
	uds_bench_wait_count(&b, &b.service.n_cancels, 1);
	for (int i = 0; i < 3; i++)
		assert_int_equal(a[i].n_ends, 1);
}

/* --- calls made inside hooks ------------------------------------------------------------------ */

static unsigned n_hooks;
static struct asked beside;

static void close_client(struct grpc_call *call, enum grpc_status status, const char *text,
			 void *arg)
{
	struct grpc_reply reply = asked_reply(&beside);

	(void)call, (void)status, (void)text, (void)arg;
	n_hooks++;
	uds_client_close(b.client);
	assert_int_equal(beside.n_ends, 1);
	assert_int_equal(uds_client_call(b.client, "/t.T/Echo", NULL, 0, 0, &reply, NULL),
			 -ECANCELED);
}

static void close_client_at_message(struct grpc_call *call, const uint8_t *bytes, size_t len,
				    void *arg)
{
	(void)bytes, (void)len;
	close_client(call, GRPC_OK, "", arg);
}

static void a_client_closed_by_a_hook(void **state)
{
	struct grpc_reply hooks[] = {{.end = close_client}, {.message = close_client_at_message}};

	(void)state;
	uds_bench_serve(&b);
	for (int i = 0; i < 2; i++) {
		n_hooks = 0;
		beside = (struct asked){0};
		uds_bench_connect(&b);
		uds_bench_ask(&b, &beside, "/t.T/Hold", "x", 1, 0);
		assert_int_equal(
			uds_client_call(b.client, "/t.T/Echo", NULL, 0, 0, &hooks[i], NULL), 0);
		uds_bench_wait_count(&b, &n_hooks, 1);
		assert_int_equal(beside.n_ends, 1);
		has_failed(&beside, GRPC_CANCELLED, "");
		b.client = NULL;
	}
	/* The hook of a call that never had a connection closes the client, too. */
	uds_server_close(b.server);
	b.server = NULL;
	beside = (struct asked){0};
	n_hooks = 0;
	uds_bench_connect(&b);
	assert_int_equal(uds_client_call(b.client, "/t.T/Echo", NULL, 0, 0, &hooks[0], NULL), 0);
	uds_bench_ask(&b, &beside, "/t.T/Echo", NULL, 0, 0);
	uds_bench_wait_count(&b, &n_hooks, 1);
	b.client = NULL;
}

static struct asked again;

static void ask_again(struct grpc_call *call, enum grpc_status status, const char *text, void *arg)
{
	struct grpc_reply reply = asked_reply(&again);

	(void)call, (void)status, (void)text, (void)arg;
	assert_int_equal(uds_client_call(b.client, "/t.T/Echo", NULL, 0, 0, &reply, NULL), 0);
}

static void a_call_made_by_a_hook(void **state)
{
	struct grpc_reply reply = {.end = ask_again};

	(void)state;
	uds_bench_connect(&b);
	/* The hook makes the next call after a failed connection, an answer and a lost
	 * connection. */
	for (int i = 0; i < 3; i++) {
		again = (struct asked){0};
		assert_int_equal(uds_client_call(b.client, i == 2 ? "/t.T/Hold" : "/t.T/Echo", NULL,
						 0, 0, &reply, NULL),
				 0);
		if (i == 2) {
			uds_bench_wait_count(&b, &b.service.n_requests, 3);
			uds_server_close(b.server);
			b.server = NULL;
		}
		uds_bench_wait(&b, &again);
		assert_int_equal(again.status, i == 1 ? GRPC_OK : GRPC_UNAVAILABLE);
		if (i == 0)
			uds_bench_serve(&b);
	}
}

static void close_server(struct grpc_call *call, const char *path, const uint8_t *bytes, size_t len,
			 void *arg)
{
	(void)path, (void)bytes, (void)len, (void)arg;
	n_hooks++;
	grpc_finish(call, GRPC_ABORTED, "closing");
	uds_server_close(b.server);
	b.server = NULL;
}

static void a_server_closed_by_its_hook(void **state)
{
	struct uds_server_opts opts = {{1 << 20, 100, 0}, 8, 0600};
	struct grpc_service hooks = {.request = close_server};
	struct asked a = {0};

	(void)state;
	n_hooks = 0;
	assert_int_equal(uds_server_open(&b.server, &b.loop, b.path, &opts, &hooks, NULL), 0);
	uds_bench_connect(&b);
	uds_bench_ask(&b, &a, "/t.T/X", "x", 1, 0);
	uds_bench_wait(&b, &a);
	assert_int_equal(n_hooks, 1);
	has_failed(&a, GRPC_ABORTED, "closing"); /* the last message was still sent */
}

static void the_last_message_is_sent_at_close(void **state)
{
	struct asked a = {0};

	(void)state;
	uds_bench_serve(&b);
	uds_bench_connect(&b);
	uds_bench_ask(&b, &a, "/t.T/Hold", "x", 1, 0);
	uds_bench_wait_count(&b, &b.service.n_requests, 1);
	assert_int_equal(grpc_send(b.service.held, (const uint8_t *)"empty", 5), 0);
	uds_server_close(b.server);
	b.server = NULL;
	uds_bench_wait(&b, &a);
	assert_int_equal(a.n_messages, 1);
	has_failed(&a, GRPC_UNAVAILABLE, "");
}

/* --- the socket file -------------------------------------------------------------------------- */

static unsigned n_files(void)
{
	DIR *d = opendir(b.dir);
	struct dirent *entry;
	unsigned n = 0;

	while ((entry = readdir(d)))
		n += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
	closedir(d);
	return n;
}

static void the_file_of_a_server(void **state)
{
	mode_t old = umask(0777);
	struct stat st;

	(void)state;
	uds_bench_serve(&b);
	umask(old);
	assert_int_equal(lstat(b.path, &st), 0);
	assert_int_equal(st.st_mode, S_IFSOCK | 0600);
	assert_int_equal(n_files(), 1);
	assert_true(uds_server_owns_path(b.server));
	uds_server_close(b.server);
	b.server = NULL;
	assert_int_equal(n_files(), 0);
}

static void a_file_that_was_removed(void **state)
{
	struct asked a = {0};
	int fd;

	(void)state;
	uds_bench_serve(&b);
	uds_bench_connect(&b);
	uds_bench_echo(&b);
	unlink(b.path);
	assert_false(uds_server_owns_path(b.server));
	uds_bench_ask(&b, &a, "/t.T/Echo", "x", 1, 0); /* established connections continue */
	uds_bench_wait(&b, &a);
	assert_int_equal(a.status, GRPC_OK);
	fd = raw_listen(b.path, 1);
	assert_false(uds_server_owns_path(b.server));
	uds_server_close(b.server);
	b.server = NULL;
	assert_int_equal(n_files(), 1); /* the file of the other listener */
	close(fd);
}

static void a_server_that_replaces_another(void **state)
{
	struct uds_server *old;

	(void)state;
	uds_bench_serve(&b);
	old = b.server;
	uds_bench_serve(&b);
	assert_false(uds_server_owns_path(old));
	assert_true(uds_server_owns_path(b.server));
	uds_server_close(old);
	assert_true(uds_server_owns_path(b.server));
	uds_bench_connect(&b);
	uds_bench_echo(&b);
}

static int try_to_serve(const char *path, struct err *e)
{
	struct uds_server_opts opts = {{1 << 20, 100, 0}, 8, 0600};
	struct grpc_service hooks = service_hooks(&b.service);

	return uds_server_open(&b.server, &b.loop, path, &opts, &hooks, e);
}

static void paths_that_cannot_be_served(void **state)
{
	char path[512];
	struct err e = {0};

	(void)state;
	tmptree_write(b.dir, "rocelet.sock", "precious");
	assert_int_equal(try_to_serve(b.path, &e), -EEXIST);
	assert_non_null(strstr(e.msg, "not a socket"));
	assert_int_equal(access(b.path, F_OK), 0);
	assert_int_equal(try_to_serve(b.dir, &e), -EEXIST);
	snprintf(path, sizeof(path), "%s/missing/s", b.dir);
	assert_int_equal(try_to_serve(path, &e), -ENOENT);
	assert_non_null(strstr(e.msg, path));
	assert_int_equal(try_to_serve("", &e), -ENAMETOOLONG);
	snprintf(path, sizeof(path), "%s/%0*d", b.dir, 107 - (int)strlen(b.dir), 0);
	assert_int_equal(strlen(path), 108);
	assert_int_equal(try_to_serve(path, &e), -ENAMETOOLONG);
	assert_int_equal(uds_client_open(&b.client, &b.loop, path, NULL, &e), -ENAMETOOLONG);
	assert_int_equal(n_files(), 1);
	assert_null(b.server);
	path[107] = '\0'; /* the longest path */
	memcpy(b.path, path, 108);
	uds_bench_serve(&b);
	uds_bench_connect(&b);
	uds_bench_echo(&b);
	uds_server_close(NULL);
	uds_client_close(NULL);
}

#define UDS_TEST(f)                                                                                \
	cmocka_unit_test_prestate_setup_teardown(f, uds_bench_setup, uds_bench_teardown, &b)

TEST_GROUP(uds)
{
	const struct CMUnitTest tests[] = {
		UDS_TEST(a_call_is_answered),
		UDS_TEST(many_calls_at_once),
		UDS_TEST(large_messages_both_ways),
		UDS_TEST(a_stream_of_messages),
		UDS_TEST(messages_from_outside_of_a_hook),
		UDS_TEST(no_server_at_the_path),
		UDS_TEST(a_server_replaced_between_calls),
		UDS_TEST(a_server_that_closes_during_a_call),
		UDS_TEST(a_server_that_never_answers),
		UDS_TEST(a_listener_whose_queue_is_full),
		UDS_TEST(a_call_is_cancelled),
		UDS_TEST(a_call_times_out),
		UDS_TEST(a_client_closed_with_calls),
		UDS_TEST(a_client_closed_by_a_hook),
		UDS_TEST(a_call_made_by_a_hook),
		UDS_TEST(a_server_closed_by_its_hook),
		UDS_TEST(the_last_message_is_sent_at_close),
		UDS_TEST(the_file_of_a_server),
		UDS_TEST(a_file_that_was_removed),
		UDS_TEST(a_server_that_replaces_another),
		UDS_TEST(paths_that_cannot_be_served),
	};

	return test_group_run(tests, uds_bench_warm, NULL);
}
