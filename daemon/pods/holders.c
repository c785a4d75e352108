// SPDX-License-Identifier: Apache-2.0
/* holders.c - see holders.h.
 *
 * Success: an allocation, the removal of a pod's folder or the refresh timer -> query the kubelet
 * -> merge its list with the reservations. A sandbox newer than the list also triggers a query.
 * Failures: no kubelet (its checkpoint is used, see pod_resources.h; the start continues without a
 * list after two seconds); out of memory (the last list stays, retried after a second). */
#include "holders.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "cleanup.h"
#include "cri.h"
#include "dir_watch.h"
#include "granted_parse.h"
#include "log.h"
#include "pod_resources.h"
#include "pod_sandbox.h"
#include "timer.h"

/* Delay before a retry after out of memory. */
#define RETRY_MS      1000
/* Nothing reports the end of a pod reliably, so the kubelet is polled. */
#define REFRESH_MS    30000
/* How long the start waits for the first list of allocations. */
#define FIRST_LIST_MS 2000

struct holders {
	uv_loop_t *loop;
	struct holders_hooks hooks;
	char *kubelet_dir, *cri_socket;
	char *pod_resources, *root_dir; /* pod_resources: the pod-resources folder; root_dir: its
					   parent, which also contains pods/ */
	struct reservations *reservations;
	struct pod_resources *kubelet;
	struct dir_watch *pods_dir;  /* <kubelet-dir>/pods */
	struct cri *cri;	     /* NULL: the runtime is not watched */
	struct timer refresh;	     /* time of the next request to the kubelet, while anything is
				      * allocated */
	uint64_t sandboxes_asked_ms; /* time of the last request to the kubelet because of a new
				      * sandbox */
	bool polls;		     /* queries even without allocations */
	bool known; /* the first list has arrived, or the start no longer waits for it */
	bool checkpoint_failure_logged; /* a failure to read the checkpoint was logged */
	struct granted_list granted;
	struct stat granted_file;    /* identity of the file that `granted` was read from */
	bool granted_failure_logged; /* a failure to read it was logged */
};

/* --- allocations ---------------------------------------------------------------------------- */

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

const char *holders_error(const struct holders *h)
{
	return pod_resources_error(h->kubelet);
}

bool holders_kubelet_answers(const struct holders *h)
{
	return pod_resources_answers(h->kubelet);
}

void holders_request(struct holders *h)
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
	if (failed && !h->granted_failure_logged)
		log_warn("pods", 0,
			 "cannot read the device nodes of containers from the kubelet's "
			 "checkpoint, skipping their check: %s",
			 e.msg);
	h->granted_failure_logged = failed;
	return &h->granted;
}

/* Requests the devices of a new sandbox from the kubelet. */
static void request_sandboxes(struct holders *h, uint64_t since_ms)
{
	if (!pod_sandbox_needs_details(holders_held(h), holders_sandboxes(h), since_ms))
		return;
	h->sandboxes_asked_ms = uv_now(h->loop);
	holders_request(h);
}

/* --- answers of the kubelet ----------------------------------------------------------------- */

static void on_refresh(void *arg)
{
	struct holders *h = arg;

	if (!h->known) {
		log_warn(
			"pods", 0,
			"the kubelet has not reported its allocations after 2 s; starting without them");
		h->known = true;
		h->hooks.held(true, 0, h->hooks.arg);
	}
	timer_in(&h->refresh, REFRESH_MS); /* unless the answer sets an earlier time */
	holders_request(h);
}

/* Sets the timer for the next query. Without allocations, stops polling (unless `polls`): no device
 * can become free. Otherwise queries every REFRESH_MS, or earlier when the outcome of a reservation
 * should be in the kubelet's list. */
static void arm_refresh(struct holders *h)
{
	uint64_t now = uv_now(h->loop), at = reservations_request_at(h->reservations),
		 wait = REFRESH_MS;

	if (at > now && at - now < REFRESH_MS)
		wait = at - now;
	if (holders_held(h)->n == 0 && !h->polls)
		timer_at(&h->refresh, TIMER_NEVER);
	else
		timer_in(&h->refresh, wait);
}

/* Reads the checkpoint for the devices of init containers. -ENOENT: the kubelet has not allocated
 * anything yet. */
static void read_checkpoint(struct holders *h, struct pod_list *ret)
{
	struct err e = {0};
	int r = pod_checkpoint_read(ret, h->kubelet_dir, &e);

	if (r >= 0)
		pod_checkpoint_drop_ended(ret, h->root_dir);
	else if (r != -ENOENT && !h->checkpoint_failure_logged)
		log_warn("pods", 0, "cannot read the devices of init containers: %s", e.msg);
	h->checkpoint_failure_logged = r < 0 && r != -ENOENT;
}

static int apply_list(struct holders *h, const struct pod_list *list, uint64_t asked_ms)
{
	struct pod_list checkpoint = {0};
	int changed;

	if (list->source == POD_SOURCE_API && reservations_need_checkpoint(h->reservations, list))
		read_checkpoint(h, &checkpoint);
	changed = reservations_apply(h->reservations, list, &checkpoint, asked_ms);
	pod_list_done(&checkpoint);
	return changed;
}

/* Applies a list of the kubelet. asked_ms 0: the query failed; the start no longer waits for a
 * first list. */
static void holders_on_list(const struct pod_list *list, uint64_t asked_ms, void *arg)
{
	struct holders *h = arg;
	const bool first = !h->known;
	int changed = asked_ms ? apply_list(h, list, asked_ms) : 0;

	if (changed < 0) {
		log_warn("pods", changed, "cannot store the allocations, keeping the last list");
		timer_in(&h->refresh, RETRY_MS);
		return;
	}
	h->known = true;
	arm_refresh(h);
	request_sandboxes(h, h->sandboxes_asked_ms);
	h->hooks.held(first || changed > 0, list->source == POD_SOURCE_API ? asked_ms : 0,
		      h->hooks.arg);
}

/* Queries the kubelet: the removal of a pod's folder is the only notification of its end. */
static void on_pod_folder(const char *name, void *arg)
{
	struct holders *h = arg;

	(void)name;
	if (holders_held(h)->n > 0 || h->polls)
		holders_request(h);
}

/* --- running pods --------------------------------------------------------------------------- */

static void holders_on_sandboxes(const struct sandbox_list *list, uint64_t asked_ms, void *arg)
{
	struct holders *h = arg;

	(void)list;
	if (asked_ms)
		request_sandboxes(h, 0);
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

void holders_request_all(struct holders *h)
{
	holders_request(h);
	if (h->cri)
		cri_refresh(h->cri);
}

void holders_expect_sandboxes(struct holders *h, bool has_waiters)
{
	if (h->cri)
		cri_expect(h->cri, has_waiters);
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

	if (asprintf(&dir, "%s/pods", h->root_dir) < 0)
		dir = NULL;
	if (!dir || dir_watch_open(&h->pods_dir, h->loop, dir, on_pod_folder, h, &e) < 0)
		log_warn("pods", 0, "%s, polling the kubelet every %d s instead", e.msg,
			 REFRESH_MS / 1000);
}

static void holders_free(struct holders *h)
{
	reservations_free(h->reservations);
	granted_list_done(&h->granted);
	free(h->kubelet_dir);
	free(h->pod_resources);
	free(h->root_dir);
	free(h->cri_socket);
	free(h);
}

/* A kubelet with another --root-dir has pods and pod-resources there, and device-plugins still in
 * /var/lib/kubelet (pkg/kubelet/kubelet_getters.go; DevicePluginPath of the v1beta1 API). */
static int find_root(struct holders *h, const struct holders_opts *opts)
{
	char *slash;

	if (opts->pod_resources && opts->pod_resources[0])
		h->pod_resources = strdup(opts->pod_resources);
	else if (asprintf(&h->pod_resources, "%s/pod-resources", opts->kubelet_dir) < 0)
		h->pod_resources = NULL;
	h->root_dir = h->pod_resources ? strdup(h->pod_resources) : NULL;
	if (!h->root_dir)
		return -ENOMEM;
	for (size_t n = strlen(h->root_dir); n > 1 && h->root_dir[n - 1] == '/'; n--)
		h->root_dir[n - 1] = '\0';
	slash = strrchr(h->root_dir, '/');
	if (slash)
		slash[slash == h->root_dir] = '\0';
	return 0;
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
	if (h->reservations && h->kubelet_dir && h->cri_socket && find_root(h, opts) == 0)
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
	timer_init(&h->refresh, loop, on_refresh, h);
	r = pod_resources_open(&h->kubelet, loop, h->kubelet_dir, h->pod_resources, holders_on_list,
			       h, e);
	if (r < 0) {
		holders_close(h);
		return r;
	}
	watch_pods_dir(h);
	timer_in(&h->refresh, FIRST_LIST_MS);
	holders_request(h);
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
	timer_close(&h->refresh, on_refresh_closed);
}
