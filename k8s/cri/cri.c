// SPDX-License-Identifier: Apache-2.0
/* cri.c - sends the queries: one at a time for the list, and a few in parallel for details. A
 * single timer starts all work: calling the owner, connecting, querying. */
#include "cri.h"

#include <stdlib.h>

#include "cleanup.h"
#include "cri_internal.h"
#include "grpc.h"
#include "log.h"
#include "search.h"
#include "uds.h"
#include "unix_time.h"

#define SPACING_MS	 4
#define EXPECTING_MS	 1000
#define WITHOUT_MS	 10000
#define WITH_EVENTS_MS	 30000
/* The pause after a query, as a multiple of its duration, so that queries use at most a fifth of
 * one core in the runtime. */
#define SHARE		 4
/* Minimum time between connection attempts that are requested by a caller. */
#define RETRY_SPACING_MS 100

static uint64_t sooner(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* --- the list --------------------------------------------------------------------------------- */

static uint64_t interval(const struct cri *c)
{
	if (c->expecting)
		return EXPECTING_MS;
	return c->hints == CRI_HINTS_NONE ? WITHOUT_MS : WITH_EVENTS_MS;
}

static uint64_t list_deadline(const struct cri *c)
{
	uint64_t at_ms = c->asked_ms + interval(c);

	if (!c->up || c->asking)
		return TIMER_NEVER;
	if (c->wanted)
		at_ms = 0;
	if (c->await_ms < at_ms)
		at_ms = c->await_ms;
	return at_ms < c->next_ms ? c->next_ms : at_ms;
}

static void cri_log_success(struct cri *c, size_t left_out)
{
	if (c->failure_logged || !c->list.known)
		log_info("cri", 0, "the pods' sandboxes come from %s at %s", c->status.runtime,
			 c->status.socket);
	c->failure_logged = false;
	c->status.error[0] = '\0';
	if (left_out > 0 && left_out != c->logged_left_out)
		log_warn(
			"cri", 0,
			"%zu sandboxes have names that are too long or not UTF-8, going on without "
			"them",
			left_out);
	c->logged_left_out = left_out;
}

static void set_spacing(struct cri *c)
{
	uint64_t took_ms = uv_now(c->loop) - c->asked_ms;
	uint32_t pause_ms = cri_await_pause(&c->await, &c->list, uv_now(c->loop));

	c->next_ms = uv_now(c->loop) + (took_ms > 1 ? SHARE * took_ms : SPACING_MS);
	c->await_ms = pause_ms ? uv_now(c->loop) + pause_ms : TIMER_NEVER;
}

/* Handles a valid list; takes ownership of it. */
static int take_list(struct cri *c, struct sandbox_list *list, size_t left_out)
{
	int r = cri_details_list(&c->details, list, &c->list);

	if (r < 0)
		return r;
	sandbox_list_date(list, &c->list, uv_now(c->loop), unix_ns());
	list->asked_ms = c->asked_ms;
	cri_log_success(c, left_out);
	sandbox_list_done(&c->list);
	c->list = *list;
	c->answered_ms = c->asked_ms;
	c->silent_since_ms = 0;
	c->notify_list = true;
	cri_pause_reset(c);
	set_spacing(c);
	return 0;
}

static void cri_on_list(struct grpc_call *call, const uint8_t *message, size_t len, void *arg)
{
	struct cri *c = arg;
	struct sandbox_list list = {0};
	size_t left_out = 0;

	(void)call;
	if (c->closing || c->over || c->got)
		return;
	c->refused = cri_list_decode(&list, &left_out, message, len);
	if (c->refused == 0)
		c->refused = take_list(c, &list, left_out);
	c->got = c->refused == 0;
	if (!c->got)
		sandbox_list_done(&list);
}

static void on_list_end(struct grpc_call *call, enum grpc_status status, const char *text,
			void *arg)
{
	struct cri *c = arg;

	(void)call;
	if (c->closing || c->over)
		return;
	c->asking = false;
	if (!c->got) {
		cri_failed(c, c->asked_ms, "%s: %s %s", c->status.socket, grpc_status_name(status),
			   c->refused ? strerror(-c->refused)
			   : text     ? text
				      : "");
		cri_lost(c);
	}
	timer_in(&c->timer, 0);
}

static void query_list(struct cri *c)
{
	struct grpc_reply reply = {.message = cri_on_list, .end = on_list_end, .arg = c};
	int r;

	c->wanted = c->got = false;
	c->refused = 0;
	c->asked_ms = uv_now(c->loop);
	c->status.asked++;
	r = uds_client_call(c->client, CRI_SERVICE("ListPodSandbox"), (const uint8_t *)"", 0,
			    CRI_DOUBT_MS, &reply, NULL);
	c->asking = r == 0;
	if (r == 0)
		return;
	cri_failed(c, c->asked_ms, "querying the runtime: %s", strerror(-r));
	cri_lost(c);
}

/* --- details ---------------------------------------------------------------------------------- */

static void on_detail(struct grpc_call *call, const uint8_t *message, size_t len, void *arg)
{
	struct cri_slot *s = arg;
	int r;

	(void)call;
	if (s->cri->closing || s->got)
		return;
	r = cri_status_decode(&s->detail, message, len);
	s->got = r == 0;
	if (r < 0)
		log_warn("cri", r, "sandbox %s: the runtime's details of it cannot be decoded",
			 s->id);
}

static void on_detail_end(struct grpc_call *call, enum grpc_status status, const char *text,
			  void *arg)
{
	struct cri_slot *s = arg;
	struct cri *c = s->cri;

	(void)call;
	s->open = false;
	if (!c->closing) {
		if (cri_details_answer(&c->details, &c->list, s->id, s->got ? &s->detail : NULL,
				       uv_now(c->loop)))
			c->notify_list = true;
		if (!s->got)
			log_debug("cri", 0, "sandbox %s: %s %s", s->id, grpc_status_name(status),
				  text ? text : "");
		if (status == GRPC_NOT_FOUND && !c->over)
			cri_refresh(c); /* it was removed meanwhile */
		timer_in(&c->timer, 0);
	}
	free(take_ptr(s->detail.networks));
}

static struct cri_slot *free_slot(struct cri *c)
{
	return find_first(c->slots, CRI_DETAILS_OPEN, i, !c->slots[i].open);
}

static int request_detail(struct cri *c, struct cri_slot *s, const char *id)
{
	struct grpc_reply reply = {.message = on_detail, .end = on_detail_end, .arg = s};
	AUTO_FREE uint8_t *message = NULL;
	size_t len;
	int r;

	*s = (struct cri_slot){.cri = c, .open = true};
	snprintf(s->id, sizeof(s->id), "%s", id);
	r = cri_status_encode(&message, &len, id);
	if (r == 0)
		r = uds_client_call(c->client, CRI_SERVICE("PodSandboxStatus"), message, len,
				    CRI_DOUBT_MS, &reply, NULL);
	s->open = r == 0;
	return r;
}

static void request_details(struct cri *c)
{
	struct cri_slot *s;
	const char *id;

	while ((s = free_slot(c)) && (id = cri_details_next(&c->details, uv_now(c->loop))))
		if (request_detail(c, s, id) < 0)
			cri_details_answer(&c->details, &c->list, s->id, NULL, uv_now(c->loop));
}

static uint64_t details_deadline(const struct cri *c)
{
	for (size_t i = 0; i < CRI_DETAILS_OPEN; i++)
		if (c->up && !c->slots[i].open)
			return cri_details_deadline(&c->details);
	return TIMER_NEVER;
}

/* --- due work --------------------------------------------------------------------------------- */

static uint64_t connect_deadline(const struct cri *c)
{
	uint64_t asked_for_ms = c->wanted ? c->asked_ms + RETRY_SPACING_MS : TIMER_NEVER;

	return c->client ? TIMER_NEVER : sooner(c->connect_ms, asked_for_ms);
}

static uint64_t cri_next_deadline(const struct cri *c)
{
	if (c->over || c->notify_list || c->notify_failure)
		return 0;
	return sooner(connect_deadline(c), sooner(list_deadline(c), details_deadline(c)));
}

/* Calls the owner from the timer, not from a query's hook, because the owner may close us. */
static void notify_owner(struct cri *c)
{
	if (c->notify_failure) {
		c->notify_failure = false;
		c->fn(&c->list, 0, c->arg);
	}
	if (c->notify_list && !c->closing) {
		c->notify_list = false;
		c->fn(&c->list, c->answered_ms, c->arg);
	}
}

static void cri_on_timer(void *arg)
{
	struct cri *c = arg;

	cri_hang_up(c);
	notify_owner(c);
	if (c->closing)
		return;
	if (connect_deadline(c) <= uv_now(c->loop))
		cri_connect(c);
	if (!c->over && list_deadline(c) <= uv_now(c->loop))
		query_list(c);
	if (!c->over && details_deadline(c) <= uv_now(c->loop))
		request_details(c);
	timer_at(&c->timer, cri_next_deadline(c));
}

/* --- life ------------------------------------------------------------------------------------- */

static void cri_free(void *arg)
{
	struct cri *c = arg;

	sandbox_list_done(&c->list);
	cri_details_done(&c->details);
	free(c);
}

int cri_open(struct cri **ret, struct uv_loop_s *loop, const char *socket, cri_fn *fn, void *arg,
	     struct err *e)
{
	struct cri *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return err_set(e, -ENOMEM, "out of memory");
	c->loop = loop;
	c->fn = fn;
	c->arg = arg;
	c->await_ms = TIMER_NEVER;
	timer_init(&c->timer, loop, cri_on_timer, c);
	r = cri_sockets_open(c, socket, e);
	if (r < 0) {
		cri_close(c);
		return r;
	}
	timer_in(&c->timer, 0);
	*ret = c;
	return 0;
}

void cri_refresh(struct cri *c)
{
	c->wanted = true;
	timer_in(&c->timer, 0);
}

void cri_expect(struct cri *c, bool expecting)
{
	if (c->expecting == expecting)
		return;
	c->expecting = expecting;
	timer_in(&c->timer, 0);
}

const struct sandbox_list *cri_sandboxes(const struct cri *c)
{
	return &c->list;
}

void cri_status(const struct cri *c, struct cri_status *ret)
{
	*ret = c->status;
	ret->hints = c->hints;
}

void cri_close(struct cri *c)
{
	if (!c || c->closing)
		return;
	c->closing = true;
	cri_sockets_close(c);
	timer_close(&c->timer, cri_free);
}
