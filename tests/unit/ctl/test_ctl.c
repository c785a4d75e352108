// SPDX-License-Identifier: Apache-2.0
/* The output of rocectl's commands, also with servers that are not rocelet. */
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
#include "health.h"
#include "runbook_text.h"
#include "test_group.h"
#include "trouble_word.h"
#include "version.h"

static char words[512], *argv[64];

/* --- a fake server ---------------------------------------------------------------------------- */

struct fake_route {
	const char *path, *answer;
};

struct fake {
	int fd;
	const char *answer;
	const struct fake_route *routes; /* NULL: `answer`, once */
	char dir[32], path[64], request[65536];
	pthread_t thread;
};

/* Returns the answer of the first route that the request's path begins with. */
static const char *fake_answer(const struct fake *f)
{
	for (const struct fake_route *r = f->routes; r->path; r++)
		if (strncmp(f->request + strlen("GET "), r->path, strlen(r->path)) == 0)
			return r->answer;
	return "HTTP/1.1 404 No\r\nConnection: close\r\n\r\n{}";
}

/* Answers every request until the socket is shut down. */
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

/* Reads one request, sends the answer and closes. */
static void *serve(void *arg)
{
	struct fake *f = arg;
	int fd = accept(f->fd, NULL, NULL);

	if (fd < 0)
		return NULL;
	if (recv(fd, f->request, sizeof(f->request) - 1, 0) > 0)
		send(fd, f->answer, strlen(f->answer), MSG_NOSIGNAL);
	shutdown(f->fd, SHUT_RDWR); /* further connections are refused */
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

/* Runs a command line; `text` gets output and errors together. */
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

/* expected: part of the expected request; NULL: any. */
static void assert_request(const char *answer, const char *line, enum ctl_exit want,
			   const char *part, const char *expected)
{
	static struct fake f;
	char text[4096];
	enum ctl_exit r;

	fake_start(&f, answer);
	r = run(f.path, line, text, sizeof(text));
	fake_stop(&f);
	if (r != want || !strstr(text, part))
		fail_msg("%s: %d: %s", line, (int)r, text);
	if (expected && !strstr(f.request, expected))
		fail_msg("%s: %s", line, f.request);
}

static void assert_fake(const char *answer, const char *line, enum ctl_exit want, const char *part)
{
	assert_request(answer, line, want, part, NULL);
}

#define OK_JSON(body) "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" body

static void test_documents_are_printed(void **state)
{
	(void)state;
	assert_fake(OK_JSON("{\"pods\":[]}"), "pods", CTL_OK, "no container has a device\n");
	assert_fake(OK_JSON("{\"a\" : [1]}"), "pods --json", CTL_OK,
		    "{\n  \"a\": [\n    1\n  ]\n}\n");
	assert_fake(OK_JSON("{\"a\" : [1]}"), "doctor -o yaml", CTL_OK, "a:\n- 1\n");
	assert_fake(OK_JSON("{\"findings\":[]}"), "doctor", CTL_OK,
		    "no problems found in rocelet itself\n");
	assert_fake(
		OK_JSON("{\"findings\":[{\"kind\":\"dirty\",\"object\":\"d1\",\"namespace\":\"a\","
			"\"pod\":\"x\",\"what\":\"w1\",\"help\":\"h\"},{\"kind\":\"journal\","
			"\"object\":null,\"what\":\"w2\",\"help\":\"i\"},{\"kind\":\"dirty\","
			"\"object\":\"d2\",\"pod\":null,\"what\":\"w3\",\"help\":\"h\"}]}"),
		"doctor", CTL_NO,
		"dirty (2):\n  d1 (pod a/x): w1\n  d2: w3\n    h\njournal: w2\n    i\n");
	assert_fake(
		OK_JSON("{\"findings\":[{\"kind\":\"unhealthy\",\"about\":\"host\",\"object\":"
			"\"d1\",\"what\":\"w1\",\"help\":\"h\"}],\"unchecked\":[\"u\"]}"),
		"doctor", CTL_OK,
		"no problems found in rocelet itself, but some checks did not run\nnot checked: u\n\n"
		"this host:\nunhealthy: d1: w1\n    h\n");
	assert_fake(OK_JSON("{\"findings\":[{\"kind\":\"unhealthy\",\"about\":\"host\",\"what\":"
			    "\"w1\",\"help\":\"h\"},{\"kind\":\"journal\",\"about\":\"rocelet\","
			    "\"what\":\"w2\",\"help\":\"i\"}]}"),
		    "doctor", CTL_NO, "journal: w2\n    i\n\nthis host:\nunhealthy: w1\n    h\n");
	assert_fake(OK_JSON("{\"findings\":[{\"kind\":\"chardev\",\"about\":\"host\"}]}"),
		    "doctor --json", CTL_OK, "\"chardev\"");
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
		"closed before the answer was complete (no daemon answers; that is not a hang)");
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

/* Asserts that only this text is printed, to standard error. */
static void assert_on_stderr(const char *answer, const char *line, const char *part)
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
	assert_string_equal(err, part);
	free(out);
	free(err);
}

#define TWO_EVENTS                                                                                 \
	"{\"events\":[{\"namespace\":\"a\",\"pod\":\"x\",\"reason\":\"R1\"},"                      \
	"{\"namespace\":\"b\",\"pod\":\"y\",\"reason\":\"R2\"},"                                   \
	"{\"namespace\":\"a\",\"pod\":\"z\",\"reason\":\"R3\"}]}"

/* Selections that the daemon supports are in the request; for others rocectl requests all rows. */
static void test_rows_selected_by_rocectl(void **state)
{
	(void)state;
	assert_request(OK_JSON(TWO_EVENTS), "events --limit 2 --pod b/y", CTL_OK, "R3",
		       "GET /api/v1/events?pod=b%2Fy&limit=2 ");
	assert_fake(
		OK_JSON("{\"pods\":[{\"namespace\":\"a\",\"name\":\"x\",\"containers\":[{"
			"\"devices\":[{\"id\":\"d1\",\"rdma\":\"mlx5_3\"}]}]},{\"namespace\":\"a\","
			"\"name\":\"y\",\"containers\":[{\"devices\":[{\"id\":\"d2\"}]}]}]}"),
		"pods a/x --no-headers", CTL_OK, "a/x  -  -  d1  mlx5_3  -  -  -  -  -  held  -\n");
	assert_request(OK_JSON(TWO_EVENTS), "events --since 10m", CTL_OK, "R3",
		       "GET /api/v1/events?since=10m ");
	assert_request(OK_JSON(TWO_EVENTS), "events --since 02:10 --until 02:20", CTL_OK, "R3",
		       "GET /api/v1/events?since=02%3A10&until=02%3A20 ");
	assert_request(OK_JSON("{\"events\":[{\"namespace\":\"b\",\"pod\":\"y\",\"pods\":[{"
			       "\"namespace\":\"b\"},{\"namespace\":\"a\"}],\"reason\":\"R4\"}]}"),
		       "events -n a", CTL_OK, "R4", NULL);
	assert_request(OK_JSON(TWO_EVENTS), "events --limit 1 -n a --no-headers", CTL_OK,
		       "-  -  R3  a/z  -  -  -\n", "GET /api/v1/events?limit=10000 ");
	assert_request(OK_JSON(TWO_EVENTS),
		       "events --limit 1 --field-selector reason=R1 --no-headers", CTL_OK, "R1",
		       "limit=10000 ");
	assert_request(OK_JSON("{\"devices\":[{\"id\":\"0000:03:00.2\"},{\"id\":\"e\"}]}"),
		       "devices --device 03:00.2 -o name", CTL_OK, "0000:03:00.2\n",
		       "GET /api/v1/devices HTTP");
}

/* The fake server answers only the first request; --watch ends when the server is gone. */
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
	assert_int_equal(run(sa.sun_path, "alive --timeout 1", text, sizeof(text)), CTL_NO);
	assert_non_null(strstr(text, "no answer within 1 s\n"));
	close(fd);
	unlink(sa.sun_path);
	rmdir(dir);
}

/* An empty list prints a reason, but not to standard output, where programs read rows. */
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
	/* If the kubelet does not answer, the pods are unknown. */
	assert_fake(OK_JSON("{\"source\":null,\"pods\":[]}"), "pods", CTL_NO,
		    "unknown: the kubelet has not reported which container has which device\n");
	assert_fake(OK_JSON("{\"source\":null,\"pods\":[]}"), "pods -o name", CTL_NO, "unknown: ");
	assert_fake(OK_JSON("{\"source\":null,\"pods\":[]}"), "pods -o json", CTL_NO,
		    "unknown: the kubelet has not reported which container has which device\n");
	assert_fake(OK_JSON("{\"source\":null,\"pods\":[]}"), "pods -n a", CTL_NO, "unknown: ");
	assert_fake(OK_JSON("{\"source\":\"api\",\"pods\":[]}"), "pods", CTL_OK,
		    "no container has a device\n");
	assert_fake(OK_JSON("{\"source\":null,\"error\":\"no such file\",\"pods\":[]}"), "pods",
		    CTL_NO,
		    "unknown: the kubelet has not reported which container has which device: no "
		    "such file\n");
	/* If it answers no longer, the list is an old one, with or without pods. */
	assert_fake(OK_JSON("{\"source\":\"api\",\"error\":\"no answer\",\"pods\":[]}"), "pods",
		    CTL_NO,
		    "unknown: no container had a device when the kubelet last answered; it does "
		    "not answer now: no answer\n");
	assert_fake(OK_JSON("{\"source\":\"api\",\"error\":\"no answer\",\"pods\":[{\"namespace\":"
			    "\"a\",\"name\":\"b\",\"containers\":[{\"name\":\"c\",\"devices\":[{"
			    "\"resource\":\"r\",\"id\":\"1\"}]}]}]}"),
		    "pods", CTL_OK,
		    "as the kubelet last reported; it does not answer now: no answer\n");
	/* So may the queue pairs be, with a reason and what to do. */
	assert_fake(OK_JSON("{\"source\":null,\"error\":null,\"qps\":[]}"), "qps", CTL_NO,
		    "have not been read yet; rocelet reads them within a few seconds\n");
	/* It has given up: no advice to wait. */
	assert_fake(OK_JSON("{\"source\":null,\"error\":\"x\",\"retries\":false,\"qps\":[]}"),
		    "qps", CTL_NO, "queue pairs cannot be read: x; rocelet does not retry\n");
	assert_fake(OK_JSON("{\"source\":null,\"error\":\"queue pairs: Protocol not supported\","
			    "\"qps\":[]}"),
		    "qps", CTL_NO,
		    "cannot be read: queue pairs: Protocol not supported; this kernel has no RDMA: "
		    "load ib_core");
	assert_fake(OK_JSON("{\"source\":null,\"error\":\"x\",\"qps\":[]}"), "qps", CTL_NO,
		    "cannot be read: x; rocelet retries");
	assert_fake(OK_JSON("{\"source\":\"netlink\",\"qps\":[]}"), "qps", CTL_OK,
		    "no queue pairs\n");
	assert_on_stderr(devices, "devices --field-selector device=c",
			 "no devices match (2 on this node)\n");
}

/* --- several documents ------------------------------------------------------------------------ */

#define VERDICT LOSS_OF("look", "keep")
#define LOSS_OF(advice, node)                                                                      \
	"{\"device\":\"mlx5_4\",\"port\":1,\"level\":3,\"severity\":\"critical\",\"cause\":"       \
	"\"packet_loss\",\"onset\":\"2026-01-02T03:04:05.000Z\",\"advice\":\"" advice              \
	"\",\"nodeAction\":\"" node "\",\"podCount\":1}"
#define VERDICT_CLEARING                                                                           \
	"{\"device\":\"mlx5_4\",\"port\":1,\"level\":3,\"severity\":\"critical\",\"cause\":"       \
	"\"packet_loss\",\"onset\":\"2026-01-02T03:04:05.000Z\",\"lastSeen\":"                     \
	"\"2026-01-02T03:04:24.000Z\",\"clearingSinceMs\":7}"
#define TROUBLE                                                                                    \
	"{\"kind\":\"verdict\",\"word\":\"packet_loss\",\"level\":3,\"severity\":\"critical\","    \
	"\"ofPf\":false,\"since\":\"2026-01-02T03:04:05.000Z\"}"
#define PORT_DOWN		   "{\"device\":\"mlx5_4\",\"port\":1,\"watch\":\"down\",\"held\":true}"
#define PORT_JUDGED		   "{\"device\":\"mlx5_4\",\"port\":1,\"watch\":\"judged\",\"held\":true}"
#define DIAGNOSIS(verdicts, ports) DIAGNOSIS_WITH(verdicts, "", ports)
#define DIAGNOSIS_WITH(verdicts, troubles, ports)                                                  \
	{                                                                                          \
		"/api/v1/diagnosis",                                                               \
			OK_JSON("{\"time\":\"2026-01-02T03:04:36.000Z\",\"verdicts\":"             \
				"[" verdicts "],\"troubles\":[" troubles "],\"ports\":[" ports     \
				"]}")                                                              \
	}
#define LINK_DOWN                                                                                  \
	"{\"kind\":\"link\",\"word\":\"link_down\",\"level\":2,\"severity\":\"warning\","          \
	"\"since\":\"2026-01-02T03:04:05.000Z\","                                                  \
	"\"device\":\"mlx5_4\",\"rdma\":\"mlx5_4\",\"namespace\":\"train\",\"pod\":\"llm-0\"}"
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
		"/api/v1/explain?device=nosuch", "HTTP/1.1 404 No\r\nConnection: close\r\n\r\n"    \
						 "{\"error\":\"this node has no device nosuch\"}"  \
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
			   const char *part)
{
	static struct fake f;
	char text[8192];
	enum ctl_exit r;

	fake_open(&f, NULL, routes);
	r = run(f.path, line, text, sizeof(text));
	fake_stop(&f);
	if (r != want || !strstr(text, part))
		fail_msg("%s: %d: %s", line, (int)r, text);
}

/* An unknown pod or device is an error; a known one without rows is not. */
static void test_unknown_names(void **state)
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
		assert_answers(routes, line, CTL_NO,
			       "rocectl: llm-9 has no device on this node; did you mean "
			       "train/llm-0?\n");
		snprintf(line, sizeof(line), "%s --pod other/llm-0", lists[i]);
		assert_answers(routes, line, CTL_NO, "other/llm-0 has no device on this node");
		snprintf(line, sizeof(line), "%s --pod train/llm-0", lists[i]);
		assert_answers(routes, line, CTL_OK, "");
		snprintf(line, sizeof(line), "%s --pod by-hand", lists[i]);
		assert_answers(routes, line, CTL_OK, "");
		snprintf(line, sizeof(line), "%s --device nosuch", lists[i]);
		if (strcmp(lists[i], "diagnose") != 0)
			assert_answers(routes, line, CTL_NO,
				       "rocectl: this node has no device nosuch\n");
	}
	assert_answers(routes, "events --device 0000:2a:00.1", CTL_OK, "no events match\n");
	assert_answers(young, "diagnose --pod llm-0", CTL_NO,
		       "rocectl: llm-0: the pods of this node are not known\n");
	assert_answers(young, "events --pod by-hand", CTL_OK, "no events match\n");
	assert_answers(routes, "diagnose --pod llm-9 -o json", CTL_NO, "llm-9 has no device");
	assert_answers(routes, "sniff mlx5_9 --pod train/llm-0", CTL_NO,
		       "rocectl: pod train/llm-0 does not have mlx5_9; see rocectl pods\n");
}

#define OF_PF                                                                                      \
	"\"watch\":\"judged\",\"health\":\"warning\",\"troubles\":[{\"kind\":\"verdict\","         \
	"\"word\":\"fabric_congestion\",\"level\":2,\"severity\":\"warning\",\"ofPf\":true,"       \
	"\"since\":\"2026-01-02T03:04:05.000Z\"},{\"kind\":\"device\",\"word\":\"pci\"}]"

/* Reasons in other lists: a rejected file has no resources, a VF's pod is affected by its PF's
 * verdict, and ended verdicts are counted. */
static void test_the_reason_is_named(void **state)
{
	static const struct fake_route refused[] = {
		{"/api/v1/devices", OK_JSON("{\"devices\":[],\"resources\":[]}")},
		{"/readyz", "HTTP/1.1 503 No\r\nConnection: close\r\n\r\n"
			    "not ready: the configuration file is rejected: line 7\n"},
		NO_MORE};
	static const struct fake_route observing[] = {
		{"/api/v1/devices", OK_JSON("{\"devices\":[],\"resources\":[]}")},
		{"/readyz", "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nok\n"
			    "observes only (--observe): the configured pools (2) are not offered\n"
			    "something else\n"},
		NO_MORE};
	static const struct fake_route unknown[] = {
		{"/api/v1/pods", OK_JSON("{\"source\":null,\"pods\":[]}")},
		{"/api/v1/attachments", OK_JSON("{\"attachments\":[]}")},
		NO_MORE};
	static const struct fake_route affected[] = {
		{"/api/v1/diagnosis",
		 OK_JSON("{\"time\":\"2026-01-02T03:04:36.000Z\",\"verdicts\":[{\"device\":\"mlx5_2\","
			 "\"port\":1,\"function\":\"0000:2a:00.0\",\"level\":2,\"severity\":"
			 "\"warning\",\"cause\":\"fabric_congestion\",\"causedBy\":[],"
			 "\"onset\":\"2026-01-02T03:04:05.000Z\",\"podCount\":1,\"pods\":[{"
			 "\"namespace\":\"train\",\"name\":\"llm-0\"}]}],\"ports\":[],"
			 "\"ended\":[{},{}]}")},
		{"/api/v1/pods",
		 OK_JSON("{\"source\":\"api\",\"pods\":[{\"namespace\":\"train\",\"name\":\"llm-0\","
			 "\"network\":{\"answer\":\"no\",\"why\":\"No fault is visible\"},"
			 "\"containers\":[{\"name\":\"c\",\"devices\":[{\"id\":\"0000:2a:00.1\"," OF_PF
			 "}]}]}]}")},
		{"/api/v1/ports",
		 OK_JSON("{\"time\":\"2026-01-02T03:04:36.000Z\",\"ports\":[{\"device\":\"mlx5_4\","
			 "\"port\":1,\"namespace\":\"train\",\"pod\":\"llm-0\"," OF_PF "}]}")},
		OF_A_NODE,
		EXPLAINED,
		NO_MORE};

	(void)state;
	assert_answers(unknown, "pods a/b", CTL_NO,
		       "rocectl: a/b: the pods of this node are not known\n");
	assert_answers(refused, "resources", CTL_OK,
		       "no resources are offered\nrocelet is not ready: the configuration file "
		       "is rejected: line 7\n");
	assert_answers(observing, "resources", CTL_OK,
		       "no resources are offered\nrocelet observes only (--observe): the "
		       "configured pools (2) are not offered\n");
	assert_answers(refused, "devices", CTL_OK, "rocelet is not ready: the configuration");
	assert_answers(affected, "ports --no-headers --columns port,health,causes", CTL_OK,
		       "mlx5_4/1  warning (PF)  fabric_congestion,pci\n");
	assert_answers(affected, "pods --no-headers --columns pod,health,causes", CTL_OK,
		       "train/llm-0  warning (PF)  fabric_congestion,pci\n");
	/* Only a certain no is a no. */
	assert_answers(affected, "pods --no-headers --columns pod,network", CTL_OK,
		       "train/llm-0  not seen\n");
	/* A selector compares values: without the remark, and each one of a list. */
	assert_answers(affected, "pods -o name --field-selector health=warning", CTL_OK,
		       "train/llm-0\n");
	assert_answers(affected, "pods --field-selector health!=warning", CTL_OK, "no pods match");
	assert_answers(affected, "ports -o name --field-selector health=warning,causes=pci", CTL_OK,
		       "mlx5_4/1\n");
	assert_answers(affected, "ports --field-selector causes=fabric", CTL_OK, "no ports match");
	assert_answers(affected, "explain mlx5_4", CTL_OK,
		       "; warning: fabric_congestion of its PF, since 2026-01-02T03:04:05Z (31s)");
	assert_answers(affected, "diagnose", CTL_WARNING,
		       "\n2 verdicts ended in the last hour: rocectl diagnose --ended\n");
	assert_answers(affected, "status", CTL_NO,
		       "\n2 verdicts ended in the last hour: rocectl diagnose --ended\n");
}

/* A pod may be named without its namespace, by its uid or by its address, if that is enough. */
static void test_names_of_pods(void **state)
{
	static const struct fake_route routes[] = {
		{"/api/v1/pods",
		 OK_JSON("{\"pods\":[{\"namespace\":\"train\",\"name\":\"llm-0\",\"uid\":\"u0\","
			 "\"containers\":[{\"devices\":[{\"id\":\"0000:2a:00.1\"}]}]},"
			 "{\"namespace\":\"a\",\"name\":\"twin\"},{\"namespace\":\"b\",\"name\":\"twin\"}"
			 "]}")},
		{"/api/v1/attachments",
		 OK_JSON("{\"attachments\":[{\"namespace\":\"train\",\"pod\":"
			 "\"llm-0\",\"ips\":[\"10.9.0.1/24\"]}]}")},
		{"/api/v1/explain?device=0000", OK_JSON("{\"device\":\"0000:2a:00.1\"}")},
		{"/api/v1/explain", "HTTP/1.1 404 No\r\nConnection: close\r\n\r\n"
				    "{\"error\":\"this node has no device X\"}"},
		{"/api/v1/diagnosis?ended=1&pod=train%2Fllm-0",
		 OK_JSON("{\"verdicts\":[],\"troubles\":[{\"device\":\"0000:2a:00.1\",\"level\":3,"
			 "\"severity\":\"critical\",\"word\":\"link_down\",\"what\":\"w\",\"help\":\"h\","
			 "\"namespace\":\"train\",\"pod\":\"llm-0\"}],\"ports\":[]}")},
		{"/api/v1/doctor",
		 OK_JSON("{\"findings\":[{\"kind\":\"chardev\",\"what\":\"f\",\"about\":\"host\"},"
			 "{\"kind\":\"unhealthy\",\"what\":\"again\",\"about\":\"host\"},"
			 "{\"kind\":\"dirty\",\"what\":\"own\",\"about\":\"rocelet\"}]}")},
		{"/api/v1/devices",
		 OK_JSON("{\"devices\":[{\"id\":\"0000:2a:00.1\",\"resources\":[{\"holder\":{"
			 "\"namespace\":\"train\",\"pod\":\"llm-0\"}}],\"rdma\":[{\"name\":\"mlx5_3\","
			 "\"ports\":[{\"port\":1}]}]}]}")},
		{"/api/v1/events?pod=train%2Fllm-0&limit=5",
		 OK_JSON("{\"events\":[{\"type\":\"Warning\",\"reason\":\"AttachFailed\",\"last\":"
			 "\"2026-01-02T03:04:05.000Z\",\"message\":\"m\"}]}")},
		{"/api/v1/events?pod=train%2Fnone",
		 OK_JSON("{\"events\":[{\"reason\":\"AttachFailed\",\"last\":"
			 "\"2026-01-02T03:04:06.000Z\"}]}")},
		{"/api/v1/", OK_JSON("{}")},
		NO_MORE};
	static const char *const names[] = {"llm-0", "u0", "10.9.0.1", "train/llm-0"};
	char line[64];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(line, sizeof(line), "diagnose %s", names[i]);
		assert_answers(routes, line, CTL_CRITICAL,
			       "critical: 0000:2a:00.1: link_down\n    w\n    affected: "
			       "train/llm-0\n    advice: h\n\n");
		assert_answers(routes, line, CTL_CRITICAL,
			       "doctor: chardev: f\nlast events:\n    2026-01-02T03:04:05.000Z  "
			       "Warning  AttachFailed  -  -  m\nrocelet itself: 1 finding: rocectl "
			       "doctor\n");
		snprintf(line, sizeof(line), "ports %s -o json", names[i]);
		assert_answers(routes, line, CTL_OK, "\"pod\": \"llm-0\"");
		snprintf(line, sizeof(line), "explain %s", names[i]);
		assert_answers(routes, line, CTL_OK, "0000:2a:00.1");
	}
	assert_answers(routes, "diagnose --pod llm-0", CTL_CRITICAL, "link_down");
	/* A pod that got no device has events, too. */
	assert_answers(routes, "diagnose train/none", CTL_NO,
		       "train/none has no device on this node");
	assert_answers(routes, "diagnose train/none", CTL_NO,
		       "last events:\n    2026-01-02T03:04:06");
	assert_answers(routes, "diagnose twin", CTL_NO,
		       "rocectl: several pods are named twin: a/twin, b/twin\n");
	assert_answers(routes, "attach 0000:2a:00.1 --pod twin", CTL_NO, "several pods are named");
	assert_answers(
		routes, "explain lm-0", CTL_NO,
		"rocectl: this node has no device X, and no pod with that name has a device; "
		"did you mean train/llm-0?\n");
	assert_answers(routes, "diagnose zzz", CTL_NO, "no pod with that name has a device\n");
}

/* Only one of these faults is known to be over. */
static void test_ended(void **state)
{
	static const struct fake_route routes[] = {
		{"/api/v1/diagnosis?ended=1",
		 /* The exit status is not that of what is wrong now. */
		 OK_JSON("{\"verdicts\":[{\"level\":3}],\"ended\":["
			 "{\"cause\":\"a\",\"endedAs\":\"cleared\"},"
			 "{\"cause\":\"b\",\"endedAs\":\"explained\",\"explainedBy\":\"link_flap\"},"
			 "{\"cause\":\"c\",\"endedAs\":\"unseen\"},"
			 "{\"cause\":\"d\",\"endedAs\":\"gone\"}]}")},
		NO_MORE};
	static const char *const rows[] = {"a      cleared  ", "b      absorbed by link_flap  ",
					   "c      counters lost  ", "d      port removed  "};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_answers(routes, "diagnose --ended", CTL_OK, rows[i]);
}

#define AT_TWO(since, known, verdicts, ended)                                                      \
	{                                                                                          \
		"/api/v1/diagnosis?ended=1&since=02%3A10",                                         \
			OK_JSON("{\"time\":\"2026-01-02T03:04:36.000Z\",\"since\":\"" since        \
				"\",\"knownSince\":\"" known "\",\"verdicts\":[" verdicts          \
				"],\"troubles\":[],\"ended\":[" ended "]}")                        \
	}
#define STARTED                                                                                    \
	{                                                                                          \
		"/api/v1", OK_JSON("{\"started\":\"2026-01-02T02:00:00.000Z\"}")                   \
	}
#define BEFORE_ONE "2026-01-02T01:10:00.000Z"
#define AT_TEN	   "2026-01-02T02:10:00.000Z"
#define KNOWN	   "2026-01-02T02:04:36.000Z"
#define ONE_ENDED                                                                                  \
	"{\"device\":\"mlx5_0\",\"port\":1,\"level\":2,\"severity\":\"warning\",\"cause\":"        \
	"\"bad_link\",\"endedAs\":\"cleared\",\"onset\":\"2026-01-02T02:11:00.000Z\","             \
	"\"ended\":\"2026-01-02T02:12:00.000Z\"}"

/* What was wrong at a time: verdicts that have ended and those that are still open. Nothing is
 * "nothing" only if rocelet remembers all of that time. */
static void test_diagnose_of_a_time(void **state)
{
	static const struct fake_route both[] = {AT_TWO(AT_TEN, KNOWN, VERDICT, ONE_ENDED), STARTED,
						 NO_MORE};
	static const struct fake_route ended[] = {AT_TWO(AT_TEN, KNOWN, "", ONE_ENDED), STARTED,
						  NO_MORE};
	static const struct fake_route none[] = {AT_TWO(AT_TEN, KNOWN, "", ""), STARTED, NO_MORE};
	static const struct fake_route early[] = {AT_TWO(BEFORE_ONE, KNOWN, "", ""), STARTED,
						  NO_MORE};
	static const struct fake_route kept[] = {AT_TWO("2026-01-02T02:03:00.000Z", KNOWN, "", ""),
						 STARTED, NO_MORE};
	static const struct fake_route trouble[] = {
		{"/api/v1/diagnosis",
		 OK_JSON("{\"time\":\"2026-01-02T03:04:36.000Z\",\"since\":\"" AT_TEN
			 "\",\"knownSince\":"
			 "\"" KNOWN "\",\"verdicts\":[],\"troubles\":[" LINK_DOWN
			 "],\"ended\":[]}")},
		NO_MORE};
	static const struct fake_route early_open[] = {AT_TWO(BEFORE_ONE, KNOWN, VERDICT, ""),
						       STARTED, NO_MORE};

	(void)state;
	assert_answers(both, "diagnose --since 02:10", CTL_CRITICAL,
		       "open   31s     critical  mlx5_4/1  packet_loss  open ");
	assert_answers(both, "diagnose --since 02:10 --ended", CTL_CRITICAL,
		       "52m    60s     warning   mlx5_0/1  bad_link     cleared ");
	assert_answers(ended, "diagnose --since 02:10 --until 02:20", CTL_WARNING, "bad_link");
	assert_answers(none, "diagnose --since 02:10", CTL_OK, "no problems at this time\n");
	assert_answers(early, "diagnose --since 02:10", CTL_NO,
		       "rocectl: rocelet has run since 2026-01-02T02:00:00Z: what was before is "
		       "not known\n");
	assert_answers(kept, "diagnose --since 02:10", CTL_NO,
		       "rocectl: rocelet keeps ended verdicts of the last hour: what ended before "
		       "2026-01-02T02:04:36Z is not known\n");
	assert_answers(early_open, "diagnose --since 02:10", CTL_CRITICAL, "is not known\n");
	assert_answers(early, "diagnose --since 02:10 -o json", CTL_NO, "\"knownSince\"");
	assert_answers(trouble, "diagnose --since 02:10", CTL_WARNING,
		       "open   31s     warning   mlx5_4  link_down  open  -         train/llm-0\n");
}

/* doctor, status and explain mention problems of the network even if rocelet itself has none. */
static void test_no_all_clear_with_open_verdicts(void **state)
{
	static const struct fake_route well[] = {OF_A_NODE, EXPLAINED, DIAGNOSIS("", PORT_JUDGED),
						 NO_MORE};
	static const struct fake_route new[] = {OF_A_NODE, EXPLAINED, DIAGNOSIS("", ""), NO_MORE};
	static const struct fake_route ill[] = {
		{"/api/v1/ports",
		 OK_JSON("{\"time\":\"2026-01-02T03:04:36.000Z\",\"ports\":[{"
			 "\"device\":\"mlx5_4\",\"port\":1,\"namespace\":\"train\","
			 "\"pod\":\"llm-0\",\"troubles\":[" TROUBLE
			 ",{\"kind\":\"device\",\"word\":\"link_down\"}]}]}")},
		{"/api/v1/events",
		 OK_JSON("{\"events\":["
			 "{\"type\":\"Warning\",\"reason\":\"Old\",\"last\":\"2026-01-02T03:02:04.000Z\"},"
			 "{\"type\":\"Warning\",\"reason\":\"DiagnosisOnset\",\"last\":\"2026-01-02T03:04:05.000Z\"},"
			 "{\"type\":\"Warning\",\"reason\":\"PfcChanged\",\"last\":\"2026-01-02T03:03:00.000Z\"},"
			 "{\"type\":\"Warning\",\"reason\":\"Later\",\"last\":\"2026-01-02T03:04:07.000Z\"}]}")},
		OF_A_NODE,
		EXPLAINED,
		DIAGNOSIS(VERDICT, PORT_DOWN),
		NO_MORE};
	static const struct fake_route lost[] = {
		{"/api/v1/ports",
		 OK_JSON("{\"time\":\"2026-01-02T03:04:36.000Z\",\"ports\":[{"
			 "\"device\":\"mlx5_4\",\"port\":1,\"namespace\":\"train\","
			 "\"pod\":\"llm-0\",\"troubles\":[" LINK_DOWN "]}]}")},
		OF_A_NODE,
		EXPLAINED,
		DIAGNOSIS_WITH("", LINK_DOWN, PORT_DOWN),
		NO_MORE};

	static const struct fake_route better[] = {
		{"/api/v1/ports",
		 OK_JSON("{\"time\":\"2026-01-02T03:04:36.000Z\",\"ports\":[{"
			 "\"device\":\"mlx5_4\",\"port\":1,\"troubles\":[" TROUBLE "]}]}")},
		OF_A_NODE,
		EXPLAINED,
		DIAGNOSIS("{\"cause\":\"bad_link\"}," VERDICT_CLEARING, PORT_JUDGED),
		NO_MORE};
	static const struct fake_route started[] = {
		{"/api/v1/events", OK_JSON("{\"events\":[]}")},
		{"/api/v1", OK_JSON("{\"started\":\"2026-01-02T03:00:00.000Z\"}")},
		NO_MORE};

	(void)state;
	assert_answers(well, "doctor", CTL_OK, "no problems found in rocelet itself\n");
	assert_answers(ill, "doctor", CTL_OK,
		       "no problems found in rocelet itself; network: 1 problem: 1 critical: "
		       "rocectl diagnose\n");
	assert_answers(lost, "doctor", CTL_OK, "network: 1 problem: 1 warning: rocectl diagnose\n");
	assert_answers(well, "status", CTL_OK,
		       "rocelet     ready, no findings\nnetwork     no problems\n");
	assert_answers(new, "status", CTL_OK, "network     no verdict yet\n");
	assert_answers(ill, "status", CTL_NO,
		       "rocelet     ready, no findings\nnetwork     1 problem: 1 critical\n");
	assert_answers(lost, "status", CTL_NO, "network     1 problem: 1 warning\n");
	/* A problem without a verdict has a row, as a verdict has. */
	assert_answers(lost, "status", CTL_NO, "SEVERITY  FOR  PORT");
	assert_answers(lost, "status", CTL_NO, "warning   31s  mlx5_4  link_down  train/llm-0\n");
	assert_answers(lost, "diagnose", CTL_WARNING, "the link is down: mlx5_4/1 (train/llm-0)\n");
	assert_answers(ill, "explain mlx5_4", CTL_OK,
		       "0000:2a:00.1 (mlx5_4, ens2v0): taken; VF 0 of 0000:2a:00.0 (ens2np0); "
		       "critical: packet_loss, since 2026-01-02T03:04:05Z (31s)\n"
		       "    node: keep it in service\n"
		       "    advice: look\n"
		       "    shortly before: 2026-01-02T03:03:00.000Z  Warning  PfcChanged");
	assert_answers(
		better, "explain mlx5_4", CTL_OK,
		"; critical: packet_loss, since 2026-01-02T03:04:05Z (31s), better now, last "
		"seen 12s ago\n");
	assert_answers(started, "events", CTL_OK,
		       "no events\nrocelet remembers events since its start at "
		       "2026-01-02T03:00:00Z\n");
	assert_answers(well, "explain mlx5_4", CTL_OK,
		       "0000:2a:00.1 (mlx5_4, ens2v0): taken; VF 0 of 0000:2a:00.0 (ens2np0)\n");
}

#define ONE_POD                                                                                       \
	"{\"namespace\":\"train\",\"name\":\"llm-0\",\"uid\":\"u0\",\"network\":{\"answer\":\"yes\"," \
	"\"why\":\"Yes: w\"},\"containers\":[{\"devices\":[{\"id\":\"0000:2a:00.1\"},"                \
	"{\"id\":\"0000:2a:00.1\"}]}]}"

/* The document of `explain` has everything that its text has, for a device and for a pod. */
static void test_explain_is_the_whole_answer(void **state)
{
	static const struct fake_route routes[] = {
		{"/api/v1/pods?pod=", OK_JSON("{\"source\":\"api\",\"pods\":[" ONE_POD "]}")},
		{"/api/v1/pods",
		 OK_JSON("{\"source\":\"api\",\"pods\":[" ONE_POD ",{\"namespace\":\"other\","
			 "\"name\":\"p\",\"containers\":[{\"devices\":[{\"id\":\"0000:2a:00.2\"}]}]}]}")},
		{"/api/v1/explain",
		 OK_JSON("{\"device\":\"0000:2a:00.1\",\"why\":\"taken\",\"attachment\":null}")},
		DIAGNOSIS_WITH("{\"level\":2,\"cause\":\"bad_link\",\"advice\":\"other\","
			       "\"nodeAction\":\"cordon\",\"podCount\":1}," LOSS_OF("look", "keep"),
			       LINK_DOWN, ""),
		OF_A_NODE,
		NO_MORE};
	static const struct fake_route young[] = {
		{"/api/v1/explain", OK_JSON("{\"device\":\"0000:2a:00.1\",\"why\":\"free\"}")},
		NO_MORE};
	static struct fake f;
	char text[8192];

	(void)state;
	fake_open(&f, NULL, routes);
	for (int of_pod = 0; of_pod < 2; of_pod++) {
		json_auto_t *d = NULL;
		const json_t *device;
		const char *advice, *node, *answer;

		assert_int_equal(
			run(f.path,
			    of_pod ? "explain train/llm-0 -o json" : "explain mlx5_4 -o json", text,
			    sizeof(text)),
			CTL_OK);
		d = json_loads(text, 0, NULL);
		if (!d)
			fail_msg("%s", text);
		device = of_pod ? json_array_get(json_object_get(d, "devices"), 0) : d;
		if (of_pod)
			assert_int_equal(json_array_size(json_object_get(d, "devices")), 1);
		assert_int_equal(json_unpack((json_t *)device, "{s:[{s:{s:s}}!]}", "pods",
					     "network", "answer", &answer),
				 0);
		assert_string_equal(answer, "yes");
		assert_int_equal(
			json_unpack(d, "{s:s, s:s}", "advice", &advice, "nodeAction", &node), 0);
		assert_string_equal(advice, "look"); /* of the worst problem */
		assert_string_equal(node, "cordon"); /* the strictest of all */
		assert_int_equal(json_array_size(json_object_get(device, "verdicts")), 2);
		assert_int_equal(json_array_size(json_object_get(device, "troubles")), 1);
	}
	fake_stop(&f);
	assert_answers(
		routes, "explain mlx5_4", CTL_OK,
		"\n    node: cordon it, so that no new job starts on it\n    advice: look\n");
	/* What is not known is not "nothing". */
	assert_answers(young, "explain mlx5_4 -o json", CTL_OK,
		       "  \"pods\": null,\n  \"nodeAction\": null,\n  \"advice\": null,\n"
		       "  \"verdicts\": null,\n  \"troubles\": null\n}\n");
}

/* `explain CAUSE` needs no other text: what it means, how soon to act, how to check, the page. */
static void test_explain_cause(void **state)
{
	static const char *const parts[] = {
		"\n    impact: Today; now if it is critical: jobs on the port are slow, and may fail.",
		"\n    confirm: `rocectl diagnose mlx5_0` has the share. At the sender ",
		"\n    runbook: http://NODE:9907/runbook/packet_loss (docs/runbook.md)\n"};
	char text[8192];

	(void)state;
	assert_int_equal(run("/nowhere", "explain packet_loss", text, sizeof(text)), CTL_OK);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (!strstr(text, parts[i]))
			fail_msg("%s lacks %s", text, parts[i]);
	assert_null(strstr(text, "origin"));
	assert_int_equal(run("/nowhere", "explain packet_loss -o json", text, sizeof(text)),
			 CTL_OK);
	assert_non_null(strstr(text, "\"runbook\": \"/runbook/packet_loss\""));
	assert_non_null(strstr(text, "\"impact\": \"Today; now if it is critical:"));
	assert_non_null(strstr(text, "\"source\":"));
	for (int c = 0; c < N_CAUSES; c++) {
		const struct runbook_text *t = runbook_text(cause_row((enum cause)c)->name);

		if (!t || !t->impact[0] || !t->confirm[0])
			fail_msg("%s", cause_row((enum cause)c)->name);
	}
}

/* A port that no pod has: draining the node would end jobs on the other ports. */
static void test_no_drain_for_no_pod(void **state)
{
	static const struct fake_route free_port[] = {
		{"/api/v1/pods", OK_JSON("{\"source\":\"api\",\"pods\":[]}")},
		DIAGNOSIS("{\"level\":3,\"severity\":\"critical\",\"cause\":\"link_flap\","
			  "\"podCount\":0,\"nodeAction\":\"drain\"}",
			  ""),
		EXPLAINED,
		OF_A_NODE,
		NO_MORE};
	static const struct fake_route unknown[] = {
		{"/api/v1/pods", OK_JSON("{\"source\":null,\"pods\":[]}")},
		DIAGNOSIS("{\"level\":3,\"severity\":\"critical\",\"cause\":\"link_flap\","
			  "\"podCount\":0,\"nodeAction\":\"drain\"}",
			  ""),
		EXPLAINED,
		OF_A_NODE,
		NO_MORE};
	static const char *const lines[] = {"diagnose", "explain mlx5_4"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		enum ctl_exit r = i ? CTL_OK : CTL_CRITICAL;

		assert_answers(
			free_port, lines[i], r,
			"\n    node: No pod has this port. Cordon the node, so that no job gets it.\n");
		/* Unknown pods are not "none". */
		assert_answers(unknown, lines[i], r,
			       "\n    node: drain it, and restart its jobs elsewhere\n");
	}
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

/* --- output ----------------------------------------------------------------------------------- */

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

/* The affected pods of a verdict, and those that cause it. */
static void test_affected_and_culprits(void **state)
{
	static const char source[] =
		"{\"verdicts\":[{\"level\":2,\"podCount\":9,\"pods\":[{\"namespace\":\"n\",\"name\":"
		"\"p\"}],\"causedBy\":[{\"namespace\":\"n\",\"name\":\"q\"}]}]}";
	json_t *document = json_loads(source, 0, NULL), *v;
	char *text = NULL, pods[64];
	size_t len;
	FILE *f = open_memstream(&text, &len);

	(void)state;
	ctl_show_diagnosis(document, false, f);
	fclose(f);
	assert_non_null(strstr(text, "    affected: n/p and 8 more\n    caused by: n/q\n"));
	v = json_array_get(json_object_get(document, "verdicts"), 0);
	ctl_pods_text(v, 40, pods, sizeof(pods));
	assert_string_equal(pods, "n/p and 8 more, by n/q");
	json_array_clear(json_object_get(v, "pods"));
	json_object_set_new(v, "podCount", json_integer(0));
	ctl_pods_text(v, 40, pods, sizeof(pods));
	assert_string_equal(pods, "by n/q");
	json_decref(document);
	free(text);
}

/* A replay exits as `diagnose` does on the node while its worst verdict is open. */
static void test_replay_exits_as_diagnose_does(void **state)
{
	static char text[65536];

	(void)state;
	assert_int_equal(run("/nowhere", "diagnose --replay tests/fixtures/scenario/slow.jsonl",
			     text, sizeof(text)),
			 CTL_CRITICAL);
	assert_int_equal(run("/nowhere", "diagnose --replay /nowhere.jsonl", text, sizeof(text)),
			 CTL_NO);
}

/* The level of a diagnosis is that of its most severe verdict. */
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

/* `explain` knows every reason for which a device is unhealthy. */
static void test_words_of_troubles(void **state)
{
	char text[2048];

	(void)state;
	for (unsigned r = 0; r < N_HEALTH_REASONS; r++) {
		health_text(HEALTH_BIT(r), text, sizeof(text));
		if (!trouble_row_find(text))
			fail_msg("%s is not explained", text);
	}
	assert_null(trouble_row_find("mlx5_3"));
	assert_int_equal(run("/nowhere", "explain no_chardev", text, sizeof(text)), CTL_OK);
	assert_non_null(strstr(text, "no_chardev: a node of the device in /dev/infiniband is"));
	assert_int_equal(run("/nowhere", "explain link_down -o json", text, sizeof(text)), CTL_OK);
	assert_non_null(strstr(text, "\"word\": \"link_down\""));
	for (int i = 0; i < N_TROUBLE_WORDS; i++)
		assert_ptr_equal(trouble_row_find(trouble_row((enum trouble_word)i)->word),
				 trouble_row((enum trouble_word)i));
}

/* Each "word: 'Title'" of the page's tables is a word of ours. */
static void test_words_of_the_page(void **state)
{
	FILE *f = fopen("daemon/web/troubles.js", "r");
	char line[1024], word[64];
	size_t n = 0;

	(void)state;
	assert_non_null(f);
	while (fgets(line, sizeof(line), f) && strncmp(line, "function ", 9) != 0)
		for (const char *at = line; (at = strstr(at, ": '")); at += 3) {
			const char *from = at;

			while (from > line &&
			       (from[-1] == '_' || (from[-1] >= 'a' && from[-1] <= 'z')))
				from--;
			snprintf(word, sizeof(word), "%.*s", (int)(at - from), from);
			if (!trouble_row_find(word))
				fail_msg("the page has %s", word);
			n++;
		}
	fclose(f);
	assert_true(n >= N_TROUBLE_WORDS);
}

/* Documents of unexpected types must not crash the output. */
static void test_documents_of_unexpected_types(void **state)
{
	static const char *const texts[] = {"{}", "[]", "{\"findings\":[[]],\"attachment\":7}"};
	FILE *f = fopen("/dev/null", "w");

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		json_t *document = json_loads(texts[i], 0, NULL);

		ctl_show_explain(document, document, document, document, f);
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
		cmocka_unit_test(test_unknown_names),
		cmocka_unit_test(test_ended),
		cmocka_unit_test(test_diagnose_of_a_time),
		cmocka_unit_test(test_no_all_clear_with_open_verdicts),
		cmocka_unit_test(test_explain_is_the_whole_answer),
		cmocka_unit_test(test_explain_cause),
		cmocka_unit_test(test_no_drain_for_no_pod),
		cmocka_unit_test(test_the_reason_is_named),
		cmocka_unit_test(test_names_of_pods),
		cmocka_unit_test(test_affected_and_culprits),
		cmocka_unit_test(test_diagnosis),
		cmocka_unit_test(test_diagnosis_level),
		cmocka_unit_test(test_replay_exits_as_diagnose_does),
		cmocka_unit_test(test_words_of_troubles),
		cmocka_unit_test(test_words_of_the_page),
		cmocka_unit_test(test_documents_of_unexpected_types),
	};

	return test_group_run(tests, NULL, NULL);
}
