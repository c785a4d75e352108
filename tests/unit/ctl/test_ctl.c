/* rocectl: its command line, the answers it takes apart, what it shows, and what it gets from
 * servers that are not rocelet. */
#include "ctl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "cleanup.h"
#include "ctl_args.h"
#include "ctl_http.h"
#include "ctl_show.h"
#include "ctl_show_diagnosis.h"
#include "ctl_table.h"
#include "golden.h"
#include "version.h"

/* --- the command line ------------------------------------------------------------------------- */

static char words[512], *argv[64];

/* Words separated by blanks; they stay until the next call. */
static int parse(struct ctl_args *a, const char *line, struct err *e)
{
	int argc = 0;

	snprintf(words, sizeof(words), "rocectl %s", line);
	for (char *word = strtok(words, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	argv[argc] = NULL;
	return ctl_args_parse(a, argc, argv, e);
}

static void test_every_option(void **state)
{
	struct ctl_args a;
	struct err e = {0};

	(void)state;
	assert_int_equal(
		parse(&a,
		      "attach eth5 --netns /n --interface x --ip 10.0.0.1/24 --ip=fd00::1/64 "
		      "--mac m --vlan 7 --mtu 1500 --soft-roce --json --socket s",
		      &e),
		0);
	assert_int_equal(a.command, CTL_ATTACH);
	assert_string_equal(a.device, "eth5");
	assert_string_equal(a.netns, "/n");
	assert_null(a.pod);
	assert_string_equal(a.interface, "x");
	assert_int_equal(a.n_ips, 2);
	assert_string_equal(a.ips[1], "fd00::1/64");
	assert_string_equal(a.mac, "m");
	assert_int_equal(a.vlan, 7);
	assert_int_equal(a.mtu, 1500);
	assert_true(a.soft_roce && a.json);
	assert_string_equal(a.socket, "s");
	assert_int_equal(parse(&a, "--fix doctor", &e), 0);
	assert_true(a.fix);
	assert_string_equal(a.socket, CTL_SOCKET);
	assert_int_equal(a.vlan, -1);
	assert_int_equal(parse(&a, "events --limit 3 --device d --pod p", &e), 0);
	assert_int_equal(a.limit, 3);
	assert_int_equal(parse(&a, "qps --top ce --limit 3 --device d --pod p", &e), 0);
	assert_int_equal(a.command, CTL_QPS);
	assert_string_equal(a.top, "ce");
	assert_int_equal(parse(&a, "watch --device d --pod p", &e), 0);
	assert_int_equal(a.command, CTL_WATCH);
	assert_int_equal(parse(&a, "diagnose", &e), 0);
	assert_null(a.device);
	assert_int_equal(parse(&a, "diagnose d --pod p -o json", &e), 0);
	assert_int_equal(a.command, CTL_DIAGNOSE);
	assert_string_equal(a.device, "d");
	assert_string_equal(a.pod, "p");
	assert_true(a.json);
	assert_int_equal(parse(&a, "pods --help", &e), 0);
	assert_int_equal(a.command, CTL_HELP);
	assert_int_equal(parse(&a, "-V", &e), 0);
	assert_int_equal(a.command, CTL_VERSION);
}

static void test_command_lines_that_are_wrong(void **state)
{
	static const struct {
		const char *line, *names;
	} bad[] = {
		{"", "which command"},
		{"device", "did you mean devices"},
		{"bogus",
		 "is no command; there are help, version, pods, devices, attach, detach, explain, "
		 "doctor, ready, events, pcap, sniff, qps, watch, suggest, support-bundle, diagnose"},
		{"\x1b[31m", "is no command"},
		{"attach", "which device"},
		{"attach d", "--netns or --pod"},
		{"attach d --netns /n --pod p", "--netns or --pod"},
		{"attach d e --netns /n", "e is too much"},
		{"pods x", "x is too much"},
		{"pods --force", "--force is no option of pods"},
		{"detach d --fix", "--fix is no option of detach"},
		{"detach d --colour", "--colour is no option; --help lists them"},
		{"detach d --forse", "--forse is no option (did you mean --force?)"},
		{"--jsn=1 pods", "--jsn=1 is no option (did you mean --json?)"},
		{"pods -x", "-x is no option"},
		{"attach d --netns", "--netns needs a value"},
		{"attach d --netns /n --vlan x", "--vlan x"},
		{"attach d --netns /n --mtu -5", "--mtu -5"},
		{"events --limit 99999999999", "--limit"},
		{"events --top ce", "--top is no option of events"},
		{"watch --limit 3", "--limit is no option of watch"},
		{"pcap", "pcap: which file"},
		{"pcap a b", "b is too much"},
		{"pcap a --seconds 1", "--seconds is no option of pcap"},
		{"pcap a --flows 65537", "--flows 65537"},
		{"sniff", "sniff: which device"},
		{"sniff d --seconds 0", "--seconds 0: nothing to do"},
		{"sniff d --seconds 86401", "more than 86400"},
		{"sniff d --packets -1", "--packets -1"},
		{"sniff d --bytes 1e9", "--bytes 1e9"},
		{"sniff d --netns /n --pod p", "not both"},
		{"sniff d --force", "--force is no option of sniff"},
		{"attach d --pod p --ip 10.0.0.1/24 --ip 1\xff", "--ip is no text"},
		{"attach d --pod p --mac \xc0\x80", "--mac is no text"},
		{"attach d --pod p --interface \xff", "--interface is no text"},
		{"attach d --pod \xff", "--pod is no text"},
		{"attach d --netns /\xed\xa0\x80", "--netns is no text"},
		{"detach \xff", "the device is no text"},
		{"diagnose a b", "b is too much"},
		{"diagnose d --replay f", "a scenario is replayed as a whole"},
		{"diagnose --replay f --pod p", "a scenario is replayed as a whole"},
		{"diagnose -o xml", "neither json nor text"},
	};
	struct ctl_args a = {.limit = 42};
	struct err e = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(parse(&a, bad[i].line, &e), -EINVAL);
		if (!strstr(e.msg, bad[i].names))
			fail_msg("%s: %s", bad[i].line, e.msg);
		assert_int_equal(a.limit, 42);
	}
}

static void test_captures(void **state)
{
	struct ctl_args a;
	struct err e = {0};

	(void)state;
	assert_int_equal(parse(&a, "pcap - --flows 0 --json", &e), 0);
	assert_int_equal(a.command, CTL_PCAP);
	assert_string_equal(a.file, "-");
	assert_int_equal(a.flows, 0);
	assert_int_equal(parse(&a, "sniff mlx5_0", &e), 0);
	assert_string_equal(a.device, "mlx5_0");
	assert_int_equal(a.seconds, 10);
	assert_int_equal(a.packets, 1000000);
	assert_int_equal(a.bytes, 1000000000);
	assert_int_equal(a.flows, 10);
	assert_null(a.write);
	assert_int_equal(
		parse(&a,
		      "sniff net1 --pod ns/p --seconds 1 --packets 2 --bytes 1000000000000 "
		      "--write x.pcap",
		      &e),
		0);
	assert_int_equal(a.packets, 2);
	assert_int_equal(a.bytes, CTL_BOX_MAX);
	assert_string_equal(a.write, "x.pcap");
	assert_string_equal(a.pod, "ns/p");
}

static void test_help(void **state)
{
	(void)state;
	assert_golden("tests/golden/rocectl_help.txt", ctl_args_help);
}

/* --- answers ---------------------------------------------------------------------------------- */

/* However it is cut, it is the same answer, and not there before its end. */
static void assert_decodes(const char *text, unsigned status, const char *body, bool until_end)
{
	size_t len = strlen(text);
	struct ctl_answer a;

	for (size_t n = 0; n < len; n++) {
		char *part = malloc(n + 1);

		memcpy(part, text, n);
		assert_int_equal(ctl_answer_decode(&a, part, n, false), 0);
		free(part);
	}
	assert_int_equal(ctl_answer_decode(&a, text, len, until_end), 1);
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

static void test_answers_that_are_none(void **state)
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
	struct ctl_answer a;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (ctl_answer_decode(&a, bad[i], strlen(bad[i]), false) != -EBADMSG)
			fail_msg("%s", bad[i]);
	/* cut off */
	assert_int_equal(ctl_answer_decode(&a, "", 0, true), -EBADMSG);
	assert_int_equal(
		ctl_answer_decode(&a, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab", 40, true),
		-EBADMSG);
}

/* --- a server that is not ours ---------------------------------------------------------------- */

struct fake {
	int fd;
	const char *answer;
	char dir[32], path[64];
	pthread_t thread;
};

/* Takes what is asked, gives the answer, and closes. */
static void *serve(void *arg)
{
	struct fake *f = arg;
	char request[65536];
	int fd = accept(f->fd, NULL, NULL);

	if (fd < 0)
		return NULL;
	if (recv(fd, request, sizeof(request), 0) > 0)
		send(fd, f->answer, strlen(f->answer), MSG_NOSIGNAL);
	close(fd);
	return NULL;
}

static void fake_start(struct fake *f, const char *answer)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};

	strcpy(f->dir, "/tmp/test_ctl.XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	snprintf(f->path, sizeof(f->path), "%s/sock", f->dir);
	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", f->path);
	f->answer = answer;
	f->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(f->fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	assert_int_equal(listen(f->fd, 4), 0);
	assert_int_equal(pthread_create(&f->thread, NULL, serve, f), 0);
}

static void fake_stop(struct fake *f)
{
	pthread_join(f->thread, NULL);
	close(f->fd);
	unlink(f->path);
	rmdir(f->dir);
}

/* Runs rocectl with this socket; output and errors together. */
static enum ctl_exit run(const char *socket_path, const char *line, char *text, size_t size)
{
	FILE *f = tmpfile();
	enum ctl_exit r;
	int argc = 0;
	size_t len;

	assert_non_null(f);
	snprintf(words, sizeof(words), "rocectl --socket %s %s", socket_path, line);
	for (char *word = strtok(words, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	argv[argc] = NULL;
	r = ctl_run(argc, argv, f, f);
	rewind(f);
	len = fread(text, 1, size - 1, f);
	text[len] = '\0';
	fclose(f);
	return r;
}

static void assert_fake(const char *answer, const char *line, enum ctl_exit want, const char *says)
{
	struct fake f;
	char text[4096];
	enum ctl_exit r;

	fake_start(&f, answer);
	r = run(f.path, line, text, sizeof(text));
	fake_stop(&f);
	if (r != want || !strstr(text, says))
		fail_msg("%s: %d: %s", line, (int)r, text);
}

#define OK_JSON(body) "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" body

static void test_what_servers_answer(void **state)
{
	(void)state;
	assert_fake(OK_JSON("{\"pods\":[]}"), "pods", CTL_OK, "no container has a device\n");
	assert_fake(OK_JSON("{\"a\" : [1]}"), "pods --json", CTL_OK, "{\"a\" : [1]}\n");
	assert_fake(OK_JSON("{\"findings\":[]}"), "doctor", CTL_OK, "nothing is wrong\n");
	assert_fake(OK_JSON("{\"findings\":[1]}"), "doctor --json", CTL_NO, "{\"findings\":[1]}");
	assert_fake("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n", "ready", CTL_OK, "ok\n");
	assert_fake("HTTP/1.1 503 No\r\nContent-Length: 11\r\n\r\nnot ready:\n", "ready", CTL_NO,
		    "not ready:\n");
	assert_fake("HTTP/1.1 409 Conflict\r\nContent-Length: 20\r\n\r\n"
		    "{\"error\":\"a\\u001bb\"}",
		    "detach d", CTL_NO, "rocectl: a?b\n");
	assert_fake("HTTP/1.1 503 Busy\r\nContent-Length: 9\r\n\r\nnot yet\r\n", "pods", CTL_NO,
		    "rocectl: not yet\n");
	assert_fake("HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n", "pods", CTL_NO, "status 500");
	assert_fake(OK_JSON("not JSON"), "pods", CTL_NO, "rocectl: not JSON\n");
	assert_fake(OK_JSON("[]"), "devices", CTL_OK, "this node has no devices");
	assert_fake("SSH-2.0\r\n\r\n", "pods", CTL_NO_DAEMON, "is not rocelet");
	assert_fake("", "pods", CTL_NO_DAEMON, "is not rocelet");
}

static void test_no_daemon(void **state)
{
	char text[1024], path[200];

	(void)state;
	assert_int_equal(run("/nonexistent/sock", "pods", text, sizeof(text)), CTL_NO_DAEMON);
	assert_non_null(strstr(text, "/nonexistent/sock: No such file"));
	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(run(path, "pods", text, sizeof(text)), CTL_NO_DAEMON);
	assert_non_null(strstr(text, "too long"));
	assert_int_equal(run("x", "podss", text, sizeof(text)), CTL_USAGE);
	assert_int_equal(run("x", "version", text, sizeof(text)), CTL_OK);
	assert_string_equal(text, "rocectl " ROCELET_VERSION "\n");
}

/* --- what is shown ---------------------------------------------------------------------------- */

static void show(FILE *f, const char *path, void (*print)(const json_t *, FILE *))
{
	json_t *document = json_load_file(path, 0, NULL);

	assert_non_null(document);
	print(document, f);
	fputc('\n', f);
	json_decref(document);
}

static void print_tables(FILE *f)
{
	show(f, "tests/golden/api_pods_attached.json", ctl_show_pods);
	show(f, "tests/golden/api_devices_attached.json", ctl_show_devices);
	show(f, "tests/golden/api_events.json", ctl_show_events);
	show(f, "tests/golden/api_qps.json", ctl_show_qps);
}

static void test_tables(void **state)
{
	(void)state;
	assert_golden("tests/golden/rocectl_tables.txt", print_tables);
}

static void print_diagnoses(FILE *f)
{
	show(f, "tests/golden/api_diagnosis.json", ctl_show_diagnosis);
	ctl_show_diagnosis(NULL, f);
}

static void test_diagnosis(void **state)
{
	(void)state;
	assert_golden("tests/golden/rocectl_diagnosis.txt", print_diagnoses);
}

/* "[{level}, ...]" of each verdict -> the worst. */
static void test_diagnosis_level(void **state)
{
	static const struct {
		const char *verdicts;
		int level;
	} rows[] = {
		{"[]", 0},
		{"[{\"level\":1}]", 1},
		{"[{\"level\":2},{\"level\":3},{\"level\":1}]", 3},
		{"[{\"level\":\"3\"},7]", 0},
		{"{}", 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_t *verdicts = json_loads(rows[i].verdicts, 0, NULL);
		json_t *document = json_pack("{so}", "verdicts", verdicts);

		assert_int_equal(ctl_diagnosis_level(document), rows[i].level);
		json_decref(document);
	}
}

static void test_cells_cannot_command_a_terminal(void **state)
{
	struct table t = {.heads = {"A", "B"}, .n_columns = 2};
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	(void)state;
	table_add(&t, "a\x1b[31m\n");
	table_add(&t, "\xc2\x9b"
		      "31m\xff");
	table_add(&t, NULL);
	table_add(&t, "\xc3\xa4");
	table_print(&t, f);
	fclose(f);
	assert_string_equal(text, "A        B\na?[31m?  ?31m?\n-        \xc3\xa4\n");
	free(text);
	table_done(&t);
}

/* Documents of any shape show something, or nothing. */
static void test_documents_of_another_shape(void **state)
{
	static const char *const texts[] = {
		"{}", "[]",
		"{\"pods\":7,\"devices\":{},\"events\":[7],\"findings\":[[]],\"qps\":[3]}",
		"{\"qps\":[{\"qpn\":\"x\",\"sent\":[],\"received\":{\"rtt\":7}}],\"total\":1e9}",
		"{\"pods\":[{\"containers\":[{\"devices\":[1]}]}],\"devices\":[null]}"};
	FILE *f = fopen("/dev/null", "w");

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		json_t *document = json_loads(texts[i], 0, NULL);

		ctl_show_pods(document, f);
		ctl_show_devices(document, f);
		ctl_show_events(document, f);
		ctl_show_event(document, f);
		ctl_show_qps(document, f);
		ctl_show_explain(document, f);
		ctl_show_doctor(document, f);
		ctl_show_attached(document, f);
		ctl_show_detached(document, f);
		json_decref(document);
	}
	fclose(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_option),
		cmocka_unit_test(test_command_lines_that_are_wrong),
		cmocka_unit_test(test_captures),
		cmocka_unit_test(test_help),
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_answers_that_are_none),
		cmocka_unit_test(test_what_servers_answer),
		cmocka_unit_test(test_no_daemon),
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_diagnosis),
		cmocka_unit_test(test_diagnosis_level),
		cmocka_unit_test(test_cells_cannot_command_a_terminal),
		cmocka_unit_test(test_documents_of_another_shape),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
