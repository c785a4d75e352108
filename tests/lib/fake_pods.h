/* SPDX-License-Identifier: Apache-2.0 */
/* fake_pods.h - a fake of the kubelet's PodResources socket, in the same loop. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "grpc.h"

struct fake_pods {
	uv_loop_t *loop;
	const char *dir; /* the kubelet's folder, with pod-resources/ */
	struct uds_server *server;
	uint8_t *answer; /* owned */
	size_t len;
	unsigned refusals; /* number of queries to reject first */
	enum grpc_status refuse_with;
	bool silent;		/* does not answer; the last query is in `open` */
	struct grpc_call *open; /* NULL: none, or cancelled */
	unsigned questions;
	uint64_t first_ms, last_ms; /* times of the first and last query */
};

/* Creates the folder; the list is empty. */
void fake_pods_init(struct fake_pods *, uv_loop_t *, const char *dir);
void fake_pods_start(struct fake_pods *);
/* dead_file: keeps the socket file without a listener. */
void fake_pods_stop(struct fake_pods *, bool dead_file);
void fake_pods_done(struct fake_pods *);

/* One device of container "main" of a pod. */
struct fake_held {
	const char *namespace, *pod, *resource, *id;
};
void fake_pods_hold(struct fake_pods *, const struct fake_held *, size_t n);
/* Answers the open query. */
void fake_pods_answer(struct fake_pods *);
