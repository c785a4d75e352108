// SPDX-License-Identifier: Apache-2.0
#include "cri_details.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "back_off.h"
#include "cleanup.h"

#define PAUSE_FIRST_MS 50
#define PAUSE_MAX_MS   60000

void cri_details_done(struct cri_details *d)
{
	free(d->items);
	*d = (struct cri_details){0};
}

/* --- a new list ------------------------------------------------------------------------------- */

static int cri_details_by_id(const void *a, const void *b)
{
	return strcmp((*(struct sandbox *const *)a)->id, (*(struct sandbox *const *)b)->id);
}

/* Makes pointers to the list's items, sorted by id. */
static void make_index(struct sandbox **ret, const struct sandbox_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		ret[i] = &l->items[i];
	qsort(ret, l->n, sizeof(struct sandbox *), cri_details_by_id);
}

static void cri_details_move_details(struct sandbox *to, struct sandbox *from)
{
	to->detailed = from->detailed;
	to->host_network = from->host_network;
	to->user_namespace = from->user_namespace;
	memcpy(to->netns, from->netns, sizeof(to->netns));
	to->networks = take_ptr(from->networks);
}

static bool needs_details(const struct sandbox *s)
{
	return !s->detailed || (s->ready && !s->host_network && !s->netns[0]);
}

/* Moves known details to the new list, and makes the list of sandboxes whose details are needed;
 * keeps their pending queries. All three inputs are sorted by id. */
static void merge_todos(struct cri_details *d, struct cri_todo *items, struct sandbox **now,
			size_t n_now, struct sandbox **before, size_t n_before)
{
	size_t n = 0, k = 0, t = 0, n_asking = 0;

	for (size_t i = 0; i < n_now; i++) {
		const char *id = now[i]->id;

		while (k < n_before && strcmp(before[k]->id, id) < 0)
			k++;
		while (t < d->n && strcmp(d->items[t].id, id) < 0)
			t++;
		if (k < n_before && strcmp(before[k]->id, id) == 0)
			cri_details_move_details(now[i], before[k]);
		if (!needs_details(now[i]) || (n > 0 && strcmp(items[n - 1].id, id) == 0))
			continue;
		if (t < d->n && strcmp(d->items[t].id, id) == 0)
			items[n] = d->items[t];
		else
			memcpy(items[n].id, id, sizeof(items[n].id));
		n_asking += items[n++].asking;
	}
	free(d->items);
	*d = (struct cri_details){.items = items, .n = n, .n_asking = n_asking};
}

int cri_details_list(struct cri_details *d, struct sandbox_list *now, struct sandbox_list *before)
{
	struct sandbox **index = calloc(now->n + before->n + 1, sizeof(struct sandbox *));
	struct cri_todo *items = calloc(now->n + 1, sizeof(*items));

	if (!index || !items) {
		free(index);
		free(items);
		return -ENOMEM;
	}
	make_index(index, now);
	make_index(index + now->n, before);
	merge_todos(d, items, index, now->n, index + now->n, before->n);
	free(index);
	return 0;
}

/* --- queries ---------------------------------------------------------------------------------- */

const char *cri_details_next(struct cri_details *d, uint64_t now_ms)
{
	for (size_t i = 0; d->n_asking < CRI_DETAILS_OPEN && i < d->n; i++) {
		struct cri_todo *t = &d->items[i];

		if (t->asking || t->next_ms > now_ms)
			continue;
		t->asking = true;
		d->n_asking++;
		return t->id;
	}
	return NULL;
}

uint64_t cri_details_deadline(const struct cri_details *d)
{
	uint64_t at_ms = UINT64_MAX;

	for (size_t i = 0; d->n_asking < CRI_DETAILS_OPEN && i < d->n; i++)
		if (!d->items[i].asking && d->items[i].next_ms < at_ms)
			at_ms = d->items[i].next_ms;
	return at_ms;
}

static bool take_detail(struct sandbox *s, struct cri_detail *from)
{
	bool changed = !s->detailed || s->host_network != from->host_network ||
		       s->user_namespace != from->user_namespace ||
		       strcmp(s->netns, from->netns) != 0;

	s->detailed = true;
	s->host_network = from->host_network;
	s->user_namespace = from->user_namespace;
	memcpy(s->netns, from->netns, sizeof(s->netns));
	free(s->networks);
	s->networks = take_ptr(from->networks);
	return changed;
}

static void remove_todo(struct cri_details *d, size_t i)
{
	memmove(&d->items[i], &d->items[i + 1], (--d->n - i) * sizeof(d->items[0]));
}

static void request_detail_later(struct cri_todo *t, uint64_t now_ms)
{
	t->asking = false;
	t->next_ms = now_ms + back_off(&t->pause_ms, PAUSE_FIRST_MS, PAUSE_MAX_MS);
}

bool cri_details_answer(struct cri_details *d, struct sandbox_list *l, const char *id,
			struct cri_detail *detail, uint64_t now_ms)
{
	bool changed = false, wanting = true;
	size_t i = 0;

	while (i < d->n && strcmp(d->items[i].id, id) != 0)
		i++;
	if (i == d->n || !d->items[i].asking) /* it was removed from the list meanwhile */
		return false;
	d->n_asking--;
	for (size_t k = 0; detail && k < l->n; k++)
		if (strcmp(l->items[k].id, id) == 0) {
			changed = take_detail(&l->items[k], detail);
			wanting = needs_details(&l->items[k]);
			break;
		}
	if (wanting)
		request_detail_later(&d->items[i], now_ms);
	else
		remove_todo(d, i);
	return changed;
}
