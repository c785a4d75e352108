// SPDX-License-Identifier: Apache-2.0
/* Admin requests over our own server: from a socket to the hooks and back; and from rocectl in its
 * own process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "attachments.h"
#include "ctl.h"
#include "event_ring.h"
#include "host_builder.h"
#include "http_client.h"
#include "inventory.h"
#include "loop_helpers.h"
#include "resource_tables.h"
#include "routes.h"
#include "self_counters.h"
#include "test_group.h"

/* A daemon without an engine: the test answers the requests. */
struct node {
	uv_loop_t loop;
	struct http *http;
	struct self_counters self;
	struct routes routes;
	struct inventory inventory;
	struct resource_table resources;
	struct attachments attachments;
	struct event_ring events;
	char dir[32], path[64];

	/* Arguments of the hooks. */
	unsigned n_attach, n_detach, n_fix;
	struct admin_request wanted;
	char function[DEV_ID_SIZE];
	bool force;
	admin_done_fn *done;
	void *done_arg;
	struct err answer; /* the result; code 0 and an empty msg: success */
	bool at_once;	   /* the hook itself returns the error */
	bool cleans;	   /* fix cleans the device BAD, after a moment */
	uv_timer_t timer;
};

static void on_timer(uv_timer_t *timer)
{
	struct node *n = timer->data;

	n->done(&n->answer, n->done_arg);
}

/* Reports the result later, as an engine does. */
static int accept_request(struct node *n, const char *function, admin_done_fn *done, void *done_arg,
			  struct err *e)
{
	if (n->at_once) {
		*e = n->answer;
		return e->code;
	}
	snprintf(n->function, sizeof(n->function), "%s", function);
	n->done = done;
	n->done_arg = done_arg;
	uv_timer_start(&n->timer, on_timer, 1, 0);
	return 0;
}

static int on_attach(const char *function, const struct admin_request *wanted, admin_done_fn *done,
		     void *done_arg, struct err *e, void *arg)
{
	struct node *n = arg;

	n->n_attach++;
	n->wanted = *wanted;
	return accept_request(n, function, done, done_arg, e);
}

static int on_detach(const char *function, bool force, admin_done_fn *done, void *done_arg,
		     struct err *e, void *arg)
{
	struct node *n = arg;

	n->n_detach++;
	n->force = force;
	return accept_request(n, function, done, done_arg, e);
}

#define BAD 3 /* index of the attachment in quarantine */

static void on_cleaned(uv_timer_t *timer)
{
	struct node *n = timer->data;

	n->attachments.records[BAD].state = ATTACH_FREE;
}

/* While the device is being returned, doctor has no finding. */
static void on_fix(void *arg)
{
	struct node *n = arg;

	n->n_fix++;
	if (!n->cleans)
		return;
	n->attachments.records[BAD].state = ATTACH_RETURNING;
	n->attachments.status[BAD].since_ms = uv_now(&n->loop);
	uv_timer_start(&n->timer, on_cleaned, 300, 0);
}

static void on_counters(struct attach_counters *ret, void *arg)
{
	(void)arg;
	attach_counters_small(ret);
}

static void fill(struct node *n)
{
	struct host *h = &n->inventory.host;
	const struct event e = {.last_ms = 1767323045001,
				.first_ms = 1767323045001,
				.reason = "Attached",
				.namespace = "train",
				.pod = "job-7",
				.device = "0000:03:00.2",
				.message = "as net1"};

	const struct event gone = {.device = "0000:03:00.9", .message = "it left the bus"};

	n->inventory.generation = 1;
	build_function(h, FN_PF, "0000:03:00.0", "", -1);
	build_function(h, FN_VF, "0000:03:00.2", "0000:03:00.0", 0);
	build_function(h, FN_VF, "0000:03:00.4", "0000:03:00.0", 2);
	build_netdev(h, "ens1f0v2", "0000:03:00.4");
	resource_table_small(&n->resources);
	attachments_small(&n->attachments);
	assert_int_equal(event_ring_init(&n->events), 0);
	event_ring_add(&n->events, &e);
	event_ring_add(&n->events, &gone);
	n->routes = (struct routes){
		.inventory = &n->inventory,
		.resources = &n->resources,
		.events = &n->events,
		.epoch_ms = ATTACHMENTS_EPOCH,
		.attachments = {n->attachments.status, 2},
		.admin = {on_attach, on_detach, on_fix, on_counters, n},
	};
}

static struct node *start(void)
{
	struct node *n = calloc(1, sizeof(*n));
	struct err e;

	assert_non_null(n);
	fill(n);
	strcpy(n->dir, "/tmp/test_routes.XXXXXX");
	assert_non_null(mkdtemp(n->dir));
	snprintf(n->path, sizeof(n->path), "%s/sock", n->dir);
	assert_int_equal(uv_loop_init(&n->loop), 0);
	uv_timer_init(&n->loop, &n->timer);
	n->timer.data = n;
	assert_int_equal(http_open(&n->http, &n->loop, &(struct http_opts){0}, &n->self,
				   routes_answer, &n->routes, &e),
			 0);
	assert_int_equal(http_listen_admin(n->http, n->path, 0600, &e), 0);
	return n;
}

static void stop(struct node *n)
{
	uv_close((uv_handle_t *)&n->timer, NULL);
	http_close(n->http, NULL, NULL);
	assert_int_equal(loop_end(&n->loop), 0);
	assert_int_equal(rmdir(n->dir), 0);
	routes_done(&n->routes);
	host_done(&n->inventory.host);
	resource_table_done(&n->resources);
	event_ring_done(&n->events);
	free(n);
}

/* --- HTTP ------------------------------------------------------------------------------------- */

/* method: "GET" or "POST". */
static void assert_asked(struct node *n, const char *method, const char *path, const char *body,
			 unsigned status, const char *names)
{
	char request[1024];
	struct client c;
	struct answer a;

	snprintf(request, sizeof(request),
		 "%s %s HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n\r\n%s", method, path,
		 strlen(body), body);
	client_unix(&c, n->path);
	client_send(&c, request, strlen(request));
	client_await(&c, &n->loop, false, &a);
	if (a.status != status || !strstr(a.body, names))
		fail_msg("%s: %u %s", path, a.status, a.body);
	client_close(&c);
}

static void test_an_attach_reaches_the_hook(void **state)
{
	struct node *n = start();

	(void)state;
	assert_asked(n, "POST", "/api/v1/attach", "{\"device\":\"ens1f0v2\",\"pod\":\"a/b\"}", 200,
		     "{\"error\":null,\"device\":\"0000:03:00.4\",\"attachment\":null}");
	assert_int_equal(n->n_attach, 1);
	assert_string_equal(n->function, "0000:03:00.4");
	assert_string_equal(n->wanted.owner.pod, "b");
	stop(n);
}

static void test_errors_of_the_engine_are_returned(void **state)
{
	static const struct {
		int code;
		unsigned status;
	} all[] = {{-EBUSY, 409}, {-ENODEV, 404}, {-ENOENT, 404},
		   {-EIO, 500},	  {-EINVAL, 400}, {-EAGAIN, 503}};
	struct node *n = start();

	(void)state;
	for (size_t i = 0; i < 12; i++) {
		n->at_once = i & 1;
		err_set(&n->answer, all[i / 2].code, "it is \"so\"");
		assert_asked(n, "POST", "/api/v1/detach", "{\"device\":\"ens1f0v2\"}",
			     all[i / 2].status, "{\"error\":\"it is \\\"so\\\"\"}");
	}
	assert_int_equal(n->n_detach, 12);
	stop(n);
}

static void test_invalid_requests_reach_no_hook(void **state)
{
	struct node *n = start();

	(void)state;
	assert_asked(n, "POST", "/api/v1/attach", "", 400, "JSON");
	assert_asked(n, "POST", "/api/v1/attach", "{\"device\":\"x\"}", 400, "netns or pod");
	assert_asked(n, "POST", "/api/v1/detach", "{\"device\":\"x\"}", 404,
		     "this node has no device x");
	assert_asked(n, "POST", "/api/v1/nothing", "{}", 404, "");
	assert_asked(n, "POST", "/metrics", "{}", 404, "");
	assert_asked(n, "GET", "/api/v1/attach", "", 404, "");
	n->routes.inventory = NULL;
	assert_asked(n, "POST", "/api/v1/detach", "{\"device\":\"x\"}", 503, "not been read");
	n->routes.admin = (struct admin_hooks){0};
	assert_asked(n, "POST", "/api/v1/detach", "{\"device\":\"x\"}", 503, "engine");
	assert_int_equal(n->n_attach + n->n_detach + n->n_fix, 0);
	stop(n);
}

static void test_reading(void **state)
{
	struct node *n = start();

	(void)state;
	assert_asked(n, "GET", "/api/v1/attachments", "", 200, "\"step\":\"configure\"");
	assert_asked(n, "GET", "/api/v1/events?pod=job-7&limit=3&device=0000:03:00.2", "", 200,
		     "as net1");
	assert_asked(n, "GET", "/api/v1/events?limit=x", "", 400, "limit");
	assert_asked(n, "GET", "/api/v1/events?since=x", "", 400, "since");
	assert_asked(n, "GET", "/api/v1/events?since=99999999999d", "", 200, "it left");
	assert_asked(n, "GET", "/api/v1/events?until=x", "", 400, "until");
	assert_asked(n, "GET", "/api/v1/events?since=1970-01-01T00:00:00Z", "", 200, "it left");
	assert_asked(n, "GET", "/api/v1/events?since=2100-01-01T00:00:00Z", "", 200,
		     "\"events\":[]");
	assert_asked(n, "GET", "/api/v1/events?type=Bad", "", 400, "type");
	assert_asked(n, "GET", "/api/v1/events?type=Warning&reason=None", "", 200, "\"events\":[]");
	assert_asked(n, "GET", "/api/v1/events?device=x", "", 200, "\"events\":[]");
	assert_asked(n, "GET", "/api/v1/events?device=0000:03:00.9", "", 200, "it left");
	assert_asked(n, "GET", "/api/v1/explain?device=ens1f0v2", "", 200, "free, offered");
	assert_asked(n, "GET", "/api/v1/explain", "", 400, "device");
	assert_asked(n, "GET", "/api/v1/explain?device=x", "", 404, "this node has no device x");
	assert_asked(n, "GET", "/api/v1/doctor", "", 200, "\"kind\":\"drift\"");
	assert_asked(n, "GET", "/api/v1/devices", "", 200, "\"why\":\"in use by container");
	assert_asked(n, "GET", "/api/v1/pods", "", 200, "\"attachment\":{");
	stop(n);
}

/* A pod that is certainly not on this node is an error of every list, not an empty list. */
static void test_a_pod_that_is_not_here(void **state)
{
	static const char *const paths[] = {"devices", "pods",	"attachments", "events",
					    "qps",     "ports", "diagnosis",   "doctor"};
	struct node *n = start();
	char query[64];

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		snprintf(query, sizeof(query), "/api/v1/%s?pod=none", paths[i]);
		assert_asked(n, "GET", query, "", 404,
			     "{\"error\":\"none has no device on this node\"}");
		snprintf(query, sizeof(query), "/api/v1/%s?pod=jobb-7", paths[i]);
		assert_asked(n, "GET", query, "", 404, "; did you mean train/job-7?\"}");
	}
	/* It is known by its device, or an event is left of it. */
	assert_asked(n, "GET", "/api/v1/devices?pod=train/job-7", "", 200, "job-7");
	assert_asked(n, "GET", "/api/v1/devices?pod=other/job-7", "", 404, "did you mean");
	/* If the kubelet's list is not the current one, the pod may be here. */
	n->resources.held.source = POD_SOURCE_NONE;
	assert_asked(n, "GET", "/api/v1/devices?pod=none", "", 200, "\"devices\":[]");
	n->resources.held.source = POD_SOURCE_API;
	strcpy(n->resources.held_error, "no answer");
	assert_asked(n, "GET", "/api/v1/devices?pod=none", "", 200, "\"devices\":[]");
	stop(n);
}

/* The document changes with the attachments, as it does with the devices. */
static void test_devices_follow_the_attachments(void **state)
{
	struct node *n = start();

	(void)state;
	assert_asked(n, "GET", "/api/v1/devices", "", 200, "as net1");
	n->routes.attachments = (struct attach_list){0};
	n->routes.attachments_generation++;
	assert_asked(n, "GET", "/api/v1/devices", "", 200,
		     "in use by container main of pod train/job-7, allocated");
	stop(n);
}

/* --- rocectl ---------------------------------------------------------------------------------- */

struct child {
	pid_t pid;
	int status;
};

static bool has_exited(void *arg)
{
	struct child *child = arg;

	return waitpid(child->pid, &child->status, WNOHANG) == child->pid;
}

static void slurp(FILE *f, char *text, size_t size)
{
	size_t len;

	rewind(f);
	len = fread(text, 1, size - 1, f);
	text[len] = '\0';
	fclose(f);
}

/* Runs rocectl against the node, with arguments that are separated by blanks; compares its output
 * and errors together. */
static void assert_ctl(struct node *n, enum ctl_exit want, const char *text_part, const char *line)
{
	char words[256], *argv[16] = {words};
	FILE *out = tmpfile();
	struct child child;
	char text[8192];
	int argc = 0;

	assert_non_null(out);
	snprintf(words, sizeof(words), "rocectl --socket %s %s", n->path, line);
	for (char *word = strtok(words, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	child.pid = fork();
	assert_true(child.pid >= 0);
	if (child.pid == 0) {
		int code = (int)ctl_run(argc, argv, out, out);

		fflush(out);
		_exit(code);
	}
	assert_true(loop_until(&n->loop, has_exited, &child, PATIENCE_MS));
	slurp(out, text, sizeof(text));
	assert_true(WIFEXITED(child.status));
	if (WEXITSTATUS(child.status) != (int)want || !strstr(text, text_part))
		fail_msg("%s: %d: %s", line, WEXITSTATUS(child.status), text);
}

static void test_rocectl_sends_requests(void **state)
{
	struct node *n = start();

	(void)state;
	assert_ctl(n, CTL_OK, "0000:03:00.4 is attached", "attach ens1f0v2 --netns /run/netns/a");
	assert_string_equal(n->wanted.owner.netns.path, "/run/netns/a");
	assert_ctl(n, CTL_OK, "0000:03:00.4 was returned to the host namespace",
		   "detach 0000:03:00.4 --force");
	assert_true(n->force);
	assert_ctl(n, CTL_NO, "\"kind\": \"drift\"", "doctor --json");
	stop(n);
}

static void test_rocectl_prints_errors(void **state)
{
	struct node *n = start();

	(void)state;
	err_set(&n->answer, -EBUSY, "in use by another pod");
	assert_ctl(n, CTL_NO, "rocectl: in use by another pod\n", "detach ens1f0v2");
	assert_ctl(n, CTL_NO, "rocectl: the request: mtu: 7 is not between",
		   "attach ens1f0v2 --pod=a/b --mtu=7");
	assert_ctl(n, CTL_NO, "\"error\": \"this node has no device x", "explain x --json");
	stop(n);
}

static void test_rocectl_reads(void **state)
{
	struct node *n = start();

	(void)state;
	assert_ctl(n, CTL_OK, "0000:03:00.4 (ens1f0v2): free, offered as", "explain ens1f0v2");
	assert_ctl(n, CTL_OK, "job-7", "pods");
	assert_ctl(n, CTL_OK, "WHY\n", "devices");
	assert_ctl(n, CTL_OK, "as net1", "events --pod train/job-7");
	assert_ctl(n, CTL_NO, "a&b=c/%d has no device on this node", "events --pod a&b=c/%d");
	assert_ctl(n, CTL_NO, "drift: 0000:03:00.2 (pod train/job-7): its spoofchk, mtu", "doctor");
	assert_int_equal(n->n_fix, 0);
	stop(n);
}

static void test_rocectl_waits_for_repairs(void **state)
{
	struct node *n = start();

	(void)state;
	n->cleans = true;
	n->routes.resources = NULL;
	n->routes.attachments = (struct attach_list){&n->attachments.status[BAD], 1};
	assert_ctl(n, CTL_NO, "could not be cleaned", "doctor");
	assert_ctl(n, CTL_OK, "no problems found", "doctor --fix");
	assert_int_equal(n->n_fix, 1);
	assert_int_equal(n->attachments.records[BAD].state, ATTACH_FREE);
	stop(n);
}

TEST_GROUP(routes_admin)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_attach_reaches_the_hook),
		cmocka_unit_test(test_errors_of_the_engine_are_returned),
		cmocka_unit_test(test_invalid_requests_reach_no_hook),
		cmocka_unit_test(test_reading),
		cmocka_unit_test(test_a_pod_that_is_not_here),
		cmocka_unit_test(test_devices_follow_the_attachments),
		cmocka_unit_test(test_rocectl_sends_requests),
		cmocka_unit_test(test_rocectl_prints_errors),
		cmocka_unit_test(test_rocectl_reads),
		cmocka_unit_test(test_rocectl_waits_for_repairs),
	};

	return test_group_run(tests, NULL, NULL);
}
