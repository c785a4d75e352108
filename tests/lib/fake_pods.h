/* fake_pods.h - the kubelet's PodResources socket for tests, in the same loop and in every mood. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "grpc.h"

struct fake_pods {
	uv_loop_t *loop;
	const char *dir; /* of the kubelet: pod-resources/ below it */
	struct uds_server *server;
	uint8_t *answer; /* owned */
	size_t len;
	unsigned refusals; /* so many questions are refused first */
	enum grpc_status refuse_with;
	bool silent;		/* questions are kept, the last of them in `open` */
	struct grpc_call *open; /* NULL: none, or it was given up */
	unsigned questions;
	uint64_t first_ms, last_ms; /* questions */
};

/* Makes the folder; answers with the empty list. */
void fake_pods_init(struct fake_pods *, uv_loop_t *, const char *dir);
void fake_pods_start(struct fake_pods *);
/* dead_file: its socket stays, with nobody behind it. */
void fake_pods_stop(struct fake_pods *, bool dead_file);
void fake_pods_done(struct fake_pods *);

/* One device of container "main" of a pod. */
struct fake_held {
	const char *namespace, *pod, *resource, *id;
};
void fake_pods_hold(struct fake_pods *, const struct fake_held *, size_t n);
/* Answers the question that is open. */
void fake_pods_answer(struct fake_pods *);
