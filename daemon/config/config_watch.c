/* config_watch.c - one dir_watch for the folder of the path, and one more for each symlink that the
 * file turns out to be; links among the folders are dir_watch's business.
 *
 * Happy path: a hint about one of the names arms the timer; when it fires the links are followed
 * anew, first of all, and then our owner is told.
 * Can fail by: running out of inotify instances or watches later on (logged, tried again each
 * second; the watches that could be made work). */
#include "config_watch.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cleanup.h"
#include "dir_watch.h"
#include "due.h"
#include "log.h"

/* A kubelet swaps a ConfigMap with several renames, an editor saves with several writes. */
#define SETTLE_MS 50
#define RETRY_MS  1000
/* A file that is a link to a link to ...; the kernel follows 40. */
#define LINKS_MAX 8

/* One name that may change: the path, or what a link at the end of it points to. */
struct link {
	struct config_watch *owner;
	char *path;
	const char *base; /* its last part, in path */
	struct dir_watch *dir;
};

struct config_watch {
	uv_loop_t *loop;
	struct due settle;
	struct link links[LINKS_MAX];
	size_t n_links;
	bool hinted;   /* something moved since fn was last called */
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
	/* The first arms it, the others ride along: a lasting storm postpones nothing. A retry
	 * that waits already is not to hold this up. */
	due_within(&l->owner->settle, SETTLE_MS);
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

/* The folder of a path, heap; *ret_base is the rest of it. */
static char *path_split(const char *path, const char **ret_base)
{
	const char *slash = strrchr(path, '/');

	*ret_base = slash ? slash + 1 : path;
	if (!slash)
		return strdup(".");
	return slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
}

/* What a path points to. 1 = it is a link, 0 = it is none (or not there), or -ENOMEM,
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

/* Watches each path on the way that is not watched yet, before it is followed further: what changes
 * after that look is a hint. */
static int links_follow(struct config_watch *w, struct err *e)
{
	char path[2 * PATH_MAX];

	for (size_t i = 1; i < LINKS_MAX; i++) {
		int r = target_of(w->links[i - 1].path, path, sizeof(path));

		if (r < 0)
			return err_set(e, r, "where it points to: %s", strerror(-r));
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
	bool told = w->retrying;
	struct err e = {0};

	w->retrying = links_follow(w, &e) < 0;
	if (w->retrying) {
		if (!told)
			log_warn("config", 0, "%s: %s, trying again", w->links[0].path, e.msg);
		due_in(&w->settle, RETRY_MS);
	}
	/* What is not watched is looked at once more when it is. */
	if (!w->hinted && w->retrying)
		return;
	w->hinted = false;
	w->fn(w->arg);
}

/* --- life ------------------------------------------------------------------------------------- */

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
	due_close(&w->settle, config_watch_free);
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
	due_init(&w->settle, loop, on_settled, w);
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
