// SPDX-License-Identifier: Apache-2.0
/* The client of the daemon's socket: answers in arbitrary pieces, and peers other than rocelet. */
#include "client.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <sys/socket.h>
#include <unistd.h>

#include "test_group.h"

/* However the answer is cut, the result is the same, and complete only at its end. */
static void assert_decodes(const char *text, unsigned status, const char *body, bool until_end)
{
	size_t len = strlen(text);
	struct client_answer a;

	for (size_t n = 0; n < len; n++) {
		char *part = malloc(n + 1);

		memcpy(part, text, n);
		assert_int_equal(client_answer_decode(&a, part, n, false), 0);
		free(part);
	}
	assert_int_equal(client_answer_decode(&a, text, len, until_end), 1);
	assert_int_equal(a.status, status);
	assert_string_equal(a.body, body);
	assert_int_equal(a.len, strlen(body));
	free(a.body);
}

static void test_answers(void **state)
{
	(void)state;
	assert_decodes("HTTP/1.1 200 OK\r\ncontent-LENGTH:  3\r\n\r\nabc", 200, "abc", false);
	assert_decodes("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", 404, "", false);
	assert_decodes("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
		       "3\r\nabc\r\n00A;x=y\r\n0123456789\r\n0\r\n",
		       200, "abc0123456789", false);
	assert_decodes("HTTP/1.0 200 OK\r\n\r\nabc", 200, "abc", true);
}

static void test_invalid_answers(void **state)
{
	static const char *const bad[] = {
		"SSH-2.0-OpenSSH_9.2\r\n",
		"HTTP/1.1\r\n\r\n",
		"HTTP/1.1 abc OK\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffff\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\n",
	};
	struct client_answer a;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (client_answer_decode(&a, bad[i], strlen(bad[i]), false) != -EBADMSG)
			fail_msg("%s", bad[i]);
	/* the connection ends too early */
	assert_int_equal(client_answer_decode(&a, "", 0, true), -EBADMSG);
	assert_int_equal(client_answer_decode(&a, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab",
					      40, true),
			 -EBADMSG);
}

/* Returns the result for a peer that sends this text and closes the connection. */
static int exchange_with(const char *text)
{
	struct client_answer a = {0};
	int pair[2], r;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	assert_int_equal(write(pair[1], text, strlen(text)), strlen(text));
	assert_int_equal(shutdown(pair[1], SHUT_WR), 0);
	r = client_exchange(&a, pair[0], "/", NULL, client_now_ms() + 10000);
	free(a.body);
	close(pair[0]);
	close(pair[1]);
	return r;
}

static void test_peers_that_disconnect(void **state)
{
	(void)state;
	assert_int_equal(exchange_with(""), -ECONNRESET);
	assert_int_equal(exchange_with("HT"), -ECONNRESET);
	assert_int_equal(exchange_with("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab"),
			 -ECONNRESET);
	assert_int_equal(exchange_with("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc"), 0);
	assert_int_equal(exchange_with("hello\n"), -EBADMSG);
	assert_int_equal(exchange_with("HTTP/1.1 abc\r\n\r\n"), -EBADMSG);
}

static void test_deadline(void **state)
{
	struct client_answer a = {0};
	int pair[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	assert_int_equal(client_exchange(&a, pair[0], "/", NULL, client_now_ms() + 20), -ETIMEDOUT);
	assert_int_equal(client_exchange(&a, pair[0], "/", NULL, client_now_ms()), -ETIMEDOUT);
	close(pair[0]);
	close(pair[1]);
}

static void test_peer(void **state)
{
	int pair[2];
	uid_t uid;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	assert_int_equal(client_peer_uid(pair[0], &uid), 0);
	assert_int_equal(uid, geteuid());
	assert_int_equal(client_peer_uid(-1, &uid), -EBADF);
	close(pair[0]);
	close(pair[1]);
}

TEST_GROUP(client)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_invalid_answers),
		cmocka_unit_test(test_peers_that_disconnect),
		cmocka_unit_test(test_deadline),
		cmocka_unit_test(test_peer),
	};

	return test_group_run(tests, NULL, NULL);
}
