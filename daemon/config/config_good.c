// SPDX-License-Identifier: Apache-2.0
#include "config_good.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "file_io.h"
#include "fnv.h"

#define CONFIG_GOOD_HEAD     "rocelet-config 1 %016" PRIx64 " %zu\n"
#define CONFIG_GOOD_HEAD_MAX 64

static int config_good_open(const char *state_dir, struct err *e)
{
	int fd = open(state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? err_set(e, -errno, "%s: %s", state_dir, strerror(errno)) : fd;
}

/* --- read ------------------------------------------------------------------------------------- */

static int config_good_check(int fd, uint64_t *ret_unix_ms, struct err *e)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_set(e, -errno, "%s", strerror(errno));
	if (!S_ISREG(st.st_mode))
		return err_set(e, -EPERM, "not a file");
	if (st.st_uid != geteuid() || (st.st_mode & 022))
		return err_set(e, -EPERM, "another user can write it");
	*ret_unix_ms = (uint64_t)st.st_mtim.tv_sec * 1000 + (uint64_t)st.st_mtim.tv_nsec / 1000000;
	return 0;
}

/* Moves the text to the beginning, if the head is right. */
static int config_good_unwrap(char *text, size_t *len, struct err *e)
{
	const char *end = memchr(text, '\n',
				 *len < CONFIG_GOOD_HEAD_MAX ? *len : CONFIG_GOOD_HEAD_MAX);
	size_t head = end ? (size_t)(end + 1 - text) : 0, rest = *len - head;
	char wanted[CONFIG_GOOD_HEAD_MAX];
	int n = snprintf(wanted, sizeof(wanted), CONFIG_GOOD_HEAD,
			 fnv1a(FNV1A_START, text + head, rest), rest);

	if (!head || head != (size_t)n || memcmp(text, wanted, head) != 0)
		return err_set(e, -EBADMSG, "it is not complete, or was changed");
	memmove(text, text + head, rest);
	*len = rest;
	return 0;
}

static int config_good_load(int fd, struct config_file *ret, uint64_t *ret_unix_ms, struct err *e)
{
	char *text = NULL, *grown;
	size_t len = 0;
	int r = config_good_check(fd, ret_unix_ms, e);

	if (r == 0) {
		r = file_read_heap(fd, CONFIG_FILE_MAX + CONFIG_GOOD_HEAD_MAX, &text, &len);
		if (r < 0)
			return err_set(e, r, "%s", strerror(-r));
		r = config_good_unwrap(text, &len, e);
	}
	grown = r == 0 ? realloc(text, len + 1) : NULL;
	if (!grown) {
		free(text);
		return r < 0 ? r : err_set(e, -ENOMEM, "out of memory");
	}
	grown[len] = '\0';
	*ret = (struct config_file){.text = grown, .len = len};
	return 0;
}

int config_good_read(struct config_file *ret, uint64_t *ret_unix_ms, const char *state_dir,
		     struct err *e)
{
	AUTO_FD folder = config_good_open(state_dir, e);
	AUTO_FD fd = -1;
	int r;

	if (folder < 0)
		return folder;
	fd = openat(folder, CONFIG_GOOD_FILE, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	r = fd < 0 ? err_set(e, -errno, "%s", strerror(errno))
		   : config_good_load(fd, ret, ret_unix_ms, e);
	return r < 0 ? err_wrap(e, "%.150s/" CONFIG_GOOD_FILE, state_dir) : 0;
}

/* --- write ------------------------------------------------------------------------------------ */

static bool config_good_has(const char *state_dir, const char *text, size_t len)
{
	struct config_file kept = {0};
	uint64_t unix_ms;
	struct err e;
	bool same = config_good_read(&kept, &unix_ms, state_dir, &e) == 0 && kept.text &&
		    kept.len == len && memcmp(kept.text, text, len) == 0;

	config_file_done(&kept);
	return same;
}

/* Writes another file first. What is in its place, of a crash or another process, is removed. */
static int config_good_put(int folder, const char *text, size_t len)
{
	static const char temp[] = CONFIG_GOOD_FILE ".new";
	AUTO_FD fd = -1;
	char head[CONFIG_GOOD_HEAD_MAX];
	int n = snprintf(head, sizeof(head), CONFIG_GOOD_HEAD, fnv1a(FNV1A_START, text, len), len);
	int r;

	(void)unlinkat(folder, temp, 0);
	fd = openat(folder, temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	r = file_write_all(fd, head, (size_t)n);
	if (r == 0)
		r = file_write_all(fd, text, len);
	if (r == 0 && (fsync(fd) < 0 || renameat(folder, temp, folder, CONFIG_GOOD_FILE) < 0))
		r = -errno;
	if (r < 0)
		(void)unlinkat(folder, temp, 0);
	return r;
}

int config_good_write(const char *state_dir, const char *text, size_t len, struct err *e)
{
	AUTO_FD folder = -1;
	int r;

	if (config_good_has(state_dir, text, len))
		return 0;
	(void)mkdir(state_dir, 0700); /* open() reports why it does not exist */
	folder = config_good_open(state_dir, e);
	if (folder < 0)
		return folder;
	r = config_good_put(folder, text, len);
	if (r < 0)
		(void)unlinkat(folder, CONFIG_GOOD_FILE, 0);
	if (fsync(folder) < 0 && r == 0)
		r = -errno;
	return r < 0 ? err_set(e, r, "%.150s/" CONFIG_GOOD_FILE ": %s", state_dir, strerror(-r))
		     : 0;
}

int config_good_remove(const char *state_dir, struct err *e)
{
	AUTO_FD folder = config_good_open(state_dir, e);

	if (folder < 0)
		return folder;
	if (unlinkat(folder, CONFIG_GOOD_FILE, 0) < 0 && errno != ENOENT)
		return err_set(e, -errno, "%.150s/" CONFIG_GOOD_FILE ": %s", state_dir,
			       strerror(errno));
	return 0;
}
