// SPDX-License-Identifier: Apache-2.0
#include "sandbox.h"

#include <stdlib.h>
#include <string.h>

#include "search.h"

void sandbox_list_done(struct sandbox_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->items[i].networks);
	free(l->items);
	free(l->left);
	*l = (struct sandbox_list){0};
}

static int compare_sandboxes(const void *a, const void *b)
{
	const struct sandbox *x = a, *y = b;
	int r = strcmp(x->namespace, y->namespace);

	if (r == 0)
		r = strcmp(x->pod, y->pod);
	if (r == 0)
		r = strcmp(x->uid, y->uid);
	if (r == 0)
		r = (x->attempt > y->attempt) - (x->attempt < y->attempt);
	return r ? r : strcmp(x->id, y->id);
}

void sandbox_list_sort(struct sandbox_list *l)
{
	if (l->n)
		qsort(l->items, l->n, sizeof(*l->items), compare_sandboxes);
}

static uint64_t made_ms(const struct sandbox *s, uint64_t now_ms, int64_t unix_ns)
{
	uint64_t ago_ms = (uint64_t)(unix_ns - s->created_ns) / 1000000;

	if (s->created_ns <= 0 || s->created_ns > unix_ns)
		return 0;
	return ago_ms < now_ms ? now_ms - ago_ms : 1;
}

/* Keeps the times of a removed sandbox. If out of memory, they are lost, and the sandbox counts as
 * new if it reappears. */
static void note_left(struct sandbox_list *l, const struct sandbox *s)
{
	struct sandbox_date *date;

	if (!l->left)
		l->left = malloc(SANDBOX_DATES_MAX * sizeof(*l->left));
	if (!l->left)
		return;
	if (l->n_left == SANDBOX_DATES_MAX)
		memmove(l->left, l->left + 1, --l->n_left * sizeof(*l->left));
	date = &l->left[l->n_left++];
	memcpy(date->id, s->id, sizeof(date->id));
	date->seen_ms = s->seen_ms;
	date->made_ms = s->made_ms;
}

static bool take_left(struct sandbox_list *l, struct sandbox *s)
{
	for (size_t i = l->n_left; i-- > 0;) {
		if (strcmp(l->left[i].id, s->id) != 0)
			continue;
		s->seen_ms = l->left[i].seen_ms;
		s->made_ms = l->left[i].made_ms;
		memmove(&l->left[i], &l->left[i + 1], (--l->n_left - i) * sizeof(*l->left));
		return true;
	}
	return false;
}

void sandbox_list_date(struct sandbox_list *l, struct sandbox_list *before, uint64_t now_ms,
		       int64_t unix_ns)
{
	size_t k = 0;

	l->left = before->left;
	l->n_left = before->n_left;
	before->left = NULL;
	before->n_left = 0;
	for (size_t i = 0; i < l->n; i++) {
		struct sandbox *s = &l->items[i];

		for (; k < before->n && compare_sandboxes(&before->items[k], s) < 0; k++)
			note_left(l, &before->items[k]);
		if (k < before->n && compare_sandboxes(&before->items[k], s) == 0) {
			s->seen_ms = before->items[k].seen_ms;
			s->made_ms = before->items[k++].made_ms;
		} else if (!take_left(l, s)) {
			s->seen_ms = now_ms;
			s->made_ms = made_ms(s, now_ms, unix_ns);
		}
	}
	for (; k < before->n; k++)
		note_left(l, &before->items[k]);
}

bool sandbox_is_younger(const struct sandbox *a, const struct sandbox *b)
{
	if (strcmp(a->uid, b->uid) == 0 && a->attempt != b->attempt)
		return a->attempt > b->attempt;
	if (a->seen_ms != b->seen_ms)
		return a->seen_ms > b->seen_ms;
	return a->created_ns > b->created_ns;
}

const struct sandbox *sandbox_find(const struct sandbox_list *l, const char *id)
{
	return find_first(l->items, l->n, i, strcmp(l->items[i].id, id) == 0);
}

const struct sandbox *sandbox_of_pod(const struct sandbox_list *list, const char *uid)
{
	for (size_t i = 0; i < list->n && uid[0]; i++)
		if (strcmp(list->items[i].uid, uid) == 0)
			return &list->items[i];
	return NULL;
}
