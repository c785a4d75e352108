// SPDX-License-Identifier: Apache-2.0
#include "shim_io.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "client.h"
#include "file_io.h"
#include "folders.h"
#include "json_text.h"
#include "kill_point.h"
#include "output.h"

static void shim_append(char *to, size_t size, const char *fmt, va_list ap)
{
	size_t n = strlen(to);

	vsnprintf(to + n, size - n, fmt, ap);
}

int shim_fail(struct shim_error *e, json_int_t code, const char *fmt, ...)
{
	va_list ap;

	*e = (struct shim_error){.code = code};
	va_start(ap, fmt);
	shim_append(e->msg, sizeof(e->msg), fmt, ap);
	va_end(ap);
	return -EPROTO;
}

int shim_details(struct shim_error *e, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	shim_append(e->details, sizeof(e->details), fmt, ap);
	va_end(ap);
	return -EPROTO;
}

/* Replaces a text by a shorter one, in place. */
static void shim_replace_phrase(char *text, const char *phrase, const char *instead)
{
	size_t n = strlen(phrase), m = strlen(instead);

	for (char *at = strcasestr(text, phrase); at; at = strcasestr(at, phrase)) {
		memmove(at + m, at + n, strlen(at + n) + 1);
		for (size_t i = 0; i < m; i++)
			at[i] = instead[i];
	}
}

/* Makes the message one line without the phrases of shim_error_text(). JSON prints a line feed as
 * "\n", so a line feed before "ot found" would yield "not found" again. */
static void shim_clean(char *text)
{
	for (char *c = text; *c != '\0'; c++)
		if (iscntrl((unsigned char)*c))
			*c = ' ';
	shim_replace_phrase(text, "no such file or directory", "ENOENT");
	shim_replace_phrase(text, "not found", "absent");
}

char *shim_error_text(struct shim_error *e)
{
	json_auto_t *doc = json_object();
	char *text = NULL;

	shim_clean(e->msg);
	shim_clean(e->details);
	if (json_object_set_new(doc, "code", json_integer(e->code)) == 0 &&
	    json_object_set_new(doc, "msg", json_text(e->msg[0] ? e->msg : "unknown error")) == 0 &&
	    (e->details[0] == '\0' ||
	     json_object_set_new(doc, "details", json_text(e->details)) == 0))
		text = json_dumps(doc, JSON_INDENT(4));
	return text;
}

const char *shim_errno(int code)
{
	const char *name = strerrorname_np(code < 0 ? -code : code);

	return name ? name : "unknown error";
}

#define SHIM_NAME_SIZE	48
/* Number of attempts to create a file. The daemon may remove a file between its creation and the
 * lock, and reads the folder at each change, so it may remove several files in this way. */
#define SHIM_NAME_TRIES 100

/* Checks that only root can write to the folder: another user could forge requests to the daemon.
 */
static int shim_check_folder(int fd, const char *name, struct err *e)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_set(e, -errno, "%s: %s", name, shim_errno(errno));
	if ((st.st_uid != 0 && st.st_uid != geteuid()) || st.st_mode & (S_IWGRP | S_IWOTH))
		return err_set(e, -EPERM, "%s: users other than root can write there", name);
	return 0;
}

/* Opens and checks a folder. at: AT_FDCWD, or the folder above, in which links are not followed.
 * Returns a descriptor. */
static int shim_open_folder(int at, const char *name, struct err *e)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | (at == AT_FDCWD ? 0 : O_NOFOLLOW);
	AUTO_FD fd = openat(at, name, flags);
	int r;

	if (fd < 0 && at != AT_FDCWD && errno == ENOENT) {
		(void)mkdirat(at, name, 0700);
		fd = openat(at, name, flags);
	}
	if (fd < 0)
		return err_set(e, -errno, "%s: %s", name, shim_errno(errno));
	r = shim_check_folder(fd, name, e);
	return r < 0 ? r : take_fd(&fd);
}

static int shim_open_spool(const char *state_dir, struct err *e)
{
	char path[PATH_MAX];
	AUTO_FD state = -1;
	AUTO_FD cni = -1;

	if (snprintf(path, sizeof(path), "%s", state_dir) >= (int)sizeof(path))
		return err_set(e, -ENAMETOOLONG, "%.100s...: ENAMETOOLONG", state_dir);
	(void)make_folders(path, 0700); /* a failure shows in the next call */
	state = shim_open_folder(AT_FDCWD, state_dir, e);
	if (state < 0)
		return state;
	cni = shim_open_folder(state, "cni", e);
	return cni < 0 ? cni : shim_open_folder(cni, "del", e);
}

/* Makes a name ".RANDOM.json". It is random, because process IDs repeat in other PID namespaces. */
static int shim_new_name(char name[SHIM_NAME_SIZE])
{
	unsigned char bytes[16];
	char *out = name;

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return -EIO;
	*out++ = '.';
	for (size_t i = 0; i < sizeof(bytes); i++, out += 2)
		snprintf(out, 3, "%02x", bytes[i]);
	strcpy(out, ".json");
	return 0;
}

/* Locks the new file, because the daemon removes incomplete files that it can lock. -EAGAIN: the
 * daemon has locked and removed the file first. */
static int shim_lock(int fd)
{
	struct stat st;
	int r;

	while ((r = flock(fd, LOCK_EX)) < 0 && errno == EINTR)
		;
	if (r < 0 || fstat(fd, &st) < 0)
		return -errno;
	return st.st_nlink ? 0 : -EAGAIN;
}

/* Creates a file, which is locked until its descriptor is closed. Returns the descriptor. */
static int shim_create(int dir, char name[SHIM_NAME_SIZE])
{
	const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	int r = -EAGAIN;

	for (unsigned i = 0; i < SHIM_NAME_TRIES && r == -EAGAIN; i++) {
		AUTO_FD fd = -1;

		r = shim_new_name(name);
		if (r < 0)
			return r;
		fd = openat(dir, name, flags, 0600);
		if (fd < 0)
			return -errno;
		r = shim_lock(fd);
		if (r == 0)
			return take_fd(&fd);
		unlinkat(dir, name, 0);
	}
	return r;
}

int shim_spool_put(const char *state_dir, const char *body, struct err *e)
{
	char name[SHIM_NAME_SIZE];
	AUTO_FD dir = shim_open_spool(state_dir, e);
	AUTO_FD fd = -1;
	int r;

	if (dir < 0)
		return err_wrap(e, "%.100s", state_dir);
	fd = shim_create(dir, name);
	r = fd < 0 ? fd : file_write_all(fd, body, strlen(body));
	if (r == 0 && fsync(fd) < 0)
		r = -errno;
	kill_point("cni-spool", "before");
	if (r == 0 && renameat(dir, name, dir, name + 1) < 0)
		r = -errno;
	if (r < 0 && fd >= 0)
		unlinkat(dir, name, 0);
	if (r == 0 && fsync(dir) < 0)
		r = -errno;
	kill_point("cni-spool", "after");
	return r < 0 ? err_set(e, r, "%.100s/cni/del: %s", state_dir, shim_errno(r)) : 0;
}

#define READ_SIZE    65536
/* Maximum number of bytes that are read and dropped, so that an endless input ends. */
#define DROP_AT_MOST ((size_t)64 << 20)

void shim_io_begin(void)
{
	/* Opened for writing only, so that reading it fails. */
	if (fcntl(STDIN_FILENO, F_GETFD) < 0 && errno == EBADF)
		(void)!open("/dev/null", O_WRONLY);
	output_begin();
}

/* Returns the number of bytes read, 0 at the end; -errno. */
static ssize_t shim_read_some(char *to, size_t size, uint64_t deadline)
{
	struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};

	while (true) {
		uint64_t now = client_now_ms();
		int r = now < deadline ? poll(&p, 1, (int)(deadline - now)) : 0;
		ssize_t n;

		if (r == 0)
			return -ETIMEDOUT;
		n = r < 0 ? -1 : read(STDIN_FILENO, to, size);
		if (n >= 0)
			return n;
		if (errno != EINTR && errno != EAGAIN)
			return -errno;
	}
}

static int shim_make_room(struct shim_input *in, size_t *size, size_t max)
{
	size_t wanted = *size ? *size * 2 : READ_SIZE;
	char *text;

	if (*size - in->len > 1 || *size > max)
		return 0;
	if (wanted > max)
		wanted = max + 1; /* for the terminator */
	text = realloc(in->text, wanted);
	if (!text)
		return -ENOMEM;
	in->text = text;
	*size = wanted;
	return 0;
}

static ssize_t shim_read_more(struct shim_input *in, size_t *size, size_t max, uint64_t deadline)
{
	char dropped[READ_SIZE];
	int r = shim_make_room(in, size, max);
	ssize_t n;

	if (r < 0)
		return r;
	if (in->len == max) {
		n = shim_read_some(dropped, sizeof(dropped), deadline);
		in->too_long |= n > 0;
		return n;
	}
	n = shim_read_some(in->text + in->len, *size - in->len - 1, deadline);
	if (n > 0)
		in->len += (size_t)n;
	return n;
}

int shim_io_read(struct shim_input *ret, size_t max, uint64_t deadline, struct shim_error *e)
{
	struct shim_input in = {0};
	size_t size = 0, total = 0;
	ssize_t n;

	do {
		n = shim_read_more(&in, &size, max, deadline);
		total += n > 0 ? (size_t)n : 0;
	} while (n > 0 && total < max + DROP_AT_MOST);
	if (n < 0) {
		free(in.text);
		return shim_fail(e, SHIM_IO, "error reading from stdin: %s",
				 n == -ETIMEDOUT ? "it was not closed in time"
						 : shim_errno((int)n));
	}
	in.text[in.len] = '\0';
	*ret = in;
	return 0;
}

static int shim_write(const char *text, size_t len)
{
	while (len > 0) {
		ssize_t n = write(STDOUT_FILENO, text, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		text += n;
		len -= (size_t)n;
	}
	return 0;
}

int shim_io_print(const char *text)
{
	int r = shim_write(text, strlen(text));

	return r < 0 ? r : shim_write("\n", 1);
}
