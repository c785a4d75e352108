/* cri.c - one timer does what is due: telling, connecting, asking. */
#include "cri.h"

#include <stdlib.h>

#include "cri_internal.h"
#include "log.h"
#include "uds.h"

#define RETRY_SPACING_MS 100

static uint64_t min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Whoever wants to know while there is no connection is told so soon. */
static uint64_t connect_due(const struct cri *c)
{
	uint64_t asked_for_ms = c->wanted ? c->asked_ms + RETRY_SPACING_MS : UINT64_MAX;

	return c->client ? UINT64_MAX : min(c->connect_ms, asked_for_ms);
}

static uint64_t due(const struct cri *c)
{
	if (c->over || c->tell_list || c->tell_failure)
		return 0;
	return min(connect_due(c), min(cri_list_due(c), cri_details_due_now(c)));
}

/* Hooks of the questions may have to say something; the owner may close us from its own. */
static void tell(struct cri *c)
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

static void on_timer(uv_timer_t *timer)
{
	struct cri *c = timer->data;

	cri_hang_up(c);
	tell(c);
	if (c->closing)
		return;
	if (connect_due(c) <= uv_now(c->loop))
		cri_connect(c);
	if (!c->over && cri_list_due(c) <= uv_now(c->loop))
		cri_ask_list(c);
	if (!c->over && cri_details_due_now(c) <= uv_now(c->loop))
		cri_ask_details(c);
	cri_schedule(c);
}

void cri_schedule(struct cri *c)
{
	uint64_t due_ms = due(c), now_ms = uv_now(c->loop);

	if (c->closing)
		return;
	if (due_ms == UINT64_MAX)
		uv_timer_stop(&c->timer);
	else
		uv_timer_start(&c->timer, on_timer, due_ms > now_ms ? due_ms - now_ms : 0, 0);
}

/* A node without a runtime is ordinary. */
static void log_failure(struct cri *c)
{
	if (c->told_trouble)
		return;
	c->told_trouble = true;
	if (c->found)
		log_warn("cri", 0,
			 "cannot see the pods' sandboxes: %s, keeping what was last known",
			 c->status.error);
	else
		log_info("cri", 0, "nobody tells the pods' sandboxes (%s), going on without",
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
	c->tell_failure = true;
}

/* --- life ------------------------------------------------------------------------------------- */

static void release(uv_handle_t *handle)
{
	struct cri *c = handle->data;

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
	c->await_ms = UINT64_MAX;
	c->timer.data = c;
	uv_timer_init(loop, &c->timer);
	r = cri_sockets_open(c, socket, e);
	if (r < 0) {
		cri_close(c);
		return r;
	}
	cri_schedule(c);
	*ret = c;
	return 0;
}

void cri_refresh(struct cri *c)
{
	c->wanted = true;
	cri_schedule(c);
}

void cri_expect(struct cri *c, bool expecting)
{
	c->expecting = expecting;
	cri_schedule(c);
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
	uv_close((uv_handle_t *)&c->timer, release);
}
