// SPDX-License-Identifier: Apache-2.0
/* cri_connect.c - finds a socket on which a runtime answers, gets its name and version, and
 * subscribes to its events.
 *
 * Steps: connect -> Version -> subscribe to events suitable for this version -> query the list. If
 * the connection ends for any reason, including the end of the event stream, everything starts
 * again, after a pause that grows from 20 ms to 1 s while the list counts as known, and to 10 s
 * otherwise. While there is no socket, only a change in its folder wakes us up. */
#include <stdlib.h>
#include <sys/un.h>

#include "back_off.h"
#include "cleanup.h"
#include "cri_internal.h"
#include "dir_watch.h"
#include "grpc.h"
#include "log.h"
#include "search.h"
#include "uds.h"

#define ANSWER_MAX     (16u << 20)
#define CALLS_MAX      (CRI_DETAILS_OPEN + 3)
#define PAUSE_FIRST_MS 20
#define PAUSE_KNOWN_MS 1000
#define PAUSE_MAX_MS   10000
/* If an event stream ends sooner, the runtime does not support events: CRI-O without pod events
 * ends it at once. */
#define STREAM_MIN_MS  1000

static const uint8_t empty[1];

/* --- failures --------------------------------------------------------------------------------- */

/* Logs a failure once per outage; at info level if no runtime was ever found, because a node may
 * have none. */
static void log_failure(struct cri *c)
{
	if (c->failure_logged)
		return;
	c->failure_logged = true;
	if (c->found)
		log_warn("cri", 0, "cannot list the pods' sandboxes: %s; keeping the last list",
			 c->status.error);
	else
		log_info("cri", 0,
			 "no container runtime: %s; continuing without the pods' sandboxes",
			 c->status.error);
}

void cri_failed(struct cri *c, uint64_t since_ms, const char *fmt, ...)
{
	va_list ap;

	c->status.failed++;
	va_start(ap, fmt);
	vsnprintf(c->status.error, sizeof(c->status.error), fmt, ap);
	va_end(ap);
	log_failure(c);
	if (!c->silent_since_ms)
		c->silent_since_ms = since_ms;
	if (uv_now(c->loop) - c->silent_since_ms >= CRI_DOUBT_MS)
		c->list.known = false;
	c->wanted = false;
	c->notify_failure = true;
}

/* --- the stream of events --------------------------------------------------------------------- */

static void cri_on_event(struct grpc_call *call, const uint8_t *message, size_t len, void *arg)
{
	struct cri *c = arg;
	struct cri_event e = {.kind = CRI_EVENT_OTHER};
	int r;

	(void)call;
	if (c->closing || c->over)
		return;
	c->status.events++;
	r = c->hints == CRI_HINTS_CONTAINERD ? cri_envelope_decode(&e, message, len)
					     : cri_event_decode(&e, message, len);
	if (r < 0)
		cri_await_anything(&c->await, uv_now(c->loop));
	else if (!cri_await_event(&c->await, &e, &c->list, c->asking, uv_now(c->loop)))
		return;
	c->wanted = true;
	timer_in(&c->timer, 0);
}

static void subscribe(struct cri *c);

static void on_events_end(struct grpc_call *call, enum grpc_status status, const char *text,
			  void *arg)
{
	struct cri *c = arg;
	bool is_short;

	(void)call;
	if (c->closing || c->over)
		return;
	is_short = uv_now(c->loop) - c->stream_ms < STREAM_MIN_MS && status != GRPC_UNAVAILABLE;
	if (status != GRPC_UNIMPLEMENTED && !is_short) {
		cri_lost(c);
		return;
	}
	log_debug("cri", 0, "no events: %s %s", grpc_status_name(status), text ? text : "");
	c->hints = cri_hints_next(&c->version, c->hints);
	subscribe(c);
	timer_in(&c->timer, 0);
}

static int start_stream(struct cri *c)
{
	struct grpc_reply reply = {.message = cri_on_event, .end = on_events_end, .arg = c};
	AUTO_FREE uint8_t *filter = NULL;
	size_t len;
	int r;

	if (c->hints == CRI_HINTS_CRI)
		return uds_client_call(c->client, CRI_SERVICE("GetContainerEvents"), empty, 0, 0,
				       &reply, NULL);
	r = cri_subscribe_encode(&filter, &len);
	if (r < 0)
		return r;
	return uds_client_call(c->client, "/containerd.services.events.v1.Events/Subscribe", filter,
			       len, 0, &reply, NULL);
}

static void subscribe(struct cri *c)
{
	c->stream_ms = uv_now(c->loop);
	if (c->hints != CRI_HINTS_NONE && start_stream(c) < 0)
		c->hints = CRI_HINTS_NONE;
	if (c->hints == CRI_HINTS_NONE)
		log_info("cri", 0, "%s reports no events, so it is polled", c->status.runtime);
}

/* --- the connection --------------------------------------------------------------------------- */

static void on_version(struct grpc_call *call, const uint8_t *message, size_t len, void *arg)
{
	struct cri *c = arg;

	(void)call;
	if (!c->closing && !c->over && cri_version_decode(&c->version, message, len) == 0)
		c->has_version = true;
}

/* Called when the runtime has returned its version: subscribes to events, and queries the list
 * repeatedly for one second, to find changes from before the subscription. */
static void connected(struct cri *c)
{
	c->up = c->found = true;
	snprintf(c->status.runtime, sizeof(c->status.runtime), "%s %s",
		 c->version.name[0] ? c->version.name : "a runtime", c->version.version);
	snprintf(c->status.socket, sizeof(c->status.socket), "%s", c->sockets[c->at]);
	c->hints = cri_hints_first(&c->version);
	subscribe(c);
	cri_await_anything(&c->await, uv_now(c->loop));
	c->next_ms = 0;
	c->wanted = true;
	timer_in(&c->timer, 0);
}

/* True until a runtime has returned a list. After that, switching to another runtime would make all
 * known sandboxes look removed. */
static bool can_switch_runtime(const struct cri *c)
{
	return c->answered_ms == 0;
}

static void try_next(struct cri *c)
{
	if (can_switch_runtime(c))
		c->at = (c->at + 1) % c->n_sockets;
	cri_lost(c);
}

static void on_version_end(struct grpc_call *call, enum grpc_status status, const char *text,
			   void *arg)
{
	struct cri *c = arg;

	(void)call;
	if (c->closing || c->over)
		return;
	if (c->has_version && status == GRPC_OK) {
		connected(c);
		return;
	}
	cri_failed(c, c->asked_ms, "%s: %s %s", c->sockets[c->at], grpc_status_name(status),
		   status == GRPC_OK ? "no version"
		   : text	     ? text
				     : "");
	try_next(c);
}

static int cri_request_version(struct cri *c, struct err *e)
{
	struct grpc_limits limits = {.max_message = ANSWER_MAX, .max_calls = CALLS_MAX};
	struct grpc_reply reply = {.message = on_version, .end = on_version_end, .arg = c};
	int r = uds_client_open(&c->client, c->loop, c->sockets[c->at], &limits, e);

	if (r < 0)
		return r;
	c->has_version = false;
	r = uds_client_call(c->client, CRI_SERVICE("Version"), empty, 0, CRI_DOUBT_MS, &reply,
			    NULL);
	return r < 0 ? err_set(e, r, "%s: %s", c->sockets[c->at], strerror(-r)) : 0;
}

/* Finds the next existing socket; once a runtime has returned a list, only its socket. */
static bool find_socket(struct cri *c)
{
	size_t n = can_switch_runtime(c) ? c->n_sockets : 1;

	for (size_t i = 0; i < n; i++) {
		c->sock_id = file_id_of_linked_socket(c->sockets[c->at]);
		if (file_id_is_there(&c->sock_id))
			return true;
		if (can_switch_runtime(c))
			c->at = (c->at + 1) % c->n_sockets;
	}
	return false;
}

static bool cri_is_watched(const struct cri *c)
{
	return !any_of(c->n_sockets, i, !c->watches[i]);
}

void cri_connect(struct cri *c)
{
	struct err e = {0};

	c->asked_ms = uv_now(c->loop);
	c->status.asked++;
	if (!find_socket(c)) {
		cri_failed(c, c->asked_ms, "%s does not exist", c->sockets[c->at]);
		cri_lost(c);
		if (!c->list.known && cri_is_watched(c))
			c->connect_ms = TIMER_NEVER;
	} else if (cri_request_version(c, &e) < 0) {
		cri_failed(c, c->asked_ms, "%s", e.msg);
		try_next(c);
	}
}

void cri_lost(struct cri *c)
{
	uint32_t max_ms = c->list.known ? PAUSE_KNOWN_MS : PAUSE_MAX_MS;

	c->over = true;
	c->connect_ms = uv_now(c->loop) + back_off(&c->pause_ms, PAUSE_FIRST_MS, max_ms);
	timer_in(&c->timer, 0);
}

void cri_pause_reset(struct cri *c)
{
	if (c->hints == CRI_HINTS_NONE || uv_now(c->loop) - c->stream_ms >= STREAM_MIN_MS)
		c->pause_ms = 0;
}

void cri_hang_up(struct cri *c)
{
	if (!c->over)
		return;
	uds_client_close(take_ptr(c->client));
	c->over = c->up = c->asking = false;
	c->hints = CRI_HINTS_NONE;
}

/* --- the sockets ------------------------------------------------------------------------------ */

static bool cri_is_ours(const struct cri *c, const char *name)
{
	return any_of(c->n_sockets, i, strcmp(strrchr(c->sockets[i], '/') + 1, name) == 0);
}

/* Connects at once if the socket is new: then the runtime was restarted, and the pause after a
 * failure of the previous one ends. */
static void cri_on_hint(const char *name, void *arg)
{
	struct cri *c = arg;
	struct file_id id;

	if (name && !cri_is_ours(c, name))
		return;
	id = file_id_of_linked_socket(c->sockets[c->at]);
	if (c->client && !c->over && (!file_id_is_there(&id) || file_id_equal(&id, &c->sock_id)))
		return;
	c->over |= c->client != NULL;
	c->pause_ms = 0;
	c->connect_ms = uv_now(c->loop);
	timer_in(&c->timer, 0);
}

static void cri_watch_folder(struct cri *c, size_t i)
{
	const char *path = c->sockets[i];
	size_t len = (size_t)(strrchr(path, '/') - path);
	AUTO_FREE char *dir = strndup(path, len ? len : 1);
	struct err e = {0};

	if (!dir)
		return;
	if (dir_watch_open(&c->watches[i], c->loop, dir, cri_on_hint, c, &e) < 0)
		log_warn("cri", 0, "%s; cannot watch for new sockets there, retrying on a timer",
			 e.msg);
}

static int add_socket(struct cri *c, const char *path, struct err *e)
{
	if (path[0] != '/' || strlen(path) >= sizeof(((struct sockaddr_un *)0)->sun_path))
		return err_set(e, -EINVAL, "%.100s: not an absolute path of at most 107 bytes",
			       path);
	c->sockets[c->n_sockets] = strdup(path);
	if (!c->sockets[c->n_sockets])
		return err_set(e, -ENOMEM, "out of memory");
	cri_watch_folder(c, c->n_sockets++);
	return 0;
}

static const char *const usual_sockets[] = {
	"/run/containerd/containerd.sock",
	"/var/run/crio/crio.sock",
	"/run/k3s/containerd/containerd.sock", /* k3s and RKE2 */
	"/run/k0s/containerd.sock",
	"/var/snap/microk8s/common/run/containerd.sock",
};
_Static_assert(ARRAY_SIZE(usual_sockets) <= CRI_SOCKETS_MAX, "room for each");

int cri_sockets_open(struct cri *c, const char *socket, struct err *e)
{
	int r = 0;

	if (socket && socket[0])
		return add_socket(c, socket, e);
	for (size_t i = 0; i < ARRAY_SIZE(usual_sockets) && r == 0; i++)
		r = add_socket(c, usual_sockets[i], e);
	return r;
}

void cri_sockets_close(struct cri *c)
{
	uds_client_close(take_ptr(c->client));
	for (size_t i = 0; i < c->n_sockets; i++) {
		dir_watch_close(c->watches[i]);
		free(c->sockets[i]);
	}
}
