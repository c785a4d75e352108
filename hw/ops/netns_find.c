// SPDX-License-Identifier: Apache-2.0
/* netns_find.c - finds network namespaces independently of their paths.
 *
 * Success: one walk (netns_walk.c) builds a set for all callers that were waiting when it began;
 * each caller opens the namespaces it needs. Fails if the set is incomplete, or if a namespace that
 * the walk listed cannot be opened; netns_each() then walks again, to find out whether the
 * namespace was removed. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cleanup.h"
#include "ino_set.h"
#include "netns.h"
#include "netns_walk.h"
#include "search.h"

/* Maximum number of walks of netns_each(). */
#define ROUNDS_MAX 3

/* --- shared walks ----------------------------------------------------------------------------- */

/* Reference-counted; shared by concurrent callers. */
struct shared_set {
	struct netns_set set;
	int proc_fd, error;
	unsigned holders;
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t ended;
	uint64_t begun, done; /* numbers of the last walk begun and the last one done */
	bool walking;
	unsigned waiting;
	struct shared_set *last; /* set of the last walk; NULL: unused, or out of memory */
} walks = {.lock = PTHREAD_MUTEX_INITIALIZER, .ended = PTHREAD_COND_INITIALIZER};

static void set_put_locked(struct shared_set *s)
{
	if (!s || --s->holders > 0)
		return;
	netns_set_done(&s->set);
	free(s);
}

static void set_put(struct shared_set *s)
{
	pthread_mutex_lock(&walks.lock);
	set_put_locked(s);
	if (walks.waiting == 0) {
		set_put_locked(walks.last);
		walks.last = NULL;
	}
	pthread_mutex_unlock(&walks.lock);
}

/* Releases the lock, runs a walk, and acquires the lock again. walks.last holds one reference to
 * the set. */
static void take_walk(const struct hw *hw)
{
	struct shared_set *s = NULL;
	uint64_t number = ++walks.begun;

	walks.walking = true;
	pthread_mutex_unlock(&walks.lock);
	s = calloc(1, sizeof(*s));
	if (s) {
		s->holders = 1;
		s->proc_fd = hw->proc_fd;
		s->error = netns_walk(hw, &netns_budget_usual, &s->set);
	}
	pthread_mutex_lock(&walks.lock);
	set_put_locked(walks.last);
	walks.last = s;
	walks.done = number;
	walks.walking = false;
	pthread_cond_broadcast(&walks.ended);
}

/* Returns the set of a walk that began after this call. NULL: out of memory. */
static struct shared_set *walk_after_now(const struct hw *hw)
{
	struct shared_set *s = NULL;
	uint64_t need;

	pthread_mutex_lock(&walks.lock);
	need = walks.begun + 1;
	walks.waiting++;
	while (walks.done < need || (walks.last && walks.last->proc_fd != hw->proc_fd)) {
		if (walks.walking)
			pthread_cond_wait(&walks.ended, &walks.lock);
		else
			take_walk(hw);
	}
	walks.waiting--;
	s = walks.last;
	if (s)
		s->holders++;
	pthread_mutex_unlock(&walks.lock);
	if (s && s->error) {
		set_put(s);
		return NULL;
	}
	return s;
}

/* --- one namespace ---------------------------------------------------------------------------- */

/* Opens a namespace that the walk found, only if the path still has that inode; the caller compares
 * the device in *ret. */
static int open_found(const struct hw *hw, const struct netns_found *f, struct netns_id *ret)
{
	AUTO_FD fd = netns_open_path(hw, f->path, NULL);
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (st.st_ino != f->ino)
		return -ENOENT;
	ret->dev = st.st_dev;
	ret->ino = st.st_ino;
	return take_fd(&fd);
}

static const struct netns_found *set_find(const struct netns_set *s, uint64_t ino)
{
	return find_first(s->items, s->n, i, s->items[i].ino == ino);
}

/* Opens the namespace by a path in the set. -ENOENT: the namespace does not exist. -EAGAIN:
 * unknown, because the set is incomplete or the namespace could not be opened. */
static int open_from(const struct hw *hw, const struct netns_set *s, struct netns_id *id)
{
	const struct netns_found *found = set_find(s, id->ino);
	struct netns_id seen = {0};
	AUTO_FD fd = -1;

	if (!found)
		return s->complete ? -ENOENT : -EAGAIN;
	fd = open_found(hw, found, &seen);
	if (fd < 0)
		return -EAGAIN;
	if (seen.dev != id->dev)
		return -ENOENT;
	if (strlen(found->path) < sizeof(id->path))
		memcpy(id->path, found->path, strlen(found->path) + 1);
	return take_fd(&fd);
}

int netns_open_anywhere(const struct hw *hw, struct netns_id *id, struct err *e)
{
	int fd = netns_open_id(hw, id, NULL);
	struct shared_set *s;

	if (fd >= 0)
		return fd;
	if (!id->ino)
		return err_set(e, -ENOENT, "%s: the identity of the namespace is unknown",
			       id->path);
	s = walk_after_now(hw);
	fd = s ? open_from(hw, &s->set, id) : -EAGAIN;
	if (s)
		set_put(s);
	if (fd == -ENOENT)
		return err_set(e, fd, "%s: the namespace was removed", id->path);
	return fd < 0 ? err_set(e, fd,
				"%s: the namespace is no longer at this path, and not everything could be searched",
				id->path)
		      : fd;
}

enum netns_life netns_search(const struct hw *hw, struct netns_id *id)
{
	AUTO_FD fd = netns_open_anywhere(hw, id, NULL);

	if (fd >= 0)
		return NETNS_ALIVE;
	return fd == -ENOENT ? NETNS_DEAD : NETNS_UNKNOWN;
}

/* --- all namespaces --------------------------------------------------------------------------- */

struct each {
	const struct hw *hw;
	int (*fn)(int netns_fd, const char *path, void *arg);
	void *arg;
	struct ino_set visited;
	bool missed; /* a namespace that was found could not be opened */
	int end;     /* negative result of fn */
};

static void each_visit(struct each *e, const struct netns_found *f)
{
	struct netns_id id;
	AUTO_FD fd = -1;
	int r;

	if (ino_set_has(&e->visited, f->ino))
		return;
	fd = open_found(e->hw, f, &id);
	if (fd < 0) {
		e->missed = true;
		return;
	}
	r = ino_set_add(&e->visited, f->ino);
	e->end = r < 0 ? r : e->fn(fd, f->path, e->arg);
}

static int leave_out_own(struct each *e)
{
	AUTO_FD own = netns_open_own();
	struct stat st;
	int r = own < 0 ? own : fstat(own, &st) < 0 ? -errno : ino_set_add(&e->visited, st.st_ino);

	return r < 0 ? r : 0;
}

/* Calls fn for every namespace of the set that was not visited yet. Returns 0, NETNS_INCOMPLETE or
 * a negative errno. */
static int each_visit_all(struct each *e)
{
	struct shared_set *s = walk_after_now(e->hw);
	bool complete;

	if (!s)
		return -ENOMEM;
	e->missed = false;
	for (size_t i = 0; i < s->set.n && e->end >= 0; i++)
		each_visit(e, &s->set.items[i]);
	complete = s->set.complete;
	set_put(s);
	return e->end < 0 ? e->end : complete && !e->missed ? 0 : NETNS_INCOMPLETE;
}

int netns_each(const struct hw *hw, int (*fn)(int netns_fd, const char *path, void *arg), void *arg)
{
	struct each e = {.hw = hw, .fn = fn, .arg = arg};
	int r = leave_out_own(&e), round = 0;

	if (r == 0)
		do
			r = each_visit_all(&e);
		while (r == NETNS_INCOMPLETE && e.missed && ++round < ROUNDS_MAX);
	free(e.visited.slots);
	return r;
}
