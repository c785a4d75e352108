// SPDX-License-Identifier: Apache-2.0
/* rocectl: what it shows, and what it gets from servers that are not
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
#include "ctl_show.h"
#include "ctl_show_diagnosis.h"
#include "golden.h"
#include "test_group.h"
#include "version.h"

static char words[512], *argv[64];

/* --- a server that is not ours ---------------------------------------------------------------- */

struct fake_route {
	const char *path, *answer;
};

struct fake {
	int fd;
	const char *answer;
	const struct fake_route *routes; /* NULL: the answer, once */
	char dir[32], path[64], request[65536];
	pthread_t thread;
};

/* The answer of the first route whose path the request begins with. */
static const char *fake_answer(const struct fake *f)
{
	for (const struct fake_route *r = f->routes; r->path; r++)
		if (strncmp(f->request + strlen("GET "), r->path, strlen(r->path)) == 0)
			return r->answer;
	return "HTTP/1.1 404 No\r\nConnection: close\r\n\r\n{}";
}

/* Answers whatever is asked, until the socket is shut down. */
static void *serve_routes(void *arg)
{
	struct fake *f = arg;
	int fd;

	while ((fd = accept(f->fd, NULL, NULL)) >= 0) {
		ssize_t len = recv(fd, f->request, sizeof(f->request) - 1, 0);

		f->request[len > 0 ? len : 0] = '\0';
		send(fd, fake_answer(f), strlen(fake_answer(f)), MSG_NOSIGNAL);
		close(fd);
	}
	return NULL;
}

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

static void fake_open(struct fake *f, const char *answer, const struct fake_route *routes)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};

	strcpy(f->dir, "/tmp/test_ctl.XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	snprintf(f->path, sizeof(f->path), "%s/sock", f->dir);
	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", f->path);
	f->answer = answer;
	f->routes = routes;
	memset(f->request, 0, sizeof(f->request));
	f->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(f->fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	assert_int_equal(listen(f->fd, 4), 0);
	assert_int_equal(pthread_create(&f->thread, NULL, routes ? serve_routes : serve, f), 0);
}

static void fake_start(struct fake *f, const char *answer)
{
	fake_open(f, answer, NULL);
}

static void fake_stop(struct fake *f)
{
	if (f->routes)
		shutdown(f->fd, SHUT_RDWR);
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

static void test_documents_are_printed(void **state)
{
	(void)state;
	assert_fake(OK_JSON("{\"pods\":[]}"), "pods", CTL_OK, "no container has a device\n");
	assert_fake(OK_JSON("{\"a\" : [1]}"), "pods --json", CTL_OK,
		    "{\n  \"a\": [\n    1\n  ]\n}\n");
	assert_fake(OK_JSON("{\"a\" : [1]}"), "explain d -o yaml", CTL_OK, "a:\n- 1\n");
	assert_fake(OK_JSON("{\"findings\":[]}"), "doctor", CTL_OK,
		    "nothing is wrong with rocelet itself\n");
	assert_fake(
		OK_JSON("{\"findings\":[{\"kind\":\"dirty\",\"object\":\"d1\",\"namespace\":\"a\","
			"\"pod\":\"x\",\"what\":\"w1\",\"help\":\"h\"},{\"kind\":\"journal\","
			"\"object\":null,\"what\":\"w2\",\"help\":\"i\"},{\"kind\":\"dirty\","
			"\"object\":\"d2\",\"pod\":null,\"what\":\"w3\",\"help\":\"h\"}]}"),
		"doctor", CTL_NO,
		"dirty (2):\n  d1 (pod a/x): w1\n  d2: w3\n    h\njournal: w2\n    i\n");
	assert_fake("HTTP/1.1 503 No\r\nContent-Length: 13\r\n\r\nnot ready: x\n", "ready -o json",
		    CTL_NO,
		    "{\n  \"ready\": false,\n  \"remarks\": [\n    \"not ready: x\"\n  ]\n}\n");
	assert_fake(OK_JSON("{\"a\":1}"), "suggest -o yaml", CTL_OK, "a: 1\n");
	assert_fake(OK_JSON("{\"findings\":[1]}"), "doctor --json", CTL_NO,
		    "{\n  \"findings\": [\n    1\n  ]\n}\n");
	assert_fake("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n", "ready", CTL_OK, "ok\n");
	assert_fake("HTTP/1.1 503 No\r\nContent-Length: 11\r\n\r\nnot ready:\n", "ready", CTL_NO,
		    "not ready:\n");
	assert_fake("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n", "alive", CTL_OK, "ok\n");
	assert_fake(
		"", "alive", CTL_OK,
		"closed before the answer was complete (no daemon answers, which is not a hang)");
	assert_fake("HTTP/1.1 409 Conflict\r\nContent-Length: 20\r\n\r\n"
		    "{\"error\":\"a\\u001bb\"}",
		    "detach d", CTL_NO, "rocectl: a?b\n");
	assert_fake("HTTP/1.1 503 Busy\r\nContent-Length: 9\r\n\r\nnot yet\r\n", "pods", CTL_NO,
		    "rocectl: not yet\n");
	assert_fake("HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n", "pods", CTL_NO, "status 500");
	assert_fake(OK_JSON("not JSON"), "pods", CTL_NO, "rocectl: not JSON\n");
	assert_fake(OK_JSON("[]"), "devices", CTL_OK, "this node has no devices");
	assert_fake("SSH-2.0\r\n\r\n", "pods", CTL_NO_DAEMON, "is not rocelet");
	assert_fake("", "pods", CTL_NO_DAEMON, "closed before the answer was complete");
}

/* Nothing is printed but this, to the standard error. */
static void assert_on_stderr(const char *answer, const char *line, const char *says)
{
	char *out = NULL, *err = NULL, whole[512];
	size_t out_len, err_len;
	FILE *o = open_memstream(&out, &out_len), *e = open_memstream(&err, &err_len);
	static struct fake f;
	int argc = 0;

	fake_start(&f, answer);
	snprintf(whole, sizeof(whole), "rocectl --socket %s %s", f.path, line);
	for (char *word = strtok(whole, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	argv[argc] = NULL;
	assert_int_equal(ctl_run(argc, argv, o, e), CTL_OK);
	fake_stop(&f);
	fclose(o);
	fclose(e);
	assert_string_equal(out, "");
	assert_string_equal(err, says);
	free(out);
	free(err);
}

#define TWO_EVENTS                                                                                 \
	"{\"events\":[{\"namespace\":\"a\",\"pod\":\"x\",\"reason\":\"R1\"},"                      \
	"{\"namespace\":\"b\",\"pod\":\"y\",\"reason\":\"R2\"},"                                   \
	"{\"namespace\":\"a\",\"pod\":\"z\",\"reason\":\"R3\"}]}"

/* What the daemon can choose it is asked to; of the rest it is asked for all. */
static void test_rows_selected_by_rocectl(void **state)
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
static void test_commands_with_several_requests(void **state)
{
	(void)state;
	assert_fake(OK_JSON("{\"devices\":[]}"), "ports", CTL_NO_DAEMON, "rocelet");
	assert_fake(OK_JSON("ok"), "status", CTL_NO_DAEMON, "rocelet");
	assert_fake(OK_JSON("{\"pods\":[]}"), "pods -w", CTL_NO_DAEMON,
		    "no container has a device\nrocectl: ");
}

/* A daemon that accepts and never answers is reported after --timeout, with the way to wait longer.
 */
static void test_hung_daemon(void **state)
{
	static const char *const lines[] = {"pods", "status", "ready", "suggest", "top"};
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	char dir[] = "/tmp/test_ctl.XXXXXX", line[64], text[1024];
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s/sock", dir);
	assert_int_equal(bind(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	assert_int_equal(listen(fd, 8), 0);
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		snprintf(line, sizeof(line), "%s --timeout 1", lines[i]);
		assert_int_equal(run(sa.sun_path, line, text, sizeof(text)), CTL_NO_DAEMON);
		assert_non_null(strstr(text, "no answer within 1 s; rocelet hangs or is busy "
					     "(--timeout N waits longer)\n"));
	}
	close(fd);
	unlink(sa.sun_path);
	rmdir(dir);
}

/* What is empty says why, and not where a program reads rows. */
static void test_empty_lists_print_a_reason(void **state)
{
	static const char devices[] = OK_JSON("{\"devices\":[{\"id\":\"a\"},{\"id\":\"b\"}]}");

	(void)state;
	assert_fake(devices, "devices --field-selector device=c", CTL_OK,
		    "no devices match (2 on this node)\n");
	assert_fake(devices, "devices --field-selector device=c -o name", CTL_OK,
		    "no devices match (2 on this node)\n");
	assert_fake(OK_JSON("{\"events\":[]}"), "events -n a", CTL_OK, "no events match\n");
	assert_fake(OK_JSON("{\"events\":[]}"), "events", CTL_OK, "no events\n");
	assert_on_stderr(devices, "devices --field-selector device=c",
			 "no devices match (2 on this node)\n");
}

/* --- several documents ------------------------------------------------------------------------ */

#define VERDICT                                                                                    \
	"{\"device\":\"mlx5_4\",\"port\":1,\"level\":3,\"severity\":\"critical\",\"cause\":"       \
	"\"packet_loss\",\"onset\":\"2026-01-02T03:04:05.000Z\"}"
#define PORT_DOWN   "{\"device\":\"mlx5_4\",\"port\":1,\"watch\":\"down\",\"held\":true}"
#define PORT_JUDGED "{\"device\":\"mlx5_4\",\"port\":1,\"watch\":\"judged\",\"held\":true}"
#define DIAGNOSIS(verdicts, ports)                                                                 \
	{                                                                                          \
		"/api/v1/diagnosis",                                                               \
			OK_JSON("{\"time\":\"2026-01-02T03:04:36.000Z\",\"verdicts\":"             \
				"[" verdicts "],\"ports\":[" ports "]}")                           \
	}
#define OF_A_NODE                                                                                  \
	{"/api/v1/devices",                                                                        \
	 OK_JSON("{\"devices\":[{\"id\":\"0000:2a:00.0\",\"netdevs\":[{\"name\":\"ens2np0\"}]},"   \
		 "{\"id\":\"0000:2a:00.1\",\"kind\":\"vf\",\"parent\":\"0000:2a:00.0\",\"vf\":0,"  \
		 "\"netdevs\":[{\"name\":\"ens2v0\"}],\"rdma\":[{\"name\":\"mlx5_4\",\"ports\":["  \
		 "{\"port\":1}]}],\"resources\":[{\"holder\":{\"namespace\":\"train\","            \
		 "\"pod\":\"llm-0\"}}]}]}")},                                                      \
		{"/api/v1/pods", OK_JSON("{\"pods\":[{\"namespace\":\"train\",\"name\":"           \
					 "\"llm-0\",\"containers\":[]}]}")},                       \
		{"/api/v1/attachments", OK_JSON("{\"attachments\":[{\"namespace\":\"admin\","      \
						"\"pod\":\"by-hand\"}]}")},                        \
		{"/api/v1/events", OK_JSON("{\"events\":[]}")},                                    \
		{"/api/v1/qps", OK_JSON("{\"qps\":[]}")},                                          \
		{"/api/v1/doctor", OK_JSON("{\"findings\":[]}")}, {"/readyz", OK_JSON("ok\n")},    \
		{"/api/v1/ports", OK_JSON("{\"ports\":[{\"device\":\"mlx5_4\",\"port\":1,"         \
					  "\"namespace\":\"train\",\"pod\":\"llm-0\"}]}")},        \
	{                                                                                          \
		"/api/v1/explain?device=nosuch",                                                   \
			"HTTP/1.1 404 No\r\nConnection: close\r\n\r\n"                             \
			"{\"error\":\"nosuch is not a device of this node\"}"                      \
	}
#define EXPLAINED                                                                                  \
	{                                                                                          \
		"/api/v1/explain", OK_JSON("{\"device\":\"0000:2a:00.1\",\"why\":\"taken\"}")      \
	}
#define NO_MORE                                                                                    \
	{                                                                                          \
		NULL, NULL                                                                         \
	}

static void assert_answers(const struct fake_route *routes, const char *line, enum ctl_exit want,
			   const char *says)
{
	static struct fake f;
	char text[4096];
	enum ctl_exit r;

	fake_open(&f, NULL, routes);
	r = run(f.path, line, text, sizeof(text));
	fake_stop(&f);
	if (r != want || !strstr(text, says))
		fail_msg("%s: %d: %s", line, (int)r, text);
}

/* A pod or device that is not of this node is no all-clear; one without rows is. */
static void test_names_of_nothing(void **state)
{
	static const struct fake_route routes[] = {OF_A_NODE, EXPLAINED, DIAGNOSIS("", ""),
						   NO_MORE};
	static const struct fake_route young[] = {
		{"/api/v1/pods", "HTTP/1.1 503 No\r\nConnection: close\r\n\r\n{}"},
		OF_A_NODE,
		EXPLAINED,
		DIAGNOSIS("", ""),
		NO_MORE};
	static const char *const lists[] = {"pods",   "devices", "ports",
					    "events", "qps",	 "diagnose"};
	char line[128];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		snprintf(line, sizeof(line), "%s --pod llm-9", lists[i]);
		assert_answers(routes, line, CTL_NO, "rocectl: llm-9 has no device on this node\n");
		snprintf(line, sizeof(line), "%s --pod other/llm-0", lists[i]);
		assert_answers(routes, line, CTL_NO, "other/llm-0 has no device on this node\n");
		snprintf(line, sizeof(line), "%s --pod train/llm-0", lists[i]);
		assert_answers(routes, line, CTL_OK, "");
		snprintf(line, sizeof(line), "%s --pod by-hand", lists[i]);
		assert_answers(routes, line, CTL_OK, "");
		snprintf(line, sizeof(line), "%s --device nosuch", lists[i]);
		if (strcmp(lists[i], "diagnose") != 0)
			assert_answers(routes, line, CTL_NO,
				       "rocectl: nosuch is not a device of this node\n");
	}
	assert_answers(routes, "events --device 0000:2a:00.1", CTL_OK, "no events match\n");
	assert_answers(young, "diagnose --pod llm-0", CTL_NO,
		       "rocectl: llm-0: the pods of this node are not known\n");
	assert_answers(young, "events --pod by-hand", CTL_OK, "no events match\n");
	assert_answers(routes, "diagnose --pod llm-9 -o json", CTL_NO, "llm-9 has no device");
}

/* What is wrong with the network is not said to be all right by doctor, status or explain. */
static void test_no_all_clear_beside_verdicts(void **state)
{
	static const struct fake_route well[] = {OF_A_NODE, EXPLAINED, DIAGNOSIS("", PORT_JUDGED),
						 NO_MORE};
	static const struct fake_route new[] = {OF_A_NODE, EXPLAINED, DIAGNOSIS("", ""), NO_MORE};
	static const struct fake_route ill[] = {OF_A_NODE, EXPLAINED, DIAGNOSIS(VERDICT, PORT_DOWN),
						NO_MORE};
	static const struct fake_route lost[] = {OF_A_NODE, EXPLAINED, DIAGNOSIS("", PORT_DOWN),
						 NO_MORE};

	(void)state;
	assert_answers(well, "doctor", CTL_OK, "nothing is wrong with rocelet itself\n");
	assert_answers(
		ill, "doctor", CTL_OK,
		"nothing is wrong with rocelet itself; network: 1 critical, 1 port of a pod is "
		"down: rocectl diagnose\n");
	assert_answers(lost, "doctor", CTL_OK, "1 port of a pod is down: rocectl diagnose\n");
	assert_answers(well, "status", CTL_OK,
		       "rocelet     ready, no findings\nnetwork     no verdicts\n");
	assert_answers(new, "status", CTL_OK, "network     no verdict yet\n");
	assert_answers(ill, "status", CTL_NO,
		       "rocelet     ready, no findings\nnetwork     1 critical\n");
	assert_answers(lost, "status", CTL_NO, "network     1 port of a pod is down\n");
	assert_answers(lost, "status", CTL_NO, "the link is down: mlx5_4/1 (train/llm-0)\n");
	assert_answers(lost, "diagnose", CTL_WARNING, "the link is down: mlx5_4/1 (train/llm-0)\n");
	assert_answers(
		ill, "explain mlx5_4", CTL_OK,
		"0000:2a:00.1 (mlx5_4, ens2v0): taken; VF 0 of 0000:2a:00.0 (ens2np0); "
		"critical: packet_loss, since 2026-01-02T03:04:05Z (31s); the link is down\n");
	assert_answers(well, "explain mlx5_4", CTL_OK,
		       "0000:2a:00.1 (mlx5_4, ens2v0): taken; VF 0 of 0000:2a:00.0 (ens2np0)\n");
	assert_answers(ill, "explain mlx5_4 -o json", CTL_OK,
		       "{\n  \"device\": \"0000:2a:00.1\",\n  \"why\": \"taken\"\n}\n");
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

static void show_undecided(const json_t *document, FILE *f)
{
	ctl_show_diagnosis(document, true, f);
}

static void show_decided(const json_t *document, FILE *f)
{
	ctl_show_diagnosis(document, false, f);
}

static void print_diagnoses(FILE *f)
{
	show(f, "tests/golden/api_diagnosis.json", show_undecided);
	show(f, "tests/golden/api_diagnosis.json", show_decided);
	ctl_show_diagnosis(NULL, false, f);
}

static void test_diagnosis(void **state)
{
	(void)state;
	assert_golden("tests/golden/rocectl_diagnosis.txt", print_diagnoses);
}

static void test_evidence(void **state)
{
	static const struct {
		double value;
		const char *unit, *text;
	} rows[] = {
		{0.0005195, "ratio", "0.05195 %"},
		{1, "ratio", "100 %"},
		{0, "ratio", "0 %"},
		{2.5e-9, "ratio", "2.5e-09"},
		{403, "1/s", "403/s"},
		{1733, "s", "28m"},
		{99.73, "s", "99.73 s"},
		{24000, "", "24,000"},
		{12.5e9, "B/s", "12,500,000,000 B/s"},
	};
	char text[CTL_EVIDENCE_SIZE];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_string_equal(ctl_evidence_text(rows[i].value, rows[i].unit, text),
				    rows[i].text);
}

/* Whose pods a verdict's are is said where the document has it. */
static void test_roles(void **state)
{
	static const struct {
		const char *role, *says;
	} rows[] = {{"null", "    pod: n/p\n"},
		    {"\"cause\"", "    caused by: n/p\n"},
		    {"\"affected\"", "    affected: n/p\n"}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char source[256], *text = NULL;
		json_t *document;
		size_t len;
		FILE *f = open_memstream(&text, &len);

		snprintf(
			source, sizeof(source),
			"{\"verdicts\":[{\"level\":2,\"role\":%s,\"podCount\":1,\"pods\":[{\"namespace\":"
			"\"n\",\"name\":\"p\"}]}]}",
			rows[i].role);
		document = json_loads(source, 0, NULL);
		ctl_show_diagnosis(document, false, f);
		fclose(f);
		assert_non_null(strstr(text, rows[i].says));
		json_decref(document);
		free(text);
	}
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

		ctl_show_explain(document, document, document, f);
		ctl_show_doctor(document, document, f);
		ctl_show_diagnosis(document, true, f);
		ctl_show_attached(document, f);
		ctl_show_detached(document, f);
		json_decref(document);
	}
	fclose(f);
}

TEST_GROUP(ctl)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_documents_are_printed),
		cmocka_unit_test(test_rows_selected_by_rocectl),
		cmocka_unit_test(test_commands_with_several_requests),
		cmocka_unit_test(test_no_daemon),
		cmocka_unit_test(test_hung_daemon),
		cmocka_unit_test(test_empty_lists_print_a_reason),
		cmocka_unit_test(test_completion_of_live_names),
		cmocka_unit_test(test_names_of_nothing),
		cmocka_unit_test(test_no_all_clear_beside_verdicts),
		cmocka_unit_test(test_evidence),
		cmocka_unit_test(test_roles),
		cmocka_unit_test(test_diagnosis),
		cmocka_unit_test(test_diagnosis_level),
		cmocka_unit_test(test_documents_of_another_shape),
	};

	return test_group_run(tests, NULL, NULL);
}
