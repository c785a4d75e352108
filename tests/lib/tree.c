#include "tree.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void must(int ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	abort();
}

void tree_init(struct tree *t)
{
	snprintf(t->path, sizeof(t->path), "/tmp/rocelet-test-XXXXXX");
	must(mkdtemp(t->path) != NULL, t->path);
	t->fd = open(t->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	must(t->fd >= 0, t->path);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

void tree_done(struct tree *t)
{
	close(t->fd);
	nftw(t->path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void make_parents(int fd, char *path)
{
	for (char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdirat(fd, path, 0755);
		*slash = '/';
	}
}

void tree_write(struct tree *t, const char *text, const char *path_fmt, ...)
{
	size_t n = strlen(text);
	char path[256];
	va_list ap;
	int fd;

	va_start(ap, path_fmt);
	vsnprintf(path, sizeof(path), path_fmt, ap);
	va_end(ap);
	make_parents(t->fd, path);
	fd = openat(t->fd, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	must(fd >= 0, path);
	must(write(fd, text, n) == (ssize_t)n, path);
	close(fd);
}

void tree_remove(struct tree *t, const char *path_fmt, ...)
{
	char path[256];
	va_list ap;

	va_start(ap, path_fmt);
	vsnprintf(path, sizeof(path), path_fmt, ap);
	va_end(ap);
	must(unlinkat(t->fd, path, 0) == 0 || unlinkat(t->fd, path, AT_REMOVEDIR) == 0, path);
}
