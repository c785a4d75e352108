// SPDX-License-Identifier: Apache-2.0
/* config_watch.c - one dir_watch for the folder of the path, and one for each symlink that the file
 * resolves to; dir_watch handles links among the folders.
 *
 * A change of a watched name starts the timer; when it fires, the links are resolved again and the
 * callback is called. If inotify instances or watches run out, that is logged and retried every
 * second; the existing watches keep working. */
#include "config_watch.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cleanup.h"
#include "dir_watch.h"
#include "log.h"
#include "timer.h"

/* A kubelet replaces a ConfigMap with several renames, an editor saves with several writes. */
#define SETTLE_MS 50
#define RETRY_MS  1000
/* Maximum chain of links to links; the kernel follows 40. */
#define LINKS_MAX 8

/* A watched name: the path, or the target of a link at the end of it. */
struct link {
	struct config_watch *owner;
	char *path;
	const char *base; /* its last component, points into path */
	struct dir_watch *dir;
};

struct config_watch {
	uv_loop_t *loop;
	struct timer settle;
	struct link links[LINKS_MAX];
	size_t n_links;
	bool hinted;   /* something changed since fn was last called */
	bool retrying; /* a link could not be watched */
	bool closing;
	config_watch_fn *fn;
	void *arg;
};

static void config_watch_on_hint(const char *name, void *arg)
{
	struct link *l = arg;

	if (name && strcmp(name, l->base) != 0)
		return;
	l->owner->hinted = true;
	/* The first hint sets the timer, later ones do not extend it, so that a long burst of
	 * changes cannot delay it. A pending retry cannot either. */
	timer_within(&l->owner->settle, SETTLE_MS);
}

/* --- the links -------------------------------------------------------------------------------- */

static void drop_link(struct link *l)
{
	dir_watch_close(l->dir);
	free(l->path);
	memset(l, 0, sizeof(*l));
}

static void drop_links(struct config_watch *w, size_t from)
{
	while (w->n_links > from)
		drop_link(&w->links[--w->n_links]);
}

/* Returns the folder of a path, on the heap; *ret_base is the rest. */
static char *path_split(const char *path, const char **ret_base)
{
	const char *slash = strrchr(path, '/');

	*ret_base = slash ? slash + 1 : path;
	if (!slash)
		return strdup(".");
	return slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
}

/* Reads the target of a link. 1 = it is a link, 0 = it is not (or does not exist), or -ENOMEM,
 * -ENAMETOOLONG. */
static int target_of(const char *path, char *buf, size_t len)
{
	char target[PATH_MAX];
	ssize_t n = readlink(path, target, sizeof(target) - 1);
	const char *base;
	char *dir;
	int r;

	if (n <= 0)
		return 0;
	target[n] = '\0';
	dir = path_split(path, &base);
	if (!dir)
		return -ENOMEM;
	r = target[0] == '/' ? snprintf(buf, len, "%s", target)
			     : snprintf(buf, len, "%s/%s", dir, target);
	free(dir);
	return (size_t)r < len ? 1 : -ENAMETOOLONG;
}

static int watch_link(struct config_watch *w, size_t i, const char *path, struct err *e)
{
	struct link *l = &w->links[i];
	AUTO_FREE char *dir = NULL;
	int r;

	l->owner = w;
	l->path = strdup(path);
	dir = l->path ? path_split(l->path, &l->base) : NULL;
	r = dir ? dir_watch_open(&l->dir, w->loop, dir, config_watch_on_hint, l, e)
		: err_set(e, -ENOMEM, "out of memory");
	w->n_links = i + 1;
	if (r < 0)
		drop_links(w, i);
	return r;
}

/* Watches each path of the chain before following it further, so that any later change is a
 * hint. */
static int links_follow(struct config_watch *w, struct err *e)
{
	char path[2 * PATH_MAX];

	for (size_t i = 1; i < LINKS_MAX; i++) {
		int r = target_of(w->links[i - 1].path, path, sizeof(path));

		if (r < 0)
			return err_set(e, r, "cannot read the target of a link: %s", strerror(-r));
		if (r == 0) {
			drop_links(w, i);
			return 0;
		}
		if (i < w->n_links && strcmp(w->links[i].path, path) == 0)
			continue;
		drop_links(w, i);
		r = watch_link(w, i, path, e);
		if (r < 0)
			return r;
	}
	return 0;
}

static void on_settled(void *arg)
{
	struct config_watch *w = arg;
	bool logged = w->retrying;
	struct err e = {0};

	w->retrying = links_follow(w, &e) < 0;
	if (w->retrying) {
		if (!logged)
			log_warn("config", 0, "%s: %s, trying again", w->links[0].path, e.msg);
		timer_in(&w->settle, RETRY_MS);
	}
	/* If a link could not be watched, fn is called again once it can. */
	if (!w->hinted && w->retrying)
		return;
	w->hinted = false;
	w->fn(w->arg);
}

/* --- open and close --------------------------------------------------------------------------- */

static void config_watch_free(void *arg)
{
	struct config_watch *w = arg;

	drop_links(w, 0);
	free(w);
}

void config_watch_close(struct config_watch *w)
{
	if (!w || w->closing)
		return;
	w->closing = true;
	for (size_t i = 0; i < w->n_links; i++) {
		dir_watch_close(w->links[i].dir);
		w->links[i].dir = NULL;
	}
	timer_close(&w->settle, config_watch_free);
}

int config_watch_open(struct config_watch **ret, struct uv_loop_s *loop, const char *path,
		      config_watch_fn *fn, void *arg, struct err *e)
{
	struct config_watch *w = calloc(1, sizeof(*w));
	int r;

	if (!w)
		return err_set(e, -ENOMEM, "out of memory");
	w->loop = loop;
	w->fn = fn;
	w->arg = arg;
	timer_init(&w->settle, loop, on_settled, w);
	r = watch_link(w, 0, path, e);
	if (r == 0)
		r = links_follow(w, e);
	if (r < 0) {
		config_watch_close(w);
		return r;
	}
	*ret = w;
	return 0;
}
