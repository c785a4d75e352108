/* fake_kubelet.h - a kubelet for tests of k8s/kubelet/kubelet.h, in the same loop: one resource at
 * a time.
 *
 * Starts as a real one does: deletes every socket in device-plugins/, then makes kubelet.sock.
 * Calls back in the middle of Register, then watches the list. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "grpc.h"

enum manner {
	MANNER_GOOD,
	MANNER_SILENT,	    /* never answers Register */
	MANNER_UNAVAILABLE, /* answers it with UNAVAILABLE */
	MANNER_REFUSING,    /* answers it with INVALID_ARGUMENT "unsupported" */
	MANNER_NOT_WATCHING /* registers, and leaves it there */
};

struct fake_kubelet {
	uv_loop_t *loop;
	const char *dir; /* of the kubelet: device-plugins/ below it */
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
	uint64_t list_ms; /* when the last list came */
	size_t n_devices, n_healthy, list_len;
	char first_id[64];
	int64_t first_numa; /* -1: none told */
};

void fake_kubelet_init(struct fake_kubelet *, uv_loop_t *, const char *dir);
void fake_kubelet_start(struct fake_kubelet *);
/* dead_file: kubelet.sock stays, with nobody behind it. */
void fake_kubelet_stop(struct fake_kubelet *, bool dead_file);
/* It still lives, but does not watch any more. */
void fake_kubelet_drop(struct fake_kubelet *);
/* As the plugin watcher does with a socket that it found: GetInfo, GetDevicePluginOptions,
 * ListAndWatch, NotifyRegistrationStatus; error not NULL: that is notified instead. */
void fake_kubelet_find(struct fake_kubelet *, const char *socket_path, const char *error);
/* Calls go to this socket from now on. */
int fake_kubelet_connect(struct fake_kubelet *, const char *socket_path);
/* A file with nobody behind it, as kubelet.sock. */
void fake_dead_socket(const char *dir);

/* One call of the plugin's socket, whatever it is; fake_call() runs the loop until its answer is
 * there. */
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
