// SPDX-License-Identifier: Apache-2.0
/* IPAM plugins: their input, their answers, and real programs that misbehave. */
#include "ipam.h"

#include <arpa/inet.h>
#include <linux/capability.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

#include <cmocka.h>

#include <jansson.h>

#include "cleanup.h"
#include "fds.h"
#include "loop_helpers.h"
#include "test_group.h"
#include "tmptree.h"

#define LIMIT_MS 60000

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
	struct attach_record r = record_of("{\"type\": \"static\", \"needs\": {}, \"x\": [1]}");
	AUTO_FREE char *text = ipam_config(&r, IPAM_ADD, NULL);

	(void)state;
	assert_string_equal(text, "{\"cniVersion\":\"1.0.0\",\"name\":\"rocelet.dev_roce\","
				  "\"type\":\"rocelet\",\"ipam\":{\"type\":\"static\",\"x\":[1]}}");
}

/* Keys of a CNI request are passed with every command that concerns a container. */
static void test_keys_of_a_cni_request_are_passed(void **state)
{
	struct attach_record r = record_of(
		"{\"type\": \"static\", \"rocelet\": {\"runtimeConfig\": {\"ips\": "
		"[\"10.0.0.1/8\"]}, \"args\": {\"cni\": {}}, \"env\": \"IP=10.0.0.2\"}}");
	json_t *more = json_pack("{s:{s:s}}", "prevResult", "cniVersion", "1.1.0");
	AUTO_FREE char *text = ipam_config(&r, IPAM_CHECK, more), *args = ipam_args(&r);
	AUTO_FREE char *status = ipam_config(&r, IPAM_STATUS, NULL);

	(void)state;
	json_decref(more);
	assert_string_equal(text,
			    "{\"cniVersion\":\"1.0.0\",\"name\":\"rocelet.dev_roce\",\"type\":"
			    "\"rocelet\",\"ipam\":{\"type\":\"static\"},\"runtimeConfig\":"
			    "{\"ips\":[\"10.0.0.1/8\"]},\"args\":{\"cni\":{}},\"prevResult\":"
			    "{\"cniVersion\":\"1.0.0\"}}");
	assert_string_equal(args, "CNI_ARGS=IgnoreUnknown=1;K8S_POD_NAMESPACE=a;K8S_POD_NAME=b;"
				  "K8S_POD_INFRA_CONTAINER_ID=5a5a;K8S_POD_UID=u-1;IP=10.0.0.2");
	assert_non_null(strstr(status, "\"cniVersion\":\"1.1.0\""));
}

static int needs_of(struct ipam_needs *ret, const char *ipam, struct err *e)
{
	const struct attach_record r = record_of(ipam);

	return ipam_needs_of(&r, ret, e);
}

static void test_needs(void **state)
{
	struct ipam_needs n;
	struct err e = {0};

	(void)state;
	assert_int_equal(needs_of(&n, "{\"type\": \"static\"}", &e), 0);
	assert_string_equal(n.type, "static");
	assert_false(n.host_network);
	assert_int_equal(n.capabilities, 0);
	assert_int_equal(n.n_write, 0);
	assert_int_equal(needs_of(&n, "{\"type\": \"host-local\"}", &e), 0);
	assert_int_equal(n.n_write, 1);
	assert_string_equal(n.write[0], "/var/lib/cni/networks");
	assert_int_equal(needs_of(&n, "{\"type\": \"host-local\", \"dataDir\": \"/run/x\"}", &e),
			 0);
	assert_string_equal(n.write[0], "/run/x");
	assert_int_equal(
		needs_of(&n,
			 "{\"type\": \"dhcp\", \"dataDir\": \"/x\", \"needs\": {\"network\":"
			 "\"host\", \"capabilities\": [\"net_raw\", \"NET_ADMIN\"],"
			 "\"write\": [\"/a\", \"/b/c..d\"]}}",
			 &e),
		0);
	assert_true(n.host_network);
	assert_int_equal(n.capabilities, 1u << CAP_NET_RAW | 1u << CAP_NET_ADMIN);
	assert_int_equal(n.n_write, 2);
	assert_string_equal(n.write[1], "/b/c..d");
}

static const struct {
	const char *ipam, *sentence;
} bad_needs[] = {
	{"", "is not JSON"},
	{"[]", "is not an object"},
	{"{}", "has no \"type\""},
	{"{\"type\": 5}", "has no \"type\""},
	{"{\"type\": \"\"}", "has no \"type\""},
	{"{\"type\": \"../x\"}", "type '../x' is a path, not a plugin's name"},
	{"{\"type\": \"a/b\"}", "type 'a/b' is a path, not a plugin's name"},
	{"{\"type\": \"..\"}", "type '..' is not the name of a plugin"},
	{"{\"type\": \"a b\"}", "type 'a b' is not the name of a plugin"},
	{"{\"type\": \"host-local\", \"dataDir\": \"etc\"}",
	 "dataDir: 'etc' is not the absolute path of a folder other than /"},
	{"{\"type\": \"host-local\", \"dataDir\": \"/\"}",
	 "dataDir: '/' is not the absolute path of a folder other than /"},
	{"{\"type\": \"a\", \"needs\": {\"write\": [\"/a/../etc\"]}}",
	 "needs: write: '/a/../etc' is not the absolute path of a folder other than /"},
	{"{\"type\": \"a\", \"needs\": {\"write\": [\"/a/..\"]}}",
	 "needs: write: '/a/..' is not the absolute path of a folder other than /"},
	{"{\"type\": \"a\", \"needs\": {\"write\": [\"/a\",\"/b\",\"/c\",\"/d\",\"/e\"]}}",
	 "needs: write: is not a list of at most 4 folders"},
	{"{\"type\": \"a\", \"needs\": {\"network\": \"pod\"}}",
	 "needs: network: is neither \"none\" nor \"host\""},
	{"{\"type\": \"a\", \"needs\": {\"capabilities\": [\"SYS_ADMIN\"]}}",
	 "needs: capabilities: 'SYS_ADMIN' is none of NET_ADMIN, NET_RAW, NET_BIND_SERVICE"},
	{"{\"type\": \"a\", \"needs\": {\"capabilities\": \"NET_RAW\"}}",
	 "needs: capabilities: is not a list"},
	{"{\"type\": \"a\", \"needs\": {\"colour\": 1}}", "needs: colour: unknown key"},
	{"{\"type\": \"a\", \"needs\": 1}", "needs: is not an object"},
};

static void test_bad_needs(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad_needs); i++) {
		struct ipam_needs n = {.n_write = 77};
		struct err e = {0};
		char sentence[256];

		snprintf(sentence, sizeof(sentence), "\"ipam\": %s", bad_needs[i].sentence);
		assert_int_equal(needs_of(&n, bad_needs[i].ipam, &e), -EINVAL);
		assert_string_equal(e.msg, sentence);
		assert_int_equal(n.n_write, 77);
	}
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

/* An unusable answer does not change the record. */
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
		"{\"ips\": [{\"address\": \"10.0.0.1/8\"}], \"routes\": [{\"dst\": \"0.0.0.0/0\", "
		"\"table\": 100}]}",
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
	static const char full[] =
		"{\"code\": 11, \"msg\": \"no free address\", \"details\": \"of\\n254\"}";
	static const char limited[] = "{\"code\": 51, \"msg\": \"no server\"}";
	static const char unknown[] = "{\"code\": 4, \"msg\": \"unknown CNI_COMMAND: GC\"}";
	static const char no_check[] =
		"{\"code\": 999, \"msg\": \"CNI CHECK method is not implemented\"}";
	struct err e;

	(void)state;
	ipam_parse_error(full, strlen(full), 1, &e);
	assert_int_equal(e.code, -EAGAIN);
	assert_string_equal(e.msg, "no free address; of?254 (code 11)");
	ipam_parse_error(limited, strlen(limited), 1, &e);
	assert_int_equal(e.code, -ENETUNREACH);
	ipam_parse_error(unknown, strlen(unknown), 1, &e);
	assert_int_equal(e.code, -EOPNOTSUPP);
	ipam_parse_error(no_check, strlen(no_check), 1, &e);
	assert_int_equal(e.code, -EOPNOTSUPP);
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
	unsigned answers;
	struct err err;
	char text[IPAM_ANSWER_MAX + 1];
	size_t n_text;
	const char *ipam; /* NULL: without needs */
	const char *const *hidden;
};

static void on_answer(const char *text, size_t len, const struct err *e, void *arg)
{
	struct bench *b = arg;

	b->answers++;
	b->err = *e;
	b->n_text = len;
	memcpy(b->text, text, len);
	b->text[len] = '\0';
}

static bool is_answered(void *arg)
{
	return ((struct bench *)arg)->answers > 0;
}

/* Child processes have other PIDs outside of the sandbox, so they are found by their command line:
 * $MARK is a sleep time in seconds that only this run of the test uses. */
static const char *mark(void)
{
	static char text[32];

	if (!text[0])
		snprintf(text, sizeof(text), "98765.%06d", (int)getpid());
	return text;
}

static void plugin(const struct bench *b, const char *script)
{
	char path[256];

	tmptree_write(b->dir, "plugin", "#!/bin/sh\nMARK=%s\n%s\n", mark(), script);
	snprintf(path, sizeof(path), "%s/plugin", b->dir);
	assert_int_equal(chmod(path, 0755), 0);
}

static void setup(struct bench *b, const char *script)
{
	*b = (struct bench){.answers = 0};
	assert_int_equal(uv_loop_init(&b->loop), 0);
	b->dir = tmptree_new();
	plugin(b, script);
}

static int start(struct bench *b, enum ipam_verb verb, uint32_t timeout_ms)
{
	struct attach_record r = record_of(b->ipam ? b->ipam : "{\"type\": \"plugin\", \"n\": 1}");
	char path[256];

	snprintf(path, sizeof(path), "/nowhere::%s", b->dir);
	return ipam_start(&b->call, &b->loop, verb, &r, NULL, &(struct ipam_host){path, b->hidden},
			  timeout_ms, on_answer, b, &b->err);
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
	assert_int_equal(b->answers, 0);
	assert_true(loop_until(&b->loop, is_answered, b, LIMIT_MS));
	teardown(b);
	assert_int_equal(b->answers, 1);
}

static void test_input_and_environment_of_a_plugin(void **state)
{
	struct bench b;

	(void)state;
	setenv("SECRET", "x", 1);
	run(&b, "cat; env | grep -v -e ^PWD -e ^SHLVL -e ^_= -e ^OLDPWD | sort", LIMIT_MS);
	assert_string_equal(b.err.msg, "");
	assert_int_equal(b.err.code, 0);
	assert_non_null(strstr(b.text,
			       "\"ipam\":{\"type\":\"plugin\",\"n\":1}}CNI_ARGS=IgnoreUnknown=1;"
			       "K8S_POD_NAMESPACE=a;K8S_POD_NAME=b;K8S_POD_INFRA_CONTAINER_"
			       "ID=5a5a;K8S_POD_UID=u-1\nCNI_COMMAND=ADD\nCNI_CONTAINERID="
			       "5a5a\nCNI_IFNAME=net1\nCNI_NETNS=/run/netns/x\nCNI_PATH="));
	assert_null(strstr(b.text, "SECRET"));
}

static void test_del_has_no_output(void **state)
{
	struct bench b;

	(void)state;
	setup(&b, "test $CNI_COMMAND = DEL");
	assert_int_equal(start(&b, IPAM_DEL, LIMIT_MS), 0);
	assert_true(loop_until(&b.loop, is_answered, &b, LIMIT_MS));
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

/* It never reads its input, and is killed. */
static void test_a_hanging_plugin_times_out(void **state)
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

static bool has_mark(const char *pid)
{
	char path[300], line[64] = "";
	FILE *f;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%s/cmdline", pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	n = fread(line, 1, sizeof(line) - 1, f);
	fclose(f);
	return n > 6 && strcmp(line, "sleep") == 0 && strcmp(line + 6, mark()) == 0;
}

static unsigned n_marked(void)
{
	AUTO_DIR proc = opendir("/proc");
	unsigned n = 0;

	assert_non_null(proc);
	for (struct dirent *d = readdir(proc); d; d = readdir(proc))
		n += has_mark(d->d_name);
	return n;
}

static bool is_marked(void *arg)
{
	(void)arg;
	return n_marked() > 0;
}

static bool none_is_marked(void *arg)
{
	return !is_marked(arg);
}

/* A child that holds the output open, or has its own session, is killed; the answer is used. */
static void test_child_processes_of_a_plugin_are_killed(void **state)
{
	struct bench b;

	(void)state;
	run(&b, "sleep $MARK & echo fine", LIMIT_MS);
	assert_int_equal(b.err.code, 0);
	assert_string_equal(b.text, "fine\n");
	assert_int_equal(n_marked(), 0);
	run(&b, "(setsid setsid sleep $MARK </dev/null >/dev/null 2>&1 &) ; echo fine", LIMIT_MS);
	assert_int_equal(b.err.code, 0);
	assert_string_equal(b.text, "fine\n");
	assert_int_equal(n_marked(), 0);
}

/* RLIMIT_NPROC does not bind root, so the plugin has another real uid. */
static void test_the_number_of_processes_is_limited(void **state)
{
	struct bench b;

	(void)state;
	run(&b, "bomb() { sleep $MARK & bomb & bomb; }; bomb 2>/dev/null", LIMIT_MS);
	assert_int_not_equal(b.err.code, 0);
	assert_int_equal(n_marked(), 0);
	run(&b, "i=0; while :; do sleep $MARK & i=$((i + 1)); echo $i; done", LIMIT_MS);
	assert_int_not_equal(b.err.code, 0);
	assert_non_null(strstr(b.text, "\n200\n"));
	assert_null(strstr(b.text, "\n256\n"));
	assert_int_equal(n_marked(), 0);
}

/* No network, no capabilities, and no write access to the host's files and devices. */
static void test_the_sandbox_has_no_privileges(void **state)
{
	struct bench b;

	(void)state;
	run(&b,
	    "grep -v -e Inter -e face -e lo: /proc/net/dev\n"
	    "grep -E '^(CapInh|CapPrm|CapEff|CapBnd|CapAmb):' /proc/self/status | cut -f2 | uniq\n"
	    "grep ^NoNewPrivs: /proc/self/status | cut -f2\n"
	    "set -- /proc/[0-9]*; echo $#\n"
	    "touch /etc/rocelet-test ${CNI_PATH#/nowhere::}/x /dev/x 2>/dev/null || echo read-only\n"
	    "head -c 1 /dev/full >/dev/null 2>&1 || echo no device\n"
	    "head -c 1 /dev/zero | wc -c\n"
	    "unshare -n true 2>/dev/null || echo no namespace\n"
	    "ls /proc/self/fd | tr '\\n' ' '",
	    LIMIT_MS);
	assert_int_equal(b.err.code, 0);
	assert_string_equal(b.text, "0000000000000000\n1\n2\nread-only\nno device\n1\n"
				    "no namespace\n0 1 2 3 ");
}

static void test_the_sandbox_grants_needs(void **state)
{
	struct bench b;
	char ipam[512], folder[256];

	(void)state;
	setup(&b, "grep ^CapEff: /proc/self/status | cut -f2; cat /proc/net/dev | wc -l\n"
		  "touch ${CNI_PATH#/nowhere::}/new/x && echo written");
	snprintf(folder, sizeof(folder), "%s/new", b.dir);
	snprintf(
		ipam, sizeof(ipam),
		"{\"type\":\"plugin\",\"needs\":{\"network\":\"host\",\"capabilities\":[\"NET_RAW\"],"
		"\"write\":[\"%s\"]}}",
		folder);
	b.ipam = ipam;
	assert_int_equal(start(&b, IPAM_ADD, LIMIT_MS), 0);
	assert_true(loop_until(&b.loop, is_answered, &b, LIMIT_MS));
	assert_int_equal(b.err.code, 0);
	assert_non_null(strstr(b.text, "0000000000002000\n"));
	assert_non_null(strstr(b.text, "\nwritten\n"));
	strcat(folder, "/x");
	assert_int_equal(access(folder, F_OK), 0);
	teardown(&b);
}

/* Another plugin may write to the parent folder and create a link there, which would redirect this
 * plugin's writes. */
static void test_a_writable_folder_behind_a_link_is_rejected(void **state)
{
	char ipam[512], folder[256], link[256];
	struct bench b;

	(void)state;
	setup(&b, "echo started");
	snprintf(folder, sizeof(folder), "%s/above", b.dir);
	snprintf(link, sizeof(link), "%s/above/link", b.dir);
	assert_int_equal(mkdir(folder, 0755), 0);
	assert_int_equal(symlink(b.dir, link), 0);
	for (int i = 0; i < 2; i++) {
		snprintf(ipam, sizeof(ipam),
			 "{\"type\":\"plugin\",\"needs\":{\"write\":[\"%s%s\"]}}", link,
			 i ? "/made" : "");
		b.ipam = ipam;
		b.answers = 0;
		assert_int_equal(start(&b, IPAM_ADD, LIMIT_MS), 0);
		assert_true(loop_until(&b.loop, is_answered, &b, LIMIT_MS));
		assert_int_equal(b.err.code, -EIO);
		assert_non_null(strstr(b.err.msg, "ELOOP"));
	}
	snprintf(folder, sizeof(folder), "%s/made", b.dir);
	assert_int_equal(access(folder, F_OK), -1);
	teardown(&b);
}

static const char becoming_root[] =
	"exec /usr/bin/python3 - <<'END'\n"
	"import errno, os, stat\n"
	"base = os.environ['CNI_PATH'].split(':')[-1] + '/new/'\n"
	"def attempt(do, *what):\n"
	"    try:\n"
	"        do(*what)\n"
	"        print('done', end=' ')\n"
	"    except OSError as e:\n"
	"        print(errno.errorcode[e.errno], end=' ')\n"
	"os.umask(0)\n"
	"attempt(os.open, base + 'plain', os.O_CREAT | os.O_WRONLY, 0o755)\n"
	"attempt(os.chmod, base + 'plain', 0o1777)\n"
	"attempt(os.open, base + 'plain', os.O_RDONLY, 0o4755)\n"
	"attempt(os.chmod, base + 'plain', 0o4755)\n"
	"attempt(os.fchmod, os.open(base + 'plain', os.O_RDONLY), 0o2755)\n"
	"attempt(os.open, base + 'open', os.O_CREAT | os.O_WRONLY, 0o4755)\n"
	"attempt(os.open, base, os.O_TMPFILE | os.O_WRONLY, 0o2755)\n"
	"attempt(os.mknod, base + 'node', stat.S_IFREG | 0o6755)\n"
	"print()\n"
	"END\n";

/* The writable folders are the host's, where another user could run a setuid file. */
static void test_a_plugin_cannot_make_setuid_files(void **state)
{
	char ipam[512];
	struct bench b;

	(void)state;
	setup(&b, becoming_root);
	snprintf(ipam, sizeof(ipam), "{\"type\":\"plugin\",\"needs\":{\"write\":[\"%s/new\"]}}",
		 b.dir);
	b.ipam = ipam;
	assert_int_equal(start(&b, IPAM_ADD, LIMIT_MS), 0);
	assert_true(loop_until(&b.loop, is_answered, &b, LIMIT_MS));
	assert_string_equal(b.err.msg, "");
	if (!strstr(b.text, "done done done EPERM EPERM EPERM EPERM EPERM \n"))
		fail_msg("%s", b.text);
	teardown(&b);
}

/* --- services of the host --------------------------------------------------------------------- */

/* A service's socket in each kind of place: where everything is hidden, in a folder hidden here, in
 * one that the plugin may write to, in one that it may only read, and an abstract name. */
enum service { IN_RUN, IN_TMP, IN_HIDDEN, IN_WRITABLE, IN_READABLE, ABSTRACT, N_SERVICES };

struct services {
	struct bench bench;
	char *run, *seen; /* below /run and /var/lib */
	char paths[N_SERVICES][192];
	int fds[N_SERVICES];
	char link[128], writable[128], hidden[128], file[128], ipam[512];
	const char *hides[4];
};

static int listen_at(const char *path)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", path);
	if (*path == '@')
		addr.sun_path[0] = '\0';
	assert_int_equal(bind(fd, (struct sockaddr *)&addr,
			      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path))),
			 0);
	assert_int_equal(listen(fd, 8), 0);
	return fd;
}

static const char hostile[] =
	"exec /usr/bin/python3 - <<'END'\n"
	"import errno, os, socket\n"
	"base = os.environ['CNI_PATH'].split(':')[-1]\n"
	"def attempt(do, *what):\n"
	"    try:\n"
	"        print(do(*what), end=' ')\n"
	"    except OSError as e:\n"
	"        print(errno.errorcode[e.errno], end=' ')\n"
	"def reach(path):\n"
	"    socket.socket(socket.AF_UNIX).connect(path.replace('@', chr(0)))\n"
	"    return 'reached'\n"
	"def reach_by_pair(path):\n"
	"    socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].connect(path)\n"
	"def look(path):\n"
	"    return len(os.listdir(path) if os.path.isdir(path) else open(path).read())\n"
	"for path in open(base + '/paths').read().split():\n"
	"    attempt(reach, path)\n"
	"attempt(reach_by_pair, chr(0) + 'nobody')\n"
	"print('pair' if socket.socketpair() else '')\n"
	"for path in open(base + '/places').read().split():\n"
	"    attempt(look, path)\n"
	"    attempt(os.mkdir, path + '/new')\n"
	"END\n";

static void services_setup(struct services *s)
{
	static char run[] = "/run/rocelet-test-XXXXXX", seen[] = "/var/lib/rocelet-test-XXXXXX";

	*s = (struct services){0};
	setup(&s->bench, hostile);
	strcpy(strrchr(run, '-') + 1, "XXXXXX");
	strcpy(strrchr(seen, '-') + 1, "XXXXXX");
	s->run = mkdtemp(run);
	s->seen = mkdtemp(seen);
	assert_non_null(s->run);
	assert_non_null(s->seen);
	snprintf(s->writable, sizeof(s->writable), "%s/writable", s->seen);
	snprintf(s->hidden, sizeof(s->hidden), "%s/writable/hidden", s->seen);
	snprintf(s->link, sizeof(s->link), "%s/link", s->seen);
	snprintf(s->file, sizeof(s->file), "%s/token", s->seen);
	assert_int_equal(mkdir(s->writable, 0755), 0);
	assert_int_equal(mkdir(s->hidden, 0755), 0);
	assert_int_equal(symlink("writable/hidden", s->link), 0);
	snprintf(s->paths[IN_RUN], sizeof(s->paths[0]), "%s/s", s->run);
	snprintf(s->paths[IN_TMP], sizeof(s->paths[0]), "/tmp/rocelet-test-%d", getpid());
	snprintf(s->paths[IN_HIDDEN], sizeof(s->paths[0]), "%s/s", s->hidden);
	snprintf(s->paths[IN_WRITABLE], sizeof(s->paths[0]), "%s/s", s->writable);
	snprintf(s->paths[IN_READABLE], sizeof(s->paths[0]), "%s/s", s->seen);
	snprintf(s->paths[ABSTRACT], sizeof(s->paths[0]), "@rocelet-test-%d", getpid());
	for (int i = 0; i < N_SERVICES; i++)
		s->fds[i] = listen_at(s->paths[i]);
	tmptree_write(s->bench.dir, "paths", "%s %s %s %s %s %s", s->paths[0], s->paths[1],
		      s->paths[2], s->paths[3], s->paths[4], s->paths[5]);
	tmptree_write(s->seen, "token", "secret");
	tmptree_write(s->bench.dir, "places", "/run /tmp %s %s /proc/1/root/run /var/lib/kubelet",
		      s->hidden, s->file);
	/* One hidden path is a link, and one does not exist. */
	s->hides[0] = s->link;
	s->hides[1] = s->file;
	s->hides[2] = "/nowhere/at/all";
	s->bench.hidden = s->hides;
	s->bench.ipam = s->ipam;
}

static void services_ask(struct services *s, const char *needs)
{
	snprintf(s->ipam, sizeof(s->ipam), "{\"type\":\"plugin\",\"needs\":%s}", needs);
	s->bench.answers = 0;
	assert_int_equal(start(&s->bench, IPAM_ADD, LIMIT_MS), 0);
	assert_true(loop_until(&s->bench.loop, is_answered, &s->bench, LIMIT_MS));
	assert_string_equal(s->bench.err.msg, "");
}

static void services_teardown(struct services *s)
{
	for (int i = 0; i < N_SERVICES; i++)
		close(s->fds[i]);
	unlink(s->paths[IN_RUN]);
	unlink(s->paths[IN_TMP]);
	rmdir(s->run);
	unlink(s->paths[IN_HIDDEN]);
	unlink(s->paths[IN_WRITABLE]);
	unlink(s->paths[IN_READABLE]);
	unlink(s->link);
	unlink(s->file);
	rmdir(s->hidden);
	rmdir(s->writable);
	rmdir(s->seen);
	teardown(&s->bench);
}

static bool answers(const struct services *s, const char *line)
{
	if (strstr(s->bench.text, line))
		return true;
	print_error("not in the answer: %s\n%s\n", line, s->bench.text);
	return false;
}

/* The plugin's effective uid is 0, which services accept as an administrator. */
static void test_a_plugin_reaches_no_service(void **state)
{
	struct services s;

	(void)state;
	services_setup(&s);
	/* Also in the host's network namespace, to which abstract names belong. */
	services_ask(&s, "{\"network\":\"host\"}");
	assert_true(answers(&s, "EAFNOSUPPORT EAFNOSUPPORT EAFNOSUPPORT EAFNOSUPPORT EAFNOSUPPORT "
				"EAFNOSUPPORT EAFNOSUPPORT pair\n"));
	services_teardown(&s);
}

/* A writable folder may hold a service's socket, like that of CNI's dhcp; no other socket is
 * reachable except in readable folders. */
static void test_a_plugin_reaches_services_in_its_folders(void **state)
{
	struct services s;
	char needs[256];

	(void)state;
	services_setup(&s);
	snprintf(needs, sizeof(needs), "{\"write\":[\"%s\"]}", s.writable);
	services_ask(&s, needs);
	assert_true(answers(&s, "ENOENT ENOENT ENOENT reached reached ECONNREFUSED "
				"ECONNREFUSED pair\n"));
	/* A hidden folder stays hidden inside a writable one. */
	snprintf(needs, sizeof(needs), "{\"write\":[\"/var/lib\"]}");
	services_ask(&s, needs);
	assert_true(answers(&s, "ENOENT ENOENT ENOENT reached reached ECONNREFUSED "));
	services_teardown(&s);
}

/* Like the runtime's socket, whose folder may not be hideable as a whole. */
static void test_a_socket_can_be_hidden(void **state)
{
	struct services s;
	char needs[256];

	(void)state;
	services_setup(&s);
	s.hides[1] = s.paths[IN_READABLE];
	snprintf(needs, sizeof(needs), "{\"write\":[\"%s\"]}", s.writable);
	services_ask(&s, needs);
	assert_true(answers(&s, "ENOENT ENOENT ENOENT reached ECONNREFUSED ECONNREFUSED "
				"ECONNREFUSED pair\n"));
	services_teardown(&s);
}

/* Hidden folders are empty and cannot be entered, except for the path to the plugin; hidden files
 * do not exist. */
static void test_hidden_folders_are_empty(void **state)
{
	struct services s;
	bool has_kubelet = access("/var/lib/kubelet", F_OK) == 0;

	(void)state;
	services_setup(&s);
	services_ask(&s, "{}");
	assert_true(answers(
		&s, has_kubelet ? "0 EROFS 1 EROFS 0 EROFS 0 ENOTDIR EACCES EACCES 0 EROFS"
				: "0 EROFS 1 EROFS 0 EROFS 0 ENOTDIR EACCES EACCES ENOENT"));
	services_teardown(&s);
}

/* Runs in its own mount namespace, with /etc/resolv.conf as a link into /run as systemd-resolved
 * makes it. Returns 0 if only a plugin with the host's network can read it. */
static int resolver_is_seen(void)
{
	struct bench b;
	bool with, without;

	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("tmpfs", "/etc", "tmpfs", 0, NULL) < 0 ||
	    mount("tmpfs", "/run", "tmpfs", 0, NULL) < 0 || mkdir("/run/resolve", 0755) < 0 ||
	    symlink("../run/resolve/stub.conf", "/etc/resolv.conf") < 0)
		return 2;
	tmptree_write("/run/resolve", "stub.conf", "nameserver 192.0.2.1");
	tmptree_write("/run/resolve", "key", "secret");
	setup(&b, "cat /etc/resolv.conf; cat /run/resolve/key; echo done");
	b.ipam = "{\"type\":\"plugin\",\"needs\":{\"network\":\"host\"}}";
	with = start(&b, IPAM_ADD, LIMIT_MS) == 0 &&
	       loop_until(&b.loop, is_answered, &b, LIMIT_MS) &&
	       strcmp(b.text, "nameserver 192.0.2.1done\n") == 0;
	b.ipam = NULL;
	b.answers = 0;
	without = start(&b, IPAM_ADD, LIMIT_MS) == 0 &&
		  loop_until(&b.loop, is_answered, &b, LIMIT_MS) && strcmp(b.text, "done\n") == 0;
	teardown(&b);
	return with && without ? 0 : 1;
}

static void test_a_plugin_sees_its_networks_resolver(void **state)
{
	pid_t pid = fork();
	int status;

	(void)state;
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(resolver_is_seen());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void test_a_missing_plugin(void **state)
{
	struct bench b;
	char path[256];

	(void)state;
	setup(&b, "");
	snprintf(path, sizeof(path), "%s/plugin", b.dir);
	assert_int_equal(chmod(path, 0644), 0);
	assert_int_equal(start(&b, IPAM_ADD, LIMIT_MS), 0);
	assert_true(loop_until(&b.loop, is_answered, &b, LIMIT_MS));
	assert_int_equal(b.err.code, -ENOENT);
	assert_non_null(strstr(b.err.msg, "no IPAM plugin \"plugin\" in /nowhere::"));
	b.answers = 0;
	/* The program exists, but cannot be executed. */
	tmptree_write(b.dir, "plugin", "#!/nowhere/sh\n");
	assert_int_equal(chmod(path, 0755), 0);
	assert_int_equal(start(&b, IPAM_ADD, LIMIT_MS), 0);
	assert_true(loop_until(&b.loop, is_answered, &b, LIMIT_MS));
	assert_non_null(strstr(b.err.msg, "plugin: exit status 127: "));
	assert_non_null(strstr(b.err.msg, "/plugin: ENOENT"));
	/* The plugin's own exit status is not taken for that of a missing program. */
	b.answers = 0;
	tmptree_write(b.dir, "plugin", "#!/bin/sh\nexit 240\n");
	assert_int_equal(start(&b, IPAM_ADD, LIMIT_MS), 0);
	assert_true(loop_until(&b.loop, is_answered, &b, LIMIT_MS));
	assert_int_equal(b.err.code, -EIO);
	teardown(&b);
}

static void test_cancel(void **state)
{
	struct bench b;

	(void)state;
	setup(&b, "sleep $MARK & setsid sleep $MARK; echo no");
	assert_int_equal(start(&b, IPAM_ADD, LIMIT_MS), 0);
	assert_true(loop_until(&b.loop, is_marked, NULL, LIMIT_MS));
	ipam_cancel(b.call);
	ipam_cancel(NULL);
	teardown(&b);
	assert_int_equal(b.answers, 0);
	assert_int_equal(n_marked(), 0);
}

/* However the daemon exits, all processes of the plugin are killed. */
static void test_plugins_die_with_the_daemon(void **state)
{
	struct bench b;
	int status;
	pid_t pid;

	(void)state;
	setup(&b, "sleep $MARK & setsid sleep $MARK");
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		uv_loop_fork(&b.loop);
		start(&b, IPAM_ADD, LIMIT_MS);
		for (;;)
			pause();
	}
	assert_true(loop_until(&b.loop, is_marked, NULL, LIMIT_MS));
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(loop_until(&b.loop, none_is_marked, NULL, LIMIT_MS));
	teardown(&b);
}

static void test_plugins_leave_no_descriptors_or_zombies(void **state)
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

TEST_GROUP(ipam)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_config),
		cmocka_unit_test(test_keys_of_a_cni_request_are_passed),
		cmocka_unit_test(test_needs),
		cmocka_unit_test(test_bad_needs),
		cmocka_unit_test(test_result),
		cmocka_unit_test(test_bad_results),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_input_and_environment_of_a_plugin),
		cmocka_unit_test(test_del_has_no_output),
		cmocka_unit_test(test_failures),
		cmocka_unit_test(test_a_hanging_plugin_times_out),
		cmocka_unit_test(test_flood),
		cmocka_unit_test(test_child_processes_of_a_plugin_are_killed),
		cmocka_unit_test(test_the_number_of_processes_is_limited),
		cmocka_unit_test(test_the_sandbox_has_no_privileges),
		cmocka_unit_test(test_the_sandbox_grants_needs),
		cmocka_unit_test(test_a_writable_folder_behind_a_link_is_rejected),
		cmocka_unit_test(test_a_plugin_cannot_make_setuid_files),
		cmocka_unit_test(test_a_plugin_reaches_no_service),
		cmocka_unit_test(test_a_plugin_reaches_services_in_its_folders),
		cmocka_unit_test(test_a_socket_can_be_hidden),
		cmocka_unit_test(test_hidden_folders_are_empty),
		cmocka_unit_test(test_a_plugin_sees_its_networks_resolver),
		cmocka_unit_test(test_a_missing_plugin),
		cmocka_unit_test(test_cancel),
		cmocka_unit_test(test_plugins_die_with_the_daemon),
		cmocka_unit_test(test_plugins_leave_no_descriptors_or_zombies),
	};

	return test_group_run(tests, NULL, NULL);
}
