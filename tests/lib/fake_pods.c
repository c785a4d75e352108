// SPDX-License-Identifier: Apache-2.0
#include "fake_pods.h"

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
#include "err.h"
#include "podresources.pb-c.h"
#include "uds.h"

static void give(struct fake_pods *f, struct grpc_call *call)
{
	grpc_send(call, f->answer ? f->answer : (const uint8_t *)"", f->len);
	grpc_finish(call, GRPC_OK, NULL);
}

static void on_request(struct grpc_call *call, const char *path, const uint8_t *message, size_t len,
		       void *arg)
{
	struct fake_pods *f = arg;

	(void)message;
	assert_string_equal(path, "/v1.PodResourcesLister/List");
	assert_int_equal(len, 0);
	f->last_ms = uv_now(f->loop);
	if (f->questions++ == 0)
		f->first_ms = f->last_ms;
	if (f->silent) {
		f->open = call;
	} else if (f->refusals > 0) {
		f->refusals--;
		grpc_finish(call, f->refuse_with, "rejected by rate limit");
	} else {
		give(f, call);
	}
}

static void on_cancel(struct grpc_call *call, void *arg)
{
	struct fake_pods *f = arg;

	if (f->open == call)
		f->open = NULL;
}

void fake_pods_answer(struct fake_pods *f)
{
	assert_non_null(f->open);
	give(f, take_ptr(f->open));
	uds_server_flush(f->server);
}

static char *path_of(const struct fake_pods *f, const char *name)
{
	char *path;

	assert_true(asprintf(&path, "%s/pod-resources%s", f->dir, name) > 0);
	return path;
}

void fake_pods_init(struct fake_pods *f, uv_loop_t *loop, const char *dir)
{
	AUTO_FREE char *path = NULL;

	*f = (struct fake_pods){.loop = loop, .dir = dir, .refuse_with = GRPC_RESOURCE_EXHAUSTED};
	path = path_of(f, "");
	assert_int_equal(mkdir(path, 0755), 0);
}

void fake_pods_start(struct fake_pods *f)
{
	struct grpc_service service = {.request = on_request, .cancel = on_cancel, .arg = f};
	struct uds_server_opts opts = {.limits = {.max_message = 1 << 20, .max_calls = 100},
				       .max_connections = 16,
				       .mode = 0600};
	AUTO_FREE char *path = path_of(f, "/kubelet.sock");
	struct err e = {0};

	assert_int_equal(uds_server_open(&f->server, f->loop, path, &opts, &service, &e), 0);
}

void fake_pods_stop(struct fake_pods *f, bool dead_file)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	AUTO_FREE char *path = path_of(f, "/kubelet.sock");
	AUTO_FD fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	uds_server_close(take_ptr(f->server));
	if (!dead_file)
		return;
	unlink(path);
	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", path);
	assert_int_equal(bind(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
}

void fake_pods_done(struct fake_pods *f)
{
	uds_server_close(take_ptr(f->server));
	free(take_ptr(f->answer));
}

/* --- lists ----------------------------------------------------------------------------------- */

#define TEXT(s) ((char *)(uintptr_t)(s))

static void *must_calloc(size_t n, size_t size)
{
	void *p = calloc(n, size);

	assert_non_null(p);
	return p;
}

/* One device, and the messages around it. */
struct entry {
	V1__PodResources pod;
	V1__ContainerResources container, *containers[1];
	V1__ContainerDevices devices, *all_devices[1];
	char *ids[1];
};

static void fill(struct entry *e, const struct fake_held *held)
{
	v1__pod_resources__init(&e->pod);
	v1__container_resources__init(&e->container);
	v1__container_devices__init(&e->devices);
	e->pod.name = TEXT(held->pod);
	e->pod.namespace_ = TEXT(held->namespace);
	e->pod.containers = e->containers;
	e->pod.n_containers = 1;
	e->containers[0] = &e->container;
	e->container.name = TEXT("main");
	e->container.devices = e->all_devices;
	e->container.n_devices = 1;
	e->all_devices[0] = &e->devices;
	e->devices.resource_name = TEXT(held->resource);
	e->devices.device_ids = e->ids;
	e->devices.n_device_ids = 1;
	e->ids[0] = TEXT(held->id);
}

void fake_pods_hold(struct fake_pods *f, const struct fake_held *held, size_t n)
{
	struct entry *entries = must_calloc(n + 1, sizeof(*entries));
	V1__PodResources **pods = must_calloc(n + 1, sizeof(*pods));
	V1__ListPodResourcesResponse list = V1__LIST_POD_RESOURCES_RESPONSE__INIT;

	for (size_t i = 0; i < n; i++) {
		fill(&entries[i], &held[i]);
		pods[i] = &entries[i].pod;
	}
	list.pod_resources = pods;
	list.n_pod_resources = n;
	free(f->answer);
	f->len = v1__list_pod_resources_response__get_packed_size(&list);
	f->answer = must_calloc(f->len + 1, 1);
	v1__list_pod_resources_response__pack(&list, f->answer);
	free(pods);
	free(entries);
}
