/* holders.c - see holders.h.
 *
 * Happy path: something was given away, a pod's folder has gone, or time has passed -> the kubelet
 * is asked -> its list and what was reserved become one. A sandbox that is younger than the list is
 * a reason to ask as well.
 * Can fail by: no kubelet (its checkpoint, see pod_resources.h; a start goes on without after two
 * seconds), out of memory (the last list stays, tried again after a second). */
#include "holders.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "cleanup.h"
#include "cri.h"
#include "dir_watch.h"
#include "due.h"
#include "granted_parse.h"
#include "log.h"
#include "pod_resources.h"
#include "pod_sandbox.h"

/* Out of memory: the next try. */
#define RETRY_MS      1000
/* A pod that ends tells nobody: what is held is asked for now and then. */
#define REFRESH_MS    30000
/* How long a start waits to be told who holds what. */
#define FIRST_LIST_MS 2000

struct holders {
	uv_loop_t *loop;
	struct holders_hooks hooks;
	char *kubelet_dir, *cri_socket;
	struct reservations *reservations;
	struct pod_resources *kubelet;
	struct dir_watch *pods_dir; /* <kubelet-dir>/pods */
	struct cri *cri;	    /* NULL: nobody watches */
	struct due refresh;	    /* asks again who holds what, while anything is held */
	uint64_t whose_ms;	    /* when the kubelet was last asked about a new sandbox */
	bool polls, known;
	bool told_checkpoint; /* that it cannot be read */
	struct granted_list granted;
	struct stat granted_file; /* that they were read from */
	bool told_granted;	  /* that it cannot be read */
};

/* --- what the kubelet gives away -------------------------------------------------------------- */

bool holders_known(const struct holders *h)
{
	return h->known;
}

const struct pod_list *holders_held(const struct holders *h)
{
	return reservations_list(h->reservations);
}

const struct reservations *holders_reservations(const struct holders *h)
{
	return h->reservations;
}

const char *holders_trouble(const struct holders *h)
{
	return pod_resources_trouble(h->kubelet);
}

bool holders_answer(const struct holders *h)
{
	return pod_resources_answers(h->kubelet);
}

void holders_ask(struct holders *h)
{
	pod_resources_refresh(h->kubelet);
}

int holders_reserve(struct holders *h, const char *resource, const char *id)
{
	pod_resources_disprove(h->kubelet, resource, id);
	return reservations_add(h->reservations, resource, id, uv_now(h->loop));
}

int holders_note_start(struct holders *h, const char *resource, const char *id)
{
	return reservations_note_start(h->reservations, resource, id, uv_now(h->loop));
}

void holders_note_end(struct holders *h, const char *resource, const char *id)
{
	reservations_note_end(h->reservations, resource, id);
}

const struct granted_list *holders_granted(struct holders *h)
{
	struct granted_list fresh;
	struct err e = {0};
	int r = granted_read(&fresh, h->kubelet_dir, &h->granted_file, &e);
	bool failed = r < 0 && r != -EALREADY && r != -ENOENT;

	if (r >= 0) {
		granted_list_done(&h->granted);
		h->granted = fresh;
		h->granted.read_ms = uv_now(h->loop);
	}
	if (failed && !h->told_granted)
		log_warn("pods", 0,
			 "cannot read which device nodes containers were given, not comparing "
			 "them: %s",
			 e.msg);
	h->told_granted = failed;
	return &h->granted;
}

/* Whose a new sandbox's devices are, the kubelet tells. */
static void ask_about_sandboxes(struct holders *h, uint64_t since_ms)
{
	if (!pod_sandbox_must_ask(holders_held(h), holders_sandboxes(h), since_ms))
		return;
	h->whose_ms = uv_now(h->loop);
	holders_ask(h);
}

/* --- its answers ------------------------------------------------------------------------------ */

static void on_refresh(void *arg)
{
	struct holders *h = arg;

	if (!h->known) {
		log_warn("pods", 0,
			 "the kubelet does not say which container holds what, going on without");
		h->known = true;
		h->hooks.held(true, 0, h->hooks.arg);
	}
	due_in(&h->refresh, REFRESH_MS); /* unless the answer says otherwise */
	holders_ask(h);
}

/* While nothing is held, nothing can come back. What became of a reservation is asked as soon as it
 * can be told. */
static void arm_refresh(struct holders *h)
{
	uint64_t now = uv_now(h->loop), at = reservations_ask_at(h->reservations),
		 wait = REFRESH_MS;

	if (at > now && at - now < REFRESH_MS)
		wait = at - now;
	if (holders_held(h)->n == 0 && !h->polls)
		due_at(&h->refresh, DUE_NEVER);
	else
		due_in(&h->refresh, wait);
}

/* Of init containers' devices. A kubelet that has given nothing away yet has none. */
static void read_checkpoint(struct holders *h, struct pod_list *ret)
{
	struct err e = {0};
	int r = pod_checkpoint_read(ret, h->kubelet_dir, &e);

	if (r >= 0)
		pod_checkpoint_drop_gone(ret, h->kubelet_dir);
	else if (r != -ENOENT && !h->told_checkpoint)
		log_warn("pods", 0, "cannot see which init container has what: %s", e.msg);
	h->told_checkpoint = r < 0 && r != -ENOENT;
}

static int apply_list(struct holders *h, const struct pod_list *list, uint64_t asked_ms)
{
	struct pod_list checkpoint = {0};
	int changed;

	if (list->source == POD_SOURCE_API && reservations_lacks(h->reservations, list))
		read_checkpoint(h, &checkpoint);
	changed = reservations_apply(h->reservations, list, &checkpoint, asked_ms);
	pod_list_done(&checkpoint);
	return changed;
}

/* asked_ms 0: no answer, which ends waiting for one as well. */
static void holders_on_list(const struct pod_list *list, uint64_t asked_ms, void *arg)
{
	struct holders *h = arg;
	const bool first = !h->known;
	int changed = asked_ms ? apply_list(h, list, asked_ms) : 0;

	if (changed < 0) {
		log_warn("pods", changed, "cannot note who holds what, keeping the last list");
		due_in(&h->refresh, RETRY_MS);
		return;
	}
	h->known = true;
	arm_refresh(h);
	ask_about_sandboxes(h, h->whose_ms);
	h->hooks.held(first || changed > 0, list->source == POD_SOURCE_API ? asked_ms : 0,
		      h->hooks.arg);
}

/* A pod's folder goes with its pod: the only sign there is of its end. */
static void on_pod_folder(const char *name, void *arg)
{
	struct holders *h = arg;

	(void)name;
	if (holders_held(h)->n > 0 || h->polls)
		holders_ask(h);
}

/* --- the pods that run ------------------------------------------------------------------------ */

static void holders_on_sandboxes(const struct sandbox_list *list, uint64_t asked_ms, void *arg)
{
	struct holders *h = arg;

	(void)list;
	if (asked_ms)
		ask_about_sandboxes(h, 0);
	h->hooks.sandboxes(h->hooks.arg);
}

int holders_watch_sandboxes(struct holders *h, struct err *e)
{
	return h->cri ? 0 : cri_open(&h->cri, h->loop, h->cri_socket, holders_on_sandboxes, h, e);
}

const struct sandbox_list *holders_sandboxes(const struct holders *h)
{
	static const struct sandbox_list unknown;

	return h->cri ? cri_sandboxes(h->cri) : &unknown;
}

void holders_ask_all(struct holders *h)
{
	holders_ask(h);
	if (h->cri)
		cri_refresh(h->cri);
}

void holders_expect_sandboxes(struct holders *h, bool somebody_waits)
{
	if (h->cri)
		cri_expect(h->cri, somebody_waits);
}

bool holders_runtime(const struct holders *h, struct cri_status *ret)
{
	*ret = (struct cri_status){.socket = ""};
	if (h->cri)
		cri_status(h->cri, ret);
	return h->cri != NULL;
}

/* --- lifetime --------------------------------------------------------------------------------- */

static void watch_pods_dir(struct holders *h)
{
	AUTO_FREE char *dir = NULL;
	struct err e = {0};

	if (asprintf(&dir, "%s/pods", h->kubelet_dir) < 0)
		dir = NULL;
	if (!dir || dir_watch_open(&h->pods_dir, h->loop, dir, on_pod_folder, h, &e) < 0)
		log_warn("pods", 0, "%s, asking the kubelet every %d s instead", e.msg,
			 REFRESH_MS / 1000);
}

static void holders_free(struct holders *h)
{
	reservations_free(h->reservations);
	granted_list_done(&h->granted);
	free(h->kubelet_dir);
	free(h->cri_socket);
	free(h);
}

static struct holders *holders_new(const struct holders_opts *opts)
{
	struct holders *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->reservations = reservations_new();
	h->kubelet_dir = strdup(opts->kubelet_dir);
	h->cri_socket = strdup(opts->cri_socket);
	h->polls = opts->polls;
	if (h->reservations && h->kubelet_dir && h->cri_socket)
		return h;
	holders_free(h);
	return NULL;
}

int holders_open(struct holders **ret, struct uv_loop_s *loop, const struct holders_opts *opts,
		 const struct holders_hooks *hooks, struct err *e)
{
	struct holders *h = holders_new(opts);
	int r;

	if (!h)
		return err_set(e, -ENOMEM, "pods: out of memory");
	h->loop = loop;
	h->hooks = *hooks;
	due_init(&h->refresh, loop, on_refresh, h);
	r = pod_resources_open(&h->kubelet, loop, h->kubelet_dir, holders_on_list, h, e);
	if (r < 0) {
		holders_close(h);
		return r;
	}
	watch_pods_dir(h);
	due_in(&h->refresh, FIRST_LIST_MS);
	holders_ask(h);
	*ret = h;
	return 0;
}

static void on_refresh_closed(void *arg)
{
	holders_free(arg);
}

void holders_close(struct holders *h)
{
	if (!h)
		return;
	pod_resources_close(h->kubelet);
	dir_watch_close(h->pods_dir);
	cri_close(h->cri);
	due_close(&h->refresh, on_refresh_closed);
}
