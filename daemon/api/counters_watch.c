// SPDX-License-Identifier: Apache-2.0
#include "counters_watch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api_counters.h"
#include "reply.h"

static bool counters_watch_refuse(const struct counters_waiter *w, int code, const char *why)
{
	struct http_reply reply = {0};
	struct err e = {0};

	err_set(&e, code, "%s", why);
	reply_error(&reply, &e);
	http_answer(w->item.deferred, &reply);
	return true;
}

/* Answers a request if the set has its port's rates, or if the request has waited too long. set
 * NULL: nothing was read. */
static bool counters_watch_answer(void *item, bool over, void *set)
{
	const struct counters_waiter *w = item;
	const struct port_counters *c = set ? port_counters_find(set, &w->name) : NULL;
	struct http_reply reply = {0};
	size_t len = 0;

	if (c && c->is_new && c->is_missing)
		return counters_watch_refuse(w, -ENODEV, "no counters are read for this port");
	if (!c || !c->is_new || c->over_ms == 0)
		return over && counters_watch_refuse(w, -EAGAIN, "no sample was taken in time");
	reply_document(&reply, api_counters(c, &len));
	http_answer(w->item.deferred, &reply);
	return true;
}

static bool counters_watch_end(void *item, bool over, void *arg)
{
	(void)over;
	(void)arg;
	return counters_watch_refuse(item, -EAGAIN, "the daemon is stopping");
}

static void counters_watch_on_timer(void *arg)
{
	struct counters_watch *w = arg;

	deferred_list_settle(&w->waiters, false, counters_watch_answer, NULL);
}

size_t counters_watch_ports(struct counters_watch *w, uint64_t now_ms, struct port_name *ret)
{
	size_t n = 0;

	if (!w)
		return 0;
	for (size_t i = 0; i < w->n_wanted; i++)
		if (w->wanted[i].until_ms > now_ms)
			w->wanted[n++] = w->wanted[i];
	w->n_wanted = n;
	for (size_t i = 0; i < n; i++)
		ret[i] = w->wanted[i].name;
	return n;
}

/* Adds the port to those that are read, or extends its time. -EAGAIN: PORT_COUNTERS_MAX ports are
 * read already. */
static int counters_watch_want(struct counters_watch *w, const struct port_name *name,
			       uint64_t now_ms)
{
	struct port_name names[PORT_COUNTERS_MAX];
	size_t n = counters_watch_ports(w, now_ms, names), i = 0;

	while (i < n && !port_name_equal(&names[i], name))
		i++;
	if (i == PORT_COUNTERS_MAX)
		return -EAGAIN;
	w->wanted[i] = (struct counters_wanted){*name,
						now_ms + COUNTERS_WAIT_MAX_MS + COUNTERS_KEEP_MS};
	w->n_wanted = i < n ? n : n + 1;
	return 0;
}

int counters_watch_wait(struct counters_watch *w, struct http_deferred *deferred,
			const struct port_name *name, uint64_t now_ms)
{
	int r = counters_watch_want(w, name, now_ms);
	struct counters_waiter *slot;

	if (r < 0)
		return r;
	slot = deferred_list_add(&w->waiters, deferred, now_ms + COUNTERS_WAIT_MAX_MS);
	if (!slot)
		return -ENOMEM;
	slot->name = *name;
	return 0;
}

/* When no request waits for a port any more, the port is read for another COUNTERS_KEEP_MS. The
 * deadline of the last request does not matter. */
static void counters_watch_shorten(struct counters_watch *w, uint64_t now_ms)
{
	const struct counters_waiter *waiters = w->waiters.items;

	for (size_t i = 0; i < w->n_wanted; i++) {
		bool waits = false;

		for (size_t k = 0; k < w->waiters.n; k++)
			waits |= port_name_equal(&waiters[k].name, &w->wanted[i].name);
		if (!waits && w->wanted[i].until_ms > now_ms + COUNTERS_KEEP_MS)
			w->wanted[i].until_ms = now_ms + COUNTERS_KEEP_MS;
	}
}

void counters_watch_deliver(struct counters_watch *w, const struct port_counters_set *set)
{
	if (!w)
		return;
	deferred_list_settle(&w->waiters, false, counters_watch_answer, (void *)set);
	counters_watch_shorten(w, uv_now(w->waiters.timer.handle.loop));
}

int counters_watch_open(struct counters_watch **ret, struct uv_loop_s *loop, struct err *e)
{
	struct counters_watch *w = calloc(1, sizeof(*w));

	if (!w)
		return err_set(e, -ENOMEM, "out of memory");
	deferred_list_init(&w->waiters, loop, sizeof(struct counters_waiter),
			   counters_watch_on_timer, w);
	*ret = w;
	return 0;
}

void counters_watch_close(struct counters_watch *w)
{
	if (!w)
		return;
	deferred_list_settle(&w->waiters, true, counters_watch_end, NULL);
	deferred_list_close(&w->waiters, free);
}
