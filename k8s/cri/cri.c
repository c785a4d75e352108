/* cri.c - the questions, one for the list at a time and some for details beside it, and the one
 * timer that does what is due: telling, connecting, asking. */
#include "cri.h"

#include <stdlib.h>

#include "cleanup.h"
#include "cri_internal.h"
#include "grpc.h"
#include "log.h"
#include "uds.h"
#include "unix_time.h"

#define SPACING_MS	 4
#define EXPECTING_MS	 1000
#define WITHOUT_MS	 10000
#define WITH_EVENTS_MS	 30000
/* Asking costs the runtime a fifth of one core at most. */
#define SHARE		 4
/* Whoever wants to know while there is no connection is told so soon. */
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

static uint64_t list_due(const struct cri *c)
{
	uint64_t due_ms = c->asked_ms + interval(c);

	if (!c->up || c->asking)
		return DUE_NEVER;
	if (c->wanted)
		due_ms = 0;
	if (c->await_ms < due_ms)
		due_ms = c->await_ms;
	return due_ms < c->next_ms ? c->next_ms : due_ms;
}

static void cri_tell_success(struct cri *c, size_t left_out)
{
	if (c->told_trouble || !c->list.known)
		log_info("cri", 0, "the pods' sandboxes come from %s at %s", c->status.runtime,
			 c->status.socket);
	c->told_trouble = false;
	c->status.error[0] = '\0';
	if (left_out > 0 && left_out != c->told_left_out)
		log_warn("cri", 0,
			 "%zu sandboxes have names that are too long or no text, going on without "
			 "them",
			 left_out);
	c->told_left_out = left_out;
}

static void set_spacing(struct cri *c)
{
	uint64_t took_ms = uv_now(c->loop) - c->asked_ms;
	uint32_t pause_ms = cri_await_pause(&c->await, &c->list, uv_now(c->loop));

	c->next_ms = uv_now(c->loop) + (took_ms > 1 ? SHARE * took_ms : SPACING_MS);
	c->await_ms = pause_ms ? uv_now(c->loop) + pause_ms : DUE_NEVER;
}

/* Takes the list. */
static int take_list(struct cri *c, struct sandbox_list *list, size_t left_out)
{
	int r = cri_details_list(&c->details, list, &c->list);

	if (r < 0)
		return r;
	sandbox_list_date(list, &c->list, uv_now(c->loop), unix_ns());
	list->asked_ms = c->asked_ms;
	cri_tell_success(c, left_out);
	sandbox_list_done(&c->list);
	c->list = *list;
	c->answered_ms = c->asked_ms;
	c->silent_since_ms = 0;
	c->tell_list = true;
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
	due_in(&c->due, 0);
}

static void ask_list(struct cri *c)
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
	cri_failed(c, c->asked_ms, "asking the runtime: %s", strerror(-r));
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
		log_warn("cri", r, "sandbox %s: what the runtime says of it is of no use", s->id);
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
			c->tell_list = true;
		if (!s->got)
			log_debug("cri", 0, "sandbox %s: %s %s", s->id, grpc_status_name(status),
				  text ? text : "");
		if (status == GRPC_NOT_FOUND && !c->over)
			cri_refresh(c); /* it is gone by now */
		due_in(&c->due, 0);
	}
	free(take_ptr(s->detail.networks));
}

static struct cri_slot *free_slot(struct cri *c)
{
	for (size_t i = 0; i < CRI_DETAILS_OPEN; i++)
		if (!c->slots[i].open)
			return &c->slots[i];
	return NULL;
}

static int ask_detail(struct cri *c, struct cri_slot *s, const char *id)
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

static void ask_details(struct cri *c)
{
	struct cri_slot *s;
	const char *id;

	while ((s = free_slot(c)) && (id = cri_details_next(&c->details, uv_now(c->loop))))
		if (ask_detail(c, s, id) < 0)
			cri_details_answer(&c->details, &c->list, s->id, NULL, uv_now(c->loop));
}

static uint64_t details_due(const struct cri *c)
{
	for (size_t i = 0; i < CRI_DETAILS_OPEN; i++)
		if (c->up && !c->slots[i].open)
			return cri_details_due(&c->details);
	return DUE_NEVER;
}

/* --- what is due ------------------------------------------------------------------------------ */

static uint64_t connect_due(const struct cri *c)
{
	uint64_t asked_for_ms = c->wanted ? c->asked_ms + RETRY_SPACING_MS : DUE_NEVER;

	return c->client ? DUE_NEVER : sooner(c->connect_ms, asked_for_ms);
}

static uint64_t cri_next_due(const struct cri *c)
{
	if (c->over || c->tell_list || c->tell_failure)
		return 0;
	return sooner(connect_due(c), sooner(list_due(c), details_due(c)));
}

/* Hooks of the questions may have to say something; the owner may close us from its own. */
static void tell_owner(struct cri *c)
{
	if (c->tell_failure) {
		c->tell_failure = false;
		c->fn(&c->list, 0, c->arg);
	}
	if (c->tell_list && !c->closing) {
		c->tell_list = false;
		c->fn(&c->list, c->answered_ms, c->arg);
	}
}

static void cri_on_due(void *arg)
{
	struct cri *c = arg;

	cri_hang_up(c);
	tell_owner(c);
	if (c->closing)
		return;
	if (connect_due(c) <= uv_now(c->loop))
		cri_connect(c);
	if (!c->over && list_due(c) <= uv_now(c->loop))
		ask_list(c);
	if (!c->over && details_due(c) <= uv_now(c->loop))
		ask_details(c);
	due_at(&c->due, cri_next_due(c));
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
	c->await_ms = DUE_NEVER;
	due_init(&c->due, loop, cri_on_due, c);
	r = cri_sockets_open(c, socket, e);
	if (r < 0) {
		cri_close(c);
		return r;
	}
	due_in(&c->due, 0);
	*ret = c;
	return 0;
}

void cri_refresh(struct cri *c)
{
	c->wanted = true;
	due_in(&c->due, 0);
}

void cri_expect(struct cri *c, bool expecting)
{
	if (c->expecting == expecting)
		return;
	c->expecting = expecting;
	due_in(&c->due, 0);
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
	due_close(&c->due, cri_free);
}
