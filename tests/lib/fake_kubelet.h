/* SPDX-License-Identifier: Apache-2.0 */
/* fake_kubelet.h - a fake kubelet for tests of k8s/kubelet/kubelet.h, in the same loop, for one
 * resource at a time.
 *
 * Starts like a real one: deletes every socket in device-plugins/, then creates kubelet.sock. Calls
 * the plugin back during Register, then watches its list. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "grpc.h"

enum manner {
	MANNER_GOOD,
	MANNER_SILENT,	    /* never answers Register */
	MANNER_UNAVAILABLE, /* answers Register with UNAVAILABLE */
	MANNER_REFUSING,    /* answers Register with INVALID_ARGUMENT "unsupported" */
	MANNER_NOT_WATCHING /* registers, but does not watch the list */
};

struct fake_kubelet {
	uv_loop_t *loop;
	const char *dir; /* the kubelet's folder, with device-plugins/ */
	enum manner manner;
	struct uds_server *server;
	struct uds_client *plugin; /* to the plugin's socket */
	struct grpc_call *registering;
	uint64_t watch_id;

	char version[16], endpoint[128], resource[128]; /* of the last Register, or GetInfo */
	bool pre_start, preferred;			/* by GetDevicePluginOptions */
	unsigned registers, lists, watch_ends;
	bool watching;
	enum grpc_status watch_status;
	uint64_t list_ms; /* time of the last list */
	size_t n_devices, n_healthy, list_len;
	char first_id[64];
	int64_t first_numa; /* -1: none */
};

void fake_kubelet_init(struct fake_kubelet *, uv_loop_t *, const char *dir);
void fake_kubelet_start(struct fake_kubelet *);
/* dead_file: keeps kubelet.sock without a listener. */
void fake_kubelet_stop(struct fake_kubelet *, bool dead_file);
/* Ends the watch, but keeps running. */
void fake_kubelet_drop(struct fake_kubelet *);
/* Handles a found socket like the plugin watcher: GetInfo, GetDevicePluginOptions, ListAndWatch,
 * NotifyRegistrationStatus. error not NULL: reports this error instead. */
void fake_kubelet_find(struct fake_kubelet *, const char *socket_path, const char *error);
/* Sends calls to this socket from now on. */
int fake_kubelet_connect(struct fake_kubelet *, const char *socket_path);
/* Creates kubelet.sock without a listener. */
void fake_dead_socket(const char *dir);

/* Makes any call on the plugin's socket; fake_call() runs the loop until the reply is complete. */
struct fake_answer {
	uint64_t id; /* for uds_client_cancel() */
	bool ended;
	enum grpc_status status;
	char text[512];
	uint8_t *message; /* heap; NULL: none */
	size_t len;
};
void fake_call(struct fake_kubelet *, const char *path, const void *message, size_t len,
	       struct fake_answer *);
void fake_call_start(struct fake_kubelet *, const char *path, const void *message, size_t len,
		     struct fake_answer *);
void fake_call_await(struct fake_kubelet *, struct fake_answer *);
