/* A container runtime in the same loop, in every mood. */
#include "cri.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "array.h"
#include "cleanup.h"
#include "cri_internal.h"
#include "fake_cri.h"
#include "faults.h"
#include "loop_helpers.h"
#include "tmptree.h"
#include "uds.h"

#define SOON_MS 20000

static const struct fake_sandbox pods[] = {
	{.id = "aaa1", .namespace = "default", .pod = "a", .uid = "u1", .netns = "/run/netns/a"},
	{.id = "bbb2",
	 .namespace = "ml",
	 .pod = "b",
	 .uid = "u2",
	 .netns = "/run/netns/b",
	 .networks = "[{\"resource\":\"rocelet.dev/roce\"}]"},
	{.id = "ccc3", .namespace = "ml", .pod = "host", .uid = "u3", .host_network = true},
};

struct fixture {
	uv_loop_t loop;
	char *dir, path[108];
	struct fake_cri fake;
	struct cri *cri;
	unsigned answers, failures;
	uint64_t asked_ms;
	const char *id; /* what a condition is about */
	bool close_when_told, closed;
};

static void on_sandboxes(const struct sandbox_list *l, uint64_t asked_ms, void *arg)
{
	struct fixture *f = arg;

	assert_ptr_equal(l, cri_sandboxes(f->cri));
	assert_false(f->closed);
	f->answers += asked_ms != 0;
	f->failures += asked_ms == 0;
	if (asked_ms)
		f->asked_ms = asked_ms;
	if (f->close_when_told) {
		f->closed = true;
		cri_close(f->cri);
	}
}

static void prepare(struct fixture *f)
{
	*f = (struct fixture){.dir = tmptree_new()};
	assert_int_equal(uv_loop_init(&f->loop), 0);
	snprintf(f->path, sizeof(f->path), "%s/cri.sock", f->dir);
	fake_cri_init(&f->fake, &f->loop, f->path);
	fake_cri_set(&f->fake, pods, 3);
}

static void open_client(struct fixture *f)
{
	struct err e = {0};

	assert_int_equal(cri_open(&f->cri, &f->loop, f->path, on_sandboxes, f, &e), 0);
	assert_false(cri_sandboxes(f->cri)->known);
}

static void stop(struct fixture *f)
{
	if (!f->closed)
		cri_close(f->cri);
	fake_cri_done(&f->fake);
	assert_int_equal(loop_end(&f->loop), 0);
	tmptree_free(f->dir);
}

static void until(struct fixture *f, bool (*cond)(void *))
{
	assert_true(loop_until(&f->loop, cond, f, SOON_MS));
}

static const struct sandbox *get(struct fixture *f, const char *id)
{
	return sandbox_find(cri_sandboxes(f->cri), id);
}

static struct cri_status status_of(struct fixture *f)
{
	struct cri_status s;

	cri_status(f->cri, &s);
	return s;
}

static bool is_known(void *arg)
{
	return cri_sandboxes(((struct fixture *)arg)->cri)->known;
}

static bool is_unknown(void *arg)
{
	return !is_known(arg);
}

static bool is_detailed(void *arg)
{
	const struct sandbox_list *l = cri_sandboxes(((struct fixture *)arg)->cri);
	size_t n = 0;

	while (n < l->n && l->items[n].detailed)
		n++;
	return l->known && l->n > 0 && n == l->n;
}

static bool has_failed(void *arg)
{
	return ((struct fixture *)arg)->failures > 0;
}

static bool is_there(void *arg)
{
	struct fixture *f = arg;
	const struct sandbox *s = get(f, f->id);

	return s && s->detailed;
}

static bool is_gone(void *arg)
{
	struct fixture *f = arg;

	return !get(f, f->id);
}

static bool is_not_ready(void *arg)
{
	struct fixture *f = arg;
	const struct sandbox *s = get(f, f->id);

	return s && !s->ready;
}

static bool has_netns(void *arg)
{
	struct fixture *f = arg;
	const struct sandbox *s = get(f, f->id);

	return s && s->netns[0];
}

static bool is_listened_to(void *arg)
{
	return ((struct fixture *)arg)->fake.stream != NULL;
}

/* The first second, when the list is asked again because anything may have happened before the
 * subscription, is over. */
static bool is_calm(void *arg)
{
	struct fixture *f = arg;

	return uv_now(&f->loop) > f->fake.last_ms + 700;
}

/* --- the list --------------------------------------------------------------------------------- */

static void test_the_list_and_its_details(void **state)
{
	struct cri_status st;
	struct fixture f;

	(void)state;
	prepare(&f);
	fake_cri_start(&f.fake);
	open_client(&f);
	until(&f, is_detailed);
	assert_string_equal(get(&f, "aaa1")->netns, "/run/netns/a");
	assert_true(get(&f, "aaa1")->ready);
	assert_null(get(&f, "aaa1")->networks);
	assert_string_equal(get(&f, "bbb2")->networks, pods[1].networks);
	assert_string_equal(get(&f, "bbb2")->uid, "u2");
	assert_true(get(&f, "ccc3")->host_network);
	assert_string_equal(get(&f, "ccc3")->netns, "");
	st = status_of(&f);
	assert_string_equal(st.socket, f.path);
	assert_string_equal(st.runtime, "containerd 1.6.20");
	assert_int_equal(st.hints, CRI_HINTS_CONTAINERD);
	assert_int_equal(st.failed, 0);
	assert_string_equal(st.error, "");
	assert_int_equal(f.failures, 0);
	stop(&f);
}

static bool is_asked_five_times(void *arg)
{
	return ((struct fixture *)arg)->fake.lists >= 5;
}

static void test_details_are_asked_once(void **state)
{
	struct fixture f;

	(void)state;
	prepare(&f);
	fake_cri_start(&f.fake);
	open_client(&f);
	until(&f, is_detailed);
	until(&f, is_asked_five_times);
	assert_int_equal(f.fake.details, 3);
	stop(&f);
}

static bool is_asked_later(void *arg)
{
	struct fixture *f = arg;

	return f->asked_ms >= *(const uint64_t *)f->id;
}

static void test_a_refresh_is_answered_by_a_later_question(void **state)
{
	uint64_t now_ms;
	struct fixture f;

	(void)state;
	prepare(&f);
	fake_cri_start(&f.fake);
	open_client(&f);
	until(&f, is_known);
	for (int i = 0; i < 3; i++) {
		uv_update_time(&f.loop);
		now_ms = uv_now(&f.loop);
		f.id = (const char *)&now_ms;
		cri_refresh(f.cri);
		until(&f, is_asked_later);
	}
	stop(&f);
}

static void test_refreshes_are_spaced(void **state)
{
	uint64_t began_ms;
	struct fixture f;

	(void)state;
	prepare(&f);
	fake_cri_start(&f.fake);
	open_client(&f);
	until(&f, is_known);
	f.fake.lists = 0;
	uv_update_time(&f.loop);
	began_ms = uv_now(&f.loop);
	while (uv_now(&f.loop) - began_ms < 200) {
		cri_refresh(f.cri);
		uv_run(&f.loop, UV_RUN_ONCE);
	}
	assert_true(f.fake.lists >= 2 && f.fake.lists <= 51);
	stop(&f);
}

/* A sandbox that has no namespace yet is asked again. */
static void test_a_namespace_that_comes_later(void **state)
{
	struct fake_sandbox one = pods[0];
	struct fixture f;

	(void)state;
	prepare(&f);
	one.netns = NULL;
	fake_cri_set(&f.fake, &one, 1);
	fake_cri_start(&f.fake);
	open_client(&f);
	until(&f, is_detailed);
	assert_string_equal(get(&f, "aaa1")->netns, "");
	assert_false(get(&f, "aaa1")->host_network);
	fake_cri_set(&f.fake, pods, 1);
	f.id = "aaa1";
	until(&f, has_netns);
	stop(&f);
}

static bool asks_all_it_may(void *arg)
{
	return ((struct fixture *)arg)->fake.open_details == 8;
}

static void test_many_sandboxes(void **state)
{
	struct fake_sandbox *many = calloc(300, sizeof(*many));
	char(*ids)[16] = calloc(300, 16);
	struct fixture f;

	(void)state;
	assert_non_null(many);
	assert_non_null(ids);
	for (size_t i = 0; i < 300; i++) {
		snprintf(ids[i], 16, "id%zu", 997 * i % 300);
		many[i] = (struct fake_sandbox){
			.id = ids[i], .namespace = "n", .pod = ids[i], .netns = ids[i]};
		many[i].netns = "/run/netns/x";
	}
	prepare(&f);
	fake_cri_set(&f.fake, many, 300);
	f.fake.mute_details = true;
	fake_cri_start(&f.fake);
	open_client(&f);
	until(&f, asks_all_it_may);
	fake_cri_tell_details(&f.fake);
	until(&f, is_detailed);
	assert_int_equal(cri_sandboxes(f.cri)->n, 300);
	assert_int_equal(f.fake.most_details, 8);
	assert_int_equal(f.fake.details, 300);
	stop(&f);
	free(many);
	free(ids);
}

static bool asks_three(void *arg)
{
	return ((struct fixture *)arg)->fake.open_details == 3;
}

static bool has_one(void *arg)
{
	return cri_sandboxes(((struct fixture *)arg)->cri)->n == 1;
}

static void test_a_sandbox_that_goes_while_it_is_asked(void **state)
{
	struct fixture f;

	(void)state;
	prepare(&f);
	f.fake.mute_details = true;
	fake_cri_start(&f.fake);
	open_client(&f);
	until(&f, asks_three);
	fake_cri_set(&f.fake, pods, 1);
	cri_refresh(f.cri);
	until(&f, has_one);
	fake_cri_set(&f.fake, pods, 3); /* the answers are full all the same */
	fake_cri_tell_details(&f.fake);
	fake_cri_set(&f.fake, pods, 1);
	until(&f, is_detailed);
	assert_true(has_one(&f));
	stop(&f);
}

/* --- hints ------------------------------------------------------------------------------------ */

/* The event is there before the list shows the sandbox. */
static void test_an_event_comes_before_its_sandbox(void **state)
{
	struct fixture f;
	unsigned lists;

	(void)state;
	prepare(&f);
	fake_cri_set(&f.fake, pods, 1);
	fake_cri_start(&f.fake);
	open_client(&f);
	until(&f, is_listened_to);
	until(&f, is_calm);
	lists = f.fake.lists;
	fake_cri_event(&f.fake, CRI_EVENT_BEGINS, "bbb2");
	loop_wakeups(&f.loop, 60);
	assert_true(f.fake.lists >= lists + 2);
	fake_cri_set(&f.fake, pods, 2);
	f.id = "bbb2";
	until(&f, is_there);
	lists = f.fake.lists;
	loop_wakeups(&f.loop, 300);
	assert_int_equal(f.fake.lists, lists); /* no reason to ask any more */
	assert_int_equal(status_of(&f).events, 1);
	stop(&f);
}

static void test_a_sandbox_ends_and_goes(void **state)
{
	struct fake_sandbox two[2] = {pods[0], pods[1]};
	struct fixture f;

	(void)state;
	prepare(&f);
	fake_cri_start(&f.fake);
	open_client(&f);
	until(&f, is_listened_to);
	until(&f, is_calm);
	fake_cri_event(&f.fake, CRI_EVENT_ENDS, "bbb2");
	loop_wakeups(&f.loop, 20);
	two[1].not_ready = true;
	fake_cri_set(&f.fake, two, 2);
	f.id = "bbb2";
	until(&f, is_not_ready);
	assert_string_equal(get(&f, "bbb2")->netns, "/run/netns/b"); /* it still was that one */
	fake_cri_event(&f.fake, CRI_EVENT_GONE, "bbb2");
	fake_cri_set(&f.fake, two, 1);
	until(&f, is_gone);
	stop(&f);
}

static void test_what_is_no_sandbox_is_not_waited_for(void **state)
{
	struct fixture f;
	unsigned lists;

	(void)state;
	prepare(&f);
	fake_cri_start(&f.fake);
	open_client(&f);
	until(&f, is_listened_to);
	until(&f, is_calm);
	lists = f.fake.lists;
	fake_cri_event(&f.fake, CRI_EVENT_ENDS, "a container");
	fake_cri_event(&f.fake, CRI_EVENT_GONE, "a container");
	fake_cri_event(&f.fake, CRI_EVENT_OTHER, "an image");
	fake_cri_event(&f.fake, CRI_EVENT_BEGINS, "aaa1"); /* known and ready */
	loop_wakeups(&f.loop, 200);
	assert_int_equal(f.fake.lists, lists);
	assert_int_equal(status_of(&f).events, 4);
	fake_cri_event_bytes(&f.fake, "\xff\xff", 2); /* may be anything */
	fake_cri_set(&f.fake, pods, 2);
	f.id = "ccc3";
	until(&f, is_gone);
	stop(&f);
}

static bool has_heard_all(void *arg)
{
	return status_of(arg).events == 2000;
}

static void test_a_storm_of_events(void **state)
{
	struct fixture f;
	char id[16];

	(void)state;
	prepare(&f);
	fake_cri_start(&f.fake);
	open_client(&f);
	until(&f, is_listened_to);
	until(&f, is_calm);
	f.fake.lists = 0;
	for (unsigned i = 0; i < 2000; i++) {
		snprintf(id, sizeof(id), "x%u", i);
		fake_cri_event(&f.fake, CRI_EVENT_BEGINS, id);
	}
	until(&f, has_heard_all);
	until(&f, is_asked_five_times);
	until(&f, is_calm);
	assert_true(f.fake.lists < 200);
	stop(&f);
}

static void test_events_of_cri_o(void **state)
{
	struct fixture f;

	(void)state;
	prepare(&f);
	f.fake.name = "cri-o";
	f.fake.version = "1.31.2";
	fake_cri_set(&f.fake, pods, 1);
	fake_cri_start(&f.fake);
	open_client(&f);
	until(&f, is_listened_to);
	assert_true(f.fake.stream_is_cri);
	until(&f, is_calm);
	assert_int_equal(status_of(&f).hints, CRI_HINTS_CRI);
	fake_cri_set(&f.fake, pods, 2);
	fake_cri_event(&f.fake, CRI_EVENT_BEGINS, "bbb2");
	f.id = "bbb2";
	until(&f, is_there);
	stop(&f);
}

static bool has_no_events(void *arg)
{
	struct fixture *f = arg;

	return f->fake.streams > 0 && is_known(f) && status_of(f).hints == CRI_HINTS_NONE;
}

/* Without pod events CRI-O ends the stream at once; then the list is asked, and often while
 * somebody waits. */
static void test_a_stream_that_ends_at_once(void **state)
{
	uint64_t before_ms;
	struct fixture f;
	unsigned lists;

	(void)state;
	prepare(&f);
	f.fake.name = "cri-o";
	f.fake.brief_events = true;
	fake_cri_set(&f.fake, pods, 1);
	fake_cri_start(&f.fake);
	open_client(&f);
	until(&f, has_no_events);
	until(&f, is_calm);
	assert_int_equal(f.fake.streams, 1);
	assert_int_equal(f.failures, 0);
	lists = f.fake.lists;
	before_ms = f.fake.last_ms;
	fake_cri_set(&f.fake, pods, 2);
	cri_expect(f.cri, true);
	f.id = "bbb2";
	until(&f, is_there);
	assert_true(f.fake.last_ms - before_ms < 5000); /* every second, not every ten */
	cri_expect(f.cri, false);
	assert_true(f.fake.lists - lists <= 3);
	lists = f.fake.lists;
	loop_wakeups(&f.loop, 500);
	assert_int_equal(f.fake.lists, lists);
	stop(&f);
}

static bool has_tried_two_streams(void *arg)
{
	return ((struct fixture *)arg)->fake.streams == 2 && has_no_events(arg);
}

static void test_containerd_without_events(void **state)
{
	struct fixture f;

	(void)state;
	prepare(&f);
	f.fake.no_events = true;
	fake_cri_start(&f.fake);
	open_client(&f);
	until(&f, has_no_events);
	until(&f, is_detailed);
	assert_int_equal(f.fake.streams, 1); /* CRI's would be another's */
	stop(&f);

	prepare(&f);
	f.fake.no_events = true;
	f.fake.version = "2.1.9";
	fake_cri_start(&f.fake);
	open_client(&f);
	until(&f, has_tried_two_streams);
	stop(&f);
}

/* --- trouble ---------------------------------------------------------------------------------- */

static bool has_two_greetings(void *arg)
{
	return ((struct fixture *)arg)->fake.greetings >= 2;
}

static void test_a_restart(void **state)
{
	struct fixture f;

	(void)state;
	prepare(&f);
	fake_cri_start(&f.fake);
	open_client(&f);
	until(&f, is_listened_to);
	until(&f, is_detailed);
	fake_cri_stop(&f.fake, false);
	fake_cri_set(&f.fake, pods, 2);
	loop_wakeups(&f.loop, 100);
	assert_true(cri_sandboxes(f.cri)->known); /* not for long enough */
	assert_int_equal(cri_sandboxes(f.cri)->n, 3);
	f.fake.version = "1.7.24";
	fake_cri_start(&f.fake);
	f.id = "ccc3";
	until(&f, is_gone);
	until(&f, is_listened_to);
	assert_string_equal(status_of(&f).runtime, "containerd 1.7.24");
	assert_string_equal(status_of(&f).error, "");
	assert_int_equal(f.fake.details, 3); /* what was known stays */
	stop(&f);
}

/* The runtime before still answers, but is not the one at the path any more. */
static void test_a_socket_that_is_replaced(void **state)
{
	struct uds_server *before;
	struct fixture f;

	(void)state;
	prepare(&f);
	fake_cri_start(&f.fake);
	open_client(&f);
	until(&f, is_listened_to);
	before = f.fake.server;
	f.fake.stream = NULL;
	fake_cri_start(&f.fake);
	until(&f, has_two_greetings);
	until(&f, is_listened_to);
	uds_server_close(before);
	assert_non_null(f.fake.stream);
	stop(&f);
}

static void test_a_stream_that_ends(void **state)
{
	struct fixture f;

	(void)state;
	prepare(&f);
	fake_cri_start(&f.fake);
	open_client(&f);
	until(&f, is_listened_to);
	until(&f, is_calm); /* it has come for more than a second */
	fake_cri_end_events(&f.fake, GRPC_OK);
	until(&f, has_two_greetings);
	until(&f, is_listened_to);
	assert_int_equal(f.failures, 0);
	stop(&f);
}

static void test_a_list_that_is_refused(void **state)
{
	struct fixture f;

	(void)state;
	prepare(&f);
	f.fake.refusals = 2;
	fake_cri_start(&f.fake);
	open_client(&f);
	until(&f, has_failed);
	assert_non_null(strstr(status_of(&f).error, "server is not initialized yet"));
	until(&f, is_detailed);
	assert_int_equal(f.failures, 2);
	assert_int_equal(status_of(&f).failed, 2);
	stop(&f);
}

static void test_a_list_that_is_none(void **state)
{
	static uint8_t large[17 << 20];
	struct fixture f;

	(void)state;
	prepare(&f);
	f.fake.answer = (const uint8_t *)"\xff\xff\xff";
	f.fake.answer_len = 3;
	fake_cri_start(&f.fake);
	open_client(&f);
	until(&f, has_failed);
	assert_false(cri_sandboxes(f.cri)->known);
	f.failures = 0;
	f.fake.answer = large; /* a field number 0 */
	f.fake.answer_len = 10 << 20;
	until(&f, has_failed);
	f.failures = 0;
	for (size_t i = 0; i < sizeof(large); i += 2)
		large[i] = 0x0a; /* five million empty sandboxes */
	until(&f, has_failed);
	assert_false(cri_sandboxes(f.cri)->known);
	f.failures = 0;
	f.fake.answer_len = sizeof(large);
	until(&f, has_failed);
	assert_non_null(strstr(status_of(&f).error, "larger than 16777216 bytes"));
	f.fake.answer = NULL;
	until(&f, is_detailed);
	stop(&f);
}

/* It is doubted after five seconds; what was known is kept, but not for true. */
static void test_a_runtime_that_does_not_answer(void **state)
{
	struct fixture f;

	(void)state;
	prepare(&f);
	fake_cri_start(&f.fake);
	open_client(&f);
	until(&f, is_detailed);
	f.fake.silent = true;
	f.failures = 0;
	cri_refresh(f.cri);
	until(&f, is_unknown);
	until(&f, has_failed);
	assert_int_equal(cri_sandboxes(f.cri)->n, 3);
	assert_non_null(strstr(status_of(&f).error, "DEADLINE_EXCEEDED"));
	f.fake.silent = false;
	f.answers = 0;
	until(&f, is_known);
	stop(&f);
}

static bool is_refused(void *arg)
{
	return status_of(arg).failed >= 3;
}

static void test_nobody_behind_the_socket(void **state)
{
	struct fixture f;

	(void)state;
	prepare(&f);
	fake_cri_start(&f.fake);
	open_client(&f);
	until(&f, is_detailed);
	fake_cri_stop(&f.fake, true);
	until(&f, is_refused);
	assert_true(cri_sandboxes(f.cri)->known);
	until(&f, is_unknown);
	fake_cri_start(&f.fake);
	until(&f, is_known);
	stop(&f);
}

/* As distributions with a containerd of their own have it. */
static void test_a_link_to_the_socket(void **state)
{
	char path[sizeof(((struct fixture *)0)->path)];
	struct fixture f;

	(void)state;
	prepare(&f);
	memcpy(path, f.path, sizeof(path));
	fake_cri_start(&f.fake);
	tmptree_link(f.dir, "link.sock", f.path);
	snprintf(f.path, sizeof(f.path), "%s/link.sock", f.dir);
	f.fake.path = path;
	open_client(&f);
	until(&f, is_detailed);
	stop(&f);
}

static void test_no_socket(void **state)
{
	struct fixture f;

	(void)state;
	prepare(&f);
	open_client(&f);
	until(&f, has_failed);
	loop_wakeups(&f.loop, 300);
	assert_int_equal(f.failures, 1); /* and is not looked for again */
	cri_refresh(f.cri);
	f.failures = 0;
	until(&f, has_failed); /* whoever asks is told */
	fake_cri_start(&f.fake);
	until(&f, is_detailed);
	stop(&f);
}

static void test_bad_paths(void **state)
{
	char path[200];
	struct cri *cri = NULL;
	struct err e = {0};
	uv_loop_t loop;

	(void)state;
	assert_int_equal(uv_loop_init(&loop), 0);
	memset(path, 'x', sizeof(path) - 1);
	path[0] = '/';
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(cri_open(&cri, &loop, path, on_sandboxes, NULL, &e), -EINVAL);
	assert_int_equal(cri_open(&cri, &loop, "cri.sock", on_sandboxes, NULL, &e), -EINVAL);
	assert_non_null(strstr(e.msg, "cri.sock: no absolute path"));
	assert_null(cri);
	cri_close(NULL);
	assert_int_equal(loop_end(&loop), 0);
}

/* Where a runtime has its socket by itself; whether one runs here is not asked. */
static void test_the_usual_sockets(void **state)
{
	struct fixture f;
	struct err e = {0};

	(void)state;
	prepare(&f);
	assert_int_equal(cri_open(&f.cri, &f.loop, NULL, on_sandboxes, &f, &e), 0);
	stop(&f);
}

/* Another one that is alive and idle would say that all pods are gone. */
static void test_the_runtime_that_told_its_list_is_the_one(void **state)
{
	struct fake_cri other;
	char path[sizeof(((struct fixture *)0)->path)];
	struct fixture f;

	(void)state;
	prepare(&f);
	snprintf(path, sizeof(path), "%s/other.sock", f.dir);
	fake_cri_init(&other, &f.loop, path);
	fake_cri_start(&other);
	open_client(&f);
	f.cri->sockets[f.cri->n_sockets++] = strdup(path);
	fake_cri_start(&f.fake);
	until(&f, is_detailed);
	for (int dead_file = 0; dead_file < 2; dead_file++) {
		fake_cri_stop(&f.fake, dead_file);
		f.failures = 0;
		until(&f, is_unknown);
		assert_true(f.failures > 0);
		assert_int_equal(cri_sandboxes(f.cri)->n, 3);
		fake_cri_start(&f.fake);
		until(&f, is_known);
	}
	assert_int_equal(other.greetings, 0);
	fake_cri_done(&other);
	stop(&f);
}

/* --- ends ------------------------------------------------------------------------------------- */

static void test_closing_at_any_moment(void **state)
{
	struct fixture f;

	(void)state;
	for (unsigned turns = 0; turns < 30; turns++) {
		prepare(&f);
		f.fake.mute_details = turns % 2;
		fake_cri_start(&f.fake);
		open_client(&f);
		for (unsigned i = 0; i < turns; i++)
			uv_run(&f.loop, UV_RUN_NOWAIT);
		stop(&f);
	}
	prepare(&f);
	f.fake.silent = true;
	fake_cri_start(&f.fake);
	open_client(&f);
	loop_wakeups(&f.loop, 20);
	stop(&f);
}

static bool is_closed(void *arg)
{
	return ((struct fixture *)arg)->closed;
}

static void test_closing_when_told(void **state)
{
	struct fixture f;

	(void)state;
	prepare(&f);
	f.close_when_told = true;
	fake_cri_start(&f.fake);
	open_client(&f);
	until(&f, is_closed);
	stop(&f);
	prepare(&f);
	f.close_when_told = true;
	open_client(&f);
	until(&f, is_closed);
	stop(&f);
}

/* Whatever allocation of ours fails: it is told, and tried again. */
static void test_no_memory(void **state)
{
	struct fixture f;

	(void)state;
	for (long nth = 0; nth < 60; nth++) {
		struct err e = {0};

		prepare(&f);
		fake_cri_start(&f.fake);
		faults_alloc(nth);
		if (cri_open(&f.cri, &f.loop, f.path, on_sandboxes, &f, &e) == 0) {
			for (unsigned i = 0; i < 12; i++)
				uv_run(&f.loop, UV_RUN_NOWAIT);
			faults_end();
			until(&f, is_detailed);
		} else {
			faults_end();
			f.closed = true;
		}
		stop(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_list_and_its_details),
		cmocka_unit_test(test_details_are_asked_once),
		cmocka_unit_test(test_a_refresh_is_answered_by_a_later_question),
		cmocka_unit_test(test_refreshes_are_spaced),
		cmocka_unit_test(test_a_namespace_that_comes_later),
		cmocka_unit_test(test_many_sandboxes),
		cmocka_unit_test(test_a_sandbox_that_goes_while_it_is_asked),
		cmocka_unit_test(test_an_event_comes_before_its_sandbox),
		cmocka_unit_test(test_a_sandbox_ends_and_goes),
		cmocka_unit_test(test_what_is_no_sandbox_is_not_waited_for),
		cmocka_unit_test(test_a_storm_of_events),
		cmocka_unit_test(test_events_of_cri_o),
		cmocka_unit_test(test_a_stream_that_ends_at_once),
		cmocka_unit_test(test_containerd_without_events),
		cmocka_unit_test(test_a_restart),
		cmocka_unit_test(test_a_socket_that_is_replaced),
		cmocka_unit_test(test_a_stream_that_ends),
		cmocka_unit_test(test_a_list_that_is_refused),
		cmocka_unit_test(test_a_list_that_is_none),
		cmocka_unit_test(test_a_runtime_that_does_not_answer),
		cmocka_unit_test(test_nobody_behind_the_socket),
		cmocka_unit_test(test_a_link_to_the_socket),
		cmocka_unit_test(test_no_socket),
		cmocka_unit_test(test_bad_paths),
		cmocka_unit_test(test_the_usual_sockets),
		cmocka_unit_test(test_the_runtime_that_told_its_list_is_the_one),
		cmocka_unit_test(test_closing_at_any_moment),
		cmocka_unit_test(test_closing_when_told),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
