// SPDX-License-Identifier: Apache-2.0
/* Any request to the device plugin: the first byte selects the method and how the hooks answer.
 *
 * proves: k8s/kubelet
 * when: turns 10
 * when: soak 120 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "grpc.h"
#include "kubelet.h"
#include "list_watch.h"
#include "plugin_service.h"

static const char *const paths[] = {
	"/v1beta1.DevicePlugin/Allocate",
	"/v1beta1.DevicePlugin/GetPreferredAllocation",
	"/v1beta1.DevicePlugin/PreStartContainer",
	"/pluginregistration.Registration/NotifyRegistrationStatus",
	"/pluginregistration.Registration/GetInfo",
	"/v1beta1.DevicePlugin/ListAndWatch",
	"/v1beta1.DevicePlugin/GetDevicePluginOptions",
	"/nothing",
};

struct answers {
	bool later;
	struct plugin_answer *open;
	unsigned ends;
};

/* IDs that reach a hook have been checked. */
static void check_ids(const struct id_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->ids[i][0] == '\0' || strlen(l->ids[i]) >= PLUGIN_ID_SIZE)
			abort();
}

static void on_allocate(struct plugin_answer *a, const struct id_list *l, size_t n, void *arg)
{
	struct container_grant *grants = calloc(n + 1, sizeof(*grants));
	struct answers *answers = arg;

	for (size_t i = 0; i < n; i++)
		check_ids(&l[i]);
	if (answers->later)
		answers->open = a;
	else
		plugin_answer_allocate(a, grants, n);
	free(grants);
}

static void on_preferred(struct plugin_answer *a, const struct preference_request *p, size_t n,
			 void *arg)
{
	struct id_list *chosen = calloc(n + 1, sizeof(*chosen));

	(void)arg;
	for (size_t i = 0; i < n; i++) {
		check_ids(&p[i].available);
		check_ids(&p[i].must_include);
		chosen[i] = (struct id_list){p[i].available.ids, p[i].size};
	}
	plugin_answer_preferred(a, chosen, n);
	free(chosen);
}

static void on_pre_start(struct plugin_answer *a, const struct id_list *l, void *arg)
{
	struct err e = {0};

	(void)arg;
	check_ids(l);
	err_set(&e, -ENODEV, "gone");
	plugin_answer_error(a, &e);
}

static void on_gone(struct plugin_answer *a, void *arg)
{
	struct answers *answers = arg;

	if (answers->open != a)
		abort();
	answers->open = NULL;
}

static void on_watchers(unsigned n, void *arg)
{
	(void)n, (void)arg;
}

static void on_notified(bool registered, const char *why, void *arg)
{
	(void)registered, (void)arg;
	if (strlen(why) >= 256)
		abort();
}

static void on_event(void *arg)
{
	(void)arg;
}

static void on_end(struct grpc_call *call, enum grpc_status status, const char *text, void *arg)
{
	(void)call, (void)status, (void)text;
	((struct answers *)arg)->ends++;
}

static void carry(struct grpc_conn *from, struct grpc_conn *to)
{
	const uint8_t *bytes;
	struct err e = {0};
	ssize_t n;

	while ((n = grpc_take(from, &bytes)) > 0)
		if (grpc_feed(to, bytes, (size_t)n, 0, &e) < 0)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct answers answers = {.later = size > 0 && data[0] & 8};
	struct plugin_hooks hooks = {.allocate = on_allocate,
				     .preferred = on_preferred,
				     .pre_start = on_pre_start,
				     .gone = on_gone,
				     .arg = &answers};
	struct plugin_service_events events = {.watchers = on_watchers,
					       .asked = on_event,
					       .notified = on_notified,
					       .answered = on_event,
					       .arg = &answers};
	struct grpc_reply reply = {.end = on_end, .arg = &answers};
	struct plugin_service *s = NULL;
	struct grpc_conn *server = NULL, *client = NULL;
	struct grpc_service service;

	if (size == 0 || plugin_service_new(&s, "a.b/c", &hooks, &events) < 0)
		return 0;
	plugin_service_join_registry(s);
	service = plugin_service_grpc(s);
	if (grpc_server_new(&server, NULL, &service, 0) < 0 ||
	    grpc_client_new(&client, NULL, 0) < 0)
		abort();
	if (!grpc_start(client, paths[data[0] & 7], data + 1, size - 1, 0, &reply, 0))
		abort();
	for (int i = 0; i < 4; i++) {
		carry(client, server);
		carry(server, client);
	}
	if (answers.ends == 0 && !answers.open && (data[0] & 7) != 5)
		abort(); /* every request is answered */
	if (data[0] & 16)
		plugin_service_retire(s);
	grpc_conn_free(server);
	if (answers.open)
		abort();
	grpc_conn_free(client);
	if (answers.ends != 1)
		abort();
	plugin_service_free(s);
	return 0;
}
