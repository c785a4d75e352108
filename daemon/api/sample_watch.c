// SPDX-License-Identifier: Apache-2.0
#include "sample_watch.h"

#include <stdlib.h>
#include <string.h>

#include "reply.h"

/* Answers a request with the line of a sample, or at its deadline. line NULL: with null. */
static bool sample_watch_answer(void *item, bool over, void *line)
{
	const struct deferred_item *w = item;
	struct http_reply reply = {0};

	if (!over)
		return false;
	reply_document(&reply, strdup(line ? line : "null"));
	http_answer(w->deferred, &reply);
	return true;
}

static void sample_watch_on_timer(void *arg)
{
	struct sample_watch *w = arg;

	deferred_list_settle(&w->waiters, false, sample_watch_answer, NULL);
}

int sample_watch_wait(struct sample_watch *w, struct http_deferred *deferred, uint64_t now_ms)
{
	return deferred_list_add(&w->waiters, deferred, now_ms + SAMPLE_WAIT_MAX_MS) ? 0 : -ENOMEM;
}

bool sample_watch_wants(const struct sample_watch *w)
{
	return w && w->waiters.n > 0;
}

void sample_watch_notify(struct sample_watch *w, const char *line)
{
	if (w)
		deferred_list_settle(&w->waiters, true, sample_watch_answer, (void *)line);
}

int sample_watch_open(struct sample_watch **ret, struct uv_loop_s *loop, struct err *e)
{
	struct sample_watch *w = calloc(1, sizeof(*w));

	if (!w)
		return err_set(e, -ENOMEM, "out of memory");
	deferred_list_init(&w->waiters, loop, sizeof(struct deferred_item), sample_watch_on_timer,
			   w);
	*ret = w;
	return 0;
}

void sample_watch_close(struct sample_watch *w)
{
	if (!w)
		return;
	sample_watch_notify(w, NULL);
	deferred_list_close(&w->waiters, free);
}
