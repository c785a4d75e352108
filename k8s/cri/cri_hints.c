// SPDX-License-Identifier: Apache-2.0
#include "cri_hints.h"

#include <string.h>

#include "back_off.h"
#include "search.h"

#define AWAIT_MS       1000
#define PAUSE_FIRST_MS 4

/* --- event sources ---------------------------------------------------------------------------- */

static bool is_containerd(const struct cri_version *v)
{
	return strcmp(v->name, "containerd") == 0;
}

/* Returns the major number of "2.1.9", "v2.0.0-rc.1", "1.6.20~ds1". */
static unsigned major_of(const char *version)
{
	unsigned n = 0;

	version += version[0] == 'v';
	for (; *version >= '0' && *version <= '9' && n < 1000; version++)
		n = 10 * n + (unsigned)(*version - '0');
	return n;
}

enum cri_hints cri_hints_first(const struct cri_version *v)
{
	if (is_containerd(v))
		return CRI_HINTS_CONTAINERD;
	return strcmp(v->name, "cri-o") == 0 ? CRI_HINTS_CRI : CRI_HINTS_NONE;
}

enum cri_hints cri_hints_next(const struct cri_version *v, enum cri_hints tried)
{
	if (tried == CRI_HINTS_CONTAINERD && is_containerd(v) && major_of(v->version) >= 2)
		return CRI_HINTS_CRI;
	return CRI_HINTS_NONE;
}

/* --- awaited changes -------------------------------------------------------------------------- */

static bool is_fulfilled(const struct cri_awaited *a, const struct sandbox_list *l)
{
	const struct sandbox *s = a->id[0] ? sandbox_find(l, a->id) : NULL;

	switch (a->kind) {
	case CRI_EVENT_BEGINS:
		return s && s->ready;
	case CRI_EVENT_ENDS:
		return !s || !s->ready;
	case CRI_EVENT_GONE:
		return !s;
	case CRI_EVENT_OTHER:
		break;
	}
	return false;
}

static struct cri_awaited *find_awaited(struct cri_await *a, const char *id)
{
	return find_first(a->items, a->n, i, strcmp(a->items[i].id, id) == 0);
}

static void drop_awaited(struct cri_await *a, size_t i)
{
	memmove(&a->items[i], &a->items[i + 1], (--a->n - i) * sizeof(a->items[0]));
}

/* Adds an entry, or replaces the entry of the same sandbox; if the list is full, replaces the
 * oldest entry. */
static void put_awaited(struct cri_await *a, const struct cri_awaited *item)
{
	struct cri_awaited *slot = find_awaited(a, item->id);

	if (!slot) {
		if (a->n == CRI_AWAITED_MAX)
			drop_awaited(a, 0);
		slot = &a->items[a->n++];
	}
	*slot = *item;
	a->pause_ms = 0;
}

bool cri_await_event(struct cri_await *a, const struct cri_event *e, const struct sandbox_list *l,
		     bool is_asking, uint64_t now_ms)
{
	struct cri_awaited item = {.kind = e->kind, .until_ms = now_ms + AWAIT_MS};

	if (e->kind == CRI_EVENT_OTHER)
		return false;
	if (!e->id[0]) {
		cri_await_anything(a, now_ms);
		return true;
	}
	memcpy(item.id, e->id, sizeof(item.id));
	if (is_fulfilled(&item, l) && !is_asking && !find_awaited(a, item.id))
		return false;
	put_awaited(a, &item);
	return true;
}

void cri_await_anything(struct cri_await *a, uint64_t now_ms)
{
	struct cri_awaited item = {.kind = CRI_EVENT_OTHER, .until_ms = now_ms + AWAIT_MS};

	put_awaited(a, &item);
}

uint32_t cri_await_pause(struct cri_await *a, const struct sandbox_list *l, uint64_t now_ms)
{
	for (size_t i = a->n; i-- > 0;)
		if (now_ms >= a->items[i].until_ms || is_fulfilled(&a->items[i], l))
			drop_awaited(a, i);
	return a->n ? back_off(&a->pause_ms, PAUSE_FIRST_MS, AWAIT_MS) : 0;
}
