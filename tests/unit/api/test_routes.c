#include "routes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "inventory.h"
#include "page.h"
#include "test_group.h"

struct answer {
	struct http_reply reply;
	char *text; /* terminated copy of the body, "" without one */
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

/* In an upgrade another pod's rocelet may be the one that answers. */
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
	assert_text(&r, "/api/v1/devices", 503, "the host's devices have not been read yet\n");
	assert_text(&r, "/api/v1/config", 503, "the configuration has not been read yet\n");
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

static void tell_blind(struct attach_counters *ret, void *arg)
{
	*ret = (struct attach_counters){.view_error = "the host is hidden"};
	(void)arg;
}

static void test_who_cannot_see_the_host_is_not_ready(void **state)
{
	struct inventory inventory = {.generation = 1};
	struct routes r = {
		.inventory = &inventory, .page = page_new(), .orders = {.counters = tell_blind}};

	(void)state;
	assert_text(&r, "/readyz", 503, "not ready: the host is hidden\n");
	assert_text(&r, "/healthz", 200, "ok\n");
	page_unref(r.page);
	routes_done(&r);
}

static void tell_contradicted(struct attach_counters *ret, void *arg)
{
	*ret = (struct attach_counters){.contradicting = 1, .runtime_error = "it lacks pod a/b"};
	ret->runtime_lacks_all = *(bool *)arg;
}

/* One pod that the runtime's list lacks may be a process that was left behind. */
static void test_who_asks_the_wrong_runtime_is_not_ready(void **state)
{
	struct inventory inventory = {.generation = 1};
	bool lacks_all = true;
	struct routes r = {.inventory = &inventory,
			   .page = page_new(),
			   .orders = {.counters = tell_contradicted, .arg = &lacks_all}};

	(void)state;
	assert_text(&r, "/readyz", 503, "not ready: it lacks pod a/b\n");
	lacks_all = false;
	assert_text(&r, "/readyz", 200, "ok\n");
	page_unref(r.page);
	routes_done(&r);
}

static void test_metrics_in_the_format_asked_for(void **state)
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
	inventory.host.rdma_mode = RDMA_NETNS_SHARED; /* no new generation: nobody is to see it */
	assert_text(&r, "/api/v1/devices", 200,
		    "{\"generation\":4,\"rdmaNetnsMode\":null,\"devices\":[],\"resources\":[]}");
	assert_ptr_equal(r.devices, kept);
	inventory.generation = 5;
	assert_text(
		&r, "/api/v1/devices", 200,
		"{\"generation\":5,\"rdmaNetnsMode\":\"shared\",\"devices\":[],\"resources\":[]}");
	inventory.host.rdma_mode = RDMA_NETNS_EXCLUSIVE;
	r.settings_generation++; /* what ports are set to is shown, too */
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
	assert_non_null(strstr(a.text, "href=\"metrics\"")); /* relative */
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

/* Their path may still stand before ours. */
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

static void test_other_paths_are_left_unanswered(void **state)
{
	static const char *const paths[] = {
		"",	    "/metric", "/metrics/",   "//",	    "/api", "/api/v1/",
		"/METRICS", "metrics", "/a/metrics/", "/a/api/v1/", "/a"};
	struct routes r = {0};
	struct answer a;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		a = ask(&r, paths[i]);
		assert_int_equal(a.reply.status, 0); /* the server makes it a 404 */
		done(&a);
	}
	routes_done(&r);
}

TEST_GROUP(routes)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_before_anything_is_known),
		cmocka_unit_test(test_who_cannot_see_the_host_is_not_ready),
		cmocka_unit_test(test_who_asks_the_wrong_runtime_is_not_ready),
		cmocka_unit_test(test_metrics_in_the_format_asked_for),
		cmocka_unit_test(test_devices_are_rendered_once_per_generation),
		cmocka_unit_test(test_config),
		cmocka_unit_test(test_page),
		cmocka_unit_test(test_behind_proxies),
		cmocka_unit_test(test_other_paths_are_left_unanswered),
	};

	return test_group_run(tests, NULL, NULL);
}
