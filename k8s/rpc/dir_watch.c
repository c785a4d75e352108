// SPDX-License-Identifier: Apache-2.0
/* dir_watch.c - inotify on a folder and on every folder on its path.
 *
 * An event in the folder itself is reported as a hint with a name. If a folder on the path was
 * created, deleted, moved or replaced, or if events were lost, the path is walked again and a hint
 * without a name is reported. If watches run out, this is retried every second. */
#include "dir_watch.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

#include "array.h"
#include "cleanup.h"
#include "timer.h"

#define WATCH_GONE (IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)
#define WATCH_PATH (IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | WATCH_GONE)
#define WATCH_DIR  (WATCH_PATH | IN_CLOSE_WRITE | IN_ATTRIB)

#define LINKS_MAX 40 /* like the kernel's MAXSYMLINKS in linux/include/linux/namei.h */
#define RETRY_MS  1000
/* Reads per wake-up of the loop, so that an event storm cannot block it. */
#define READS_MAX 16

/* A folder on the path. If its entry `next` changes, the path may lead to another folder. */
struct step {
	int wd;
	char *next; /* owned; NULL: this is the folder itself */
};

struct dir_watch {
	char *dir;
	int fd;
	uv_poll_t poll;
	struct timer retry;
	struct step *steps;
	size_t n_steps;
	dir_watch_fn *fn;
	void *arg;
	bool closed;
};

/* --- walking the path ------------------------------------------------------------------------- */

/* A path being walked: the current position, and the rest. */
struct walk {
	char at[PATH_MAX], rest[PATH_MAX];
	unsigned n_links;
};

/* Removes the next name from the rest. */
static bool next_name(struct walk *w, char name[NAME_MAX + 1])
{
	size_t skip = strspn(w->rest, "/"), len = strcspn(w->rest + skip, "/");

	if (len == 0 || len > NAME_MAX)
		return false;
	memcpy(name, w->rest + skip, len);
	name[len] = '\0';
	memmove(w->rest, w->rest + skip + len, strlen(w->rest + skip + len) + 1);
	return true;
}

/* Joins dir, "/" and name; false = too long. */
static bool join_path(char ret[PATH_MAX], const char *dir, const char *name)
{
	const char *slash = dir[0] && dir[strlen(dir) - 1] != '/' ? "/" : "";

	return snprintf(ret, PATH_MAX, "%s%s%s", dir, slash, name) < PATH_MAX;
}

/* Enters the name, or prepends its link target to the rest. */
static int enter_name(struct walk *w, const char *name)
{
	char path[PATH_MAX], link[PATH_MAX], rest[PATH_MAX];
	ssize_t len;

	if (!join_path(path, w->at, name))
		return -ENAMETOOLONG;
	len = readlink(path, link, sizeof(link) - 1);
	if (len < 0 && errno != EINVAL)
		return -errno;
	if (len < 0) { /* not a link */
		strcpy(w->at, path);
		return 0;
	}
	link[len] = '\0';
	if (++w->n_links > LINKS_MAX)
		return -ELOOP;
	if (!join_path(rest, link, w->rest))
		return -ENAMETOOLONG;
	strcpy(w->rest, rest);
	if (link[0] == '/')
		strcpy(w->at, "/");
	return 0;
}

/* Watches the folder at the current position. */
static int add_step(struct dir_watch *w, const char *at, const char *next)
{
	struct step *s = array_push(w->steps, w->n_steps);

	if (!s)
		return -ENOMEM;
	/* A folder that is on the path twice has only one watch, with the later mask; the last one
	 * is the largest. */
	s->wd = inotify_add_watch(w->fd, at, next ? WATCH_PATH : WATCH_DIR);
	if (s->wd < 0) {
		w->n_steps--;
		return -errno;
	}
	s->next = next ? strdup(next) : NULL;
	return next && !s->next ? -ENOMEM : 0;
}

/* True if the rest of the path does not exist. Then the last watch reports the creation of the next
 * name. */
static bool dir_watch_is_missing(int code)
{
	return code == -ENOENT || code == -ENOTDIR || code == -ELOOP;
}

static int dir_watch_walk_path(struct dir_watch *w, struct walk *walk)
{
	char name[NAME_MAX + 1];
	bool more;
	int r;

	do {
		more = next_name(walk, name);
		if (!more && walk->rest[strspn(walk->rest, "/")] != '\0')
			return -ENAMETOOLONG;
		/* Watch before reading, so that a change in between is an event. */
		r = add_step(w, walk->at, more ? name : NULL);
		if (r == -EACCES && more)
			r = 0; /* can be entered, but not watched */
		if (r == 0 && more)
			r = enter_name(walk, name);
	} while (r == 0 && more);
	return dir_watch_is_missing(r) && w->n_steps > 0 ? 0 : r;
}

static void drop_steps(struct dir_watch *w)
{
	for (size_t i = 0; i < w->n_steps; i++) {
		inotify_rm_watch(w->fd, w->steps[i].wd); /* may have been removed with its folder */
		free(w->steps[i].next);
	}
	free(take_ptr(w->steps));
	w->n_steps = 0;
}

/* Walks the path again with new watches. Queued events of old watches match no new one, because the
 * kernel reuses numbers only after 2^31 others. */
static int dir_watch_reopen(struct dir_watch *w)
{
	struct walk *walk = calloc(1, sizeof(*walk));
	int r;

	drop_steps(w);
	if (!walk)
		return -ENOMEM;
	strcpy(walk->at, w->dir[0] == '/' ? "/" : ".");
	strcpy(walk->rest, w->dir);
	r = dir_watch_walk_path(w, walk);
	free(walk);
	return r;
}

/* --- events ----------------------------------------------------------------------------------- */

static void path_changed(struct dir_watch *w)
{
	if (dir_watch_reopen(w) < 0)
		timer_in(&w->retry, RETRY_MS);
	w->fn(NULL, w->arg);
}

static void on_retry(void *arg)
{
	path_changed(arg);
}

/* True if the event is about the path itself. */
static bool is_on_path(const struct step *s, const struct inotify_event *ev, const char *name)
{
	if (ev->mask & (IN_IGNORED | IN_UNMOUNT | IN_DELETE_SELF | IN_MOVE_SELF))
		return true;
	return s->next && name && strcmp(s->next, name) == 0 &&
	       !(ev->mask & (IN_ATTRIB | IN_CLOSE));
}

/* Handles one event: delivers a hint with a name at once. Returns whether the path has to be walked
 * again. */
static bool apply_event(struct dir_watch *w, const struct inotify_event *ev)
{
	const char *name = ev->len ? ev->name : NULL;
	bool in_dir = false, on_path = ev->mask & IN_Q_OVERFLOW;

	for (size_t i = 0; i < w->n_steps; i++) {
		if (w->steps[i].wd != ev->wd)
			continue;
		on_path |= is_on_path(&w->steps[i], ev, name);
		in_dir |= !w->steps[i].next && name;
	}
	if (in_dir)
		w->fn(name, w->arg);
	return on_path;
}

/* Reads events once. Returns whether there may be more. */
static bool read_events(struct dir_watch *w, bool *on_path)
{
	char buf[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
	ssize_t len = read(w->fd, buf, sizeof(buf));

	for (ssize_t at = 0; at < len && !w->closed;) {
		const struct inotify_event *ev = (void *)(buf + at);

		*on_path |= apply_event(w, ev);
		at += (ssize_t)(sizeof(*ev) + ev->len);
	}
	return len > 0 && !w->closed;
}

static void dir_watch_on_readable(uv_poll_t *poll, int status, int events)
{
	struct dir_watch *w = poll->data;
	bool on_path = false;

	(void)status, (void)events;
	for (int i = 0; i < READS_MAX && read_events(w, &on_path); i++)
		continue;
	if (on_path && !w->closed)
		path_changed(w);
}

/* --- life ------------------------------------------------------------------------------------- */

static void dir_watch_free(struct dir_watch *w)
{
	if (w->fd >= 0)
		close(w->fd); /* this also removes all watches */
	for (size_t i = 0; i < w->n_steps; i++)
		free(w->steps[i].next);
	free(w->steps);
	free(w->dir);
	free(w);
}

static void on_retry_closed(void *arg)
{
	dir_watch_free(arg);
}

static void dir_watch_on_poll_closed(uv_handle_t *poll)
{
	struct dir_watch *w = poll->data;

	timer_close(&w->retry, on_retry_closed);
}

void dir_watch_close(struct dir_watch *w)
{
	if (!w || w->closed)
		return;
	w->closed = true;
	timer_at(&w->retry, TIMER_NEVER);
	uv_close((uv_handle_t *)&w->poll, dir_watch_on_poll_closed);
}

static const char *dir_watch_limit(int code)
{
	return code == -EMFILE	 ? " (fs.inotify.max_user_instances)"
	       : code == -ENOSPC ? " (fs.inotify.max_user_watches)"
				 : "";
}

/* Opens inotify and walks the path. Called before the handles are in the loop. */
static int start_watch(struct dir_watch *w, const char *dir)
{
	if (dir[0] == '\0')
		return -EINVAL;
	if (strlen(dir) >= PATH_MAX)
		return -ENAMETOOLONG;
	w->dir = strdup(dir);
	if (!w->dir)
		return -ENOMEM;
	w->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	return w->fd < 0 ? -errno : dir_watch_reopen(w);
}

int dir_watch_open(struct dir_watch **ret, struct uv_loop_s *loop, const char *dir,
		   dir_watch_fn *fn, void *arg, struct err *e)
{
	struct dir_watch *w = calloc(1, sizeof(*w));
	int r;

	if (!w)
		return err_set(e, -ENOMEM, "out of memory");
	w->fd = -1;
	w->fn = fn;
	w->arg = arg;
	r = start_watch(w, dir);
	if (r == 0)
		r = uv_poll_init(loop, &w->poll, w->fd);
	if (r < 0) {
		dir_watch_free(w);
		return err_set(e, r, "cannot watch \"%s\": %s%s", dir, strerror(-r),
			       dir_watch_limit(r));
	}
	timer_init(&w->retry, loop, on_retry, w);
	w->poll.data = w;
	uv_poll_start(&w->poll, UV_READABLE, dir_watch_on_readable);
	*ret = w;
	return 0;
}
