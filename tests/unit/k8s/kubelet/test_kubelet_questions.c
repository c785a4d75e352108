// SPDX-License-Identifier: Apache-2.0
/* The kubelet's requests Allocate, GetPreferredAllocation and PreStartContainer, answered at once,
 * later or never. */
#include "kubelet.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cleanup.h"
#include "deviceplugin.pb-c.h"
#include "kubelet_fixture.h"
#include "loop_helpers.h"
#include "test_group.h"
#include "tmptree.h"
#include "uds.h"

/* When and how the hooks answer a request. */
enum answers { AT_ONCE, LATER, WITH_ERROR };

/* State of one test. */
static struct {
	enum answers answers;
	bool withdraw_when_asked, withdraw_when_gone;
	unsigned asked, gone;
	struct plugin_answer *open; /* received, not answered yet */
	char ids[256];		    /* of the last request */
	size_t size, must, available;
} questions;

/* --- hooks ----------------------------------------------------------------------------------- */

static void note_ids(const struct id_list *containers, size_t n)
{
	char *ids = questions.ids;

	ids[0] = '\0';
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < containers[i].n; j++)
			snprintf(ids + strlen(ids), sizeof(questions.ids) - strlen(ids), "%s%s",
				 j ? "," : (i ? ";" : ""), containers[i].ids[j]);
	questions.asked++;
}

static void grant(struct plugin_answer *a, size_t n)
{
	struct container_grant grants[8] = {0};

	for (size_t i = 0; i < n; i++) {
		assert_int_equal(container_grant_env(&grants[i], "PCIDEVICE", "0000:03:00.1"), 0);
		assert_int_equal(container_grant_node(&grants[i], "/dev/infiniband/uverbs0",
						      "/dev/infiniband/uverbs0", "rw"),
				 0);
	}
	plugin_answer_allocate(a, grants, n);
	for (size_t i = 0; i < n; i++)
		container_grant_done(&grants[i]);
}

static void answer_error(struct plugin_answer *a)
{
	struct err e = {0};

	err_set(&e, -ENODEV, "0000:03:00.9 is no device of this pool");
	plugin_answer_error(a, &e);
}

static void on_allocate(struct plugin_answer *a, const struct id_list *containers, size_t n,
			void *arg)
{
	struct kubelet_fixture *f = arg;

	note_ids(containers, n);
	if (questions.withdraw_when_asked) {
		questions.open = a;
		plugin_withdraw(f->plugin);
		return;
	}
	if (questions.answers == LATER)
		questions.open = a;
	else if (questions.answers == WITH_ERROR)
		answer_error(a);
	else
		grant(a, n);
}

static void on_preferred(struct plugin_answer *a, const struct preference_request *containers,
			 size_t n, void *arg)
{
	struct id_list chosen = {containers[0].available.ids, containers[0].size};

	(void)arg;
	assert_int_equal(n, 1);
	questions.asked++;
	questions.size = containers[0].size;
	questions.must = containers[0].must_include.n;
	questions.available = containers[0].available.n;
	plugin_answer_preferred(a, &chosen, 1);
}

static void on_pre_start(struct plugin_answer *a, const struct id_list *ids, void *arg)
{
	(void)arg;
	note_ids(ids, 1);
	if (questions.answers == WITH_ERROR)
		answer_error(a);
	else
		plugin_answer_started(a);
}

static void on_gone(struct plugin_answer *a, void *arg)
{
	struct kubelet_fixture *f = arg;

	assert_ptr_equal(a, questions.open);
	questions.open = NULL;
	questions.gone++;
	if (questions.withdraw_when_gone)
		plugin_withdraw(f->plugin);
}

static void start(struct kubelet_fixture *f)
{
	memset(&questions, 0, sizeof(questions));
	kubelet_fixture_init(f);
	f->hooks = (struct plugin_hooks){.allocate = on_allocate,
					 .preferred = on_preferred,
					 .pre_start = on_pre_start,
					 .gone = on_gone,
					 .arg = f};
	kubelet_fixture_register(f);
}

static void stop(struct kubelet_fixture *f)
{
	kubelet_fixture_stop(f);
	assert_null(questions.open);
}

static bool is_asked(struct kubelet_fixture *f)
{
	(void)f;
	return questions.asked > 0;
}

static bool is_gone(struct kubelet_fixture *f)
{
	(void)f;
	return questions.gone > 0;
}

/* --- requests -------------------------------------------------------------------------------- */

static const char allocate_path[] = "/v1beta1.DevicePlugin/Allocate";

/* Packs an AllocateRequest for containers written as "a,b;c". */
static size_t pack_allocate(const char *text, uint8_t *bytes, size_t size)
{
	V1beta1__ContainerAllocateRequest containers[4], *pointers[4];
	V1beta1__AllocateRequest q = V1BETA1__ALLOCATE_REQUEST__INIT;
	AUTO_FREE char *copy = strdup(text);
	char *ids[16], *container, *id, *outer, *inner, *rest;
	size_t n = 0;

	assert_non_null(copy);
	q.container_requests = pointers;
	for (rest = copy; (container = strtok_r(rest, ";", &outer)); rest = NULL) {
		pointers[q.n_container_requests] = &containers[q.n_container_requests];
		v1beta1__container_allocate_request__init(&containers[q.n_container_requests]);
		containers[q.n_container_requests].devices_ids = &ids[n];
		for (; (id = strtok_r(container, ",", &inner)); container = NULL) {
			ids[n++] = id;
			containers[q.n_container_requests].n_devices_ids++;
		}
		q.n_container_requests++;
	}
	assert_true(v1beta1__allocate_request__get_packed_size(&q) <= size);
	return v1beta1__allocate_request__pack(&q, bytes);
}

static void allocate(struct kubelet_fixture *f, const char *text, struct fake_answer *a)
{
	uint8_t bytes[1024];

	fake_call(&f->fake, allocate_path, bytes, pack_allocate(text, bytes, sizeof(bytes)), a);
}

static void test_allocate(void **state)
{
	V1beta1__AllocateResponse *got;
	struct fake_answer a;
	struct kubelet_fixture f;

	(void)state;
	start(&f);
	allocate(&f, "0000:03:00.1,0000:03:00.2;\xc3\xa4", &a);
	assert_int_equal(a.status, GRPC_OK);
	assert_string_equal(questions.ids, "0000:03:00.1,0000:03:00.2;\xc3\xa4");
	got = v1beta1__allocate_response__unpack(NULL, a.len, a.message);
	assert_non_null(got);
	assert_int_equal(got->n_container_responses, 2);
	assert_string_equal(got->container_responses[1]->envs[0]->key, "PCIDEVICE");
	assert_string_equal(got->container_responses[1]->devices[0]->permissions, "rw");
	v1beta1__allocate_response__free_unpacked(got, NULL);
	free(a.message);

	questions.answers = WITH_ERROR;
	allocate(&f, "0000:03:00.9", &a);
	assert_int_equal(a.status, GRPC_NOT_FOUND);
	assert_string_equal(a.text, "0000:03:00.9 is no device of this pool");
	assert_null(a.message);
	stop(&f);
}

static void assert_invalid(struct kubelet_fixture *f, const char *text)
{
	struct fake_answer a;

	questions.asked = 0;
	allocate(f, text, &a);
	assert_int_equal(a.status, GRPC_INVALID_ARGUMENT);
	assert_int_equal(questions.asked, 0);
	assert_non_null(strstr(a.text, "device ID"));
	free(a.message);
}

static void test_invalid_allocates(void **state)
{
	char long_id[65];
	struct fake_answer a;
	struct kubelet_fixture f;
	uint8_t *many;
	size_t n = 0;

	(void)state;
	start(&f);
	memset(long_id, 'x', sizeof(long_id));
	long_id[64] = '\0';
	assert_invalid(&f, long_id);
	long_id[63] = '\0';
	allocate(&f, long_id, &a);
	assert_int_equal(a.status, GRPC_OK);
	free(a.message);

	many = malloc(5000 * 3 + 8);
	assert_non_null(many);
	many[n++] = 0x0a; /* one container of 5000 devices "x" */
	many[n++] = 0x80 | (15000 & 0x7f);
	many[n++] = 0x80 | ((15000 >> 7) & 0x7f);
	many[n++] = 15000 >> 14;
	for (int i = 0; i < 5000; i++, n += 3)
		memcpy(many + n, "\x0a\x01x", 3);
	fake_call(&f.fake, allocate_path, many, n, &a);
	assert_int_equal(a.status, GRPC_INVALID_ARGUMENT);
	free(many);

	questions.asked = 0;
	fake_call(&f.fake, allocate_path, "\xff\xff\xff", 3, &a);
	assert_int_not_equal(a.status, GRPC_OK);
	fake_call(&f.fake, "/v1beta1.DevicePlugin/Frobnicate", "", 0, &a);
	assert_int_equal(a.status, GRPC_UNIMPLEMENTED);
	assert_non_null(strstr(a.text, "/v1beta1.DevicePlugin/Frobnicate"));
	fake_call(&f.fake, "/pluginregistration.Registration/GetInfo", "", 0, &a);
	assert_int_equal(a.status, GRPC_UNIMPLEMENTED); /* belongs to the registry's service */
	assert_int_equal(questions.asked, 0);
	assert_true(plugin_is_registered(&f));
	stop(&f);
}

static void test_preferred(void **state)
{
	/* available "a", "bb"; must include "a"; size 1, then 3 */
	static const uint8_t one[] = "\x0a\x0c\x0a\x01"
				     "a\x0a\x02"
				     "bb\x12\x01"
				     "a\x18\x01";
	uint8_t bytes[sizeof(one) - 1];
	V1beta1__PreferredAllocationResponse *got;
	struct fake_answer a;
	struct kubelet_fixture f;

	(void)state;
	start(&f);
	memcpy(bytes, one, sizeof(bytes));
	fake_call(&f.fake, "/v1beta1.DevicePlugin/GetPreferredAllocation", bytes, sizeof(bytes),
		  &a);
	assert_int_equal(a.status, GRPC_OK);
	assert_int_equal(questions.size, 1);
	assert_int_equal(questions.must, 1);
	assert_int_equal(questions.available, 2);
	got = v1beta1__preferred_allocation_response__unpack(NULL, a.len, a.message);
	assert_non_null(got);
	assert_int_equal(got->n_container_responses, 1);
	assert_string_equal(got->container_responses[0]->deviceids[0], "a");
	v1beta1__preferred_allocation_response__free_unpacked(got, NULL);
	free(a.message);

	bytes[sizeof(bytes) - 1] = 3;
	fake_call(&f.fake, "/v1beta1.DevicePlugin/GetPreferredAllocation", bytes, sizeof(bytes),
		  &a);
	assert_int_equal(a.status, GRPC_INVALID_ARGUMENT);
	assert_non_null(strstr(a.text, "3 of 2"));
	stop(&f);
}

static void test_pre_start(void **state)
{
	struct fake_answer a;
	struct kubelet_fixture f;

	(void)state;
	start(&f);
	fake_call(&f.fake, "/v1beta1.DevicePlugin/PreStartContainer", "\x0a\x01y", 3, &a);
	assert_int_equal(a.status, GRPC_OK);
	assert_non_null(a.message);
	assert_int_equal(a.len, 0);
	assert_string_equal(questions.ids, "y");
	free(a.message);
	questions.answers = WITH_ERROR;
	fake_call(&f.fake, "/v1beta1.DevicePlugin/PreStartContainer", "\x0a\x01y", 3, &a);
	assert_int_equal(a.status, GRPC_NOT_FOUND);
	stop(&f);
}

/* --- answers that come later, or never ------------------------------------------------------- */

/* A call that the test answers later. */
static void on_end(struct grpc_call *call, enum grpc_status status, const char *text, void *arg)
{
	struct fake_answer *a = arg;

	(void)call;
	a->ended = true;
	a->status = status;
	snprintf(a->text, sizeof(a->text), "%s", text ? text : "");
}

static uint64_t ask(struct kubelet_fixture *f, struct fake_answer *a, uint32_t timeout_ms)
{
	struct grpc_reply reply = {.end = on_end, .arg = a};
	uint8_t bytes[64];
	uint64_t id = 0;

	*a = (struct fake_answer){.ended = false};
	questions.answers = LATER;
	questions.asked = 0;
	questions.gone = 0;
	assert_int_equal(uds_client_call(f->fake.plugin, allocate_path, bytes,
					 pack_allocate("x", bytes, sizeof(bytes)), timeout_ms,
					 &reply, &id),
			 0);
	kubelet_until(f, is_asked);
	return id;
}

static void test_late_answers(void **state)
{
	struct fake_answer a;
	struct kubelet_fixture f;
	uint64_t id;

	(void)state;
	start(&f);
	ask(&f, &a, 0);
	loop_wakeups(&f.loop, 20);
	assert_false(a.ended);
	grant(take_ptr(questions.open), 1);
	fake_call_await(&f.fake, &a);
	assert_int_equal(a.status, GRPC_OK);

	ask(&f, &a, 0);
	answer_error(take_ptr(questions.open));
	fake_call_await(&f.fake, &a);
	assert_int_equal(a.status, GRPC_NOT_FOUND);

	ask(&f, &a, 0);
	grant(take_ptr(questions.open), 2); /* grants for two containers; the request has one */
	fake_call_await(&f.fake, &a);
	assert_int_equal(a.status, GRPC_INTERNAL);

	id = ask(&f, &a, 0);
	uds_client_cancel(f.fake.plugin, id);
	kubelet_until(&f, is_gone);
	ask(&f, &a, 30); /* the deadline passes */
	kubelet_until(&f, is_gone);
	ask(&f, &a, 0);
	fake_kubelet_drop(&f.fake);
	kubelet_until(&f, is_gone);
	stop(&f);
}

static void test_withdrawn_with_an_open_allocate(void **state)
{
	struct fake_answer a;
	struct kubelet_fixture f;

	(void)state;
	start(&f);
	ask(&f, &a, 0);
	plugin_withdraw(f.plugin);
	assert_int_equal(questions.gone, 1);
	fake_call_await(&f.fake, &a);
	assert_int_equal(a.status, GRPC_UNAVAILABLE);
	assert_non_null(strstr(a.text, "withdrawn"));
	stop(&f);
}

static void test_withdrawn_from_within_a_request(void **state)
{
	struct fake_answer a;
	struct kubelet_fixture f;

	(void)state;
	start(&f);
	questions.withdraw_when_asked = true;
	allocate(&f, "x", &a);
	assert_int_equal(a.status, GRPC_UNAVAILABLE);
	assert_int_equal(questions.gone, 1);
	kubelet_until(&f, watch_has_ended);
	stop(&f);
}

/* The withdrawal happens while the deleted socket is being created again. */
static void test_withdrawn_when_a_request_is_cancelled(void **state)
{
	struct fake_answer a;
	struct kubelet_fixture f;

	(void)state;
	start(&f);
	ask(&f, &a, 0);
	questions.withdraw_when_gone = true;
	tmptree_remove(f.dir, SOCKET_PATH);
	kubelet_until(&f, is_gone);
	kubelet_until(&f, plugin_has_no_socket);
	loop_wakeups(&f.loop, 50);
	assert_false(plugin_has_socket(&f));
	stop(&f);
}

TEST_GROUP(kubelet_questions)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_allocate),
		cmocka_unit_test(test_invalid_allocates),
		cmocka_unit_test(test_preferred),
		cmocka_unit_test(test_pre_start),
		cmocka_unit_test(test_late_answers),
		cmocka_unit_test(test_withdrawn_with_an_open_allocate),
		cmocka_unit_test(test_withdrawn_from_within_a_request),
		cmocka_unit_test(test_withdrawn_when_a_request_is_cancelled),
	};

	return test_group_run(tests, NULL, NULL);
}
