/* namespaces.c - do the namespaces of what is in pods live?
 *
 * Happy path: the path leads there. When it does not, one worker searches for all that are not
 * where they were: a namespace that is found has another path from then on, one that is nowhere is
 * dead. Can fail by: what cannot be looked at, or out of memory: then it is not known, and asked
 * again. */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "job.h"
#include "log.h"
#include "observe.h"

/* A path that goes at once again, of a process that ends, is no reason to search all the time. */
#define AGAIN_MS   1000
#define UNKNOWN_MS 30000

struct sought {
	struct netns_id id; /* the path is the new one, if it was found */
	char path[sizeof(((struct netns_id *)0)->path)];
	enum netns_life life;
};

struct namespace_search {
	struct attach_engine *engine;
	struct job job;
	struct sought *items; /* the worker's, then the loop's */
	size_t n;
};

/* --- the search ------------------------------------------------------------------------------- */

static void namespace_search_run(void *arg)
{
	struct namespace_search *s = arg;
	const struct attach_engine *e = s->engine;

	for (size_t i = 0; i < s->n; i++)
		s->items[i].life = e->ops->netns_search(e->hw, &s->items[i].id);
}

static bool is_same(const struct netns_id *a, const struct netns_id *b)
{
	return a->ino == b->ino && a->dev == b->dev;
}

static bool take_found(struct attachment *a, const struct sought *s)
{
	struct netns_id *id = &a->record.owner.netns;

	if (s->life != NETNS_ALIVE || strcmp(id->path, s->id.path) == 0)
		return false;
	log_info("attach", 0, "%s: the namespace of its pod is not at %s any more, it is at %s",
		 a->record.function, id->path, s->id.path);
	*id = s->id;
	return true;
}

static bool take_result(struct attachment *a, const struct sought *s, uint64_t now_ms)
{
	uint64_t pause = s->life == NETNS_UNKNOWN ? UNKNOWN_MS : AGAIN_MS;

	if (!is_same(&a->record.owner.netns, &s->id) || a->life == NETNS_ALIVE)
		return false;
	if (s->life == NETNS_UNKNOWN && !a->search_ms)
		log_warn(
			"attach", 0,
			"%s: the namespace of its pod is not at %s any more, and it cannot be seen "
			"whether it is elsewhere: it stays where it is",
			a->record.function, s->path);
	a->life = s->life;
	a->search_ms = now_ms + pause;
	return take_found(a, s);
}

static void count(struct attach_counters *c, enum netns_life life)
{
	switch (life) {
	case NETNS_ALIVE:
		c->searches_alive++;
		return;
	case NETNS_DEAD:
		c->searches_dead++;
		return;
	case NETNS_UNKNOWN:
		c->searches_unknown++;
		return;
	}
}

static void search_free(struct namespace_search *s)
{
	s->engine->search = NULL;
	free(s->items);
	free(s);
}

static void on_searched(void *arg)
{
	struct namespace_search *s = arg;
	struct attach_engine *e = s->engine;

	for (size_t i = 0; i < s->n; i++) {
		count(&e->counters, s->items[i].life);
		for (size_t k = 0; k < e->all.n; k++)
			e->all.changed |= take_result(e->all.items[k], &s->items[i], engine_now(e));
	}
	search_free(s);
	if (e->closing)
		engine_release_if_done(e);
	else
		engine_soon(e);
}

/* --- who is sought ---------------------------------------------------------------------------- */

static bool is_watched(const struct attachment *a)
{
	return (a->record.state == ATTACH_ATTACHING || a->record.state == ATTACH_IN_POD) &&
	       a->record.owner.netns.ino;
}

static bool is_missing(const struct attachment *a)
{
	return is_watched(a) && a->life == NETNS_UNKNOWN;
}

static bool add(struct namespace_search *s, const struct netns_id *id)
{
	struct sought *new;

	for (size_t i = 0; i < s->n; i++)
		if (is_same(&s->items[i].id, id))
			return true;
	new = array_push(s->items, s->n);
	if (!new)
		return false;
	new->id = *id;
	memcpy(new->path, id->path, sizeof(new->path));
	return true;
}

static bool collect(struct namespace_search *s, struct attach_engine *e)
{
	for (size_t i = 0; i < e->all.n; i++)
		if (is_missing(e->all.items[i]) && e->all.items[i]->search_ms <= engine_now(e) &&
		    !add(s, &e->all.items[i]->record.owner.netns))
			return false;
	return true;
}

void namespaces_look(struct attach_engine *e)
{
	for (size_t i = 0; i < e->all.n; i++) {
		struct attachment *a = e->all.items[i];

		if (is_watched(a) && e->ops->netns_is_there(e->hw, &a->record.owner.netns))
			a->life = NETNS_ALIVE;
		else if (a->life == NETNS_ALIVE || !is_watched(a))
			a->life = NETNS_UNKNOWN;
		if (!is_watched(a) || a->life == NETNS_ALIVE)
			a->search_ms = 0;
	}
}

/* Its end is a tick, too. */
static uint64_t next_search(const struct attach_engine *e)
{
	uint64_t first = NEVER;

	for (size_t i = 0; i < e->all.n; i++)
		if (is_missing(e->all.items[i]))
			first = earlier(first, e->all.items[i]->search_ms);
	return first;
}

static int begin_search(struct attach_engine *e)
{
	struct namespace_search *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->engine = e;
	if (!collect(s, e)) {
		search_free(s);
		return -ENOMEM;
	}
	e->search = s;
	job_begin(&s->job, e->loop, "the search for network namespaces", namespace_search_run,
		  on_searched, s);
	return 0;
}

void namespaces_search(struct attach_engine *e)
{
	uint64_t at = e->search ? NEVER : next_search(e);

	if (at <= engine_now(e) && begin_search(e) < 0)
		at = engine_now(e) + ENGINE_MEMORY_MS;
	if (!e->search)
		engine_due(e, at);
}
