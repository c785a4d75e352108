/* A kubelet that serves PodResources.List from the same loop, in every mood. */
#include "pod_resources.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "cleanup.h"
#include "fixture.h"
#include "grpc.h"
#include "loop_helpers.h"
#include "tmptree.h"
#include "uds.h"

#define SOON_MS 5000

struct fixture {
	uv_loop_t loop;
	char *dir;
	struct uds_server *server;
	struct pod_resources *pods;
	uint8_t *answer;
	size_t len;
	unsigned refusals; /* so many questions are refused first */
	enum grpc_status refuse_with;
	bool silent;
	unsigned questions, lists, unanswered;
	uint64_t first_ms, last_ms; /* questions */
	uint64_t asked_ms;	    /* of the last list */
	size_t n;
	enum pod_source source;
};

static void on_request(struct grpc_call *call, const char *path, const uint8_t *message, size_t len,
		       void *arg)
{
	struct fixture *f = arg;

	(void)message;
	assert_string_equal(path, "/v1.PodResourcesLister/List");
	assert_int_equal(len, 0);
	f->last_ms = uv_now(&f->loop);
	if (f->questions++ == 0)
		f->first_ms = f->last_ms;
	if (f->silent)
		return;
	if (f->refusals > 0) {
		f->refusals--;
		grpc_finish(call, f->refuse_with, "rejected by rate limit");
		return;
	}
	grpc_send(call, f->answer, f->len);
	grpc_finish(call, GRPC_OK, NULL);
}

static void on_cancel(struct grpc_call *call, void *arg)
{
	(void)call, (void)arg;
}

static void on_list(const struct pod_list *l, uint64_t asked_ms, void *arg)
{
	struct fixture *f = arg;

	f->unanswered += asked_ms == 0;
	f->lists += asked_ms != 0;
	f->asked_ms = asked_ms;
	f->n = l->n;
	f->source = l->source;
	assert_ptr_equal(l, pod_resources_list(f->pods));
}

static char *sock_path(struct fixture *f)
{
	char *path;

	assert_true(asprintf(&path, "%s/pod-resources/kubelet.sock", f->dir) > 0);
	return path;
}

static void start_kubelet(struct fixture *f)
{
	struct grpc_service service = {.request = on_request, .cancel = on_cancel, .arg = f};
	struct uds_server_opts opts = {.limits = {.max_message = 1 << 20, .max_calls = 100},
				       .max_connections = 16,
				       .mode = 0600};
	AUTO_FREE char *path = sock_path(f);
	struct err e = {0};

	assert_int_equal(uds_server_open(&f->server, &f->loop, path, &opts, &service, &e), 0);
}

static void stop_kubelet(struct fixture *f, bool dead_file)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	AUTO_FREE char *path = sock_path(f);
	AUTO_FD fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	uds_server_close(take_ptr(f->server));
	if (!dead_file)
		return;
	unlink(path);
	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", path);
	assert_int_equal(bind(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
}

static void make_dir(struct fixture *f, const char *name)
{
	AUTO_FREE char *path = NULL;

	assert_true(asprintf(&path, "%s/%s", f->dir, name) > 0);
	assert_int_equal(mkdir(path, 0755), 0);
}

static void prepare(struct fixture *f)
{
	*f = (struct fixture){.refuse_with = GRPC_RESOURCE_EXHAUSTED};
	f->dir = tmptree_new();
	f->answer = fixture_read("pod_resources/list", &f->len);
	make_dir(f, "pod-resources");
	assert_int_equal(uv_loop_init(&f->loop), 0);
}

static void open_client(struct fixture *f)
{
	struct err e = {0};

	assert_int_equal(pod_resources_open(&f->pods, &f->loop, f->dir, on_list, f, &e), 0);
	assert_int_equal(pod_resources_list(f->pods)->source, POD_SOURCE_NONE);
}

static void stop(struct fixture *f)
{
	pod_resources_close(f->pods);
	uds_server_close(f->server);
	assert_int_equal(loop_end(&f->loop), 0);
	free(f->answer);
	tmptree_free(f->dir);
}

static void write_checkpoint(struct fixture *f)
{
	size_t len;
	uint8_t *text = fixture_read("checkpoint/list.json", &len);

	tmptree_write(f->dir, "device-plugins/kubelet_internal_checkpoint", "%.*s", (int)len,
		      (char *)text);
	free(text);
}

static bool has_api_list(void *arg)
{
	return ((struct fixture *)arg)->source == POD_SOURCE_API;
}

static bool has_checkpoint(void *arg)
{
	return ((struct fixture *)arg)->source == POD_SOURCE_CHECKPOINT;
}

static bool has_two_lists(void *arg)
{
	return ((struct fixture *)arg)->lists >= 2;
}

static bool has_asked(void *arg)
{
	return ((struct fixture *)arg)->questions > 0;
}

static uint64_t failures(struct fixture *f)
{
	uint64_t asked, failed;

	pod_resources_counts(f->pods, &asked, &failed);
	return failed;
}

static bool has_failed(void *arg)
{
	return failures(arg) > 0;
}

static void until(struct fixture *f, bool (*cond)(void *))
{
	assert_true(loop_until(&f->loop, cond, f, SOON_MS));
}

static void test_the_list(void **state)
{
	uint64_t asked, failed, before_ms;
	struct fixture f;

	(void)state;
	prepare(&f);
	start_kubelet(&f);
	open_client(&f);
	until(&f, has_api_list);
	assert_int_equal(f.n, 5);
	uv_update_time(&f.loop);
	before_ms = uv_now(&f.loop);
	pod_resources_refresh(f.pods);
	until(&f, has_two_lists);
	assert_true(f.asked_ms >= before_ms);
	pod_resources_counts(f.pods, &asked, &failed);
	assert_int_equal(asked, 2);
	assert_int_equal(failed, 0);
	stop(&f);
}

static void test_refreshes_are_coalesced_and_spaced(void **state)
{
	uint64_t began_ms;
	struct fixture f;

	(void)state;
	prepare(&f);
	start_kubelet(&f);
	open_client(&f);
	uv_update_time(&f.loop);
	began_ms = uv_now(&f.loop);
	while (uv_now(&f.loop) - began_ms < 550) {
		pod_resources_refresh(f.pods);
		uv_run(&f.loop, UV_RUN_ONCE);
	}
	assert_true(f.questions >= 2 && f.questions <= 7);
	assert_true((f.last_ms - f.first_ms) / (f.questions - 1) >= 95);
	stop(&f);
}

static void test_refusals_are_asked_again(void **state)
{
	struct fixture f;

	(void)state;
	prepare(&f);
	f.refusals = 2;
	start_kubelet(&f);
	open_client(&f);
	until(&f, has_api_list);
	assert_int_equal(f.questions, 3);
	assert_int_equal(failures(&f), 2);
	stop(&f);
}

static void test_an_answer_that_is_none(void **state)
{
	struct fixture f;
	size_t len;

	(void)state;
	prepare(&f);
	len = f.len;
	f.len = len - 1; /* the last string ends early */
	start_kubelet(&f);
	open_client(&f);
	until(&f, has_failed);
	assert_int_equal(f.lists, 0);
	f.len = len;
	until(&f, has_api_list);
	stop(&f);
}

static void test_without_a_socket_the_checkpoint(void **state)
{
	struct fixture f;

	(void)state;
	prepare(&f);
	write_checkpoint(&f);
	open_client(&f);
	until(&f, has_checkpoint);
	assert_true(f.n > 0);
	start_kubelet(&f); /* nobody needs to ask */
	until(&f, has_api_list);
	assert_int_equal(f.n, 5);
	stop(&f);
}

static void test_neither(void **state)
{
	struct fixture f;

	(void)state;
	prepare(&f);
	open_client(&f);
	until(&f, has_failed);
	assert_int_equal(pod_resources_list(f.pods)->source, POD_SOURCE_NONE);
	assert_int_equal(f.lists, 0);
	assert_int_not_equal(f.unanswered, 0);
	start_kubelet(&f);
	until(&f, has_api_list);
	stop(&f);
}

/* Its file stays; the list that is known does as well, and is not asked for all the time. */
static void test_a_dead_socket(void **state)
{
	struct fixture f;
	uint64_t failed;

	(void)state;
	prepare(&f);
	write_checkpoint(&f);
	start_kubelet(&f);
	open_client(&f);
	until(&f, has_api_list);
	stop_kubelet(&f, true);
	pod_resources_refresh(f.pods);
	until(&f, has_failed);
	loop_wakeups(&f.loop, 500);
	failed = failures(&f);
	assert_true(failed <= 5);
	assert_int_equal(pod_resources_list(f.pods)->source, POD_SOURCE_API);
	assert_int_equal(pod_resources_list(f.pods)->n, 5);
	f.lists = 0;
	start_kubelet(&f);
	f.source = POD_SOURCE_NONE;
	until(&f, has_api_list);
	stop(&f);
}

/* With nothing known yet, the checkpoint is better than nothing. */
static void test_a_dead_socket_from_the_start(void **state)
{
	struct fixture f;

	(void)state;
	prepare(&f);
	write_checkpoint(&f);
	stop_kubelet(&f, true);
	open_client(&f);
	until(&f, has_checkpoint);
	loop_wakeups(&f.loop, 700);
	assert_true(f.lists <= 4); /* and it is not read all the time */
	start_kubelet(&f);
	until(&f, has_api_list);
	stop(&f);
}

static void test_an_old_kubelet(void **state)
{
	struct fixture f;

	(void)state;
	prepare(&f);
	write_checkpoint(&f);
	f.refusals = 1000;
	f.refuse_with = GRPC_UNIMPLEMENTED;
	start_kubelet(&f);
	open_client(&f);
	until(&f, has_checkpoint);
	stop(&f);
}

/* A new kubelet is asked at once, whatever the old one is up to. */
static void test_a_kubelet_that_hangs(void **state)
{
	struct uds_server *hung;
	struct fixture f;

	(void)state;
	prepare(&f);
	f.silent = true;
	start_kubelet(&f);
	open_client(&f);
	until(&f, has_asked);
	hung = f.server;
	f.silent = false;
	start_kubelet(&f);
	until(&f, has_api_list);
	uds_server_close(hung);
	stop(&f);

	prepare(&f);
	f.silent = true;
	start_kubelet(&f);
	open_client(&f);
	until(&f, has_asked);
	stop(&f); /* with a question open */
	pod_resources_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_list),
		cmocka_unit_test(test_refreshes_are_coalesced_and_spaced),
		cmocka_unit_test(test_refusals_are_asked_again),
		cmocka_unit_test(test_an_answer_that_is_none),
		cmocka_unit_test(test_without_a_socket_the_checkpoint),
		cmocka_unit_test(test_neither),
		cmocka_unit_test(test_a_dead_socket),
		cmocka_unit_test(test_a_dead_socket_from_the_start),
		cmocka_unit_test(test_an_old_kubelet),
		cmocka_unit_test(test_a_kubelet_that_hangs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
