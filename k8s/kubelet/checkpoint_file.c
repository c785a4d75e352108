// SPDX-License-Identifier: Apache-2.0
/* checkpoint_file.c - reads the file of the kubelet's checkpoint, and checks which of its pods
 * still exist. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "granted_parse.h"
#include "pod_resources.h"

#define FILE_NAME      "device-plugins/kubelet_internal_checkpoint"
#define CHECKPOINT_MAX (16u << 20)

static int checkpoint_file_read_all(int fd, char **ret, size_t *ret_len)
{
	AUTO_FREE char *text = NULL;
	struct stat st;
	size_t len = 0;
	ssize_t n;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	if (st.st_size > CHECKPOINT_MAX)
		return -EFBIG;
	text = malloc((size_t)st.st_size + 1);
	if (!text)
		return -ENOMEM;
	while ((n = read(fd, text + len, (size_t)st.st_size - len)) > 0)
		len += (size_t)n;
	if (n < 0)
		return -errno;
	*ret = take_ptr(text);
	*ret_len = len;
	return 0;
}

struct checkpoint {
	char *path, *text; /* owned */
	size_t len;
};

static void checkpoint_done(struct checkpoint *c)
{
	free(c->path);
	free(c->text);
}

#define AUTO_CHECKPOINT __attribute__((cleanup(checkpoint_done))) struct checkpoint

static bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* known may be NULL; see granted_read(). */
static int read_if_new(struct checkpoint *c, int fd, struct stat *known)
{
	struct stat st;
	int r;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (known && is_same_file(&st, known))
		return -EALREADY;
	r = checkpoint_file_read_all(fd, &c->text, &c->len);
	if (r == 0 && known)
		*known = st;
	return r;
}

static int open_and_read(struct checkpoint *c, const char *kubelet_dir, struct stat *known,
			 struct err *e)
{
	AUTO_FD fd = -1;
	int r;

	if (asprintf(&c->path, "%s/" FILE_NAME, kubelet_dir) < 0) {
		c->path = NULL;
		return err_set(e, -ENOMEM, "out of memory");
	}
	fd = open(c->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	r = fd < 0 ? -errno : read_if_new(c, fd, known);
	return r < 0 ? err_set(e, r, "%s: %s", c->path, strerror(-r)) : 0;
}

int pod_checkpoint_read(struct pod_list *ret, const char *kubelet_dir, struct err *e)
{
	AUTO_CHECKPOINT c = {0};
	int r = open_and_read(&c, kubelet_dir, NULL, e);

	if (r < 0)
		return r;
	r = pod_checkpoint_parse(ret, c.text, c.len, e);
	return r < 0 ? err_wrap(e, "%s", c.path) : r;
}

int granted_read(struct granted_list *ret, const char *kubelet_dir, struct stat *known,
		 struct err *e)
{
	AUTO_CHECKPOINT c = {0};
	int r = open_and_read(&c, kubelet_dir, known, e);

	if (r < 0)
		return r;
	r = granted_parse(ret, c.text, c.len, e);
	if (r == -ENOMEM) /* so that it is read again */
		*known = (struct stat){0};
	return r < 0 ? err_wrap(e, "%s", c.path) : r;
}

/* If unknown, the folder counts as existing. */
static bool checkpoint_file_has_folder(const char *kubelet_dir, const char *uid)
{
	AUTO_FREE char *path = NULL;

	if (uid[0] == '\0' || strchr(uid, '/'))
		return false;
	if (asprintf(&path, "%s/pods/%s", kubelet_dir, uid) < 0) {
		path = NULL;
		return true;
	}
	return access(path, F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

void pod_checkpoint_drop_gone(struct pod_list *l, const char *kubelet_dir)
{
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++)
		if (checkpoint_file_has_folder(kubelet_dir, l->devices[i].uid))
			l->devices[n++] = l->devices[i];
	l->n = n;
}
