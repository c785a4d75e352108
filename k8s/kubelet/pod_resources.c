/* pod_resources.c - one question at a time, its answer decoded, kept and passed on.
 *
 * Happy path: refresh -> spaced timer -> List -> decoded as it arrives -> told. Can fail by:
 * refusals and silence (asked again, pauses doubling from 100 ms to 10 s), no socket or nobody
 * behind it (the checkpoint file; the socket's folder tells when to ask again). While a kubelet
 * restarts its last list stays: what it says of running containers does not change meanwhile. A new
 * kubelet serves before it has been told its pods (startKubelet() in cmd/kubelet), and learns them
 * one by one: what it names is so, what it has not named yet stays with whom it was, doubted, and
 * is asked for again until the kubelet has had time to learn them. */
#include "pod_resources.h"

#include <stdlib.h>
#include <string.h>

#include "back_off.h"
#include "cleanup.h"
#include "dir_watch.h"
#include "due.h"
#include "file_id.h"
#include "grpc.h"
#include "log.h"
#include "pod_entries.h"
#include "pod_stream.h"
#include "uds.h"

#define LIST_PATH    "/v1.PodResourcesLister/List"
/* Nothing of it is kept, so this bounds time only. */
#define ANSWER_MAX   (256u << 20)
#define TIMEOUT_MS   10000
/* An answer takes a few milliseconds; after this, it is not worth waiting for. */
#define SILENT_MS    500
#define SPACING_MS   100
#define PAUSE_MAX_MS 10000
#define YOUNG_MS     30000
/* A kubelet that restarts is back by then, and its trouble is no news. */
#define NEWS_MS	     5000

struct pod_resources {
	uv_loop_t *loop;
	struct due due;
	struct dir_watch *watch;
	struct uds_client *client; /* NULL between questions */
	char *sock, *dir;
	pod_resources_fn *fn;
	void *arg;
	struct pod_list list;
	bool wanted, asking, closing;
	bool over;		   /* the question: its client is still to be closed */
	struct pod_stream *stream; /* what has arrived of the answer; NULL between questions */
	size_t n_bytes, n_left;	   /* of it: that have arrived, and that are to come */
	bool got;		   /* a message of the answer was a list */
	bool doubts;		   /* which lacked what was held */
	struct file_id sock_id;	   /* whom it was asked */
	uint64_t young_until_ms;   /* the kubelet may not know its pods yet */
	int refused;		   /* why the answer of the last question was no list, 0 = it was */
	uint64_t asked_ms;	   /* when the last question was sent */
	uint64_t next_ms;
	uint64_t again_ms; /* while something is doubted: asked without being told to */
	uint32_t pause_ms;
	uint64_t asked, failed;
	char trouble[256];   /* why there is no newer list; "" = there is */
	uint64_t trouble_ms; /* since when */
	bool told_trouble, told_none;
	size_t told_left_out;
};

static void schedule_list(struct pod_resources *p)
{
	uint64_t at = DUE_NEVER;

	if (p->over)
		at = 0;
	else if ((p->wanted || p->doubts) && !p->asking)
		at = p->wanted ? p->next_ms : p->again_ms;
	if (p->trouble[0] && !p->told_trouble && p->trouble_ms + NEWS_MS < at)
		at = p->trouble_ms + NEWS_MS;
	due_at(&p->due, at);
}

/* --- what comes of a question ---------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void note_trouble(struct pod_resources *p,
							       const char *fmt, ...)
{
	va_list ap;

	if (!p->trouble[0])
		p->trouble_ms = uv_now(p->loop);
	va_start(ap, fmt);
	vsnprintf(p->trouble, sizeof(p->trouble), fmt, ap);
	va_end(ap);
}

/* Once it has lasted. */
static void pod_resources_tell_trouble(struct pod_resources *p)
{
	if (!p->trouble[0] || p->told_trouble || uv_now(p->loop) - p->trouble_ms < NEWS_MS)
		return;
	p->told_trouble = true;
	log_warn("kubelet", 0, "cannot see which pod holds what: %s, keeping what was last known",
		 p->trouble);
}

/* A node without one is ordinary. */
static void tell_no_kubelet(struct pod_resources *p, const char *why)
{
	if (!p->told_none)
		log_info("kubelet", 0, "nobody tells which pod holds what (%s), going on without",
			 why);
	p->told_none = true;
	p->trouble[0] = '\0';
	p->told_trouble = false;
}

static void tell_source(struct pod_resources *p, enum pod_source source, size_t left_out)
{
	if (p->told_trouble || p->told_none || p->list.source != source)
		log_info("kubelet", 0, "which pod holds what comes from %s",
			 source == POD_SOURCE_API ? p->sock : "the kubelet's checkpoint");
	p->trouble[0] = '\0';
	p->told_trouble = p->told_none = false;
	if (left_out > 0 && left_out != p->told_left_out)
		log_warn("kubelet", 0,
			 "%zu devices of pods have names that are too long, or are of too many "
			 "claims, going on without them",
			 left_out);
	p->told_left_out = left_out;
}

/* Takes the list. */
static void list_succeeded(struct pod_resources *p, struct pod_list *list, size_t left_out)
{
	if (list->source == POD_SOURCE_API && !p->doubts)
		p->pause_ms = 0;
	tell_source(p, list->source, left_out);
	pod_list_done(&p->list);
	p->list = *list;
	p->fn(&p->list, p->asked_ms, p->arg);
}

static void unanswered(struct pod_resources *p)
{
	p->failed++;
	p->fn(&p->list, 0, p->arg);
}

/* When the next pause is over. */
static uint64_t after_pause(struct pod_resources *p)
{
	return uv_now(p->loop) + back_off(&p->pause_ms, SPACING_MS, PAUSE_MAX_MS);
}

/* Not before a pause, whoever wants it. */
static void pod_resources_try_again(struct pod_resources *p)
{
	p->next_ms = after_pause(p);
	p->wanted = true;
}

/* --- the checkpoint -------------------------------------------------------------------------- */

/* why: what is wrong with the socket. */
static void ask_checkpoint(struct pod_resources *p, const char *why)
{
	struct pod_list list = {0};
	struct err e = {0};
	int r = pod_checkpoint_read(&list, p->dir, &e);

	if (r >= 0) {
		list_succeeded(p, &list, (size_t)r);
		return;
	}
	if (r == -ENOENT && p->list.source == POD_SOURCE_NONE)
		tell_no_kubelet(p, why);
	else
		note_trouble(p, "%s; %s", why, e.msg);
	unanswered(p);
}

/* --- the API --------------------------------------------------------------------------------- */

/* Whoever has made its socket lately may not know its pods yet. */
static int add_doubted(const struct pod_resources *p, struct pod_list *list)
{
	return p->asked_ms < p->young_until_ms ? pod_list_add_doubted(list, &p->list) : 0;
}

/* The answer is complete. */
static int take_answer(struct pod_resources *p)
{
	struct pod_list list = {0};
	size_t left_out = 0;
	int r = pod_stream_end(p->stream, &list, &left_out), doubted;

	if (r < 0)
		return r;
	doubted = add_doubted(p, &list);
	if (doubted < 0) {
		pod_list_done(&list);
		return doubted;
	}
	p->got = true;
	p->doubts = doubted > 0;
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

static void note_refused(struct pod_resources *p)
{
	const size_t size = p->n_bytes + p->n_left;

	if (p->refused == -EMSGSIZE)
		note_trouble(p, "%s: its list (%zu bytes) names more than %d devices", p->sock,
			     size, POD_LIST_MAX);
	else
		note_trouble(p, "%s: its list (%zu bytes) cannot be read: byte %zu: %s", p->sock,
			     size, p->n_bytes, strerror(-p->refused));
}

/* text: the peer's or ours. */
static void note_failed(struct pod_resources *p, enum grpc_status status, const char *text)
{
	if (p->n_left > 0)
		note_trouble(p, "%s: %s after %zu of %zu bytes of its list: %s", p->sock,
			     grpc_status_name(status), p->n_bytes, p->n_bytes + p->n_left, text);
	else
		note_trouble(p, "%s: %s %s", p->sock, grpc_status_name(status), text);
}

/* Nobody behind the socket: the kubelet is away, and its checkpoint is as good as what it said. An
 * old one has no such method. */
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
			ask_checkpoint(p, text ? text : "nobody listens");
		} else {
			if (p->refused < 0)
				note_refused(p);
			else
				note_failed(p, status, text ? text : "");
			unanswered(p);
		}
		if (status != GRPC_UNIMPLEMENTED)
			pod_resources_try_again(p);
	} else if (p->doubts) {
		p->again_ms = after_pause(p);
	}
	schedule_list(p);
}

static int ask_api(struct pod_resources *p, struct err *e)
{
	struct grpc_limits limits = {.max_message = ANSWER_MAX, .max_calls = 1};
	struct grpc_reply reply = {
		.part = pod_resources_on_part, .end = pod_resources_on_end, .arg = p};
	int r;

	pod_stream_free(p->stream);
	p->stream = pod_stream_new();
	p->n_bytes = p->n_left = 0;
	if (!p->stream)
		return err_set(e, -ENOMEM, "asking the kubelet: out of memory");
	r = uds_client_open(&p->client, p->loop, p->sock, &limits, e);

	if (r < 0)
		return r;
	r = uds_client_call(p->client, LIST_PATH, (const uint8_t *)"", 0, TIMEOUT_MS, &reply, NULL);
	if (r < 0) {
		uds_client_close(p->client);
		p->client = NULL;
		return err_set(e, r, "asking the kubelet: %s", strerror(-r));
	}
	p->asking = true;
	p->got = false;
	p->refused = 0;
	return 0;
}

static void ask_kubelet(struct pod_resources *p)
{
	struct err e = {0};

	p->wanted = p->doubts = false;
	p->asked_ms = uv_now(p->loop);
	p->next_ms = p->asked_ms + SPACING_MS;
	p->asked++;
	p->sock_id = file_id_of_socket(p->sock);
	if (!file_id_is_there(&p->sock_id)) {
		snprintf(e.msg, sizeof(e.msg), "%s is not there", p->sock);
		if (p->list.source == POD_SOURCE_API) {
			note_trouble(p, "%s", e.msg);
			unanswered(p);
		} else {
			ask_checkpoint(p, e.msg);
		}
	} else if (ask_api(p, &e) < 0) {
		note_trouble(p, "%s", e.msg);
		unanswered(p);
		pod_resources_try_again(p);
	}
}

static void pod_resources_on_due(void *arg)
{
	struct pod_resources *p = arg;

	/* A connection per question: none stands idle, and none leads to the kubelet before. */
	if (p->over) {
		uds_client_close(p->client);
		p->client = NULL;
		pod_stream_free(p->stream);
		p->stream = NULL;
		p->over = p->asking = false;
	}
	pod_resources_tell_trouble(p);
	p->wanted |= p->doubts && uv_now(p->loop) >= p->again_ms;
	if (p->wanted && !p->asking && uv_now(p->loop) >= p->next_ms)
		ask_kubelet(p);
	schedule_list(p);
}

void pod_resources_refresh(struct pod_resources *p)
{
	p->wanted = true;
	schedule_list(p);
}

/* A new kubelet: no reason for patience with the one before. */
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
		p->young_until_ms = uv_now(p->loop) + YOUNG_MS;
		pod_list_doubt(&p->list);
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

static void pod_resources_watch_folder(struct pod_resources *p, const char *kubelet_dir)
{
	AUTO_FREE char *dir = NULL;
	struct err e = {0};

	if (asprintf(&dir, "%s/pod-resources", kubelet_dir) < 0) {
		dir = NULL;
		return;
	}
	if (dir_watch_open(&p->watch, p->loop, dir, pod_resources_on_hint, p, &e) < 0)
		log_warn("kubelet", 0, "%s, going on without it", e.msg);
}

int pod_resources_open(struct pod_resources **ret, struct uv_loop_s *loop, const char *kubelet_dir,
		       pod_resources_fn *fn, void *arg, struct err *e)
{
	struct pod_resources *p = calloc(1, sizeof(*p));

	if (!p)
		return err_set(e, -ENOMEM, "out of memory");
	p->loop = loop;
	p->fn = fn;
	p->arg = arg;
	if (asprintf(&p->sock, "%s/pod-resources/kubelet.sock", kubelet_dir) < 0)
		p->sock = NULL;
	p->dir = strdup(kubelet_dir);
	if (!p->sock || !p->dir) {
		pod_resources_free(p);
		return err_set(e, -ENOMEM, "out of memory");
	}
	due_init(&p->due, loop, pod_resources_on_due, p);
	pod_resources_watch_folder(p, kubelet_dir);
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
	return p->trouble[0] == '\0' && !(p->asking && uv_now(p->loop) - p->asked_ms >= SILENT_MS);
}

void pod_resources_counts(const struct pod_resources *p, uint64_t *ret_asked, uint64_t *ret_failed)
{
	*ret_asked = p->asked;
	*ret_failed = p->failed;
}

const char *pod_resources_trouble(const struct pod_resources *p)
{
	return p->trouble;
}

void pod_resources_close(struct pod_resources *p)
{
	if (!p)
		return;
	p->closing = true;
	uds_client_close(p->client);
	dir_watch_close(p->watch);
	due_close(&p->due, pod_resources_free);
}
