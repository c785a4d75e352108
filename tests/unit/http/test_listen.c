// SPDX-License-Identifier: Apache-2.0
#include "listen.h"
#include "listen_address.h"
#include "test_group.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

static void test_addresses(void **state)
{
	static const struct {
		const char *s, *host;
		unsigned port;
	} good[] = {
		{":9907", "", 9907},
		{":0", "", 0},
		{"127.0.0.1:1", "127.0.0.1", 1},
		{"[::1]:65535", "::1", 65535},
		{"[fe80::1%eth0]:80", "fe80::1%eth0", 80},
		{"node-1:80", "node-1", 80},
	};
	static const char *const bad[] = {
		"",
		":",
		"9907",
		"127.0.0.1",
		"127.0.0.1:",
		"::1:80",
		"[]:80",
		"[::1:80",
		"::1]:80",
		":65536",
		":-1",
		":+1",
		": 1",
		":1 ",
		":0x10",
		":99999999999999999999",
		"[::1]80",
		"0123456789012345678901234567890123456789012345678901234567890123456789:80",
	};
	struct listen_address a;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_true(listen_address_parse(good[i].s, &a));
		assert_string_equal(a.host, good[i].host);
		assert_int_equal(a.port, good[i].port);
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (listen_address_parse(bad[i], &a))
			fail_msg("\"%s\" is no address", bad[i]);
}

static void test_an_address_must_be_numeric(void **state)
{
	static const char *const good[] = {":1", "127.0.0.1:1", "[::1]:1", "[fe80::1%later]:1"};
	struct listen_address a;
	struct err e;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_int_equal(listen_address_read(good[i], &a, &e), 0);
	assert_string_equal(a.host, "fe80::1%later");
	assert_int_equal(listen_address_read("node-1:80", &a, &e), -EINVAL);
	assert_string_equal(e.msg, "'node-1' is not an IP address");
	assert_int_equal(listen_address_read("::1:80", &a, &e), -EINVAL);
	assert_string_equal(e.msg, "'::1:80' is not ADDR:PORT, [V6]:PORT or :PORT");
}

static bool connects(const struct sockaddr *sa, socklen_t len)
{
	int fd = socket(sa->sa_family, SOCK_STREAM, 0);
	int r = connect(fd, sa, len);

	close(fd);
	return r == 0;
}

static bool connects_v4(unsigned port)
{
	struct sockaddr_in sa = {.sin_family = AF_INET,
				 .sin_port = htons((uint16_t)port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

	return connects((struct sockaddr *)&sa, sizeof(sa));
}

static bool connects_v6(unsigned port)
{
	struct sockaddr_in6 sa = {.sin6_family = AF_INET6,
				  .sin6_port = htons((uint16_t)port),
				  .sin6_addr = IN6ADDR_LOOPBACK_INIT};

	return connects((struct sockaddr *)&sa, sizeof(sa));
}

/* False on hosts without IPv6 on lo. */
static bool has_ipv6(void)
{
	struct sockaddr_in6 sa = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	int fd = socket(AF_INET6, SOCK_STREAM, 0);
	int r = bind(fd, (struct sockaddr *)&sa, sizeof(sa));

	close(fd);
	return r == 0;
}

static void test_all_addresses_means_both_families(void **state)
{
	struct err e = {0};
	unsigned port = 0;
	int fd = listen_tcp(":0", &port, &e);

	(void)state;
	assert_true(fd >= 0);
	assert_int_not_equal(port, 0);
	assert_true(connects_v4(port));
	assert_true(!has_ipv6() || connects_v6(port));
	assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	close(fd);
}

static void test_tcp_errors_have_texts(void **state)
{
	char address[32];
	struct err e = {0};
	unsigned port;
	int fd = listen_tcp("127.0.0.1:0", &port, &e);

	(void)state;
	assert_true(fd >= 0);
	snprintf(address, sizeof(address), "127.0.0.1:%u", port);
	assert_int_equal(listen_tcp(address, NULL, &e), -EADDRINUSE);
	assert_int_equal(e.code, -EADDRINUSE);
	assert_non_null(strstr(e.msg, "Address already in use"));
	assert_int_equal(listen_tcp("localhost:1", NULL, &e), -EINVAL);
	assert_non_null(strstr(e.msg, "'localhost' is not an IP address"));
	assert_int_equal(listen_tcp("9907", NULL, &e), -EINVAL);
	assert_non_null(strstr(e.msg, "ADDR:PORT"));
	assert_int_equal(listen_tcp("203.0.113.1:0", NULL, &e), -EADDRNOTAVAIL);
	close(fd);
}

/* A temporary folder with the path of a socket. */
struct place {
	char dir[32], path[64];
	struct stat file;
};

static void place_make(struct place *p)
{
	strcpy(p->dir, "/tmp/test_listen.XXXXXX");
	assert_non_null(mkdtemp(p->dir));
	snprintf(p->path, sizeof(p->path), "%s/sock", p->dir);
}

static void place_remove(struct place *p)
{
	unlink(p->path);
	assert_int_equal(rmdir(p->dir), 0);
}

static void test_the_file_has_exactly_the_mode(void **state)
{
	static const unsigned modes[] = {0600, 0660, 0666};
	mode_t old = umask(027);
	struct err e = {0};
	struct place p;
	struct stat st;
	size_t i;
	int fd;

	(void)state;
	place_make(&p);
	for (i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		fd = listen_unix(p.path, modes[i], &p.file, &e);
		assert_true(fd >= 0);
		assert_int_equal(stat(p.path, &st), 0);
		assert_int_equal(st.st_mode & 0777, modes[i]);
		close(fd); /* leaves a stale file for the next round */
	}
	umask(old);
	place_remove(&p);
}

static void test_a_stale_file_is_replaced_and_a_live_one_is_not(void **state)
{
	struct err e = {0};
	struct place p;
	int live, stale;

	(void)state;
	place_make(&p);
	stale = listen_unix(p.path, 0600, &p.file, &e);
	assert_true(stale >= 0);
	assert_int_equal(listen_unix(p.path, 0600, &p.file, &e), -EADDRINUSE);
	assert_non_null(strstr(e.msg, "another process serves"));
	assert_non_null(strstr(e.msg, p.path));
	close(stale);
	live = listen_unix(p.path, 0600, &p.file, &e);
	assert_true(live >= 0);
	close(live);
	place_remove(&p);
}

/* A server that is too busy to accept counts as running. */
static void test_a_full_backlog_is_live(void **state)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	int server = socket(AF_UNIX, SOCK_STREAM, 0), clients[8], i;
	struct err e = {0};
	struct place p;

	(void)state;
	place_make(&p);
	strcpy(sa.sun_path, p.path);
	assert_int_equal(bind(server, (struct sockaddr *)&sa, sizeof(sa)), 0);
	assert_int_equal(listen(server, 0), 0);
	for (i = 0; i < 8; i++) {
		clients[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
		if (connect(clients[i], (struct sockaddr *)&sa, sizeof(sa)) < 0)
			assert_int_equal(errno, EAGAIN);
	}
	assert_int_equal(listen_unix(p.path, 0600, &p.file, &e), -EADDRINUSE);
	for (i = 0; i < 8; i++)
		close(clients[i]);
	close(server);
	place_remove(&p);
}

static void test_other_files_are_left_alone(void **state)
{
	char longest[200], target[80];
	struct err e = {0};
	struct place p;

	(void)state;
	place_make(&p);
	close(open(p.path, O_CREAT | O_WRONLY, 0600));
	assert_int_equal(listen_unix(p.path, 0600, &p.file, &e), -EEXIST);
	assert_non_null(strstr(e.msg, "not a socket"));
	assert_int_equal(access(p.path, F_OK), 0);
	unlink(p.path);
	snprintf(target, sizeof(target), "%s/elsewhere", p.dir);
	assert_int_equal(symlink(target, p.path), 0);
	assert_int_equal(listen_unix(p.path, 0600, &p.file, &e), -EEXIST);
	assert_int_equal(access(target, F_OK), -1);
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	assert_int_equal(listen_unix(longest, 0600, &p.file, &e), -ENAMETOOLONG);
	assert_int_equal(listen_unix("", 0600, &p.file, &e), -ENAMETOOLONG);
	place_remove(&p);
}

static void test_only_our_own_file_is_removed(void **state)
{
	struct err e = {0};
	struct stat ours, theirs;
	struct place p;
	int fd;

	(void)state;
	place_make(&p);
	fd = listen_unix(p.path, 0600, &p.file, &e);
	assert_true(fd >= 0);
	assert_int_equal(lstat(p.path, &ours), 0);
	assert_true(ours.st_dev == p.file.st_dev && ours.st_ino == p.file.st_ino);
	assert_true(listen_is_own(p.path, &p.file));
	theirs = ours;
	theirs.st_ino++;
	listen_unlink(p.path, &theirs);
	assert_int_equal(access(p.path, F_OK), 0);
	listen_unlink(p.path, &ours);
	assert_int_equal(access(p.path, F_OK), -1);
	close(fd);
	place_remove(&p);
}

TEST_GROUP(listen)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_an_address_must_be_numeric),
		cmocka_unit_test(test_all_addresses_means_both_families),
		cmocka_unit_test(test_tcp_errors_have_texts),
		cmocka_unit_test(test_the_file_has_exactly_the_mode),
		cmocka_unit_test(test_a_stale_file_is_replaced_and_a_live_one_is_not),
		cmocka_unit_test(test_a_full_backlog_is_live),
		cmocka_unit_test(test_other_files_are_left_alone),
		cmocka_unit_test(test_only_our_own_file_is_removed),
	};

	return test_group_run(tests, NULL, NULL);
}
