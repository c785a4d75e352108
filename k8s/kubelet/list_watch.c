// SPDX-License-Identifier: Apache-2.0
/* list_watch.c - all watchers that were sent the same list share its encoding. */
#include "list_watch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "grpc.h"
#include "plugin_wire.h"

struct device_list {
	unsigned refs;
	size_t len;
	uint8_t *bytes;
};

struct watcher {
	struct watcher *next;
	struct grpc_call *call;
	struct device_list *given; /* NULL: none yet */
};

static struct device_list *list_new(uint8_t *bytes, size_t len)
{
	struct device_list *l = malloc(sizeof(*l));

	if (l)
		*l = (struct device_list){.refs = 1, .len = len, .bytes = bytes};
	return l;
}

static void list_unref(struct device_list *l)
{
	if (!l || --l->refs > 0)
		return;
	free(l->bytes);
	free(l);
}

static bool list_is(const struct device_list *l, const uint8_t *bytes, size_t len)
{
	return l->len == len && (len == 0 || memcmp(l->bytes, bytes, len) == 0);
}

int list_watch_init(struct list_watch *w)
{
	*w = (struct list_watch){.list = list_new(NULL, 0)};
	return w->list ? 0 : -ENOMEM;
}

static void watcher_free(struct watcher *w)
{
	list_unref(w->given);
	free(w);
}

void list_watch_done(struct list_watch *w)
{
	while (w->watchers) {
		struct watcher *next = w->watchers->next;

		watcher_free(w->watchers);
		w->watchers = next;
	}
	list_unref(w->list);
	*w = (struct list_watch){.list = NULL};
}

/* Encodes the first devices, as many as fit. */
static int list_encode(uint8_t **ret, size_t *ret_len, const struct plugin_device *devices,
		       size_t n, size_t *ret_left_out)
{
	size_t all = n, len = 0;
	uint8_t *bytes = NULL;
	int r = wire_device_list(&bytes, &len, devices, n);

	while (r == 0 && len > LIST_WATCH_MAX) {
		free(bytes);
		n = (size_t)((uint64_t)n * LIST_WATCH_MAX / len);
		r = wire_device_list(&bytes, &len, devices, n);
	}
	if (r < 0)
		return r;
	*ret = bytes;
	*ret_len = len;
	*ret_left_out = all - n;
	return 0;
}

int list_watch_set(struct list_watch *w, const struct plugin_device *devices, size_t n,
		   size_t *ret_left_out)
{
	struct device_list *list;
	uint8_t *bytes = NULL;
	size_t len = 0;
	int r = list_encode(&bytes, &len, devices, n, ret_left_out);

	if (r < 0)
		return r;
	if (list_is(w->list, bytes, len)) {
		free(bytes);
		return 0;
	}
	list = list_new(bytes, len);
	if (!list) {
		free(bytes);
		return -ENOMEM;
	}
	list_unref(w->list);
	w->list = list;
	return 1;
}

/* Sends the list to a watcher. False: the watcher is still reading an older list, or out of memory.
 */
static bool send_list(struct list_watch *lw, struct watcher *w)
{
	struct device_list *l = lw->list;

	if (w->given && list_is(w->given, l->bytes, l->len))
		return true;
	if (grpc_backlog(w->call) > 0)
		return false;
	if (grpc_send(w->call, l->bytes ? l->bytes : (const uint8_t *)"", l->len) < 0)
		return false;
	list_unref(w->given);
	w->given = l;
	l->refs++;
	lw->given++;
	return true;
}

unsigned list_watch_send(struct list_watch *lw)
{
	unsigned behind = 0;

	for (struct watcher *w = lw->watchers; w; w = w->next)
		if (!send_list(lw, w))
			behind++;
	return behind;
}

int list_watch_add(struct list_watch *lw, struct grpc_call *call)
{
	struct watcher *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	w->call = call;
	w->next = lw->watchers;
	lw->watchers = w;
	lw->n_watchers++;
	send_list(lw, w);
	return 0;
}

bool list_watch_remove(struct list_watch *lw, const struct grpc_call *call)
{
	for (struct watcher **at = &lw->watchers; *at; at = &(*at)->next) {
		struct watcher *w = *at;

		if (w->call != call)
			continue;
		*at = w->next;
		lw->n_watchers--;
		watcher_free(w);
		return true;
	}
	return false;
}
