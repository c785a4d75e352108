// SPDX-License-Identifier: Apache-2.0
/* pod_resources.c - makes one query at a time; its answer is decoded, stored and passed on.
 *
 * Refresh -> spaced timer -> List -> decoded while it arrives -> callback. Rejected and timed-out
 * queries are retried, with pauses doubling from 100 ms to 10 s. Without a listening kubelet, the
 * checkpoint file is used, and a change in the socket's folder triggers the next query. While a
 * kubelet restarts, its last list is kept: running containers keep their devices. A new kubelet
 * serves before it knows its pods (startKubelet() in cmd/kubelet), and learns them one by one: its
 * list may be incomplete at first. Devices that are missing in it keep their previous entries,
 * marked as stale, and are queried again until the kubelet has had time to learn its pods. */
#include "pod_resources.h"

#include <stdlib.h>
#include <string.h>

#include "back_off.h"
#include "cleanup.h"
#include "dir_watch.h"
#include "file_id.h"
#include "grpc.h"
#include "log.h"
#include "pod_entries.h"
#include "pod_stream.h"
#include "timer.h"
#include "uds.h"

#define LIST_PATH    "/v1.PodResourcesLister/List"
/* The answer is not stored, so its size costs no memory; this only bounds the work. */
#define ANSWER_MAX   (256u << 20)
#define TIMEOUT_MS   10000
/* An answer normally takes a few milliseconds; after this time callers should not wait for it. */
#define SILENT_MS    500
#define SPACING_MS   100
#define PAUSE_MAX_MS 10000
#define YOUNG_MS     30000
/* A restarting kubelet answers again within this time, so shorter failures are not logged. */
#define NEWS_MS	     5000

struct pod_resources {
	uv_loop_t *loop;
	struct timer timer;
	struct dir_watch *watch;
	struct uds_client *client; /* NULL between queries */
	char *sock, *dir;
	pod_resources_fn *fn;
	void *arg;
	struct pod_list list;
	bool wanted, asking, closing;
	bool over;		   /* the query has ended, its client has to be closed */
	struct pod_stream *stream; /* decodes the answer as it arrives; NULL between queries */
	size_t n_bytes, n_left;	   /* bytes of the answer received, and still to come */
	bool got;		   /* the answer had a valid list */
	bool recheck;		   /* the list may lack pods of a new kubelet */
	struct file_id sock_id;	   /* the socket that was queried */
	bool is_new;		   /* another kubelet, which has not answered yet */
	uint64_t young_until_ms;   /* time until which the kubelet may not have all its pods */
	int refused; /* errno for which the last answer was rejected, 0 = it was a valid list */
	uint64_t asked_ms; /* when the last query was sent */
	uint64_t next_ms;
	uint64_t again_ms; /* next query while recheck is true */
	uint32_t pause_ms;
	uint64_t asked, failed;
	char error[256];     /* why there is no newer list; "" = none */
	uint64_t failing_ms; /* since when there is an error */
	bool failure_logged, none_logged;
	size_t logged_left_out;
};

static void schedule_list(struct pod_resources *p)
{
	uint64_t at = TIMER_NEVER;

	if (p->over)
		at = 0;
	else if ((p->wanted || p->recheck) && !p->asking)
		at = p->wanted ? p->next_ms : p->again_ms;
	if (p->error[0] && !p->failure_logged && p->failing_ms + NEWS_MS < at)
		at = p->failing_ms + NEWS_MS;
	timer_at(&p->timer, at);
}

/* --- results of a query ----------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void pod_resources_fail(struct pod_resources *p,
								     const char *fmt, ...)
{
	va_list ap;

	if (!p->error[0])
		p->failing_ms = uv_now(p->loop);
	va_start(ap, fmt);
	vsnprintf(p->error, sizeof(p->error), fmt, ap);
	va_end(ap);
}

/* Logs a failure that has lasted for NEWS_MS. */
static void pod_resources_report_error(struct pod_resources *p)
{
	if (!p->error[0] || p->failure_logged || uv_now(p->loop) - p->failing_ms < NEWS_MS)
		return;
	p->failure_logged = true;
	log_warn("kubelet", 0, "cannot read the allocations of pods: %s; keeping the last list",
		 p->error);
}

/* Logs once that there is no kubelet, which is not an error. */
static void log_no_kubelet(struct pod_resources *p, const char *why)
{
	if (!p->none_logged)
		log_info("kubelet", 0,
			 "the allocations of pods are unknown (%s), going on without them", why);
	p->none_logged = true;
	p->error[0] = '\0';
	p->failure_logged = false;
}

static void log_source(struct pod_resources *p, enum pod_source source, size_t left_out)
{
	if (p->failure_logged || p->none_logged || p->list.source != source)
		log_info("kubelet", 0, "the allocations of pods come from %s",
			 source == POD_SOURCE_API ? p->sock : "the kubelet's checkpoint");
	p->error[0] = '\0';
	p->failure_logged = p->none_logged = false;
	if (left_out > 0 && left_out != p->logged_left_out)
		log_warn("kubelet", 0,
			 "%zu devices of pods are ignored: their names are too long, or they "
			 "belong to too many claims",
			 left_out);
	p->logged_left_out = left_out;
}

/* Takes ownership of the list. */
static void list_succeeded(struct pod_resources *p, struct pod_list *list, size_t left_out)
{
	if (list->source == POD_SOURCE_API && !p->recheck)
		p->pause_ms = 0;
	log_source(p, list->source, left_out);
	pod_list_done(&p->list);
	p->list = *list;
	p->fn(&p->list, p->asked_ms, p->arg);
}

static void unanswered(struct pod_resources *p)
{
	p->failed++;
	p->fn(&p->list, 0, p->arg);
}

/* Doubles the pause, and returns when it ends. */
static uint64_t after_pause(struct pod_resources *p)
{
	return uv_now(p->loop) + back_off(&p->pause_ms, SPACING_MS, PAUSE_MAX_MS);
}

/* Retries after a pause, even if a refresh is requested sooner. */
static void pod_resources_try_again(struct pod_resources *p)
{
	p->next_ms = after_pause(p);
	p->wanted = true;
}

/* --- the checkpoint -------------------------------------------------------------------------- */

/* Reads the checkpoint instead; why: the problem of the socket. */
static void query_checkpoint(struct pod_resources *p, const char *why)
{
	struct pod_list list = {0};
	struct err e = {0};
	int r = pod_checkpoint_read(&list, p->dir, &e);

	if (r >= 0) {
		list_succeeded(p, &list, (size_t)r);
		return;
	}
	if (r == -ENOENT && p->list.source == POD_SOURCE_NONE)
		log_no_kubelet(p, why);
	else
		pod_resources_fail(p, "%s; %s", why, e.msg);
	unanswered(p);
}

/* --- the API --------------------------------------------------------------------------------- */

/* Has the kubelet begun to answer only recently? Then it may not have read its pods yet. A kubelet
 * on a busy node makes its socket long before it answers. */
static bool pod_resources_is_young(struct pod_resources *p)
{
	if (p->is_new)
		p->young_until_ms = p->asked_ms + YOUNG_MS;
	p->is_new = false;
	return p->asked_ms < p->young_until_ms;
}

/* Handles the complete answer. */
static int take_answer(struct pod_resources *p)
{
	struct pod_list list = {0};
	size_t left_out = 0;
	int r = pod_stream_end(p->stream, &list, &left_out);

	if (r < 0)
		return r;
	p->recheck = pod_resources_is_young(p);
	r = p->recheck ? pod_list_add_stale(&list, &p->list) : 0;
	if (r < 0) {
		pod_list_done(&list);
		return r;
	}
	p->got = true;
	list_succeeded(p, &list, left_out);
	return 0;
}

static void pod_resources_on_part(struct grpc_call *call, const uint8_t *bytes, size_t len,
				  size_t left, void *arg)
{
	struct pod_resources *p = arg;

	(void)call;
	if (p->closing || p->got || p->over || p->refused < 0)
		return;
	p->n_bytes += len;
	p->n_left = left;
	p->refused = pod_stream_feed(p->stream, bytes, len);
	if (p->refused == 0 && left == 0)
		p->refused = take_answer(p);
}

static void note_api_error(struct pod_resources *p)
{
	const size_t size = p->n_bytes + p->n_left;

	if (p->refused == -EMSGSIZE)
		pod_resources_fail(p, "%s: its list (%zu bytes) names more than %d devices",
				   p->sock, size, POD_LIST_MAX);
	else
		pod_resources_fail(p, "%s: its list (%zu bytes) cannot be read: byte %zu: %s",
				   p->sock, size, p->n_bytes, strerror(-p->refused));
}

/* Stores the error of a failed call. text: from the peer or from us. */
static void note_failed(struct pod_resources *p, enum grpc_status status, const char *text)
{
	if (p->n_left > 0)
		pod_resources_fail(p, "%s: %s after %zu of %zu bytes of its list: %s", p->sock,
				   grpc_status_name(status), p->n_bytes, p->n_bytes + p->n_left,
				   text);
	else
		pod_resources_fail(p, "%s: %s %s", p->sock, grpc_status_name(status), text);
}

/* True if no process is listening, or the kubelet is too old to have the method: use the
 * checkpoint. */
static bool pod_resources_is_missing(const struct grpc_call *call, enum grpc_status status)
{
	return (status == GRPC_UNAVAILABLE && !call) || status == GRPC_UNIMPLEMENTED;
}

static void pod_resources_on_end(struct grpc_call *call, enum grpc_status status, const char *text,
				 void *arg)
{
	struct pod_resources *p = arg;

	if (p->closing || p->over)
		return;
	p->asking = false;
	p->over = true;
	if (!p->got) {
		if (status == GRPC_UNIMPLEMENTED ||
		    (pod_resources_is_missing(call, status) && p->list.source != POD_SOURCE_API)) {
			query_checkpoint(p, text ? text : "no process listens");
		} else {
			if (p->refused < 0)
				note_api_error(p);
			else
				note_failed(p, status, text ? text : "");
			unanswered(p);
		}
		if (status != GRPC_UNIMPLEMENTED)
			pod_resources_try_again(p);
	} else if (p->recheck) {
		p->again_ms = after_pause(p);
	}
	schedule_list(p);
}

static int request_api_list(struct pod_resources *p, struct err *e)
{
	struct grpc_limits limits = {.max_message = ANSWER_MAX, .max_calls = 1};
	struct grpc_reply reply = {
		.part = pod_resources_on_part, .end = pod_resources_on_end, .arg = p};
	int r;

	pod_stream_free(p->stream);
	p->stream = pod_stream_new();
	p->n_bytes = p->n_left = 0;
	if (!p->stream)
		return err_set(e, -ENOMEM, "querying the kubelet: out of memory");
	r = uds_client_open(&p->client, p->loop, p->sock, &limits, e);

	if (r < 0)
		return r;
	r = uds_client_call(p->client, LIST_PATH, (const uint8_t *)"", 0, TIMEOUT_MS, &reply, NULL);
	if (r < 0) {
		uds_client_close(p->client);
		p->client = NULL;
		return err_set(e, r, "querying the kubelet: %s", strerror(-r));
	}
	p->asking = true;
	p->got = false;
	p->refused = 0;
	return 0;
}

static void request_kubelet_list(struct pod_resources *p)
{
	struct err e = {0};

	p->wanted = p->recheck = false;
	p->asked_ms = uv_now(p->loop);
	p->next_ms = p->asked_ms + SPACING_MS;
	p->asked++;
	p->sock_id = file_id_of_socket(p->sock);
	if (!file_id_is_there(&p->sock_id)) {
		snprintf(e.msg, sizeof(e.msg), "%s does not exist", p->sock);
		if (p->list.source == POD_SOURCE_API) {
			pod_resources_fail(p, "%s", e.msg);
			unanswered(p);
		} else {
			query_checkpoint(p, e.msg);
		}
	} else if (request_api_list(p, &e) < 0) {
		pod_resources_fail(p, "%s", e.msg);
		unanswered(p);
		pod_resources_try_again(p);
	}
}

static void pod_resources_on_timer(void *arg)
{
	struct pod_resources *p = arg;

	/* Each query has its own connection: none is idle, and none is to the previous kubelet. */
	if (p->over) {
		uds_client_close(p->client);
		p->client = NULL;
		pod_stream_free(p->stream);
		p->stream = NULL;
		p->over = p->asking = false;
	}
	pod_resources_report_error(p);
	p->wanted |= p->recheck && uv_now(p->loop) >= p->again_ms;
	if (p->wanted && !p->asking && uv_now(p->loop) >= p->next_ms)
		request_kubelet_list(p);
	schedule_list(p);
}

void pod_resources_refresh(struct pod_resources *p)
{
	p->wanted = true;
	schedule_list(p);
}

/* Queries at once if the socket is new: then the kubelet is new, and the pause that began when the
 * previous one failed ends. */
static void pod_resources_on_hint(const char *name, void *arg)
{
	struct pod_resources *p = arg;
	struct file_id id;

	if (name && strcmp(name, "kubelet.sock") != 0)
		return;
	id = file_id_of_socket(p->sock);
	if (file_id_equal(&id, &p->sock_id))
		return;
	p->over |= p->asking;
	if (file_id_is_there(&id)) {
		p->is_new = true;
		pod_list_mark_stale(&p->list);
	}
	p->pause_ms = 0;
	p->next_ms = p->asked ? p->asked_ms + SPACING_MS : 0;
	pod_resources_refresh(p);
}

/* --- life ------------------------------------------------------------------------------------ */

static void pod_resources_free(void *arg)
{
	struct pod_resources *p = arg;

	pod_list_done(&p->list);
	pod_stream_free(p->stream);
	free(p->sock);
	free(p->dir);
	free(p);
}

static void pod_resources_watch_folder(struct pod_resources *p, const char *folder)
{
	struct err e = {0};

	if (dir_watch_open(&p->watch, p->loop, folder, pod_resources_on_hint, p, &e) < 0)
		log_warn("kubelet", 0, "%s, going on without it", e.msg);
}

int pod_resources_open(struct pod_resources **ret, struct uv_loop_s *loop, const char *kubelet_dir,
		       const char *folder, pod_resources_fn *fn, void *arg, struct err *e)
{
	struct pod_resources *p = calloc(1, sizeof(*p));

	if (!p)
		return err_set(e, -ENOMEM, "out of memory");
	p->loop = loop;
	p->fn = fn;
	p->arg = arg;
	if (asprintf(&p->sock, "%s/kubelet.sock", folder) < 0)
		p->sock = NULL;
	p->dir = strdup(kubelet_dir);
	if (!p->sock || !p->dir) {
		pod_resources_free(p);
		return err_set(e, -ENOMEM, "out of memory");
	}
	timer_init(&p->timer, loop, pod_resources_on_timer, p);
	pod_resources_watch_folder(p, folder);
	pod_resources_refresh(p);
	*ret = p;
	return 0;
}

const struct pod_list *pod_resources_list(const struct pod_resources *p)
{
	return &p->list;
}

void pod_resources_disprove(struct pod_resources *p, const char *resource, const char *id)
{
	pod_list_remove(&p->list, resource, id);
}

bool pod_resources_answers(const struct pod_resources *p)
{
	return p->error[0] == '\0' && !(p->asking && uv_now(p->loop) - p->asked_ms >= SILENT_MS);
}

void pod_resources_counts(const struct pod_resources *p, uint64_t *ret_asked, uint64_t *ret_failed)
{
	*ret_asked = p->asked;
	*ret_failed = p->failed;
}

const char *pod_resources_error(const struct pod_resources *p)
{
	return p->error;
}

void pod_resources_close(struct pod_resources *p)
{
	if (!p)
		return;
	p->closing = true;
	uds_client_close(p->client);
	dir_watch_close(p->watch);
	timer_close(&p->timer, pod_resources_free);
}
