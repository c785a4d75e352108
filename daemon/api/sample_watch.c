#include "sample_watch.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "reply.h"

/* line NULL: none has come. */
static void sample_watch_answer_waiter(const struct sample_waiter *w, const char *line)
{
	struct http_reply reply = {0};

	reply_document(&reply, strdup(line ? line : "null"));
	http_answer(w->deferred, &reply);
}

/* Those whose time is over, or who have left. When the next one's is. */
static uint64_t answer_late(struct sample_watch *watch, uint64_t now_ms)
{
	uint64_t next = DUE_NEVER;
	size_t n = 0;

	for (size_t i = 0; i < watch->n; i++) {
		struct sample_waiter w = watch->items[i];

		if (w.until_ms <= now_ms || http_has_left(w.deferred)) {
			sample_watch_answer_waiter(&w, NULL);
			continue;
		}
		next = w.until_ms < next ? w.until_ms : next;
		watch->items[n++] = w;
	}
	watch->n = n;
	if (n == 0)
		free(take_ptr(watch->items));
	return next;
}

static void sample_watch_on_due(void *arg)
{
	struct sample_watch *w = arg;

	due_at(&w->due, answer_late(w, uv_now(w->due.timer.loop)));
}

int sample_watch_wait(struct sample_watch *watch, struct http_deferred *deferred, uint64_t now_ms)
{
	struct sample_waiter *slot = array_push(watch->items, watch->n);

	if (!slot)
		return -ENOMEM;
	*slot = (struct sample_waiter){deferred, now_ms + SAMPLE_WAIT_MAX_MS};
	http_keep(deferred);
	due_at(&watch->due, watch->items[0].until_ms); /* who came first waits no longer */
	return 0;
}

bool sample_watch_wants(const struct sample_watch *w)
{
	return w && w->n > 0;
}

void sample_watch_tell(struct sample_watch *w, const char *line)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->n; i++)
		sample_watch_answer_waiter(&w->items[i], line);
	w->n = 0;
	free(take_ptr(w->items));
	due_at(&w->due, DUE_NEVER);
}

int sample_watch_open(struct sample_watch **ret, struct uv_loop_s *loop, struct err *e)
{
	struct sample_watch *w = calloc(1, sizeof(*w));

	if (!w)
		return err_set(e, -ENOMEM, "out of memory");
	due_init(&w->due, loop, sample_watch_on_due, w);
	*ret = w;
	return 0;
}

void sample_watch_close(struct sample_watch *w)
{
	if (!w)
		return;
	sample_watch_tell(w, NULL);
	due_close(&w->due, free);
}
