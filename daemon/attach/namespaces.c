// SPDX-License-Identifier: Apache-2.0
/* namespaces.c - checks whether the namespaces of devices in pods exist, and whether a process runs
 * in them.
 *
 * Success: the recorded path leads to the namespace. If not, a worker searches for all namespaces
 * that are not at their paths: if a namespace is found elsewhere, its new path is recorded; if it
 * is found nowhere, it was removed. The same worker searches for processes in namespaces whose
 * sandbox the runtime no longer lists as ready. Failures: namespaces that cannot be inspected, or
 * out of memory: then the result is unknown, and the search is repeated. */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cleanup.h"
#include "job.h"
#include "log.h"
#include "observe.h"
#include "search.h"

/* Pause after a search: the path of an exiting process is valid only for a moment, and must not
 * cause continuous searches. The pause is longer if the result is unknown. */
#define AGAIN_MS     1000
#define UNKNOWN_MS   30000
/* A namespace in use is checked again after 20 ms, 40 ms and so on: its pod may just be ending. */
#define USE_FIRST_MS 20
#define USE_LAST_MS  5000

struct search_item {
	struct netns_id id; /* with the new path, if it was found */
	char path[sizeof(((struct netns_id *)0)->path)];
	bool needs_life, needs_use;
	enum netns_life life;
	enum netns_use use;
	unsigned pid;
};

struct namespace_search {
	struct attach_engine *engine;
	struct job job;
	struct search_item *items; /* owned by the worker, then by the loop */
	size_t n;
	uint64_t began_ms;
};

/* --- the search ------------------------------------------------------------------------------- */

/* Searches for the users of all namespaces in one pass. */
static void search_users(struct namespace_search *s)
{
	const struct attach_engine *e = s->engine;
	struct netns_id *ids;
	enum netns_use *use;
	unsigned *pid;
	size_t n = 0, k = 0;

	for (size_t i = 0; i < s->n; i++)
		n += s->items[i].needs_use;
	if (n == 0)
		return;
	AUTO_FREE void *room = calloc(n, sizeof(*ids) + sizeof(*use) + sizeof(*pid));
	if (!room)
		return;
	ids = room;
	use = (enum netns_use *)(ids + n);
	pid = (unsigned *)(use + n);
	for (size_t i = 0; i < s->n; i++)
		if (s->items[i].needs_use)
			ids[k++] = s->items[i].id;
	e->ops->netns_users(e->hw, ids, n, use, pid);
	k = 0;
	for (size_t i = 0; i < s->n; i++)
		if (s->items[i].needs_use) {
			s->items[i].use = use[k];
			s->items[i].pid = pid[k++];
		}
}

static void namespace_search_run(void *arg)
{
	struct namespace_search *s = arg;
	const struct attach_engine *e = s->engine;

	for (size_t i = 0; i < s->n; i++)
		if (s->items[i].needs_life)
			s->items[i].life = e->ops->netns_search(e->hw, &s->items[i].id);
	search_users(s);
}

static bool namespaces_is_same(const struct netns_id *a, const struct netns_id *b)
{
	return a->ino == b->ino && a->dev == b->dev;
}

/* Returns the path from "/netns/" on: "/var/run/netns/a" and "/run/netns/a" are equal. */
static const char *namespaces_name_of(const char *path)
{
	const char *at = strstr(path, "/netns/");

	return at ? at : path;
}

/* Has the search found another pod's namespace? The kernel reuses the inode number of a removed
 * namespace. So the namespace belongs to another pod if the runtime reports its path for a
 * different, ready sandbox. */
static bool is_another_namespace(const struct attach_engine *e, const struct attachment *a,
				 const struct search_item *s)
{
	const struct attach_owner *o = &a->record.owner;
	const struct sandbox_list *l = engine_sandboxes(e);

	if (s->life != NETNS_ALIVE || !o->sandbox[0] || strcmp(o->netns.path, s->id.path) == 0)
		return false;
	return any_of(l->n, i,
		      l->items[i].ready && strcmp(l->items[i].id, o->sandbox) != 0 &&
			      strcmp(namespaces_name_of(l->items[i].netns),
				     namespaces_name_of(s->id.path)) == 0);
}

static bool take_found(struct attachment *a, const struct search_item *s)
{
	struct netns_id *id = &a->record.owner.netns;

	if (strcmp(id->path, s->id.path) == 0)
		return false;
	log_info("attach", 0, "%s: the namespace of its pod is not at %s any more, but at %s",
		 a->record.function, id->path, s->id.path);
	*id = s->id;
	return true;
}

static bool take_result(const struct attach_engine *e, struct attachment *a,
			const struct search_item *s, uint64_t now_ms)
{
	uint64_t pause = s->life == NETNS_UNKNOWN ? UNKNOWN_MS : AGAIN_MS;

	if (!s->needs_life || !namespaces_is_same(&a->record.owner.netns, &s->id) ||
	    a->life == NETNS_ALIVE)
		return false;
	if (s->life == NETNS_UNKNOWN && !a->search_ms)
		log_warn("attach", 0,
			 "%s: the namespace of its pod is not at %s any more, and not all "
			 "namespaces can be searched: the device stays attached",
			 a->record.function, s->path);
	a->life = is_another_namespace(e, a, s) ? NETNS_DEAD : s->life;
	a->search_ms = now_ms + pause;
	return a->life == NETNS_ALIVE && take_found(a, s);
}

/* began_ms: start of the search. If the sandbox was listed as ready since then, the result is
 * outdated. */
static void take_use(struct attachment *a, const struct search_item *s, uint64_t began_ms,
		     uint64_t now_ms)
{
	unsigned doublings = a->n_uses < 8 ? a->n_uses : 8;

	if (!s->needs_use || !namespaces_is_same(&a->record.owner.netns, &s->id) || !a->missed_ms ||
	    a->missed_ms > began_ms || a->life != NETNS_ALIVE)
		return;
	a->use = s->use;
	a->user_pid = s->pid;
	a->n_uses++;
	a->use_ms = now_ms + earlier((uint64_t)USE_FIRST_MS << doublings, USE_LAST_MS);
}

static void namespaces_count(struct attach_counters *c, enum netns_life life)
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
		if (s->items[i].needs_life)
			namespaces_count(&e->counters, s->items[i].life);
		for (size_t k = 0; k < e->all.n; k++) {
			e->all.changed |= take_result(e, e->all.items[k], &s->items[i],
						      engine_now(e));
			take_use(e->all.items[k], &s->items[i], s->began_ms, engine_now(e));
		}
	}
	search_free(s);
	if (e->closing)
		engine_release_if_done(e);
	else
		engine_soon(e);
}

/* --- searches that are needed ----------------------------------------------------------------- */

static bool namespaces_is_watched(const struct attachment *a)
{
	return (a->record.state == ATTACH_ATTACHING || a->record.state == ATTACH_IN_POD) &&
	       a->record.owner.netns.ino;
}

/* Time of the next search for the namespace, or for its users; NEVER = not needed. */
static uint64_t life_deadline(const struct attachment *a)
{
	return namespaces_is_watched(a) && a->life == NETNS_UNKNOWN ? a->search_ms : NEVER;
}

static uint64_t use_deadline(const struct attachment *a)
{
	return namespaces_is_watched(a) && a->missed_ms && a->life == NETNS_ALIVE && !a->why
		       ? a->use_ms
		       : NEVER;
}

static struct search_item *find_or_add(struct namespace_search *s, const struct netns_id *id)
{
	struct search_item *new;

	for (size_t i = 0; i < s->n; i++)
		if (namespaces_is_same(&s->items[i].id, id))
			return &s->items[i];
	new = array_push(s->items, s->n);
	if (!new)
		return NULL;
	new->id = *id;
	memcpy(new->path, id->path, sizeof(new->path));
	return new;
}

static bool namespaces_collect(struct namespace_search *s, struct attach_engine *e)
{
	for (size_t i = 0; i < e->all.n; i++) {
		const struct attachment *a = e->all.items[i];
		const bool life = life_deadline(a) <= engine_now(e),
			   use = use_deadline(a) <= engine_now(e);
		struct search_item *item = life || use ? find_or_add(s, &a->record.owner.netns)
						       : NULL;

		if ((life || use) && !item)
			return false;
		if (item) {
			item->needs_life |= life;
			item->needs_use |= use;
		}
	}
	return true;
}

void namespaces_check(struct attach_engine *e)
{
	for (size_t i = 0; i < e->all.n; i++) {
		struct attachment *a = e->all.items[i];

		if (namespaces_is_watched(a) && e->ops->netns_exists(e->hw, &a->record.owner.netns))
			a->life = NETNS_ALIVE;
		else if (a->life == NETNS_ALIVE || !namespaces_is_watched(a))
			a->life = NETNS_UNKNOWN;
		if (!namespaces_is_watched(a) || a->life == NETNS_ALIVE)
			a->search_ms = 0;
	}
}

/* Start time of the next search. Not needed during a search, because its end causes a tick. */
static uint64_t next_search(const struct attach_engine *e)
{
	uint64_t first = NEVER;

	for (size_t i = 0; i < e->all.n; i++) {
		first = earlier(first, life_deadline(e->all.items[i]));
		first = earlier(first, use_deadline(e->all.items[i]));
	}
	return first;
}

static int begin_search(struct attach_engine *e)
{
	struct namespace_search *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->engine = e;
	s->began_ms = engine_now(e);
	if (!namespaces_collect(s, e)) {
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
		engine_tick_at(e, at);
}
