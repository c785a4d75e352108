/* rocectl: the answers it takes apart, what it shows, and what it gets from servers that are not
 * rocelet. */
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
#include "ctl_http.h"
#include "ctl_show.h"
#include "ctl_show_diagnosis.h"
#include "golden.h"
#include "test_group.h"
#include "version.h"

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

static char words[512], *argv[64];

/* --- a server that is not ours ---------------------------------------------------------------- */

struct fake {
	int fd;
	const char *answer;
	char dir[32], path[64], request[65536];
	pthread_t thread;
};

/* Takes what is asked, gives the answer, and closes. */
static void *serve(void *arg)
{
	struct fake *f = arg;
	int fd = accept(f->fd, NULL, NULL);

	if (fd < 0)
		return NULL;
	if (recv(fd, f->request, sizeof(f->request) - 1, 0) > 0)
		send(fd, f->answer, strlen(f->answer), MSG_NOSIGNAL);
	shutdown(f->fd, SHUT_RDWR); /* nobody is served any more */
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
	memset(f->request, 0, sizeof(f->request));
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

/* Runs a command line; output and errors together. */
static enum ctl_exit run_line(const char *line, char *text, size_t size)
{
	FILE *f = tmpfile();
	enum ctl_exit r;
	int argc = 0;
	size_t len;

	assert_non_null(f);
	snprintf(words, sizeof(words), "%s", line);
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

static enum ctl_exit run(const char *socket_path, const char *line, char *text, size_t size)
{
	char whole[512];

	snprintf(whole, sizeof(whole), "rocectl --socket %s %s", socket_path, line);
	return run_line(whole, text, size);
}

/* asks NULL: whatever. */
static void assert_asks(const char *answer, const char *line, enum ctl_exit want, const char *says,
			const char *asks)
{
	static struct fake f;
	char text[4096];
	enum ctl_exit r;

	fake_start(&f, answer);
	r = run(f.path, line, text, sizeof(text));
	fake_stop(&f);
	if (r != want || !strstr(text, says))
		fail_msg("%s: %d: %s", line, (int)r, text);
	if (asks && !strstr(f.request, asks))
		fail_msg("%s: %s", line, f.request);
}

static void assert_fake(const char *answer, const char *line, enum ctl_exit want, const char *says)
{
	assert_asks(answer, line, want, says, NULL);
}

#define OK_JSON(body) "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" body

static void test_what_servers_answer(void **state)
{
	(void)state;
	assert_fake(OK_JSON("{\"pods\":[]}"), "pods", CTL_OK, "no container has a device\n");
	assert_fake(OK_JSON("{\"a\" : [1]}"), "pods --json", CTL_OK,
		    "{\n  \"a\": [\n    1\n  ]\n}\n");
	assert_fake(OK_JSON("{\"a\" : [1]}"), "explain d -o yaml", CTL_OK, "a:\n- 1\n");
	assert_fake(OK_JSON("{\"findings\":[]}"), "doctor", CTL_OK, "nothing is wrong\n");
	assert_fake(OK_JSON("{\"findings\":[1]}"), "doctor --json", CTL_NO,
		    "{\n  \"findings\": [\n    1\n  ]\n}\n");
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

#define TWO_EVENTS                                                                                 \
	"{\"events\":[{\"namespace\":\"a\",\"pod\":\"x\",\"reason\":\"R1\"},"                      \
	"{\"namespace\":\"b\",\"pod\":\"y\",\"reason\":\"R2\"},"                                   \
	"{\"namespace\":\"a\",\"pod\":\"z\",\"reason\":\"R3\"}]}"

/* What the daemon can choose it is asked to; of the rest it is asked for all. */
static void test_what_is_chosen_here(void **state)
{
	(void)state;
	assert_asks(OK_JSON(TWO_EVENTS), "events --limit 2 --pod b/y", CTL_OK, "R3",
		    "GET /api/v1/events?pod=b%2Fy&limit=2 ");
	assert_asks(OK_JSON(TWO_EVENTS), "events --limit 1 -n a --no-headers", CTL_OK,
		    "-  -  R3  a/z  -  -  -\n", "GET /api/v1/events?limit=10000 ");
	assert_asks(OK_JSON(TWO_EVENTS), "events --limit 1 --field-selector reason=R1 --no-headers",
		    CTL_OK, "R1", "limit=10000 ");
	assert_asks(OK_JSON("{\"devices\":[{\"id\":\"0000:03:00.2\"},{\"id\":\"e\"}]}"),
		    "devices --device 03:00.2 -o name", CTL_OK, "0000:03:00.2\n",
		    "GET /api/v1/devices HTTP");
}

/* Every question is answered alike, and a watcher stops when nobody answers any more. */
static void test_several_questions(void **state)
{
	(void)state;
	assert_fake(OK_JSON("{\"devices\":[]}"), "ports", CTL_NO_DAEMON, "rocelet");
	assert_fake(OK_JSON("ok"), "status", CTL_NO_DAEMON, "rocelet");
	assert_fake(OK_JSON("{\"pods\":[]}"), "pods -w", CTL_NO_DAEMON,
		    "no container has a device\nrocectl: ");
}

static void test_completion_of_live_names(void **state)
{
	static struct fake f;
	char text[1024], line[128];

	(void)state;
	fake_start(&f,
		   OK_JSON("{\"devices\":[{\"id\":\"0000:03:00.2\",\"kind\":\"vf\","
			   "\"netdevs\":[{\"name\":\"e$(x)\"}],\"rdma\":[{\"name\":\"m5\"}]}]}"));
	snprintf(line, sizeof(line), "rocectl __complete --socket %s explain m", f.path);
	run_line(line, text, sizeof(text));
	fake_stop(&f);
	assert_string_equal(text, "0000:03:00.2\tvf\nm5\t0000:03:00.2\n");
	run_line("rocectl __complete --socket /nonexistent/sock explain m", text, sizeof(text));
	assert_string_equal(text, "");
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

/* Documents of any shape show something, or nothing. */
static void test_documents_of_another_shape(void **state)
{
	static const char *const texts[] = {"{}", "[]", "{\"findings\":[[]],\"attachment\":7}"};
	FILE *f = fopen("/dev/null", "w");

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		json_t *document = json_loads(texts[i], 0, NULL);

		ctl_show_explain(document, f);
		ctl_show_doctor(document, f);
		ctl_show_attached(document, f);
		ctl_show_detached(document, f);
		json_decref(document);
	}
	fclose(f);
}

TEST_GROUP(ctl)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_answers_that_are_none),
		cmocka_unit_test(test_what_servers_answer),
		cmocka_unit_test(test_what_is_chosen_here),
		cmocka_unit_test(test_several_questions),
		cmocka_unit_test(test_no_daemon),
		cmocka_unit_test(test_completion_of_live_names),
		cmocka_unit_test(test_diagnosis),
		cmocka_unit_test(test_diagnosis_level),
		cmocka_unit_test(test_documents_of_another_shape),
	};

	return test_group_run(tests, NULL, NULL);
}
