// SPDX-License-Identifier: Apache-2.0
#include "hand_over.h"

#include <jansson.h>
#include <stdlib.h>
#include <unistd.h>
#include <uv.h>

#include "array.h"
#include "cleanup.h"
#include "client.h"
#include "json_text.h"
#include "lock.h"
#include "timer.h"
#include "uds_socket.h"
#include "utf8.h"

#define TICK_MS	   100
/* A successor that is restarted after a crash takes the lock again within this time. */
#define FREE_TICKS (5000 / TICK_MS)
/* The successor registers within a second, on a slow node within several. */
#define HOLD_TICKS (30000 / TICK_MS)

void hand_over_self(char ret[HAND_OVER_POD_SIZE])
{
	const char *namespace = getenv("POD_NAMESPACE"), *pod = getenv("POD_NAME");

	*ret = '\0';
	if (pod && *pod)
		snprintf(ret, HAND_OVER_POD_SIZE, "%s/%s", namespace ? namespace : "default", pod);
}

/* --- the successor ---------------------------------------------------------------------------- */

/* Checks the answer. The strings of the document are printable ASCII or escaped, so only their
 * length is checked. */
static int check_answer(const struct client_answer *answer, char predecessor[HAND_OVER_POD_SIZE],
			struct err *e)
{
	json_auto_t *doc = json_text_load(answer->body, answer->len, 0, NULL);
	const char *error = json_string_value(json_object_get(doc, "error"));
	const char *pod = json_string_value(json_object_get(doc, "pod"));
	int r = 0;

	if (!pod || !utf8_is_name(pod, HAND_OVER_POD_SIZE))
		pod = ""; /* not in a pod */
	snprintf(predecessor, HAND_OVER_POD_SIZE, "%s", pod);
	if (answer->status != 200 && error)
		r = err_set(e, -EBUSY, "%.200s", error);
	else if (answer->status != 200)
		r = err_set(e, -EBUSY, "its version cannot hand this node over (status %u)",
			    answer->status);
	return r;
}

int hand_over_request(char predecessor[HAND_OVER_POD_SIZE], const char *run_dir, uint64_t wait_ms,
		      struct err *e)
{
	AUTO_FREE char *socket = NULL;
	AUTO_FREE char *body = NULL;
	char self[HAND_OVER_POD_SIZE];
	struct client_answer answer = {0};
	json_t *request;
	int r;

	hand_over_self(self);
	request = *self ? json_pack("{ss}", "pod", self) : json_object();
	body = request ? json_dumps(request, 0) : NULL;
	json_decref(request);
	if (!body || asprintf(&socket, "%s/rocelet.sock", run_dir) < 0)
		return err_set(e, -ENOMEM, "out of memory");
	r = client_ask(&answer, socket, "/api/v1/hand-over", body, wait_ms, e);
	if (r == 0)
		r = check_answer(&answer, predecessor, e);
	free(answer.body);
	return r;
}

/* --- the predecessor -------------------------------------------------------------------------- */

/* Connections that we keep open, but no longer read or write. */
struct silent_peers {
	int *fds;
	size_t n;
};

struct predecessor {
	uv_loop_t loop;
	uv_signal_t sigterm, sigint;
	struct timer tick;
	struct silent_peers *peers;
	const char *folder;
	unsigned n_free; /* consecutive ticks in which the lock was free */
	unsigned n_held; /* ticks since the hand-over */
};

static void drop_peer(struct silent_peers *peers, size_t i)
{
	close(peers->fds[i]);
	peers->fds[i] = peers->fds[--peers->n];
}

/* Closes connections that the kubelet has closed, and those with a request, because the kubelet
 * would wait for an answer forever. */
static void drop_peers(struct silent_peers *peers, bool all)
{
	for (size_t i = peers->n; i > 0; i--)
		if (all || !uds_is_silent(peers->fds[i - 1]))
			drop_peer(peers, i - 1);
}

static void hand_over_on_tick(void *arg)
{
	struct predecessor *l = arg;

	drop_peers(l->peers, ++l->n_held > HOLD_TICKS);
	l->n_free = lock_is_free(l->folder) ? l->n_free + 1 : 0;
	if (l->n_free < FREE_TICKS)
		timer_in(&l->tick, TICK_MS);
	else
		uv_stop(&l->loop);
}

static void hand_over_on_signal(uv_signal_t *signal, int signum)
{
	(void)signum;
	uv_stop(signal->loop);
}

/* Moves the connections out of the sockets, and frees the rest. */
static void keep_silent(struct silent_peers *ret, struct kubelet_sockets *sockets)
{
	for (size_t i = 0; i < sockets->n; i++)
		for (size_t j = 0; j < sockets->items[i].sockets.n_peers; j++) {
			int *kept = array_push(ret->fds, ret->n);

			if (kept)
				*kept = take_fd(&sockets->items[i].sockets.peers[j].fd);
		}
	kubelet_sockets_done(sockets);
}

int hand_over_linger(struct kubelet_sockets *sockets, const char *folder)
{
	struct silent_peers peers = {0};
	struct predecessor l = {.peers = &peers, .folder = folder};
	int r = uv_loop_init(&l.loop);

	keep_silent(&peers, sockets);

	if (r == 0) {
		uv_signal_init(&l.loop, &l.sigterm);
		uv_signal_init(&l.loop, &l.sigint);
		uv_signal_start(&l.sigterm, hand_over_on_signal, SIGTERM);
		uv_signal_start(&l.sigint, hand_over_on_signal, SIGINT);
		timer_init(&l.tick, &l.loop, hand_over_on_tick, &l);
		timer_in(&l.tick, TICK_MS);
		uv_run(&l.loop, UV_RUN_DEFAULT);
		uv_close((uv_handle_t *)&l.sigterm, NULL);
		uv_close((uv_handle_t *)&l.sigint, NULL);
		timer_close(&l.tick, NULL);
		uv_run(&l.loop, UV_RUN_DEFAULT);
		r = uv_loop_close(&l.loop);
	}
	while (peers.n > 0)
		drop_peer(&peers, peers.n - 1);
	free(peers.fds);
	return r < 0 ? r : l.n_free < FREE_TICKS ? 0 : -EOWNERDEAD;
}
