/* IPAM plugins: what they are told, what they answer, and real child programs of every bad kind. */
#include "ipam.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

#include <cmocka.h>

#include "cleanup.h"
#include "fds.h"
#include "loop_helpers.h"
#include "tmptree.h"

#define LIMIT_MS 10000

static struct attach_record record_of(const char *ipam)
{
	struct attach_record r = {
		.resource = "rocelet.dev/roce",
		.function = "0000:03:00.2",
		.owner = {.namespace = "a",
			  .pod = "b",
			  .uid = "u-1",
			  .sandbox = "5a5a",
			  .netns = {.path = "/run/netns/x"}},
		.plan = {.ifname = "net1"},
	};

	snprintf(r.plan.ipam, sizeof(r.plan.ipam), "%s", ipam);
	return r;
}

/* --- pure ------------------------------------------------------------------------------------- */

static void test_config(void **state)
{
	struct attach_record r = record_of("{\"type\": \"static\", \"x\": [1]}");
	AUTO_FREE char *text = ipam_config(&r);

	(void)state;
	assert_string_equal(text, "{\"cniVersion\":\"1.0.0\",\"name\":\"rocelet.dev_roce\","
				  "\"type\":\"rocelet\",\"ipam\":{\"type\":\"static\",\"x\":[1]}}");
}

static void test_type(void **state)
{
	static const char *const bad[] = {
		"{\"type\": \"../x\"}",
		"{\"type\": \"a/b\"}",
		"{\"type\": \"\"}",
		"{\"type\": \"..\"}",
		"{\"type\": 5}",
		"{}",
		"[]",
		"nonsense",
	};
	struct err e;
	char type[64] = "";

	(void)state;
	assert_int_equal(ipam_type("{\"type\": \"host-local\"}", type, &e), 0);
	assert_string_equal(type, "host-local");
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(ipam_type(bad[i], type, &e), -EINVAL);
}

static int parse(struct attach_record *r, const char *text, struct err *e)
{
	*r = record_of("{}");
	r->n_ips = 7;
	return ipam_parse_result(r, text, strlen(text), e);
}

static void test_result(void **state)
{
	struct attach_record r;
	struct err e = {0};

	(void)state;
	assert_int_equal(
		parse(&r,
		      "{\"cniVersion\": \"0.4.0\", \"ips\": [{\"version\": \"4\", \"address\": "
		      "\"10.9.0.5/24\", \"gateway\": \"10.9.0.1\"}, {\"address\": "
		      "\"fd00::5/64\"}], \"routes\": [{\"dst\": \"0.0.0.0/0\"}, {\"dst\": "
		      "\"10.1.2.3/8\", \"gw\": \"10.9.0.254\", \"priority\": 5}, {\"dst\": "
		      "\"fd01::/16\"}], \"dns\": {}}",
		      &e),
		0);
	assert_int_equal(r.n_ips, 2);
	assert_int_equal(r.ips[0].len, 24);
	assert_memory_equal(r.ips[0].addr, "\x0a\x09\x00\x05", 4);
	assert_int_equal(r.ips[1].family, AF_INET6);
	assert_int_equal(r.n_routes, 3);
	assert_memory_equal(r.routes[0].gateway.addr, "\x0a\x09\x00\x01", 4);
	assert_memory_equal(r.routes[1].dst.addr, "\x0a\x00\x00\x00", 4);
	assert_memory_equal(r.routes[1].gateway.addr, "\x0a\x09\x00\xfe", 4);
	assert_int_equal(r.routes[1].priority, 5);
	assert_int_equal(r.routes[2].gateway.family, AF_UNSPEC);
}

/* A record that nothing usable came for is as it was. */
static void test_bad_results(void **state)
{
	static const char *const bad[] = {
		"",
		"hello\n",
		"[1]",
		"{}",
		"{\"ips\": []}",
		"{\"ips\": 5}",
		"{\"ips\": [5]}",
		"{\"ips\": [{\"address\": \"10.0.0.1\"}]}",
		"{\"ips\": [{\"address\": \"10.0.0.1/33\"}]}",
		"{\"ips\": [{\"address\": \"10.0.0.1/-1\"}]}",
		"{\"ips\": [{\"address\": \"10.0.0.1/8x\"}]}",
		"{\"ips\": [{\"address\": \"0.0.0.0/0\"}]}",
		"{\"ips\": [{\"address\": \"224.0.0.1/8\"}]}",
		"{\"ips\": [{\"address\": \"ff02::1/64\"}]}",
		"{\"ips\": [{\"address\": "
		"\"1111:2222:3333:4444:5555:6666:7777:8888:9999:aaaa:bbbb/64\"}]}",
		"{\"ips\": [{\"address\": \"10.0.0.1/8\"}], \"routes\": [{\"dst\": \"x\"}]}",
		"{\"ips\": [{\"address\": \"10.0.0.1/8\"}], \"routes\": [{\"dst\": \"0.0.0.0/0\", "
		"\"gw\": \"fd00::1\"}]}",
		"{\"ips\": [{\"address\": \"10.0.0.1/8\"}], \"routes\": [{\"dst\": \"0.0.0.0/0\", "
		"\"priority\": -1}]}",
		"{\"ips\": [1,2,3,4,5,6,7,8,9]}",
	};
	struct attach_record r;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct err e = {0};

		assert_int_equal(parse(&r, bad[i], &e), -EBADMSG);
		assert_int_equal(r.n_ips, 7);
		assert_true(e.msg[0] != '\0');
	}
}

static void test_errors(void **state)
{
	static const char told[] =
		"{\"code\": 11, \"msg\": \"no free address\", \"details\": \"of\\n254\"}";
	struct err e;

	(void)state;
	ipam_parse_error(told, strlen(told), 1, &e);
	assert_int_equal(e.code, -EAGAIN);
	assert_string_equal(e.msg, "no free address; of?254 (code 11)");
	ipam_parse_error("oops\x01\n", 6, 3, &e);
	assert_int_equal(e.code, -EIO);
	assert_string_equal(e.msg, "exit status 3: oops?");
	ipam_parse_error("", 0, -9, &e);
	assert_string_equal(e.msg, "killed by signal 9");
}

/* --- real programs ---------------------------------------------------------------------------- */

struct bench {
	uv_loop_t loop;
	char *dir;
	struct ipam_call *call;
	unsigned told;
	struct err err;
	char text[IPAM_ANSWER_MAX + 1];
	size_t n_text;
};

static void on_answer(const char *text, size_t len, const struct err *e, void *arg)
{
	struct bench *b = arg;

	b->told++;
	b->err = *e;
	b->n_text = len;
	memcpy(b->text, text, len);
	b->text[len] = '\0';
}

static bool is_told(void *arg)
{
	return ((struct bench *)arg)->told > 0;
}

static void plugin(const struct bench *b, const char *script)
{
	char path[256];

	tmptree_write(b->dir, "plugin", "#!/bin/sh\n%s\n", script);
	snprintf(path, sizeof(path), "%s/plugin", b->dir);
	assert_int_equal(chmod(path, 0755), 0);
}

static void setup(struct bench *b, const char *script)
{
	*b = (struct bench){.told = 0};
	assert_int_equal(uv_loop_init(&b->loop), 0);
	b->dir = tmptree_new();
	plugin(b, script);
}

static int start(struct bench *b, enum ipam_verb verb, uint32_t timeout_ms)
{
	struct attach_record r = record_of("{\"type\": \"plugin\", \"n\": 1}");
	char path[256];

	snprintf(path, sizeof(path), "/nowhere::%s", b->dir);
	return ipam_start(&b->call, &b->loop, verb, &r, path, timeout_ms, on_answer, b, &b->err);
}

static void teardown(struct bench *b)
{
	assert_int_equal(loop_end(&b->loop), 0);
	tmptree_free(b->dir);
}

static void run(struct bench *b, const char *script, uint32_t timeout_ms)
{
	setup(b, script);
	assert_int_equal(start(b, IPAM_ADD, timeout_ms), 0);
	assert_int_equal(b->told, 0);
	assert_true(loop_until(&b->loop, is_told, b, LIMIT_MS));
	teardown(b);
	assert_int_equal(b->told, 1);
}

static void test_what_it_gets(void **state)
{
	struct bench b;

	(void)state;
	setenv("SECRET", "x", 1);
	run(&b, "cat; env | grep -v -e ^PWD -e ^SHLVL -e ^_= -e ^OLDPWD | sort", LIMIT_MS);
	assert_int_equal(b.err.code, 0);
	assert_non_null(strstr(b.text,
			       "\"ipam\":{\"type\":\"plugin\",\"n\":1}}CNI_ARGS=IgnoreUnknown=1;"
			       "K8S_POD_NAMESPACE=a;K8S_POD_NAME=b;K8S_POD_INFRA_CONTAINER_"
			       "ID=5a5a;K8S_POD_UID=u-1\nCNI_COMMAND=ADD\nCNI_CONTAINERID="
			       "5a5a\nCNI_IFNAME=net1\nCNI_NETNS=/run/netns/x\nCNI_PATH="));
	assert_null(strstr(b.text, "SECRET"));
}

static void test_delete_says_nothing(void **state)
{
	struct bench b;

	(void)state;
	setup(&b, "test $CNI_COMMAND = DEL");
	assert_int_equal(start(&b, IPAM_DEL, LIMIT_MS), 0);
	assert_true(loop_until(&b.loop, is_told, &b, LIMIT_MS));
	teardown(&b);
	assert_int_equal(b.err.code, 0);
	assert_int_equal(b.n_text, 0);
}

static void test_failures(void **state)
{
	struct bench b;

	(void)state;
	run(&b, "echo '{\"code\": 100, \"msg\": \"range is full\"}'; exit 1", LIMIT_MS);
	assert_string_equal(b.err.msg, "plugin: range is full (code 100)");
	run(&b, "echo trouble >&2; exit 4", LIMIT_MS);
	assert_string_equal(b.err.msg, "plugin: exit status 4: trouble");
	run(&b, "kill -9 $$", LIMIT_MS);
	assert_string_equal(b.err.msg, "plugin: killed by signal 9");
}

/* It never reads what it is told, and is not waited for either. */
static void test_hanging(void **state)
{
	struct bench b;

	(void)state;
	run(&b, "trap '' TERM INT; while :; do sleep 100; done", 50);
	assert_int_equal(b.err.code, -ETIMEDOUT);
	assert_string_equal(b.err.msg, "plugin: no answer within 50 ms");
}

static void test_flood(void **state)
{
	struct bench b;

	(void)state;
	run(&b, "exec yes", LIMIT_MS);
	assert_int_equal(b.err.code, -EMSGSIZE);
	run(&b, "yes | head -c 1000000 >&2; echo fine", LIMIT_MS);
	assert_int_equal(b.err.code, 0);
	assert_string_equal(b.text, "fine\n");
}

/* Dead; whoever inherited it may take its time to notice. */
static bool is_gone(void *arg)
{
	char path[64], line[128] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", atoi(arg));
	f = fopen(path, "re");
	if (!f)
		return true;
	if (!fgets(line, sizeof(line), f))
		line[0] = '\0';
	fclose(f);
	return line[0] == '\0' || strstr(line, ") Z ");
}

/* A child left behind holds the output open: it dies, the answer counts. */
static void test_fork(void **state)
{
	struct bench b;

	(void)state;
	setup(&b, "sleep 1000 & echo $!");
	assert_int_equal(start(&b, IPAM_ADD, LIMIT_MS), 0);
	assert_true(loop_until(&b.loop, is_told, &b, LIMIT_MS));
	assert_int_equal(b.err.code, 0);
	assert_true(loop_until(&b.loop, is_gone, b.text, LIMIT_MS));
	teardown(&b);
}

/* Out of its group, it lives on, but nobody waits. */
static void test_daemon(void **state)
{
	struct bench b;

	(void)state;
	run(&b, "setsid sleep 2 & echo fine", LIMIT_MS);
	assert_int_equal(b.err.code, 0);
	assert_string_equal(b.text, "fine\n");
}

static void test_not_there(void **state)
{
	struct bench b;
	char path[256];

	(void)state;
	setup(&b, "");
	snprintf(path, sizeof(path), "%s/plugin", b.dir);
	assert_int_equal(chmod(path, 0644), 0);
	assert_int_equal(start(&b, IPAM_ADD, LIMIT_MS), -ENOENT);
	assert_non_null(strstr(b.err.msg, "no IPAM plugin \"plugin\" in /nowhere::"));
	/* Found, but it cannot be run. */
	tmptree_write(b.dir, "plugin", "#!/nowhere/sh\n");
	assert_int_equal(chmod(path, 0755), 0);
	assert_int_equal(start(&b, IPAM_ADD, LIMIT_MS), -ENOENT);
	assert_null(strstr(b.err.msg, "no IPAM plugin"));
	teardown(&b);
	assert_int_equal(b.told, 0);
}

static bool has_pid(void *arg)
{
	struct bench *b = arg;
	char path[256];

	snprintf(path, sizeof(path), "%s/pid", b->dir);
	return access(path, F_OK) == 0;
}

static void test_cancel(void **state)
{
	struct bench b;
	char pid[32] = "", path[256];
	FILE *f;

	(void)state;
	setup(&b, "cd ${CNI_PATH#/nowhere::}; echo $$ > new; mv new pid; sleep 1000; echo no");
	assert_int_equal(start(&b, IPAM_ADD, LIMIT_MS), 0);
	assert_true(loop_until(&b.loop, has_pid, &b, LIMIT_MS));
	snprintf(path, sizeof(path), "%s/pid", b.dir);
	f = fopen(path, "re");
	assert_non_null(f);
	assert_non_null(fgets(pid, sizeof(pid), f));
	fclose(f);
	ipam_cancel(b.call);
	ipam_cancel(NULL);
	teardown(&b);
	assert_int_equal(b.told, 0);
	assert_true(is_gone(pid));
}

/* Neither descriptors nor zombies are left by any of them. */
static void test_nothing_is_left(void **state)
{
	struct bench b;
	unsigned before;

	(void)state;
	run(&b, "echo fine", LIMIT_MS);
	before = fds_open();
	for (int i = 0; i < 20; i++)
		run(&b, i % 2 ? "echo fine" : "exec sleep 1000", i % 2 ? LIMIT_MS : 1);
	assert_int_equal(fds_open(), before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_config),
		cmocka_unit_test(test_type),
		cmocka_unit_test(test_result),
		cmocka_unit_test(test_bad_results),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_what_it_gets),
		cmocka_unit_test(test_delete_says_nothing),
		cmocka_unit_test(test_failures),
		cmocka_unit_test(test_hanging),
		cmocka_unit_test(test_flood),
		cmocka_unit_test(test_fork),
		cmocka_unit_test(test_daemon),
		cmocka_unit_test(test_not_there),
		cmocka_unit_test(test_cancel),
		cmocka_unit_test(test_nothing_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
