// SPDX-License-Identifier: Apache-2.0
/* Messages of the device plugin API, compared with another protobuf implementation
 * (tests/fixtures/make_kubelet.py). */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "faults.h"
#include "fixture.h"
#include "plugin_wire.h"
#include "test_group.h"

/* --- encoding --------------------------------------------------------------------------------- */

static void small_messages_are_golden(void **state)
{
	uint8_t *bytes;
	size_t len;

	(void)state;
	assert_int_equal(wire_plugin_options(&bytes, &len, true, true), 0);
	assert_fixture("plugin_wire/options", bytes, len);
	assert_int_equal(wire_register_request(&bytes, &len, "rocelet.dev_roce.sock",
					       "rocelet.dev/roce", true, true),
			 0);
	assert_fixture("plugin_wire/register", bytes, len);
	assert_int_equal(wire_register_request(&bytes, &len, "a.sock", "a/b", false, false), 0);
	assert_fixture("plugin_wire/register_plain", bytes, len);
	assert_int_equal(wire_plugin_info(&bytes, &len, "rocelet.dev/roce", ""), 0);
	assert_fixture("plugin_wire/info", bytes, len);
	assert_int_equal(wire_plugin_info(&bytes, &len, "rocelet.dev/roce", "/run/a.sock"), 0);
	assert_fixture("plugin_wire/info_endpoint", bytes, len);
}

static void empty_messages_have_no_bytes(void **state)
{
	uint8_t *bytes;
	size_t len = 1;

	(void)state;
	assert_int_equal(wire_plugin_options(&bytes, &len, false, false), 0);
	assert_int_equal(len, 0);
	free(bytes);
	assert_int_equal(wire_device_list(&bytes, &len, NULL, 0), 0);
	assert_int_equal(len, 0);
	free(bytes);
	assert_int_equal(wire_allocate_response(&bytes, &len, NULL, 0), 0);
	assert_int_equal(len, 0);
	free(bytes);
	assert_int_equal(wire_preferred_response(&bytes, &len, NULL, 0), 0);
	assert_int_equal(len, 0);
	free(bytes);
}

static int encode_list(uint8_t **bytes, size_t *len)
{
	struct plugin_device devices[] = {
		{.id = "0000:03:00.2", .healthy = true, .numa = 0},
		{.id = "0000:03:00.3", .healthy = false, .numa = 1},
		{.id = "0000:83:10.7", .healthy = true, .numa = -1},
		{.healthy = true, .numa = 300},
	};

	memset(devices[3].id, 'x', 63);
	return wire_device_list(bytes, len, devices, 4);
}

static void the_list_is_golden(void **state)
{
	uint8_t *bytes;
	size_t len;

	(void)state;
	assert_int_equal(encode_list(&bytes, &len), 0);
	assert_fixture("plugin_wire/list", bytes, len);
}

static void fill_grant(struct container_grant *g)
{
	*g = (struct container_grant){0};
	container_grant_env(g, "PCIDEVICE_ROCELET_DEV_ROCE", "0000:03:00.2,0000:03:00.3");
	container_grant_env(g, "PCIDEVICE_ROCELET_DEV_ROCE_INFO", "{\"a\":1}");
	container_grant_mount(g, "/run/a", "/etc/a", true);
	container_grant_mount(g, "/run/b", "/b", false);
	container_grant_node(g, "/dev/infiniband/uverbs2", "/dev/infiniband/uverbs0", "rw");
	container_grant_node(g, "/dev/infiniband/rdma_cm", "/dev/infiniband/rdma_cm", "rwm");
	container_grant_annotation(g, "cdi.k8s.io/x", "y");
	container_grant_annotation(g, "z", "\u00e4");
	container_grant_cdi(g, "rocelet.dev/roce=0000:03:00.2");
}

static void a_grant_is_golden(void **state)
{
	struct container_grant grants[2] = {0};
	uint8_t *bytes;
	size_t len;

	(void)state;
	fill_grant(&grants[0]);
	assert_int_equal(wire_allocate_response(&bytes, &len, grants, 2), 0);
	assert_fixture("plugin_wire/allocate_response", bytes, len);
	container_grant_done(&grants[0]);
}

static int encode_preferred(uint8_t **bytes, size_t *len)
{
	static const char *const first[] = {"a", "bb"}, *const third[] = {"0000:03:00.2"};
	const struct id_list lists[] = {{first, 2}, {NULL, 0}, {third, 1}};

	return wire_preferred_response(bytes, len, lists, 3);
}

static void a_preference_is_golden(void **state)
{
	uint8_t *bytes;
	size_t len;

	(void)state;
	assert_int_equal(encode_preferred(&bytes, &len), 0);
	assert_fixture("plugin_wire/preferred_response", bytes, len);
}

/* --- decoding --------------------------------------------------------------------------------- */

typedef int decode_fn(struct plugin_request *, const uint8_t *, size_t, struct err *);

static int decode_fixture(decode_fn *decode, const char *path, struct plugin_request *ret)
{
	size_t len;
	uint8_t *bytes = fixture_read(path, &len);
	struct err e = {0};
	int r = decode(ret, bytes, len, &e);

	free(bytes); /* the request has its own copy */
	return r;
}

static void an_allocate_request(void **state)
{
	struct plugin_request q;
	struct id_list ids;

	(void)state;
	assert_int_equal(decode_fixture(plugin_request_allocate, "plugin_wire/allocate", &q), 0);
	assert_int_equal(q.n, 3);
	ids = q.ids[0];
	assert_int_equal(ids.n, 2);
	assert_string_equal(ids.ids[0], "0000:03:00.2");
	assert_string_equal(ids.ids[1], "0000:03:00.3");
	assert_int_equal(q.ids[1].n, 0);
	assert_string_equal(q.ids[2].ids[0], "7");
	assert_null(q.preferences);
	plugin_request_done(&q);
}

static void a_thousand_short_ids_are_within_the_budget(void **state)
{
	struct plugin_request q;
	struct id_list ids;

	(void)state;
	assert_int_equal(decode_fixture(plugin_request_allocate, "plugin_wire/allocate_1000", &q),
			 0);
	ids = q.ids[0];
	assert_int_equal(ids.n, 1000);
	assert_string_equal(ids.ids[999], "999");
	plugin_request_done(&q);
}

static void a_pre_start_request(void **state)
{
	struct plugin_request q;

	(void)state;
	assert_int_equal(decode_fixture(plugin_request_pre_start, "plugin_wire/pre_start", &q), 0);
	assert_int_equal(q.n, 1);
	assert_int_equal(q.ids[0].n, 2);
	assert_string_equal(q.ids[0].ids[1], "1");
	plugin_request_done(&q);
}

static void a_preferred_request(void **state)
{
	struct preference_request p;
	struct plugin_request q;

	(void)state;
	assert_int_equal(decode_fixture(plugin_request_preferred, "plugin_wire/preferred", &q), 0);
	assert_int_equal(q.n, 2);
	p = q.preferences[0];
	assert_int_equal(p.available.n, 3);
	assert_string_equal(p.available.ids[2], "c");
	assert_int_equal(p.must_include.n, 1);
	assert_string_equal(p.must_include.ids[0], "b");
	assert_int_equal(p.size, 2);
	assert_int_equal(q.preferences[1].size, 0);
	assert_null(q.ids);
	plugin_request_done(&q);
	assert_int_equal(
		decode_fixture(plugin_request_preferred, "plugin_wire/preferred_negative", &q),
		-EBADMSG);
}

static void the_empty_request(void **state)
{
	struct err e = {0};
	struct plugin_request q;

	(void)state;
	assert_int_equal(plugin_request_allocate(&q, NULL, 0, &e), 0);
	assert_int_equal(q.n, 0);
	plugin_request_done(&q);
	assert_int_equal(plugin_request_pre_start(&q, NULL, 0, &e), 0);
	assert_int_equal(q.ids[0].n, 0);
	plugin_request_done(&q);
}

static void every_cut_is_survived(void **state)
{
	struct err e = {0};
	size_t len;
	uint8_t *bytes = fixture_read("plugin_wire/allocate", &len);
	unsigned refused = 0;

	(void)state;
	for (size_t n = 0; n < len; n++) {
		uint8_t *cut = malloc(n ? n : 1);
		struct plugin_request q;

		memcpy(cut, bytes, n);
		if (plugin_request_allocate(&q, cut, n, &e) == 0)
			plugin_request_done(&q);
		else
			refused++;
		free(cut);
	}
	/* Only a cut between two containers leaves a valid message. */
	assert_int_equal(refused, len - 3);
	free(bytes);
}

/* Two bytes encode an empty container or an unknown field, which needs a hundred bytes of
 * memory. */
static void memory_is_bounded(void **state)
{
	struct err e = {0};
	static const uint8_t costly[][2] = {{0x0a, 0}, {0x7a, 0}, {0x08, 0}};
	size_t len = 1 << 20;
	uint8_t *bytes = malloc(len);

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct plugin_request q;

		for (size_t k = 0; k < len; k += 2)
			memcpy(bytes + k, costly[i], 2);
		faults_alloc(-1);
		assert_int_equal(plugin_request_allocate(&q, bytes, len, &e), -EBADMSG);
		assert_true(faults_allocated() < 33 * len);
	}
	free(bytes);
}

static int decode_status(const char *path, bool *registered, char *text, size_t size)
{
	size_t len;
	uint8_t *bytes = fixture_read(path, &len);
	int r = wire_decode_registration_status(registered, text, size, bytes, len);

	free(bytes);
	return r;
}

static void a_registration_status(void **state)
{
	bool registered = false;
	char text[64];

	(void)state;
	assert_int_equal(decode_status("plugin_wire/status_ok", &registered, text, sizeof(text)),
			 0);
	assert_true(registered);
	assert_string_equal(text, "");
	assert_int_equal(
		decode_status("plugin_wire/status_refused", &registered, text, sizeof(text)), 0);
	assert_false(registered);
	assert_string_equal(text, "plugin rocelet.dev/roce: \u00fcbel?second line");
	/* The text is cut before the multi-byte character that does not fit. */
	decode_status("plugin_wire/status_refused", &registered, text, 27);
	assert_string_equal(text, "plugin rocelet.dev/roce: ");
	decode_status("plugin_wire/status_refused", &registered, text, 28);
	assert_string_equal(text, "plugin rocelet.dev/roce: \u00fc");
	decode_status("plugin_wire/status_refused", &registered, NULL, 0);
	assert_int_equal(wire_decode_registration_status(&registered, text, sizeof(text),
							 (const uint8_t *)"\x12\x05x", 3),
			 -EBADMSG);
	assert_int_equal(wire_decode_registration_status(&registered, text, sizeof(text),
							 (const uint8_t *)"\x12\x02\xff\x01", 4),
			 0);
	assert_string_equal(text, "??");
}

/* --- out of memory, in every place ------------------------------------------------------------ */

static struct container_grant grant;

static int encode_grant(uint8_t **bytes, size_t *len)
{
	return wire_allocate_response(bytes, len, &grant, 1);
}

/* Fails each allocation once; returns how many there are. */
static long sweep_encode(int (*encode)(uint8_t **, size_t *))
{
	uint8_t *bytes;
	size_t len;
	int r;

	for (long n = 0;; n++) {
		faults_alloc(n);
		r = encode(&bytes, &len);
		if (!faults_end()) {
			assert_int_equal(r, 0);
			free(bytes);
			return n;
		}
		assert_int_equal(r, -ENOMEM);
	}
}

static void encoding_survives_any_failed_allocation(void **state)
{
	(void)state;
	fill_grant(&grant);
	assert_true(sweep_encode(encode_grant) >= 7);
	container_grant_done(&grant);
	assert_true(sweep_encode(encode_list) >= 3);
	assert_true(sweep_encode(encode_preferred) >= 2);
}

static void decoding_survives_any_failed_allocation(void **state)
{
	struct err e = {0};
	size_t len;
	uint8_t *bytes = fixture_read("plugin_wire/preferred", &len);
	struct plugin_request q;
	long n;

	(void)state;
	for (n = 0;; n++) {
		int r;

		faults_alloc(n);
		r = plugin_request_preferred(&q, bytes, len, &e);
		if (!faults_end()) {
			assert_int_equal(r, 0);
			break;
		}
		assert_int_equal(r, -ENOMEM);
	}
	plugin_request_done(&q);
	assert_true(n > 8);
	free(bytes);
}

TEST_GROUP(plugin_wire)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_messages_are_golden),
		cmocka_unit_test(empty_messages_have_no_bytes),
		cmocka_unit_test(the_list_is_golden),
		cmocka_unit_test(a_grant_is_golden),
		cmocka_unit_test(a_preference_is_golden),
		cmocka_unit_test(an_allocate_request),
		cmocka_unit_test(a_thousand_short_ids_are_within_the_budget),
		cmocka_unit_test(a_pre_start_request),
		cmocka_unit_test(a_preferred_request),
		cmocka_unit_test(the_empty_request),
		cmocka_unit_test(every_cut_is_survived),
		cmocka_unit_test(memory_is_bounded),
		cmocka_unit_test(a_registration_status),
		cmocka_unit_test(encoding_survives_any_failed_allocation),
		cmocka_unit_test(decoding_survives_any_failed_allocation),
	};

	return test_group_run(tests, NULL, NULL);
}
