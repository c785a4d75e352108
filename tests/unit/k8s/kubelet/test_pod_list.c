// SPDX-License-Identifier: Apache-2.0
/* The kubelet's PodResources answer (tests/fixtures/make_kubelet.py) as a list of devices. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cleanup.h"
#include "faults.h"
#include "fixture.h"
#include "pod_stream.h"
#include "test_group.h"

/* Decodes the bytes in pieces of the given size. */
static int decode_pieces(struct pod_list *ret, size_t *ret_left_out, const uint8_t *bytes,
			 size_t len, size_t piece)
{
	struct pod_stream *s = pod_stream_new();
	int r = s ? 0 : -ENOMEM;

	for (size_t at = 0, n; at < len && r == 0; at += n) {
		n = len - at < piece ? len - at : piece;
		r = pod_stream_feed(s, bytes + at, n);
	}
	if (r == 0)
		r = pod_stream_end(s, ret, ret_left_out);
	pod_stream_free(s);
	return r;
}

static int decode(struct pod_list *ret, size_t *ret_left_out, const uint8_t *bytes, size_t len)
{
	return decode_pieces(ret, ret_left_out, bytes, len, SIZE_MAX);
}

static void has(const struct pod_device *d, const char *ns, const char *pod, const char *container,
		const char *resource, const char *id)
{
	assert_string_equal(d->namespace, ns);
	assert_string_equal(d->pod, pod);
	assert_string_equal(d->container, container);
	assert_string_equal(d->resource, resource);
	assert_string_equal(d->id, id);
	assert_string_equal(d->uid, "");
}

static void a_list_is_flat_and_sorted(void **state)
{
	struct pod_list l;
	size_t len, left_out = 7, n;
	uint8_t *bytes = fixture_read("pod_resources/list", &len);

	(void)state;
	assert_int_equal(decode(&l, &left_out, bytes, len), 0);
	free(bytes);
	assert_int_equal(left_out, 0);
	assert_int_equal(l.source, POD_SOURCE_API);
	assert_int_equal(l.n, 5);
	has(&l.devices[0], "default", "a", "c", "rdma/hca", "10");
	has(&l.devices[1], "default", "a", "c", "rdma/hca", "2");
	has(&l.devices[2], "ml", "train-7", "main", "rocelet.dev/roce", "0000:03:00.2");
	has(&l.devices[3], "ml", "train-7", "main", "rocelet.dev/roce", "0000:03:00.3");
	has(&l.devices[4], "ml", "train-7", "main", "vendor.com/gpu", "GPU-1");
	assert_ptr_equal(pod_list_find(&l, "rocelet.dev/roce", "0000:03:00.3", &n), &l.devices[3]);
	assert_int_equal(n, 1);
	pod_list_done(&l);
}

/* Passing the position of the previous lookup does not change a result. */
static void lookups_in_order_find_the_same(void **state)
{
	static const char *const ids[] = {"", "a", "b", "c", "d", "e", "f", "b", "a", "f", "d"};
	static const char *const held[] = {"b", "d", "d", "e"};
	struct pod_list l = {0}, empty = {0};
	size_t at = 0;

	(void)state;
	for (size_t i = 0; i < 2 * ARRAY_SIZE(held); i++) {
		struct pod_device d = {.resource = i % 2 ? "x/y" : "x/z", .id = held[i / 2]};

		assert_int_equal(pod_list_push(&l, &d), 0);
	}
	pod_list_sort(&l);
	for (size_t i = 0; i < 4 * ARRAY_SIZE(ids); i++) {
		const char *const resources[] = {"x/y", "x/z", "x/a", "y/y"};
		const char *resource = resources[i / ARRAY_SIZE(ids)];
		const char *id = ids[i % ARRAY_SIZE(ids)];

		assert_ptr_equal(pod_list_find_next(&l, resource, id, &at),
				 pod_list_find(&l, resource, id, NULL));
		assert_true(at <= l.n);
	}
	at = 100; /* a position in a longer list */
	assert_ptr_equal(pod_list_find_next(&l, "x/y", "d", &at),
			 pod_list_find(&l, "x/y", "d", NULL));
	assert_null(pod_list_find_next(&empty, "x/y", "d", &at));
	pod_list_done(&l);
}

static void an_empty_message_is_an_empty_list(void **state)
{
	struct pod_list l;
	size_t left_out;

	(void)state;
	assert_int_equal(decode(&l, &left_out, NULL, 0), 0);
	assert_int_equal(l.n, 0);
	assert_int_equal(l.source, POD_SOURCE_API);
	pod_list_done(&l);
}

/* --- messages built here ---------------------------------------------------------------------- */

struct buffer {
	uint8_t bytes[1024];
	size_t len;
};

static void put(struct buffer *b, unsigned field, const void *bytes, size_t len)
{
	assert_true(b->len + 3 + len <= sizeof(b->bytes));
	b->bytes[b->len++] = (uint8_t)(field << 3 | 2);
	if (len >= 128)
		b->bytes[b->len++] = (uint8_t)(len | 128);
	b->bytes[b->len++] = (uint8_t)(len >= 128 ? len >> 7 : len);
	if (len)
		memcpy(b->bytes + b->len, bytes, len);
	b->len += len;
}

static void put_text(struct buffer *b, unsigned field, const char *text)
{
	put(b, field, text, strlen(text));
}

static void put_inner(struct buffer *b, unsigned field, const struct buffer *inner)
{
	put(b, field, inner->bytes, inner->len);
}

/* One pod with one container that has two IDs of a resource. */
static struct buffer one_pod(const char *pod, const char *resource, const char *id,
			     const char *other)
{
	struct buffer devices = {.len = 0}, container = {.len = 0}, p = {.len = 0}, b = {.len = 0};

	put_text(&devices, 1, resource);
	put_text(&devices, 2, id);
	put_text(&devices, 2, other);
	put_text(&container, 1, "c");
	put_inner(&container, 2, &devices);
	put_text(&p, 1, pod);
	put_text(&p, 2, "ns");
	put_inner(&p, 3, &container);
	put_inner(&b, 1, &p);
	return b;
}

static void left_out(struct buffer b, size_t want_n, size_t want_left_out)
{
	struct pod_list l;
	size_t n;

	assert_int_equal(decode(&l, &n, b.bytes, b.len), 0);
	assert_int_equal(l.n, want_n);
	assert_int_equal(n, want_left_out);
	pod_list_done(&l);
}

static void too_long_names_are_counted(void **state)
{
	char id63[64] = "", id64[65] = "", pod256[257] = "";

	(void)state;
	memset(id63, 'i', 63);
	memset(id64, 'i', 64);
	memset(pod256, 'p', 256);
	left_out(one_pod("p", "r/x", id63, "b"), 2, 0);
	left_out(one_pod("p", "r/x", id64, "b"), 1, 1);
	left_out(one_pod(pod256, "r/x", "a", "b"), 0, 2);
	left_out(one_pod("p", "", "a", "b"), 0, 2);
	left_out(one_pod("p", "r/x", "", "b"), 1, 1);
	left_out(one_pod("p", "r/x", "a\nb", "\xc3"), 0, 2);
	/* The same device twice in the same container counts once. */
	left_out(one_pod("p", "r/x", "a", "a"), 1, 0);
}

static void every_cut_is_survived(void **state)
{
	size_t len, out;
	uint8_t *bytes = fixture_read("pod_resources/list", &len);
	struct pod_list l = {.n = 77};
	unsigned good = 0;

	(void)state;
	for (size_t n = 0; n < len; n++) {
		uint8_t *cut = malloc(n ? n : 1);

		memcpy(cut, bytes, n);
		if (decode(&l, &out, cut, n) == 0) {
			pod_list_done(&l);
			l.n = 77;
			good++;
		}
		assert_int_equal(l.n, 77); /* untouched */
		free(cut);
	}
	assert_int_equal(good, 3); /* cuts between two pods */
	free(bytes);
}

/* Each device needs four bytes of the message and 800 bytes of memory. */
static void a_list_of_too_many_devices_is_refused(void **state)
{
	size_t n = 16385, len = 12, out;
	uint8_t *bytes = malloc(len + 3 + n * 4);
	struct pod_list l;

	(void)state;
	/* One pod with one container with one resource, of 65543 bytes. */
	memcpy(bytes, "\x0a\x8f\x80\x04\x1a\x8b\x80\x04\x12\x87\x80\x04", len);
	memcpy(bytes + len, "\x0a\x01r", 3);
	for (len += 3; n > 0; n--, len += 4)
		memcpy(bytes + len, "\x12\x02xy", 4);
	assert_int_equal(len, 12 + 65543);
	faults_alloc(-1);
	assert_int_equal(decode(&l, &out, bytes, len), -EMSGSIZE);
	assert_true(faults_allocated() < 33 * len); /* the list itself not counted */
	free(bytes);
}

static void pieces_make_the_same_list(void **state)
{
	static const size_t pieces[] = {1, 2, 3, 7, 64};
	size_t len, out;
	uint8_t *bytes = fixture_read("pod_resources/list", &len);
	struct pod_list whole, l;

	(void)state;
	assert_int_equal(decode(&whole, &out, bytes, len), 0);
	for (size_t i = 0; i < ARRAY_SIZE(pieces); i++) {
		assert_int_equal(decode_pieces(&l, &out, bytes, len, pieces[i]), 0);
		assert_int_equal(l.n, 5);
		assert_true(pod_list_equal(&l, &whole));
		pod_list_done(&l);
	}
	pod_list_done(&whole);
	free(bytes);
}

/* Protobuf fields may come in any order; the last of a repeated scalar field counts. */
static void names_may_follow(void **state)
{
	struct buffer devices = {.len = 0}, container = {.len = 0}, p = {.len = 0}, b = {.len = 0};
	struct pod_list l;
	size_t out;

	(void)state;
	put_text(&devices, 2, "1");
	put_text(&devices, 1, "no/such");
	put_text(&devices, 2, "2");
	put_text(&devices, 1, "r/x");
	put_inner(&container, 2, &devices);
	put_text(&container, 1, "main");
	put_inner(&p, 3, &container);
	put_text(&p, 2, "ns");
	put_text(&p, 1, "pod");
	put_inner(&b, 1, &p);
	put_inner(&b, 1, &(struct buffer){.len = 0}); /* an empty pod */
	assert_int_equal(decode(&l, &out, b.bytes, b.len), 0);
	assert_int_equal(l.n, 2);
	has(&l.devices[0], "ns", "pod", "main", "r/x", "1");
	has(&l.devices[1], "ns", "pod", "main", "r/x", "2");
	pod_list_done(&l);
}

/* --- claims ----------------------------------------------------------------------------------- */

/* ClaimResource: CDI names, driver, pool, device, share. */
static void put_claim_device(struct buffer *claim, const char *driver, const char *device)
{
	struct buffer d = {.len = 0}, cdi = {.len = 0};

	put_text(&cdi, 1, "example.com/nic=all");
	put_inner(&d, 1, &cdi);
	put_inner(&d, 1, &cdi);
	put_text(&d, 2, driver);
	put_text(&d, 3, "node-1");
	put_text(&d, 4, device);
	put_text(&d, 5, "share");
	put_inner(claim, 4, &d);
}

/* DynamicResource, and the pod around it. */
static struct buffer pod_of_claim(const struct buffer *devices)
{
	struct buffer claim = {.len = 0}, container = {.len = 0}, p = {.len = 0}, b = {.len = 0};

	put_text(&claim, 1, "a tombstone's");
	put_text(&claim, 2, "t-extended-resources-x7k2p");
	put_text(&claim, 3, "ns");
	memcpy(claim.bytes + claim.len, devices->bytes, devices->len);
	claim.len += devices->len;
	put_text(&container, 1, "main");
	put_inner(&container, 5, &claim);
	put_text(&p, 1, "t");
	put_text(&p, 2, "ns");
	put_inner(&p, 3, &container);
	put_inner(&b, 1, &p);
	return b;
}

static void devices_of_claims_are_listed(void **state)
{
	struct buffer devices = {.len = 0}, b;
	struct pod_list l;
	size_t out;

	(void)state;
	put_claim_device(&devices, "dra.net", "pci-0000-18-00-1");
	put_claim_device(&devices, "dra.net", "eth1");
	put_claim_device(&devices, "gpu.example.com", "gpu-0");
	b = pod_of_claim(&devices);
	assert_int_equal(decode(&l, &out, b.bytes, b.len), 0);
	assert_int_equal(l.n, 3);
	has(&l.devices[0], "ns", "t", "main", "dra.net", "0000:18:00.1");
	has(&l.devices[1], "ns", "t", "main", "dra.net", "eth1");
	has(&l.devices[2], "ns", "t", "main", "gpu.example.com", "gpu-0");
	assert_int_equal(out, 0);
	pod_list_done(&l);
}

/* Encoded by another protobuf implementation. */
static void claims_of_the_kubelet(void **state)
{
	struct pod_list l;
	size_t len, out;
	uint8_t *bytes = fixture_read("pod_resources/claims", &len);

	(void)state;
	assert_int_equal(decode(&l, &out, bytes, len), 0);
	free(bytes);
	assert_int_equal(out, 0);
	assert_int_equal(l.n, 4);
	has(&l.devices[0], "ml", "train-8", "main", "dra.net", "0000:18:00.1");
	has(&l.devices[1], "ml", "train-8", "main", "dra.net", "0000:18:00.2");
	has(&l.devices[2], "ml", "train-8", "main", "dra.net", "eth1");
	has(&l.devices[3], "ml", "train-8", "main", "rocelet.dev/roce", "0000:03:00.4");
	pod_list_done(&l);
}

/* Claims may hold any number of devices; that must not drop our devices from the list. */
static void too_many_claims_are_left_out(void **state)
{
	struct buffer device = one_pod("p", "r/x", "a", "b"), claims = {.len = 0}, b;
	struct pod_stream *s = pod_stream_new();
	struct pod_list l;
	size_t out;

	(void)state;
	put_claim_device(&claims, "gpu.example.com", "gpu-0");
	b = pod_of_claim(&claims);
	for (unsigned i = 0; i < 9000; i++)
		assert_int_equal(pod_stream_feed(s, b.bytes, b.len), 0);
	assert_int_equal(pod_stream_feed(s, device.bytes, device.len), 0);
	assert_int_equal(pod_stream_end(s, &l, &out), 0);
	assert_int_equal(out, 9000 - 8192);
	assert_non_null(pod_list_find(&l, "r/x", "a", NULL));
	pod_list_done(&l);
	pod_stream_free(s);
}

static void names_of_claims_devices(void **state)
{
	static const char *const names[][2] = {
		{"0000-18-00-1", "0000:18:00.1"},
		{"pci-0000-18-00-1", "0000:18:00.1"},
		{"vf-10000-e1-00-7", "10000:e1:00.7"},
		{"pci-18-00-1", "pci-18-00-1"},
		{"0000-18-00-10", "0000-18-00-10"},
		{"rack0000-18-00-1", "rack0000-18-00-1"},
		{"0000-18-00", "0000-18-00"},
		{"net-eth1", "net-eth1"},
		{"-1", "-1"},
		{"1", "1"},
		{"", ""},
	};
	char name[32];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(name, sizeof(name), "%s", names[i][0]);
		claim_device_address(name);
		assert_string_equal(name, names[i][1]);
	}
}

static void refused(const char *bytes, size_t len)
{
	struct pod_list l = {.n = 77};
	size_t out;

	assert_int_equal(decode(&l, &out, (const uint8_t *)bytes, len), -EBADMSG);
	assert_int_equal(decode_pieces(&l, &out, (const uint8_t *)bytes, len, 1), -EBADMSG);
	assert_int_equal(l.n, 77);
}

#define REFUSED(bytes) refused(bytes, sizeof(bytes) - 1)

static void invalid_messages_are_rejected(void **state)
{
	(void)state;
	REFUSED("\x08\x01");					 /* pod: a varint */
	REFUSED("\x0a\x03\x0a\x02p");				 /* name longer than its pod */
	REFUSED("\x0a\x02\x1a\x05");				 /* container longer than its pod */
	REFUSED("\x0a\x01\x0a\x00");				 /* tag beyond its pod */
	REFUSED("\x0a\x02\x41\x00");				 /* fixed64 beyond its pod */
	REFUSED("\x02\x00");					 /* field 0 */
	REFUSED("\x13");					 /* a group */
	REFUSED("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"); /* varint of eleven bytes */
	REFUSED("\xfa\xff\xff\xff\xff\x01\x00");		 /* field number above 2^29 */
	REFUSED("\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"); /* length 2^64 - 1 */
}

/* Unknown fields of every wire type, at every depth and of any size. */
static void unneeded_fields_allocate_nothing(void **state)
{
	const size_t size = 4 << 20;
	struct buffer b = one_pod("p", "r/x", "a", "b");
	struct pod_stream *s = pod_stream_new();
	uint8_t *junk = calloc(1, size);
	struct pod_list l;
	size_t out;

	(void)state;
	/* CPUs (a number), a double, a float, and an unknown field of many bytes. */
	assert_int_equal(pod_stream_feed(s, (const uint8_t *)"\x20\x07\x79", 3), 0);
	assert_int_equal(pod_stream_feed(s, junk, 8), 0);
	assert_int_equal(pod_stream_feed(s, (const uint8_t *)"\x7d", 1), 0);
	assert_int_equal(pod_stream_feed(s, junk, 4), 0);
	assert_int_equal(pod_stream_feed(s, b.bytes, b.len), 0);
	faults_alloc(-1);
	for (unsigned i = 0; i < 16; i++) {
		assert_int_equal(pod_stream_feed(s, (const uint8_t *)"\x7a\x80\x80\x80\x02", 5), 0);
		assert_int_equal(pod_stream_feed(s, junk, size), 0);
	}
	assert_int_equal(faults_allocated(), 0);
	assert_int_equal(pod_stream_end(s, &l, &out), 0);
	assert_int_equal(l.n, 2);
	pod_list_done(&l);
	pod_stream_free(s);
	pod_stream_free(NULL);
	free(junk);
}

static void any_failed_allocation_is_survived(void **state)
{
	size_t len, out;
	uint8_t *bytes = fixture_read("pod_resources/list", &len);
	struct pod_list l;
	long n;

	(void)state;
	for (n = 0;; n++) {
		int r;

		faults_alloc(n);
		r = decode(&l, &out, bytes, len);
		if (!faults_end()) {
			assert_int_equal(r, 0);
			break;
		}
		assert_int_equal(r, -ENOMEM);
	}
	pod_list_done(&l);
	assert_true(n > 5);
	free(bytes);
}

/* --- copies ----------------------------------------------------------------------------------- */

static void push(struct pod_list *l, const char *pod, const char *id)
{
	const struct pod_device d = {.pod = pod, .resource = "a.b/c", .id = id};

	assert_int_equal(pod_list_push(l, &d), 0);
}

static void adjacent_entries_share_their_texts(void **state)
{
	char pod[] = "p-1";
	struct pod_list l = {0};

	(void)state;
	push(&l, pod, "1");
	push(&l, pod, "2");
	pod[2] = '2';
	push(&l, pod, "3");
	has(&l.devices[0], "", "p-1", "", "a.b/c", "1");
	has(&l.devices[1], "", "p-1", "", "a.b/c", "2");
	has(&l.devices[2], "", "p-2", "", "a.b/c", "3");
	assert_ptr_equal(l.devices[0].pod, l.devices[1].pod);
	assert_ptr_equal(l.devices[0].resource, l.devices[2].resource);
	pod_list_done(&l);
}

static void a_copy_outlives_its_list(void **state)
{
	struct pod_list l = {.source = POD_SOURCE_API}, copy = {0};
	char id[16];

	(void)state;
	for (unsigned i = 0; i < 3000; i++) { /* more than one block of memory holds */
		snprintf(id, sizeof(id), "%u", i);
		push(&l, i % 2 ? "p" : NULL, id);
	}
	assert_int_equal(pod_list_copy(&copy, &l), 0);
	assert_true(pod_list_equal(&l, &copy));
	pod_list_done(&l);
	assert_int_equal(copy.source, POD_SOURCE_API);
	has(&copy.devices[0], "", "", "", "a.b/c", "0");
	has(&copy.devices[2999], "", "p", "", "a.b/c", "2999");
	pod_list_done(&copy);
}

static void a_copy_that_fails_is_empty(void **state)
{
	struct pod_list l = {0}, copy = {0};
	unsigned n;

	(void)state;
	for (unsigned i = 0; i < 5; i++)
		push(&l, "p", i % 2 ? "1" : "2");
	for (n = 0;; n++) {
		int r;

		faults_alloc(n);
		r = pod_list_copy(&copy, &l);
		if (!faults_end())
			break;
		assert_int_equal(r, -ENOMEM);
		assert_int_equal(copy.n, 0);
		assert_null(copy.devices);
	}
	assert_in_range(n, 3, 20);
	assert_true(pod_list_equal(&l, &copy));
	pod_list_done(&l);
	pod_list_done(&copy);
}

TEST_GROUP(pod_list)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_list_is_flat_and_sorted),
		cmocka_unit_test(lookups_in_order_find_the_same),
		cmocka_unit_test(an_empty_message_is_an_empty_list),
		cmocka_unit_test(too_long_names_are_counted),
		cmocka_unit_test(every_cut_is_survived),
		cmocka_unit_test(a_list_of_too_many_devices_is_refused),
		cmocka_unit_test(pieces_make_the_same_list),
		cmocka_unit_test(names_may_follow),
		cmocka_unit_test(devices_of_claims_are_listed),
		cmocka_unit_test(claims_of_the_kubelet),
		cmocka_unit_test(too_many_claims_are_left_out),
		cmocka_unit_test(names_of_claims_devices),
		cmocka_unit_test(invalid_messages_are_rejected),
		cmocka_unit_test(unneeded_fields_allocate_nothing),
		cmocka_unit_test(any_failed_allocation_is_survived),
		cmocka_unit_test(adjacent_entries_share_their_texts),
		cmocka_unit_test(a_copy_outlives_its_list),
		cmocka_unit_test(a_copy_that_fails_is_empty),
	};

	return test_group_run(tests, NULL, NULL);
}
