// SPDX-License-Identifier: Apache-2.0
#include "routes.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "capabilities.h"
#include "inventory.h"
#include "page.h"
#include "pool_config.h"
#include "resource_table.h"
#include "route.h"
#include "test_group.h"

struct answer {
	struct http_reply reply;
	char *text; /* copy of the body with a terminating NUL, "" without one */
};

static struct answer ask_with(struct routes *r, const char *path, const char *accept)
{
	const struct http_request request = {.method = "GET", .path = path, .accept = accept};
	struct answer a = {0};

	routes_answer(&request, &a.reply, r);
	a.text = calloc(1, a.reply.body_len + 1);
	assert_non_null(a.text);
	if (a.reply.body)
		memcpy(a.text, a.reply.body, a.reply.body_len);
	return a;
}

static struct answer ask(struct routes *r, const char *path)
{
	return ask_with(r, path, "");
}

static void done(struct answer *a)
{
	free(a->reply.body);
	page_unref(a->reply.page);
	free(a->text);
}

static void assert_text(struct routes *r, const char *path, unsigned status, const char *text)
{
	struct answer a = ask(r, path);

	assert_int_equal(a.reply.status, status);
	assert_string_equal(a.text, text);
	assert_non_null(a.reply.content_type);
	done(&a);
}

/* During an upgrade another pod's rocelet may answer. */
static bool is_ready_for(struct routes *r, const char *pod)
{
	const struct http_request request = {.method = "GET",
					     .path = "/readyz",
					     .accept = "",
					     .params = {{"pod", pod}},
					     .n_params = 1};
	struct http_reply reply = {0};

	routes_answer(&request, &reply, r);
	free(reply.body);
	return reply.status == 200;
}

static void test_before_anything_is_known(void **state)
{
	struct inventory inventory = {0};
	struct routes r = {0};

	(void)state;
	assert_text(&r, "/healthz", 200, "ok\n");
	assert_text(&r, "/readyz", 503, "not ready: the host's devices have not been read yet\n");
	assert_text(&r, "/metrics", 503, "the first sample has not been taken yet\n");
	assert_text(&r, "/api/v1/devices", 503,
		    "{\"error\":\"the host's devices have not been read yet\"}");
	assert_text(&r, "/api/v1/config", 503,
		    "{\"error\":\"the configuration has not been read yet\"}");
	r.inventory = &inventory;
	assert_text(&r, "/readyz", 503, "not ready: the host's devices have not been read yet\n");
	inventory.generation = 1;
	assert_text(&r, "/readyz", 503, "not ready: the first sample has not been taken yet\n");
	r.page = page_new();
	assert_text(&r, "/readyz", 200, "ok\n");
	assert_false(is_ready_for(&r, "a/b"));
	r.own_pod = "a/b";
	assert_true(is_ready_for(&r, "a/b"));
	assert_false(is_ready_for(&r, "a/c"));
	r.own_pod = NULL;
	page_unref(r.page);
	routes_done(&r);
}

static void get_blind(struct attach_counters *ret, void *arg)
{
	*ret = (struct attach_counters){.view_error = "the host is hidden"};
	(void)arg;
}

static void test_without_a_view_of_the_host_it_is_not_ready(void **state)
{
	struct inventory inventory = {.generation = 1};
	struct routes r = {
		.inventory = &inventory, .page = page_new(), .admin = {.counters = get_blind}};

	(void)state;
	assert_text(&r, "/readyz", 503, "not ready: the host is hidden\n");
	assert_text(&r, "/healthz", 200, "ok\n");
	page_unref(r.page);
	routes_done(&r);
}

static void get_contradicted(struct attach_counters *ret, void *arg)
{
	*ret = (struct attach_counters){.contradicting = 1, .runtime_error = "it lacks pod a/b"};
	ret->runtime_lacks_all = *(bool *)arg;
}

/* A single pod that the runtime does not list may be a leftover process. */
static void test_with_the_wrong_runtime_it_is_not_ready(void **state)
{
	struct inventory inventory = {.generation = 1};
	bool lacks_all = true;
	struct routes r = {.inventory = &inventory,
			   .page = page_new(),
			   .admin = {.counters = get_contradicted, .arg = &lacks_all}};

	(void)state;
	assert_text(&r, "/readyz", 503, "not ready: it lacks pod a/b\n");
	lacks_all = false;
	assert_text(&r, "/readyz", 200, "ok\n");
	page_unref(r.page);
	routes_done(&r);
}

static void test_without_a_listener_it_is_not_ready(void **state)
{
	struct inventory inventory = {.generation = 1};
	struct err port = {.code = -98, .msg = "cannot listen on :1"};
	struct err guard = {.code = -2, .msg = "no key"}, sock = {0};
	bool serves = false;
	struct routes r = {.inventory = &inventory,
			   .page = page_new(),
			   .port_error = &port,
			   .guard_error = &guard,
			   .socket_error = &sock,
			   .serves_tcp = &serves};

	(void)state;
	assert_text(&r, "/readyz", 503,
		    "not ready: nothing is served over TCP: cannot listen on :1\n");
	port.code = 0;
	assert_text(&r, "/readyz", 503, "not ready: nothing is served over TCP: no key\n");
	serves = true;
	assert_text(
		&r, "/readyz", 200,
		"ok\nthe TCP listener's new certificates or passwords are not in use: no key\n");
	guard.code = 0;
	err_set(&sock, -EROFS, "/run/rocelet: read-only");
	assert_text(&r, "/readyz", 503,
		    "not ready: rocelet.sock is not served: /run/rocelet: read-only\n");
	sock.code = 0;
	serves = false;
	r.serves_tcp = NULL; /* --listen "" */
	assert_text(&r, "/readyz", 200, "ok\n");
	page_unref(r.page);
	routes_done(&r);
}

static void test_without_a_resource_at_the_kubelet_it_is_not_ready(void **state)
{
	struct inventory inventory = {.generation = 1};
	struct resource_info list[2] = {{.name = "a/b", .error = "no kubelet.sock"},
					{.name = "a/c", .registration = REGISTRATION_REFUSED}};
	struct resource_table table = {.generation = 1, .resources = list, .n_resources = 2};
	struct routes r = {.inventory = &inventory, .page = page_new(), .n_to_register = 2};

	(void)state;
	assert_text(&r, "/readyz", 503, "not ready: resources are not registered yet\n");
	r.resources = &table;
	assert_text(&r, "/readyz", 503,
		    "not ready: the kubelet knows none of the configured resources (2): a/b: no "
		    "kubelet.sock\n");
	list[0].registration = REGISTRATION_REFUSED;
	list[0].error[0] = '\0';
	assert_text(&r, "/readyz", 503,
		    "not ready: the kubelet accepts none of the configured resources (2): a/b\n");
	list[1].registration = REGISTRATION_DONE;
	assert_text(&r, "/readyz", 200, "ok\n");
	strcpy(list[1].files_error, "/run/cdi: read-only");
	assert_text(&r, "/readyz", 503, "not ready: /run/cdi: read-only\n");
	list[1].files_error[0] = '\0';
	list[1].registration = REGISTRATION_WAITING;
	r.n_to_register = 0; /* a dry run */
	assert_text(&r, "/readyz", 200, "ok\n");
	page_unref(r.page);
	routes_done(&r);
}

static void get_broken(struct attach_counters *ret, void *arg)
{
	*ret = (struct attach_counters){.view_error = "the host is hidden",
					.journal_error = "journal: No space left on device"};
	(void)arg;
}

/* One correction after the other must not each uncover the next fault. */
static void test_all_reasons_are_named_the_most_important_first(void **state)
{
	struct inventory inventory = {.generation = 1};
	struct config_state config = {.offers_nothing = true,
				      .error = {.code = -22, .msg = "c.json:3: \"mtu\": wrong"}};
	struct missing_capability missing[] = {{.name = "CAP_SYS_ADMIN", .fatal = true},
					       {.name = "CAP_BPF"},
					       {.name = "CAP_NET_ADMIN", .fatal = true}};
	struct err port = {.code = -98, .msg = "cannot listen on :1"};
	struct err guard = {.code = -2, .msg = "no key"};
	struct err sock = {.code = -30, .msg = "/run/rocelet: read-only"};
	struct resource_info list[3] = {{.name = "a/b", .files_error = "/run/cdi: read-only"},
					{.name = "a/c", .files_error = "/run/cdi: read-only"},
					{.name = "a/d"}};
	struct resource_table table = {.generation = 1, .resources = list, .n_resources = 3};
	struct pool_refusal refusal = {.resource = "a/e", .why = "wrong"};
	bool serves = false;
	struct routes r = {.inventory = &inventory,
			   .page = page_new(),
			   .config = &config,
			   .admin = {.counters = get_broken},
			   .n_missing = 3,
			   .missing = missing,
			   .port_error = &port,
			   .guard_error = &guard,
			   .socket_error = &sock,
			   .serves_tcp = &serves,
			   .n_to_register = 3,
			   .resources = &table};

	(void)state;
	snprintf(missing[0].stops, sizeof(missing[0].stops), "no pod gets a VF");
	snprintf(missing[2].stops, sizeof(missing[2].stops), "no VF is set");
	config.refusals.list = &refusal;
	config.refusals.n = 1;
	assert_text(&r, "/readyz", 503,
		    "not ready: the configuration file is rejected: c.json:3: \"mtu\": wrong\n"
		    "not ready: the host is hidden\n"
		    "not ready: journal: No space left on device\n"
		    "not ready: CAP_SYS_ADMIN is missing: no pod gets a VF\n"
		    "not ready: CAP_NET_ADMIN is missing: no VF is set\n"
		    "not ready: nothing is served over TCP: cannot listen on :1\n"
		    "not ready: rocelet.sock is not served: /run/rocelet: read-only\n"
		    "not ready: /run/cdi: read-only\n"
		    "not ready: the kubelet knows none of the configured resources (3): a/b\n"
		    "a/e is left out: wrong\n");
	/* A start is not complete: the kubelet cannot know the resources yet. */
	inventory.generation = 0;
	config.offers_nothing = false;
	config.error.code = 0;
	config.refusals.n = 0;
	r.admin.counters = NULL;
	r.n_missing = 0;
	r.serves_tcp = NULL;
	sock.code = guard.code = 0;
	list[0].files_error[0] = list[1].files_error[0] = '\0';
	assert_text(&r, "/readyz", 503, "not ready: the host's devices have not been read yet\n");
	page_unref(r.page);
	routes_done(&r);
}

static void test_metrics_in_the_requested_format(void **state)
{
	struct routes r = {.page = page_new()};
	struct answer a = ask(&r, "/metrics");

	(void)state;
	assert_int_equal(a.reply.status, 200);
	assert_ptr_equal(a.reply.page, r.page);
	assert_int_equal(a.reply.page_format, METRICS_PROMETHEUS);
	assert_string_equal(a.reply.content_type, "text/plain; version=0.0.4; charset=utf-8");
	done(&a);
	a = ask_with(&r, "/metrics", "application/openmetrics-text");
	assert_int_equal(a.reply.page_format, METRICS_OPENMETRICS);
	done(&a);
	assert_int_equal(r.page->refs, 1);
	page_unref(r.page);
	routes_done(&r);
}

static void test_devices_are_rendered_once_per_generation(void **state)
{
	struct inventory inventory = {.generation = 4};
	struct routes r = {.inventory = &inventory};
	const char *kept;

	(void)state;
	assert_text(&r, "/api/v1/devices", 200,
		    "{\"generation\":4,\"rdmaNetnsMode\":null,\"devices\":[],\"resources\":[]}");
	kept = r.devices;
	inventory.host.rdma_mode = RDMA_NETNS_SHARED; /* invisible until the generation changes */
	assert_text(&r, "/api/v1/devices", 200,
		    "{\"generation\":4,\"rdmaNetnsMode\":null,\"devices\":[],\"resources\":[]}");
	assert_ptr_equal(r.devices, kept);
	inventory.generation = 5;
	assert_text(
		&r, "/api/v1/devices", 200,
		"{\"generation\":5,\"rdmaNetnsMode\":\"shared\",\"devices\":[],\"resources\":[]}");
	inventory.host.rdma_mode = RDMA_NETNS_EXCLUSIVE;
	r.settings_generation++; /* settings are part of the document */
	assert_text(&r, "/api/v1/devices", 200,
		    "{\"generation\":5,\"rdmaNetnsMode\":\"exclusive\",\"devices\":[],"
		    "\"resources\":[]}");
	routes_done(&r);
	assert_null(r.devices);
}

static void test_config(void **state)
{
	struct routes r = {.config_json = "{\"listen\":\":9907\"}"};

	(void)state;
	assert_text(&r, "/api/v1/config", 200, "{\n  \"listen\": \":9907\",\n  \"bpf\": null\n}");
	routes_done(&r);
}

static const char *header(const struct http_reply *reply, const char *name)
{
	for (const char *const *h = reply->headers; h && *h; h += 2)
		if (strcmp(h[0], name) == 0)
			return h[1];
	return NULL;
}

static void assert_page(struct routes *r, const char *path)
{
	struct answer a = ask(r, path);

	assert_int_equal(a.reply.status, 200);
	assert_string_equal(a.reply.content_type, "text/html; charset=utf-8");
	assert_non_null(strstr(a.text, "href=\"metrics\"")); /* a relative link */
	assert_non_null(strstr(header(&a.reply, "Content-Security-Policy"), "default-src 'none'"));
	assert_null(header(&a.reply, "Content-Encoding"));
	done(&a);
}

static void test_page(void **state)
{
	const struct http_request packed = {
		.method = "GET", .path = "/", .accept = "", .accepts_gzip = true};
	struct routes r = {0};
	struct http_reply reply = {0};

	(void)state;
	assert_page(&r, "/");
	routes_answer(&packed, &reply, &r);
	assert_int_equal(reply.status, 200);
	assert_string_equal(header(&reply, "Content-Encoding"), "gzip");
	assert_true(reply.fixed && !reply.body && reply.body_len < 120000);
	assert_memory_equal(reply.fixed, "\x1f\x8b", 2);
	routes_done(&r);
}

/* A proxy may leave its own path before ours. */
static void test_behind_proxies(void **state)
{
	struct routes r = {.config_json = "{}"};

	(void)state;
	assert_page(&r, "/rocelet/");
	assert_page(&r, "/a b/%/<script>/");
	assert_text(&r, "/rocelet/healthz", 200, "ok\n");
	assert_text(&r, "/a/b/api/v1/config", 200, "{\n  \"bpf\": null\n}");
	routes_done(&r);
}

/* The whole runbook and single causes, also below a proxy's path. */
static void test_runbook(void **state)
{
	static const struct {
		const char *path, *heading;
	} documents[] = {
		{"/docs/runbook.md", "<h1 id=\"runbook\">"},
		{"/runbook/", "<h1 id=\"runbook\">"},
		{"/p/runbook/", "<h1 id=\"runbook\">"},
		{"/runbook/packet_loss", "<h1 id=\"packet_loss\">"},
		{"/p/runbook/peer_gone", "<h1 id=\"peer_gone\">"},
	};
	static const char *const none[] = {"/runbook/none",	    "/runbook/none/",
					   "/packet_loss",	    "/myrunbook/packet_loss",
					   "/runbook/packet_loss/", "runbook/"};
	struct routes r = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(documents) / sizeof(documents[0]); i++) {
		struct answer a = ask(&r, documents[i].path);

		assert_int_equal(a.reply.status, 200);
		assert_non_null(strstr(a.text, documents[i].heading));
		assert_non_null(
			strstr(header(&a.reply, "Content-Security-Policy"), "connect-src 'self';"));
		done(&a);
	}
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		struct answer a = ask(&r, none[i]);

		assert_int_equal(a.reply.status, 0);
		done(&a);
	}
	routes_done(&r);
}

/* A browser gets links to all causes for an unknown one, and the folder for its name without a
 * slash; every document names the node. */
static void test_ways_into_the_runbook(void **state)
{
	const struct http_request browser = {
		.method = "GET", .path = "/p/runbook/none", .accept = "text/html,*/*"};
	struct routes r = {.node = "node-<17>"};
	struct http_reply reply = {0};
	struct answer a = ask(&r, "/p/runbook");

	(void)state;
	assert_int_equal(a.reply.status, 308);
	assert_string_equal(header(&a.reply, "Location"), "runbook/");
	done(&a);
	a = ask(&r, "/runbook/packet_loss");
	assert_non_null(strstr(a.text, "node-&lt;17>"));
	assert_null(strstr(a.text, "@NODE@"));
	done(&a);
	routes_answer(&browser, &reply, &r);
	assert_int_equal(reply.status, 404);
	assert_non_null(memmem(reply.body, reply.body_len, "href=\"packet_loss\"", 18));
	assert_non_null(memmem(reply.body, reply.body_len, "node-&lt;17>", 12));
	free(reply.body);
	routes_done(&r);
}

static void test_other_paths_are_left_unanswered(void **state)
{
	static const char *const paths[] = {"",		"/metric", "/metrics/",	  "//", "/api",
					    "/METRICS", "metrics", "/a/metrics/", "/a"};
	struct routes r = {0};
	struct answer a;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		a = ask(&r, paths[i]);
		assert_int_equal(a.reply.status, 0); /* the server replies with 404 */
		done(&a);
	}
	routes_done(&r);
}

static struct answer ask_for(struct routes *r, const char *path, const char *key, const char *value)
{
	const struct http_request request = {.method = "GET",
					     .path = path,
					     .accept = "",
					     .params = {{key, value}},
					     .n_params = 1};
	struct answer a = {0};

	routes_answer(&request, &a.reply, r);
	a.text = calloc(1, a.reply.body_len + 1);
	assert_non_null(a.text);
	if (a.reply.body)
		memcpy(a.text, a.reply.body, a.reply.body_len);
	return a;
}

/* A misspelt parameter is an error, because ignoring it would answer another question. */
static void test_unknown_parameters_are_refused(void **state)
{
	struct routes r = {.config_json = "{}"};
	const struct route *table;
	struct answer a;
	size_t n;

	(void)state;
	table = routes_table(&n);
	for (size_t i = 0; i < n; i++) {
		if (!route_is_api(&table[i]))
			continue;
		a = ask_for(&r, table[i].path, "pood", "x");
		assert_int_equal(a.reply.status, 400);
		assert_string_equal(a.reply.content_type, "application/json");
		assert_non_null(strstr(a.text, "{\"error\":\"unknown parameter pood; /api/"));
		done(&a);
	}
	a = ask_for(&r, "/api/v1/events", "pood", "x");
	assert_string_equal(a.text,
			    "{\"error\":\"unknown parameter pood; /api/v1/events has device, "
			    "pod, since, until, reason, type, limit, after, wait\"}");
	done(&a);
	a = ask_for(&r, "/readyz", "probe", "1"); /* not below /api */
	assert_int_equal(a.reply.status, 503);
	done(&a);
	routes_done(&r);
}

static void test_index(void **state)
{
	struct routes r = {.node = "node-17", .epoch_ms = 5000, .started_unix_ms = 2000};
	const struct http_request request = {
		.method = "GET", .path = "/x/api/v1", .accept = "", .now_ms = 7000};
	struct http_reply reply = {0};
	json_t *index;
	size_t n;

	(void)state;
	routes_answer(&request, &reply, &r);
	assert_int_equal(reply.status, 200);
	index = json_loads(reply.body, 0, NULL);
	assert_string_equal(json_string_value(json_object_get(index, "node")), "node-17");
	assert_int_equal(json_integer_value(json_object_get(index, "upSeconds")), 10);
	routes_table(&n);
	assert_int_equal(json_array_size(json_object_get(index, "routes")), n);
	json_decref(index);
	free(reply.body);
	assert_text(&r, "/api/v1/", 404, "{\"error\":\"no such path; /api/v1 lists them\"}");
	assert_text(&r, "/a/api/v2/pods", 404, "{\"error\":\"no such path; /api/v1 lists them\"}");
	routes_done(&r);
}

TEST_GROUP(routes)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_before_anything_is_known),
		cmocka_unit_test(test_without_a_view_of_the_host_it_is_not_ready),
		cmocka_unit_test(test_with_the_wrong_runtime_it_is_not_ready),
		cmocka_unit_test(test_without_a_listener_it_is_not_ready),
		cmocka_unit_test(test_without_a_resource_at_the_kubelet_it_is_not_ready),
		cmocka_unit_test(test_all_reasons_are_named_the_most_important_first),
		cmocka_unit_test(test_metrics_in_the_requested_format),
		cmocka_unit_test(test_devices_are_rendered_once_per_generation),
		cmocka_unit_test(test_config),
		cmocka_unit_test(test_page),
		cmocka_unit_test(test_behind_proxies),
		cmocka_unit_test(test_runbook),
		cmocka_unit_test(test_ways_into_the_runbook),
		cmocka_unit_test(test_other_paths_are_left_unanswered),
		cmocka_unit_test(test_unknown_parameters_are_refused),
		cmocka_unit_test(test_index),
	};

	return test_group_run(tests, NULL, NULL);
}
