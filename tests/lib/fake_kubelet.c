// SPDX-License-Identifier: Apache-2.0
#include "fake_kubelet.h"

#include <dirent.h>
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
#include "deviceplugin.pb-c.h"
#include "err.h"
#include "loop_helpers.h"
#include "pluginregistration.pb-c.h"
#include "uds.h"

static const uint8_t empty[1];

void fake_kubelet_init(struct fake_kubelet *f, uv_loop_t *loop, const char *dir)
{
	*f = (struct fake_kubelet){.loop = loop, .dir = dir};
}

static char *path_of(const char *dir, const char *name)
{
	char *path;

	assert_true(asprintf(&path, "%s/device-plugins/%s", dir, name) > 0);
	return path;
}

/* --- its view of the plugin ------------------------------------------------------------------ */

static void on_list(struct grpc_call *call, const uint8_t *message, size_t len, void *arg)
{
	V1beta1__ListAndWatchResponse *list = v1beta1__list_and_watch_response__unpack(NULL, len,
										       message);
	struct fake_kubelet *f = arg;
	V1beta1__Device *first;

	(void)call;
	assert_non_null(list);
	f->lists++;
	f->list_ms = uv_now(f->loop);
	f->list_len = len;
	f->n_devices = list->n_devices;
	f->n_healthy = 0;
	for (size_t i = 0; i < list->n_devices; i++)
		f->n_healthy += strcmp(list->devices[i]->health, "Healthy") == 0;
	first = list->n_devices ? list->devices[0] : NULL;
	snprintf(f->first_id, sizeof(f->first_id), "%s", first ? first->id : "");
	f->first_numa = first && first->topology && first->topology->n_nodes
				? first->topology->nodes[0]->id
				: -1;
	v1beta1__list_and_watch_response__free_unpacked(list, NULL);
}

static void on_watch_end(struct grpc_call *call, enum grpc_status status, const char *text,
			 void *arg)
{
	struct fake_kubelet *f = arg;

	(void)call, (void)text;
	f->watching = false;
	f->watch_ends++;
	f->watch_status = status;
}

static int watch(struct fake_kubelet *f)
{
	struct grpc_reply reply = {.message = on_list, .end = on_watch_end, .arg = f};
	int r = uds_client_call(f->plugin, "/v1beta1.DevicePlugin/ListAndWatch", empty, 0, 0,
				&reply, &f->watch_id);

	f->watching = r == 0;
	return r;
}

static void on_options(struct grpc_call *call, const uint8_t *message, size_t len, void *arg)
{
	V1beta1__DevicePluginOptions *options = v1beta1__device_plugin_options__unpack(NULL, len,
										       message);
	struct fake_kubelet *f = arg;

	(void)call;
	assert_non_null(options);
	f->pre_start = options->pre_start_required;
	f->preferred = options->get_preferred_allocation_available;
	v1beta1__device_plugin_options__free_unpacked(options, NULL);
}

static void finish_register(struct fake_kubelet *f, enum grpc_status status, const char *text)
{
	struct grpc_call *call = take_ptr(f->registering);

	if (!call)
		return;
	if (status == GRPC_OK)
		grpc_send(call, empty, 0);
	grpc_finish(call, status, text);
	uds_server_flush(f->server);
}

static void on_options_end(struct grpc_call *call, enum grpc_status status, const char *text,
			   void *arg)
{
	struct fake_kubelet *f = arg;

	(void)call;
	if (status == GRPC_CANCELLED)
		return;
	if (status == GRPC_OK && f->manner == MANNER_GOOD && watch(f) < 0)
		status = GRPC_UNAVAILABLE;
	finish_register(f, status, text);
}

int fake_kubelet_connect(struct fake_kubelet *f, const char *path)
{
	struct err e = {0};

	uds_client_close(take_ptr(f->plugin));
	return uds_client_open(&f->plugin, f->loop, path, NULL, &e);
}

static int ask_options(struct fake_kubelet *f)
{
	struct grpc_reply reply = {.message = on_options, .end = on_options_end, .arg = f};

	return uds_client_call(f->plugin, "/v1beta1.DevicePlugin/GetDevicePluginOptions", empty, 0,
			       10000, &reply, NULL);
}

/* --- its own service ------------------------------------------------------------------------- */

static void read_register(struct fake_kubelet *f, const uint8_t *message, size_t len)
{
	V1beta1__RegisterRequest *q = v1beta1__register_request__unpack(NULL, len, message);

	assert_non_null(q);
	snprintf(f->version, sizeof(f->version), "%s", q->version);
	snprintf(f->endpoint, sizeof(f->endpoint), "%s", q->endpoint);
	snprintf(f->resource, sizeof(f->resource), "%s", q->resource_name);
	v1beta1__register_request__free_unpacked(q, NULL);
	f->registers++;
}

static void on_request(struct grpc_call *call, const char *path, const uint8_t *message, size_t len,
		       void *arg)
{
	struct fake_kubelet *f = arg;
	AUTO_FREE char *socket = NULL;

	assert_string_equal(path, "/v1beta1.Registration/Register");
	read_register(f, message, len);
	switch (f->manner) {
	case MANNER_SILENT:
		break;
	case MANNER_UNAVAILABLE:
		grpc_finish(call, GRPC_UNAVAILABLE, "starting");
		break;
	case MANNER_REFUSING:
		grpc_finish(call, GRPC_INVALID_ARGUMENT, "unsupported");
		break;
	case MANNER_GOOD:
	case MANNER_NOT_WATCHING:
		f->registering = call;
		socket = path_of(f->dir, f->endpoint);
		if (fake_kubelet_connect(f, socket) < 0 || ask_options(f) < 0)
			finish_register(f, GRPC_UNAVAILABLE, "out of memory");
		break;
	}
}

static void on_cancel(struct grpc_call *call, void *arg)
{
	struct fake_kubelet *f = arg;

	if (f->registering == call)
		f->registering = NULL;
}

static void sweep(const char *dir)
{
	AUTO_FREE char *plugins = path_of(dir, "");
	AUTO_DIR d = opendir(plugins);
	struct dirent *entry;

	assert_non_null(d);
	while ((entry = readdir(d)))
		if (entry->d_type == DT_SOCK)
			unlinkat(dirfd(d), entry->d_name, 0);
}

void fake_kubelet_start(struct fake_kubelet *f)
{
	struct grpc_service service = {.request = on_request, .cancel = on_cancel, .arg = f};
	struct uds_server_opts opts = {.limits = {.max_message = 4u << 20, .max_calls = 100},
				       .max_connections = 16,
				       .mode = 0600};
	AUTO_FREE char *path = path_of(f->dir, "kubelet.sock");
	struct err e = {0};

	sweep(f->dir);
	assert_int_equal(uds_server_open(&f->server, f->loop, path, &opts, &service, &e), 0);
}

void fake_dead_socket(const char *dir)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	AUTO_FREE char *path = path_of(dir, "kubelet.sock");
	AUTO_FD fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	unlink(path);
	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", path);
	assert_int_equal(bind(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
}

void fake_kubelet_drop(struct fake_kubelet *f)
{
	uds_client_close(take_ptr(f->plugin));
	f->watching = false;
}

void fake_kubelet_stop(struct fake_kubelet *f, bool dead_file)
{
	fake_kubelet_drop(f);
	uds_server_close(take_ptr(f->server));
	f->registering = NULL;
	if (dead_file)
		fake_dead_socket(f->dir);
}

/* --- the plugin watcher ---------------------------------------------------------------------- */

static void on_info(struct grpc_call *call, const uint8_t *message, size_t len, void *arg)
{
	Pluginregistration__PluginInfo *info = pluginregistration__plugin_info__unpack(NULL, len,
										       message);
	struct fake_kubelet *f = arg;

	(void)call;
	assert_non_null(info);
	assert_string_equal(info->type, "DevicePlugin");
	assert_int_equal(info->n_supported_versions, 1);
	snprintf(f->version, sizeof(f->version), "%s", info->supported_versions[0]);
	snprintf(f->endpoint, sizeof(f->endpoint), "%s", info->endpoint);
	snprintf(f->resource, sizeof(f->resource), "%s", info->name);
	pluginregistration__plugin_info__free_unpacked(info, NULL);
}

static void notify(struct fake_kubelet *f, const char *error)
{
	char no_error[] = "", *why = error ? strdup(error) : no_error;
	Pluginregistration__RegistrationStatus status =
		PLUGINREGISTRATION__REGISTRATION_STATUS__INIT;
	struct fake_answer a;
	uint8_t bytes[512];

	status.plugin_registered = !error;
	status.error = why;
	fake_call(f, "/pluginregistration.Registration/NotifyRegistrationStatus", bytes,
		  pluginregistration__registration_status__pack(&status, bytes), &a);
	assert_int_equal(a.status, GRPC_OK);
	free(a.message);
	if (why != no_error)
		free(why);
}

void fake_kubelet_find(struct fake_kubelet *f, const char *socket_path, const char *error)
{
	struct fake_answer a;

	assert_int_equal(fake_kubelet_connect(f, socket_path), 0);
	fake_call(f, "/pluginregistration.Registration/GetInfo", "", 0, &a);
	assert_int_equal(a.status, GRPC_OK);
	on_info(NULL, a.message, a.len, f);
	free(a.message);
	if (!error) {
		fake_call(f, "/v1beta1.DevicePlugin/GetDevicePluginOptions", "", 0, &a);
		on_options(NULL, a.message ? a.message : empty, a.len, f);
		free(a.message);
		assert_int_equal(watch(f), 0);
	}
	notify(f, error);
}

/* --- any call -------------------------------------------------------------------------------- */

static void on_answer(struct grpc_call *call, const uint8_t *message, size_t len, void *arg)
{
	struct fake_answer *a = arg;

	(void)call;
	assert_null(a->message);
	a->message = malloc(len + 1);
	if (!a->message) /* some tests send more than one message */
		return;
	memcpy(a->message, message, len);
	a->len = len;
}

static void on_answer_end(struct grpc_call *call, enum grpc_status status, const char *text,
			  void *arg)
{
	struct fake_answer *a = arg;

	(void)call;
	a->ended = true;
	a->status = status;
	snprintf(a->text, sizeof(a->text), "%s", text ? text : "");
}

static bool has_ended(void *arg)
{
	return ((struct fake_answer *)arg)->ended;
}

void fake_call_start(struct fake_kubelet *f, const char *path, const void *message, size_t len,
		     struct fake_answer *a)
{
	struct grpc_reply reply = {.message = on_answer, .end = on_answer_end, .arg = a};

	*a = (struct fake_answer){.ended = false};
	assert_int_equal(uds_client_call(f->plugin, path, message, len, 30000, &reply, &a->id), 0);
}

void fake_call_await(struct fake_kubelet *f, struct fake_answer *a)
{
	assert_true(loop_until(f->loop, has_ended, a, PATIENCE_MS));
}

void fake_call(struct fake_kubelet *f, const char *path, const void *message, size_t len,
	       struct fake_answer *a)
{
	fake_call_start(f, path, message, len, a);
	fake_call_await(f, a);
}
