// SPDX-License-Identifier: Apache-2.0
/* The runtime's messages, compared with another protobuf implementation
 * (tests/fixtures/make_kubelet.py), and the decisions made from them: event sources, awaited
 * changes, sandboxes to query. */
#include "cri_wire.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cri.pb-c.h"
#include "cri_details.h"
#include "cri_hints.h"
#include "faults.h"
#include "fixture.h"
#include "test_group.h"

#define FIRST "4c5e9f0a3f5d6a0d4c5e9f0a3f5d6a0d4c5e9f0a3f5d6a0d4c5e9f0a3f5d6a0d"

/* --- requests --------------------------------------------------------------------------------- */

static void requests_are_golden(void **state)
{
	uint8_t *bytes;
	size_t len;

	(void)state;
	assert_int_equal(cri_status_encode(&bytes, &len, FIRST), 0);
	assert_fixture("cri/status_request", bytes, len);
	assert_int_equal(cri_subscribe_encode(&bytes, &len), 0);
	assert_fixture("cri/subscribe", bytes, len);
}

/* --- version and list ------------------------------------------------------------------------- */

static void the_version(void **state)
{
	struct cri_version v = {0};
	size_t len;
	uint8_t *bytes = fixture_read("cri/version", &len);

	(void)state;
	assert_int_equal(cri_version_decode(&v, bytes, len), 0);
	assert_string_equal(v.name, "containerd");
	assert_string_equal(v.version, "1.6.20~ds1");
	assert_int_equal(cri_version_decode(&v, bytes, len - 1), -EBADMSG);
	assert_string_equal(v.name, "containerd");
	free(bytes);
	assert_int_equal(cri_version_decode(&v, (const uint8_t *)"", 0), 0);
	assert_string_equal(v.name, "");
}

static int decode_list(struct sandbox_list *l, size_t *left_out, const char *path)
{
	size_t len;
	uint8_t *bytes = fixture_read(path, &len);
	int r = cri_list_decode(l, left_out, bytes, len);

	free(bytes);
	return r;
}

static void the_list(void **state)
{
	struct sandbox_list l = {0};
	size_t left_out = 9;

	(void)state;
	assert_int_equal(decode_list(&l, &left_out, "cri/list"), 0);
	assert_int_equal(left_out, 0);
	assert_int_equal(l.n, 3);
	assert_true(l.known);
	assert_string_equal(l.items[0].namespace, "kube-system");
	assert_string_equal(l.items[0].pod, "proxy");
	assert_int_equal(l.items[0].created_ns, 0);
	assert_string_equal(l.items[1].uid, "5b3e1f7a-0c43-4c5e-9f0a-3f5d6a0d8a11");
	assert_false(l.items[1].ready);
	assert_int_equal(l.items[1].attempt, 0);
	assert_string_equal(l.items[2].id, FIRST);
	assert_int_equal(l.items[2].attempt, 1);
	assert_true(l.items[2].ready);
	assert_int_equal(l.items[2].created_ns, 1763765000123456789);
	assert_false(l.items[2].detailed);
	assert_ptr_equal(sandbox_find(&l, FIRST), &l.items[2]);
	assert_null(sandbox_find(&l, ""));
	sandbox_list_done(&l);
}

static void invalid_entries_are_left_out(void **state)
{
	struct sandbox_list l = {0};
	size_t left_out = 0;

	(void)state;
	assert_int_equal(decode_list(&l, &left_out, "cri/list_odd"), 0);
	assert_int_equal(left_out, 4);
	assert_int_equal(l.n, 1);
	assert_string_equal(l.items[0].id, "good");
	assert_false(l.items[0].ready); /* an unknown state */
	assert_int_equal(l.items[0].created_ns, 0);
	sandbox_list_done(&l);
}

/* The id of each entry is too long. */
#define ENTRY_LEN 104

static void a_list_that_is_too_long(void **state)
{
	size_t left_out = 7, len = (size_t)ENTRY_LEN * (CRI_LIST_MAX + 1);
	struct sandbox_list l = {.n = 7};
	uint8_t *bytes = malloc(len);

	(void)state;
	assert_non_null(bytes);
	memset(bytes, 'x', len);
	for (size_t i = 0; i < len; i += ENTRY_LEN)
		memcpy(bytes + i, "\x0a\x66\x0a\x64", 4);
	assert_int_equal(cri_list_decode(&l, &left_out, bytes, len), -EMSGSIZE);
	assert_int_equal(l.n, 7);
	l.n = 0;
	assert_int_equal(cri_list_decode(&l, &left_out, bytes, len - ENTRY_LEN), 0);
	assert_int_equal(l.n, 0);
	assert_int_equal(left_out, CRI_LIST_MAX);
	sandbox_list_done(&l);
	free(bytes);
}

/* --- details ---------------------------------------------------------------------------------- */

static struct cri_detail detail_of(const char *path)
{
	struct cri_detail d = {0};
	size_t len;
	uint8_t *bytes = fixture_read(path, &len);

	assert_int_equal(cri_status_decode(&d, bytes, len), 0);
	free(bytes);
	return d;
}

static void is_detail(const char *path, bool host, const char *netns, const char *networks)
{
	struct cri_detail d = detail_of(path);

	assert_int_equal(d.host_network, host);
	assert_string_equal(d.netns, netns);
	if (networks)
		assert_string_equal(d.networks, networks);
	else
		assert_null(d.networks);
	free(d.networks);
}

static void details_of_runtimes(void **state)
{
	const char *networks = "[{\"resource\": \"rocelet.dev/roce\"}]";

	(void)state;
	is_detail("cri/status_containerd", false, "/var/run/netns/cni-b9da40c7", networks);
	is_detail("cri/status_metadata", false, "/var/run/netns/cni-1", NULL);
	is_detail("cri/status_crio", false, "/var/run/netns/5f2d", NULL);
	is_detail("cri/status_host", true, "", networks);
	is_detail("cri/status_no_network", true, "", NULL);
	is_detail("cri/status_plain", false, "", NULL);
}

static void a_response_without_a_status(void **state)
{
	struct cri_detail d = {.netns = "untouched"};
	size_t len;
	uint8_t *bytes = fixture_read("cri/status_none", &len);

	(void)state;
	assert_int_equal(cri_status_decode(&d, bytes, len), -ENODATA);
	assert_int_equal(cri_status_decode(&d, bytes, len - 1), -EBADMSG);
	assert_int_equal(cri_status_decode(&d, (const uint8_t *)"", 0), -ENODATA);
	assert_string_equal(d.netns, "untouched");
	free(bytes);
}

static void is_netns(const char *json, int r, const char *netns, bool host)
{
	struct cri_namespaces found = {.netns = "untouched"};

	assert_int_equal(cri_info_namespaces(&found, json, strlen(json)), r);
	assert_string_equal(found.netns, netns);
	assert_int_equal(found.host_network, host);
	assert_int_equal(found.user, strstr(json, "\"user\"") != NULL);
}

#define SPEC(list) "{\"runtimeSpec\":{\"linux\":{\"namespaces\":[" list "]}}}"
#define P63	   "/23456789012345678901234567890123456789012345678901234567890123"

static void paths_in_json(void **state)
{
	(void)state;
	is_netns(SPEC("{\"type\":\"network\",\"path\":\"/n\"}"), 0, "/n", false);
	is_netns(SPEC("{\"type\":\"user\",\"path\":\"/u\"},{\"type\":\"network\",\"path\":\"/n\"}"),
		 0, "/n", false);
	is_netns(SPEC("7,[],{\"type\":7},{\"type\":\"network\",\"path\":\"/n\"}"), 0, "/n", false);
	/* no path: the runtime creates the namespace */
	is_netns(SPEC("{\"type\":\"network\"}"), 0, "", false);
	is_netns(SPEC("{\"type\":\"network\",\"path\":\"\"}"), 0, "", false);
	is_netns(SPEC("{\"type\":\"network\",\"path\":\"run/n\"}"), 0, "", false);
	is_netns(SPEC("{\"type\":\"network\",\"path\":[]}"), 0, "", false);
	is_netns(SPEC("{\"type\":\"pid\"}"), 0, "", true);
	is_netns(SPEC(""), 0, "", false);
	is_netns(SPEC("{\"type\":\"network\",\"path\":\"" P63 P63 "/\"}"), 0, P63 P63 "/", false);
	is_netns(SPEC("{\"type\":\"network\",\"path\":\"" P63 P63 "/8\"}"), 0, "", false);
	is_netns("{}", 0, "", false);
	is_netns("{\"runtimeSpec\":[]}", 0, "", false);
	is_netns("[]", -EBADMSG, "untouched", false);
	is_netns("", -EBADMSG, "untouched", false);
	is_netns("{", -EBADMSG, "untouched", false);
}

static bool has_user_namespace(Runtime__V1__NamespaceMode *mode)
{
	Runtime__V1__PodSandboxStatusResponse m = RUNTIME__V1__POD_SANDBOX_STATUS_RESPONSE__INIT;
	Runtime__V1__PodSandboxStatus status = RUNTIME__V1__POD_SANDBOX_STATUS__INIT;
	Runtime__V1__LinuxPodSandboxStatus sandbox = RUNTIME__V1__LINUX_POD_SANDBOX_STATUS__INIT;
	Runtime__V1__Namespace namespaces = RUNTIME__V1__NAMESPACE__INIT;
	Runtime__V1__NamespaceOption options = RUNTIME__V1__NAMESPACE_OPTION__INIT;
	Runtime__V1__UserNamespace user = RUNTIME__V1__USER_NAMESPACE__INIT;
	struct cri_detail d = {.user_namespace = false};
	uint8_t bytes[64];

	m.status = &status;
	status.linux_status = &sandbox;
	sandbox.namespaces = &namespaces;
	namespaces.options = &options;
	if (mode) {
		options.userns_options = &user;
		user.mode = *mode;
	}
	assert_int_equal(
		cri_status_decode(&d, bytes,
				  runtime__v1__pod_sandbox_status_response__pack(&m, bytes)),
		0);
	free(d.networks);
	return d.user_namespace;
}

/* As the kubelet requests them: the pod's own with hostUsers: false, otherwise the node's or
 * none. */
static void user_namespaces(void **state)
{
	Runtime__V1__NamespaceMode pod = RUNTIME__V1__NAMESPACE_MODE__POD,
				   node = RUNTIME__V1__NAMESPACE_MODE__NODE;

	(void)state;
	assert_true(has_user_namespace(&pod));
	assert_false(has_user_namespace(&node));
	assert_false(has_user_namespace(NULL));
}

static void json_that_is_too_long(void **state)
{
	struct cri_namespaces found;
	char *json = malloc(CRI_INFO_MAX + 1);

	(void)state;
	assert_non_null(json);
	memset(json, ' ', CRI_INFO_MAX + 1);
	memcpy(json, "{}", 2);
	assert_int_equal(cri_info_namespaces(&found, json, CRI_INFO_MAX), 0);
	assert_int_equal(cri_info_namespaces(&found, json, CRI_INFO_MAX + 1), -EMSGSIZE);
	memset(json, '[', CRI_INFO_MAX);
	assert_int_equal(cri_info_namespaces(&found, json, CRI_INFO_MAX), -EBADMSG);
	free(json);
}

/* A value that is too long is kept in part, so that its length still shows that it is. */
static size_t kept_of(size_t len)
{
	char key[] = CRI_NETWORKS, *value = malloc(len + 1);
	Runtime__V1__PodSandboxStatusResponse m = RUNTIME__V1__POD_SANDBOX_STATUS_RESPONSE__INIT;
	Runtime__V1__PodSandboxStatus status = RUNTIME__V1__POD_SANDBOX_STATUS__INIT;
	Runtime__V1__PodSandboxStatus__AnnotationsEntry
		entry = RUNTIME__V1__POD_SANDBOX_STATUS__ANNOTATIONS_ENTRY__INIT,
		*entries[] = {&entry};
	struct cri_detail d = {0};
	uint8_t *bytes;
	size_t kept;

	assert_non_null(value);
	memset(value, 'x', len);
	value[len] = '\0';
	entry.key = key;
	entry.value = value;
	status.annotations = entries;
	status.n_annotations = 1;
	m.status = &status;
	bytes = malloc(runtime__v1__pod_sandbox_status_response__get_packed_size(&m));
	assert_non_null(bytes);
	assert_int_equal(
		cri_status_decode(&d, bytes,
				  runtime__v1__pod_sandbox_status_response__pack(&m, bytes)),
		0);
	kept = strlen(d.networks);
	free(d.networks);
	free(bytes);
	free(value);
	return kept;
}

static void long_annotations(void **state)
{
	(void)state;
	assert_int_equal(kept_of(SANDBOX_NETWORKS_MAX), SANDBOX_NETWORKS_MAX);
	assert_int_equal(kept_of(SANDBOX_NETWORKS_MAX + 1), SANDBOX_NETWORKS_MAX + 1);
	assert_int_equal(kept_of(1 << 20), SANDBOX_NETWORKS_MAX + 1);
}

/* --- events ----------------------------------------------------------------------------------- */

static struct cri_event event_of(const char *path,
				 int (*decode)(struct cri_event *, const uint8_t *, size_t))
{
	struct cri_event e = {0};
	size_t len;
	uint8_t *bytes = fixture_read(path, &len);

	assert_int_equal(decode(&e, bytes, len), 0);
	assert_int_equal(decode(&e, bytes, len - 1), -EBADMSG);
	free(bytes);
	return e;
}

static void events(void **state)
{
	struct cri_event e = event_of("cri/task_start", cri_envelope_decode);

	(void)state;
	assert_int_equal(e.kind, CRI_EVENT_BEGINS);
	assert_string_equal(e.id, FIRST);
	e = event_of("cri/task_exit", cri_envelope_decode);
	assert_int_equal(e.kind, CRI_EVENT_ENDS);
	assert_string_equal(e.id, FIRST);
	assert_int_equal(event_of("cri/sandbox_start", cri_envelope_decode).kind, CRI_EVENT_BEGINS);
	e = event_of("cri/event_started", cri_event_decode);
	assert_int_equal(e.kind, CRI_EVENT_BEGINS);
	assert_string_equal(e.id, FIRST);
	assert_int_equal(event_of("cri/event_container", cri_event_decode).kind, CRI_EVENT_OTHER);
	assert_int_equal(event_of("cri/event_deleted", cri_event_decode).kind, CRI_EVENT_GONE);
	assert_int_equal(cri_envelope_decode(&e, (const uint8_t *)"", 0), 0);
	assert_int_equal(e.kind, CRI_EVENT_OTHER);
	assert_string_equal(e.id, "");
}

/* --- which events ----------------------------------------------------------------------------- */

static void ladder(const char *name, const char *version, enum cri_hints first,
		   enum cri_hints second)
{
	struct cri_version v;

	snprintf(v.name, sizeof(v.name), "%s", name);
	snprintf(v.version, sizeof(v.version), "%s", version);
	assert_int_equal(cri_hints_first(&v), first);
	assert_int_equal(cri_hints_next(&v, first), second);
	assert_int_equal(cri_hints_next(&v, second), CRI_HINTS_NONE);
}

static void event_sources_by_runtime(void **state)
{
	(void)state;
	ladder("containerd", "1.6.20~ds1", CRI_HINTS_CONTAINERD, CRI_HINTS_NONE);
	ladder("containerd", "v1.7.24", CRI_HINTS_CONTAINERD, CRI_HINTS_NONE);
	ladder("containerd", "v2.0.0-rc.1", CRI_HINTS_CONTAINERD, CRI_HINTS_CRI);
	ladder("containerd", "12.1", CRI_HINTS_CONTAINERD, CRI_HINTS_CRI);
	ladder("containerd", "", CRI_HINTS_CONTAINERD, CRI_HINTS_NONE);
	ladder("cri-o", "1.31.2", CRI_HINTS_CRI, CRI_HINTS_NONE);
	ladder("docker", "25.0.3", CRI_HINTS_NONE, CRI_HINTS_NONE);
	ladder("", "", CRI_HINTS_NONE, CRI_HINTS_NONE);
}

/* --- awaited changes -------------------------------------------------------------------------- */

static struct sandbox one = {.id = "a", .ready = true, .detailed = true, .netns = "/n"};
static const struct sandbox_list none = {.known = true};
static const struct sandbox_list with_one = {.items = &one, .n = 1, .known = true};

static bool awaits(struct cri_await *a, enum cri_event_kind kind, const char *id,
		   const struct sandbox_list *l, bool is_asking, uint64_t now_ms)
{
	struct cri_event e = {.kind = kind};

	snprintf(e.id, sizeof(e.id), "%s", id);
	return cri_await_event(a, &e, l, is_asking, now_ms);
}

static void queries_repeat_until_the_list_shows_the_change(void **state)
{
	struct cri_await a = {0};

	(void)state;
	assert_int_equal(cri_await_pause(&a, &none, 0), 0);
	assert_true(awaits(&a, CRI_EVENT_BEGINS, "a", &none, false, 100));
	assert_int_equal(cri_await_pause(&a, &none, 100), 4);
	assert_int_equal(cri_await_pause(&a, &none, 104), 8);
	assert_int_equal(cri_await_pause(&a, &none, 112), 16);
	assert_true(awaits(&a, CRI_EVENT_BEGINS, "b", &none, false, 140));
	assert_int_equal(cri_await_pause(&a, &none, 150), 4);
	assert_int_equal(cri_await_pause(&a, &with_one, 160), 8);
	assert_int_equal(a.n, 1);
	assert_int_equal(cri_await_pause(&a, &with_one, 1139), 16);
	/* gives up on b, which never became a sandbox */
	assert_int_equal(cri_await_pause(&a, &with_one, 1140), 0);
}

static void changes_that_the_list_shows_are_not_awaited(void **state)
{
	struct cri_await a = {0};

	(void)state;
	assert_false(awaits(&a, CRI_EVENT_BEGINS, "a", &with_one, false, 0));
	assert_false(awaits(&a, CRI_EVENT_ENDS, "b", &with_one, false, 0));
	assert_false(awaits(&a, CRI_EVENT_GONE, "b", &with_one, false, 0));
	assert_false(awaits(&a, CRI_EVENT_OTHER, "a", &with_one, true, 0));
	assert_true(awaits(&a, CRI_EVENT_ENDS, "a", &with_one, false, 0));
	assert_true(awaits(&a, CRI_EVENT_GONE, "a", &with_one, false, 0));
	assert_int_equal(a.n, 1);
	assert_int_equal(cri_await_pause(&a, &none, 0), 0);
}

/* A sandbox that begins and ends before any list; but an answer in transit may still name it. */
static void short_lived_sandboxes(void **state)
{
	struct cri_await a = {0};

	(void)state;
	assert_true(awaits(&a, CRI_EVENT_BEGINS, "a", &none, false, 0));
	assert_true(awaits(&a, CRI_EVENT_ENDS, "a", &none, false, 0));
	assert_int_equal(cri_await_pause(&a, &none, 0), 0);
	assert_true(awaits(&a, CRI_EVENT_ENDS, "a", &none, true, 0));
	assert_int_equal(cri_await_pause(&a, &with_one, 0), 4);
	assert_int_equal(cri_await_pause(&a, &none, 0), 0);
}

static void any_change_and_too_many_awaited(void **state)
{
	struct cri_await a = {0};
	char id[16];

	(void)state;
	assert_true(awaits(&a, CRI_EVENT_ENDS, "", &with_one, false, 0));
	assert_int_equal(cri_await_pause(&a, &with_one, 999), 4);
	assert_int_equal(cri_await_pause(&a, &with_one, 1000), 0);
	for (unsigned i = 0; i < 100; i++) {
		snprintf(id, sizeof(id), "%u", i);
		assert_true(awaits(&a, CRI_EVENT_BEGINS, id, &none, false, i));
	}
	assert_int_equal(a.n, CRI_AWAITED_MAX);
	assert_string_equal(a.items[CRI_AWAITED_MAX - 1].id, "99");
	assert_int_equal(cri_await_pause(&a, &none, 2000), 0);
}

/* --- details ---------------------------------------------------------------------------------- */

static struct sandbox_list list_of(const char *ids)
{
	struct sandbox_list l = {.known = true, .n = strlen(ids)};

	l.items = calloc(l.n + 1, sizeof(*l.items));
	assert_non_null(l.items);
	for (size_t i = 0; i < l.n; i++) {
		l.items[i].id[0] = ids[i];
		l.items[i].ready = true;
	}
	return l;
}

static void replace(struct cri_details *d, struct sandbox_list *l, const char *ids)
{
	struct sandbox_list now = list_of(ids);

	assert_int_equal(cri_details_list(d, &now, l), 0);
	sandbox_list_done(l);
	*l = now;
}

static bool answer(struct cri_details *d, struct sandbox_list *l, const char *id, const char *netns,
		   uint64_t now_ms)
{
	struct cri_detail detail = {.networks = strdup("[]")};
	bool changed;

	snprintf(detail.netns, sizeof(detail.netns), "%s", netns);
	changed = cri_details_answer(d, l, id, &detail, now_ms);
	free(detail.networks);
	return changed;
}

static void details_are_queried_once(void **state)
{
	struct cri_details d = {0};
	struct sandbox_list l = {0};

	(void)state;
	replace(&d, &l, "cab");
	assert_int_equal(cri_details_deadline(&d), 0);
	assert_string_equal(cri_details_next(&d, 1), "a");
	assert_string_equal(cri_details_next(&d, 1), "b");
	assert_true(answer(&d, &l, "a", "/a", 1));
	assert_false(answer(&d, &l, "a", "/a", 1)); /* no query was open */
	replace(&d, &l, "xac");			    /* b ends during its query */
	assert_false(answer(&d, &l, "b", "/b", 1));
	assert_string_equal(sandbox_find(&l, "a")->netns, "/a");
	assert_string_equal(sandbox_find(&l, "a")->networks, "[]");
	assert_string_equal(cri_details_next(&d, 1), "c");
	assert_string_equal(cri_details_next(&d, 1), "x");
	assert_null(cri_details_next(&d, 1));
	assert_int_equal(cri_details_deadline(&d), UINT64_MAX);
	assert_int_equal(d.n_asking, 2);
	replace(&d, &l, "");
	assert_int_equal(d.n_asking, 0);
	cri_details_done(&d);
	sandbox_list_done(&l);
}

static void a_failed_query_and_a_missing_namespace_are_retried(void **state)
{
	struct cri_details d = {0};
	struct sandbox_list l = {0};

	(void)state;
	replace(&d, &l, "a");
	assert_string_equal(cri_details_next(&d, 100), "a");
	assert_false(cri_details_answer(&d, &l, "a", NULL, 100));
	assert_null(cri_details_next(&d, 149));
	assert_int_equal(cri_details_deadline(&d), 150);
	replace(&d, &l, "a"); /* a new list does not shorten the pause */
	assert_null(cri_details_next(&d, 149));
	assert_string_equal(cri_details_next(&d, 150), "a");
	assert_true(answer(&d, &l, "a", "", 150));
	assert_true(l.items[0].detailed);
	assert_int_equal(cri_details_deadline(&d), 250);
	assert_string_equal(cri_details_next(&d, 250), "a");
	assert_false(answer(&d, &l, "a", "", 250)); /* nothing changed */
	assert_string_equal(cri_details_next(&d, 1000), "a");
	assert_true(answer(&d, &l, "a", "/a", 1000));
	assert_int_equal(d.n, 0);
	cri_details_done(&d);
	sandbox_list_done(&l);
}

static void the_number_of_concurrent_queries_is_limited(void **state)
{
	struct cri_details d = {0};
	struct sandbox_list l = {0};

	(void)state;
	replace(&d, &l, "abcdefghijkl");
	for (unsigned i = 0; i < CRI_DETAILS_OPEN; i++)
		assert_non_null(cri_details_next(&d, 1));
	assert_null(cri_details_next(&d, 1));
	assert_int_equal(cri_details_deadline(&d), UINT64_MAX);
	cri_details_done(&d);
	sandbox_list_done(&l);
}

static void duplicate_ids(void **state)
{
	struct cri_details d = {0};
	struct sandbox_list l = {0};

	(void)state;
	replace(&d, &l, "aa");
	assert_int_equal(d.n, 1);
	assert_string_equal(cri_details_next(&d, 1), "a");
	assert_true(answer(&d, &l, "a", "/a", 1));
	replace(&d, &l, "aa");
	cri_details_done(&d);
	sandbox_list_done(&l);
}

/* --- memory ----------------------------------------------------------------------------------- */

static void no_memory(void **state)
{
	struct sandbox_list l = {0};
	struct cri_details d = {0};
	size_t len, left_out;
	uint8_t *bytes = fixture_read("cri/status_containerd", &len);
	int r;

	(void)state;
	for (long nth = 0; nth < 4; nth++) {
		struct cri_detail detail = {0};

		faults_alloc(nth);
		r = cri_status_decode(&detail, bytes, len);
		assert_true(!faults_end() || r == -ENOMEM);
		free(detail.networks);
	}
	free(bytes);
	bytes = fixture_read("cri/list", &len);
	faults_alloc(0);
	assert_int_equal(cri_list_decode(&l, &left_out, bytes, len), -ENOMEM);
	faults_end();
	free(bytes);
	l = list_of("ab");
	for (long nth = 0; nth < 2; nth++) {
		struct sandbox_list now = list_of("bc");

		faults_alloc(nth);
		assert_int_equal(cri_details_list(&d, &now, &l), -ENOMEM);
		faults_end();
		sandbox_list_done(&now);
	}
	sandbox_list_done(&l);
}

TEST_GROUP(cri_wire)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_are_golden),
		cmocka_unit_test(the_version),
		cmocka_unit_test(the_list),
		cmocka_unit_test(invalid_entries_are_left_out),
		cmocka_unit_test(a_list_that_is_too_long),
		cmocka_unit_test(details_of_runtimes),
		cmocka_unit_test(a_response_without_a_status),
		cmocka_unit_test(paths_in_json),
		cmocka_unit_test(user_namespaces),
		cmocka_unit_test(json_that_is_too_long),
		cmocka_unit_test(long_annotations),
		cmocka_unit_test(events),
		cmocka_unit_test(event_sources_by_runtime),
		cmocka_unit_test(queries_repeat_until_the_list_shows_the_change),
		cmocka_unit_test(changes_that_the_list_shows_are_not_awaited),
		cmocka_unit_test(short_lived_sandboxes),
		cmocka_unit_test(any_change_and_too_many_awaited),
		cmocka_unit_test(details_are_queried_once),
		cmocka_unit_test(a_failed_query_and_a_missing_namespace_are_retried),
		cmocka_unit_test(the_number_of_concurrent_queries_is_limited),
		cmocka_unit_test(duplicate_ids),
		cmocka_unit_test(no_memory),
	};

	return test_group_run(tests, NULL, NULL);
}
