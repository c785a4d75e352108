// SPDX-License-Identifier: Apache-2.0
#include "fake_cri.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "cleanup.h"
#include "containerd.pb-c.h"
#include "cri.pb-c.h"
#include "err.h"
#include "uds.h"

#define TEXT(s) ((char *)(uintptr_t)(s))

static void *must_calloc(size_t n, size_t size)
{
	void *p = calloc(n + 1, size);

	assert_non_null(p);
	return p;
}

static void send_message(struct grpc_call *call, const ProtobufCMessage *m)
{
	size_t len = protobuf_c_message_get_packed_size(m);
	AUTO_FREE uint8_t *bytes = must_calloc(len, 1);

	protobuf_c_message_pack(m, bytes);
	grpc_send(call, bytes, len);
}

/* --- answers ---------------------------------------------------------------------------------- */

static void give_version(struct fake_cri *f, struct grpc_call *call)
{
	Runtime__V1__VersionResponse m = RUNTIME__V1__VERSION_RESPONSE__INIT;

	f->greetings++;
	m.runtime_name = TEXT(f->name);
	m.runtime_version = TEXT(f->version);
	send_message(call, &m.base);
	grpc_finish(call, GRPC_OK, NULL);
}

struct entry {
	Runtime__V1__PodSandbox sandbox;
	Runtime__V1__PodSandboxMetadata metadata;
};

static void fill(struct entry *e, const struct fake_sandbox *s)
{
	runtime__v1__pod_sandbox__init(&e->sandbox);
	runtime__v1__pod_sandbox_metadata__init(&e->metadata);
	e->sandbox.id = TEXT(s->id);
	e->sandbox.metadata = &e->metadata;
	e->sandbox.state = s->not_ready;
	e->sandbox.created_at = 1700000000000000000;
	e->metadata.name = TEXT(s->pod);
	e->metadata.namespace_ = TEXT(s->namespace);
	e->metadata.uid = TEXT(s->uid ? s->uid : "");
	e->metadata.attempt = s->attempt;
}

static void give_sandboxes(struct fake_cri *f, struct grpc_call *call)
{
	Runtime__V1__ListPodSandboxResponse m = RUNTIME__V1__LIST_POD_SANDBOX_RESPONSE__INIT;
	AUTO_FREE struct entry *entries = must_calloc(f->n, sizeof(*entries));
	AUTO_FREE Runtime__V1__PodSandbox **items = must_calloc(f->n, sizeof(*items));

	for (size_t i = 0; i < f->n; i++) {
		fill(&entries[i], &f->sandboxes[i]);
		items[i] = &entries[i].sandbox;
	}
	m.items = items;
	m.n_items = f->n;
	send_message(call, &m.base);
}

static void send_list(struct fake_cri *f, struct grpc_call *call)
{
	f->last_ms = uv_now(f->loop);
	if (f->lists++ == 0)
		f->first_ms = f->last_ms;
	if (f->refusals > 0) {
		f->refusals--;
		grpc_finish(call, f->refuse_with, "server is not initialized yet");
		return;
	}
	if (f->answer)
		grpc_send(call, f->answer, f->answer_len);
	else
		give_sandboxes(f, call);
	grpc_finish(call, GRPC_OK, NULL);
}

static char *info_of(const struct fake_sandbox *s)
{
	char *text;
	int n = s->host_network ? asprintf(&text, "{\"pid\":1,\"runtimeSpec\":{\"linux\":{"
						  "\"namespaces\":[{\"type\":\"pid\"}]}}}")
				: asprintf(&text,
					   "{\"pid\":1,\"runtimeSpec\":{\"linux\":{\"namespaces\":"
					   "[{\"type\":\"pid\"},{\"type\":\"network\",\"path\":"
					   "\"%s\"}]}}}",
					   s->netns ? s->netns : "");

	assert_true(n > 0);
	return text;
}

static void give_status(struct grpc_call *call, const struct fake_sandbox *s)
{
	Runtime__V1__PodSandboxStatusResponse m = RUNTIME__V1__POD_SANDBOX_STATUS_RESPONSE__INIT;
	Runtime__V1__PodSandboxStatus status = RUNTIME__V1__POD_SANDBOX_STATUS__INIT;
	Runtime__V1__PodSandboxStatusResponse__InfoEntry
		info = RUNTIME__V1__POD_SANDBOX_STATUS_RESPONSE__INFO_ENTRY__INIT,
		*infos[] = {&info};
	Runtime__V1__PodSandboxStatus__AnnotationsEntry
		networks = RUNTIME__V1__POD_SANDBOX_STATUS__ANNOTATIONS_ENTRY__INIT,
		*annotations[] = {&networks};
	AUTO_FREE char *text = info_of(s);

	status.id = TEXT(s->id);
	networks.key = TEXT(CRI_NETWORKS);
	networks.value = TEXT(s->networks);
	status.annotations = annotations;
	status.n_annotations = s->networks != NULL;
	info.key = TEXT("info");
	info.value = text;
	m.status = &status;
	m.info = infos;
	m.n_info = 1;
	send_message(call, &m.base);
	grpc_finish(call, GRPC_OK, NULL);
}

static const struct fake_sandbox *find(const struct fake_cri *f, const char *id)
{
	for (size_t i = 0; i < f->n; i++)
		if (strcmp(f->sandboxes[i].id, id) == 0)
			return &f->sandboxes[i];
	return NULL;
}

static void answer_detail(struct fake_cri *f, struct grpc_call *call)
{
	char *id = grpc_call_data(call);
	const struct fake_sandbox *s = find(f, id);

	f->open_details--;
	if (s)
		give_status(call, s);
	else
		grpc_finish(call, GRPC_NOT_FOUND, "no such sandbox");
	free(id);
}

static void give_detail(struct fake_cri *f, struct grpc_call *call, const uint8_t *message,
			size_t len)
{
	Runtime__V1__PodSandboxStatusRequest *q = runtime__v1__pod_sandbox_status_request__unpack(
		NULL, len, message);
	size_t i = 0;

	assert_non_null(q);
	assert_true(q->verbose);
	f->details++;
	if (++f->open_details > f->most_details)
		f->most_details = f->open_details;
	grpc_call_set_data(call, strdup(q->pod_sandbox_id));
	runtime__v1__pod_sandbox_status_request__free_unpacked(q, NULL);
	if (!f->mute_details) {
		answer_detail(f, call);
		return;
	}
	while (f->held[i])
		i++;
	assert_true(i < ARRAY_SIZE(f->held));
	f->held[i] = call;
}

static void give_events(struct fake_cri *f, struct grpc_call *call, bool is_cri)
{
	f->streams++;
	if (f->no_events) {
		grpc_finish(call, GRPC_UNIMPLEMENTED, "unknown method");
	} else if (f->brief_events) {
		grpc_finish(call, GRPC_OK, NULL);
	} else {
		f->stream = call;
		f->stream_is_cri = is_cri;
	}
}

/* --- the service ------------------------------------------------------------------------------ */

static void on_request(struct grpc_call *call, const char *path, const uint8_t *message, size_t len,
		       void *arg)
{
	struct fake_cri *f = arg;

	if (f->silent)
		return;
	if (strcmp(path, "/runtime.v1.RuntimeService/Version") == 0)
		give_version(f, call);
	else if (strcmp(path, "/runtime.v1.RuntimeService/ListPodSandbox") == 0)
		send_list(f, call);
	else if (strcmp(path, "/runtime.v1.RuntimeService/PodSandboxStatus") == 0)
		give_detail(f, call, message, len);
	else if (strcmp(path, "/runtime.v1.RuntimeService/GetContainerEvents") == 0)
		give_events(f, call, true);
	else if (strcmp(path, "/containerd.services.events.v1.Events/Subscribe") == 0)
		give_events(f, call, false);
	else
		fail_msg("unexpected call of %s", path);
}

static void on_cancel(struct grpc_call *call, void *arg)
{
	struct fake_cri *f = arg;

	if (f->stream == call)
		f->stream = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(f->held); i++)
		if (f->held[i] == call) {
			f->held[i] = NULL;
			f->open_details--;
			free(grpc_call_data(call));
		}
}

void fake_cri_answer_details(struct fake_cri *f)
{
	f->mute_details = false;
	for (size_t i = 0; i < ARRAY_SIZE(f->held); i++)
		if (f->held[i])
			answer_detail(f, take_ptr(f->held[i]));
	uds_server_flush(f->server);
}

void fake_cri_init(struct fake_cri *f, uv_loop_t *loop, const char *path)
{
	*f = (struct fake_cri){.loop = loop,
			       .path = path,
			       .name = "containerd",
			       .version = "1.6.20",
			       .refuse_with = GRPC_UNAVAILABLE};
}

void fake_cri_start(struct fake_cri *f)
{
	struct grpc_service service = {.request = on_request, .cancel = on_cancel, .arg = f};
	struct uds_server_opts opts = {.limits = {.max_message = 1 << 20, .max_calls = 100},
				       .max_connections = 16,
				       .mode = 0600};
	struct err e = {0};

	assert_int_equal(uds_server_open(&f->server, f->loop, f->path, &opts, &service, &e), 0);
}

void fake_cri_stop(struct fake_cri *f, bool dead_file)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	AUTO_FD fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	uds_server_close(take_ptr(f->server));
	if (!dead_file)
		return;
	unlink(f->path);
	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", f->path);
	assert_int_equal(bind(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
}

void fake_cri_done(struct fake_cri *f)
{
	uds_server_close(take_ptr(f->server));
	free(take_ptr(f->sandboxes));
}

void fake_cri_set(struct fake_cri *f, const struct fake_sandbox *sandboxes, size_t n)
{
	struct fake_sandbox *copy = must_calloc(n, sizeof(*copy));

	if (n)
		memcpy(copy, sandboxes, n * sizeof(*copy));
	free(f->sandboxes);
	f->sandboxes = copy;
	f->n = n;
}

/* --- events ----------------------------------------------------------------------------------- */

void fake_cri_event_bytes(struct fake_cri *f, const void *bytes, size_t len)
{
	assert_non_null(f->stream);
	grpc_send(f->stream, bytes, len);
	uds_server_flush(f->server);
}

static void send_envelope(struct fake_cri *f, enum cri_event_kind kind, const char *id)
{
	static const char *const topics[] = {
		[CRI_EVENT_OTHER] = "/images/create",
		[CRI_EVENT_BEGINS] = "/tasks/start",
		[CRI_EVENT_ENDS] = "/tasks/exit",
		[CRI_EVENT_GONE] = "/containers/delete",
	};
	Containerd__Envelope m = CONTAINERD__ENVELOPE__INIT;
	Containerd__Any any = CONTAINERD__ANY__INIT;
	Containerd__Subject subject = CONTAINERD__SUBJECT__INIT;
	uint8_t value[128];

	subject.id = TEXT(id);
	assert_true(containerd__subject__get_packed_size(&subject) <= sizeof(value));
	any.value.len = containerd__subject__pack(&subject, value);
	any.value.data = value;
	m.namespace_ = TEXT("k8s.io");
	m.topic = TEXT(topics[kind]);
	m.event = &any;
	send_message(f->stream, &m.base);
}

static void send_cri_event(struct fake_cri *f, enum cri_event_kind kind, const char *id)
{
	Runtime__V1__ContainerEventResponse m = RUNTIME__V1__CONTAINER_EVENT_RESPONSE__INIT;

	m.container_id = TEXT(id);
	m.container_event_type = (Runtime__V1__ContainerEventType)kind; /* same numbers */
	send_message(f->stream, &m.base);
}

void fake_cri_event(struct fake_cri *f, enum cri_event_kind kind, const char *id)
{
	assert_non_null(f->stream);
	if (f->stream_is_cri)
		send_cri_event(f, kind, id);
	else
		send_envelope(f, kind, id);
	uds_server_flush(f->server);
}

void fake_cri_end_events(struct fake_cri *f, enum grpc_status status)
{
	assert_non_null(f->stream);
	grpc_finish(take_ptr(f->stream), status, "the runtime is shutting down");
	uds_server_flush(f->server);
}
