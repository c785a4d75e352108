// SPDX-License-Identifier: Apache-2.0
/* journal.c - the journal's files: one per device, created once and then overwritten in place. */
#include "journal.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "file_io.h"
#include "folders.h"

#define FILE_SIZE (2 * JOURNAL_BLOCK)

static const char folder[] = "devices", set_aside[] = ".bad", unfinished[] = ".new";

struct journal {
	int dir_fd;
	char *path; /* of the folder, for messages */
	bool read_only;
};

/* --- the folder ------------------------------------------------------------------------------- */

static int journal_open_folder(struct journal *j, const char *state_dir, struct err *e)
{
	int made;

	if (asprintf(&j->path, "%s/%s", state_dir, folder) < 0) {
		j->path = NULL;
		return err_set(e, -ENOMEM, "journal: out of memory");
	}
	made = j->read_only ? 0 : make_folders(j->path, 0700);
	/* A link is not followed: its target is not ours, and files there could be renamed or
	 * deleted. */
	j->dir_fd = open(j->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (j->dir_fd < 0) {
		int r = made < 0 ? made : -errno;

		return err_set(e, r, "journal: %s %s: %s", j->read_only ? "opening" : "making",
			       j->path, strerror(-r));
	}
	return 0;
}

/* Returns 1 if the folder is not writable; this must be known before the first attach. */
static int only_read(const struct journal *j, struct err *e)
{
	if (j->read_only || faccessat(j->dir_fd, ".", W_OK, AT_EACCESS) == 0)
		return 0;
	err_set(e, -errno, "journal: writing to %s: %s", j->path, strerror(errno));
	return 1;
}

static int journal_open_folder_as(struct journal **ret, const char *state_dir, bool read_only,
				  struct err *e)
{
	struct journal *j = calloc(1, sizeof(*j));
	int r;

	if (!j)
		return err_set(e, -ENOMEM, "journal: out of memory");
	j->dir_fd = -1;
	j->read_only = read_only;
	r = journal_open_folder(j, state_dir, e);
	if (r < 0) {
		journal_close(j);
		return r;
	}
	*ret = j;
	return only_read(j, e);
}

int journal_open(struct journal **ret, const char *state_dir, struct err *e)
{
	return journal_open_folder_as(ret, state_dir, false, e);
}

int journal_open_existing(struct journal **ret, const char *state_dir, struct err *e)
{
	return journal_open_folder_as(ret, state_dir, true, e);
}

void journal_close(struct journal *j)
{
	if (!j)
		return;
	if (j->dir_fd >= 0)
		close(j->dir_fd);
	free(j->path);
	free(j);
}

/* A container's mount still leads to a removed folder, whose link count is then 0. */
bool journal_is_removed(const struct journal *j)
{
	struct stat at, own;

	if (fstat(j->dir_fd, &own) < 0)
		return false;
	if (lstat(j->path, &at) < 0)
		return errno == ENOENT || errno == ENOTDIR;
	return own.st_nlink == 0 || at.st_ino != own.st_ino || at.st_dev != own.st_dev;
}

/* --- one file --------------------------------------------------------------------------------- */

static int journal_failed(const struct journal *j, const char *what, const char *name, int r,
			  struct err *e)
{
	return err_set(e, r, "journal: %s %s/%s: %s", what, j->path, name, strerror(-r));
}

static int write_block(int fd, const uint8_t *block, off_t at)
{
	size_t done = 0;

	while (done < JOURNAL_BLOCK) {
		ssize_t n = pwrite(fd, block + done, JOURNAL_BLOCK - done, at + (off_t)done);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0)
			done += (size_t)n;
	}
	return 0;
}

static int fill_new(int fd, const uint8_t *block)
{
	int r = posix_fallocate(fd, 0, FILE_SIZE);

	if (r)
		return -r;
	r = write_block(fd, block, 0);
	return r == 0 && fsync(fd) < 0 ? -errno : r;
}

/* Creates the file and flushes its first block; on failure, no file remains. */
static int create(const struct journal *j, const char *name, const uint8_t *block, struct err *e)
{
	char temp[JOURNAL_KEY_SIZE + sizeof(unfinished)];
	AUTO_FD fd = -1;
	int r;

	snprintf(temp, sizeof(temp), "%s%s", name, unfinished);
	fd = openat(j->dir_fd, temp,
		    O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	if (fd < 0)
		return journal_failed(j, "making", temp, -errno, e);
	r = fill_new(fd, block);
	if (r == 0 && renameat(j->dir_fd, temp, j->dir_fd, name) < 0)
		r = -errno;
	if (r < 0) {
		unlinkat(j->dir_fd, temp, 0);
		return journal_failed(j, "writing", temp, r, e);
	}
	if (fsync(j->dir_fd) < 0) {
		r = -errno;
		unlinkat(j->dir_fd, name, 0);
		return journal_failed(j, "flushing", name, r, e);
	}
	return 0;
}

/* Erases a block that could not be written or flushed, so that it never counts as valid. */
static void wipe(int fd, off_t at)
{
	uint8_t blank[JOURNAL_BLOCK];

	memset(blank, '\n', sizeof(blank));
	write_block(fd, blank, at);
}

/* Overwrites the older block. */
static int write_over(const struct journal *j, const char *name, int fd, const uint8_t *block,
		      uint64_t serial, bool durable, struct err *e)
{
	off_t at = serial % 2 ? 0 : JOURNAL_BLOCK;
	int r = write_block(fd, block, at);

	if (r == 0 && durable && fdatasync(fd) < 0)
		r = -errno;
	if (r < 0) {
		wipe(fd, at);
		return journal_failed(j, "writing", name, r, e);
	}
	return 0;
}

static int encode(const struct journal *j, const char *name, uint8_t *block, uint64_t serial,
		  const struct attach_record *r, struct err *e)
{
	int code = journal_encode(block, serial, r, e);

	if (code < 0)
		err_wrap(e, "journal: a record for %s/%s", j->path, name);
	return code;
}

static int last_serial(const struct journal *j, const char *name, int fd, uint64_t *ret,
		       struct err *e)
{
	uint8_t bytes[FILE_SIZE + 1]; /* one more than a valid file has, to detect larger ones */
	ssize_t n = file_read_all(fd, bytes, FILE_SIZE + 1);
	int r;

	if (n < 0)
		return journal_failed(j, "reading", name, (int)n, e);
	r = journal_serial(bytes, (size_t)n, ret, e);
	return r < 0 ? err_wrap(e, "journal: %s/%s", j->path, name) : 0;
}

/* Result of a write without a journal. A return needs no record, because the next start finds the
 * mark. */
static int unwritten(const struct attach_record *r, struct err *e)
{
	if (r->state == ATTACH_FREE || r->state == ATTACH_RETURNING)
		return 0;
	return err_set(e, -EROFS, "journal: not open");
}

/* Returns the record without the original state. A free device does not need it, and a large
 * original state could make the write fail. */
static struct attach_record without_past(const struct attach_record *r)
{
	struct attach_record ret = {.state = r->state, .serial = r->serial};

	ret.plan.kind = r->plan.kind;
	memcpy(ret.resource, r->resource, sizeof(ret.resource));
	memcpy(ret.id, r->id, sizeof(ret.id));
	memcpy(ret.function, r->function, sizeof(ret.function));
	return ret;
}

static int encode_record(const struct journal *j, const char *name, uint8_t *block, uint64_t serial,
			 const struct attach_record *r, struct err *e)
{
	struct attach_record brief;

	if (r->state != ATTACH_FREE)
		return encode(j, name, block, serial, r, e);
	brief = without_past(r);
	return encode(j, name, block, serial, &brief, e);
}

/* Fails if the folder was removed or renamed meanwhile: the next start would not find the
 * record. */
static int check_place(const struct journal *j, const char *name, struct err *e)
{
	if (!journal_is_removed(j))
		return 0;
	return err_set(e, -ENOENT, "journal: writing %s/%s: the folder was removed or renamed",
		       j->path, name);
}

int journal_write(struct journal *j, const struct attach_record *r, bool durable, struct err *e)
{
	uint8_t block[JOURNAL_BLOCK];
	char name[JOURNAL_KEY_SIZE];
	uint64_t serial = 0;
	AUTO_FD fd = -1;
	int code = 0;

	if (!j || j->read_only)
		return unwritten(r, e);
	journal_key(r, name);
	fd = openat(j->dir_fd, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 && errno != ENOENT)
		return journal_failed(j, "opening", name, -errno, e);
	if (fd >= 0)
		code = last_serial(j, name, fd, &serial, e);
	if (code == 0)
		code = encode_record(j, name, block, serial + 1, r, e);
	if (code == 0)
		code = fd < 0 ? create(j, name, block, e)
			      : write_over(j, name, fd, block, serial + 1, durable, e);
	return code < 0 ? code : check_place(j, name, e);
}

int journal_probe(struct journal *j, struct err *e)
{
	static const char name[] = "probe.new"; /* has the suffix `unfinished`: a walk removes it */
	uint8_t block[JOURNAL_BLOCK];
	AUTO_FD fd = openat(j->dir_fd, name,
			    O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
			    0600);
	int r;

	if (fd < 0)
		return journal_failed(j, "making", name, -errno, e);
	memset(block, '\n', sizeof(block));
	r = fill_new(fd, block);
	if (unlinkat(j->dir_fd, name, 0) < 0 && r == 0)
		r = -errno;
	if (r == 0 && fsync(j->dir_fd) < 0)
		r = -errno;
	return r < 0 ? journal_failed(j, "writing", name, r, e) : 0;
}

/* --- all records ------------------------------------------------------------------------------ */

struct walk {
	struct journal *j;
	journal_fn *fn;
	journal_bad_fn *bad;
	void *arg;
	uint8_t *bytes;
	struct attach_record *record;
};

static bool journal_ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), n_end = strlen(end);

	return n >= n_end && strcmp(s + n - n_end, end) == 0;
}

static int read_record(const struct walk *w, int fd, const char *name, struct err *e)
{
	ssize_t n = file_read_all(fd, w->bytes, FILE_SIZE + 1);
	char key[JOURNAL_KEY_SIZE];
	uint64_t serial;
	int r;

	if (n < 0)
		return err_set(e, (int)n, "it cannot be read: %s", strerror((int)-n));
	if (n > FILE_SIZE)
		return err_set(e, -EBADMSG, "it is too large");
	r = journal_decode(w->bytes, (size_t)n, w->record, &serial, e);
	if (r < 0)
		return r;
	journal_key(w->record, key);
	return strcmp(key, name) != 0
		       ? err_set(e, -EBADMSG, "it has the record of another device, %s", key)
		       : 0;
}

/* Renames an invalid file, so that it is not overwritten. A newer rocelet's file keeps its name:
 * that version needs it. */
static void report_bad(const struct walk *w, const char *name, struct err *e)
{
	char aside[NAME_MAX + sizeof(set_aside)];

	err_wrap(e, "journal: %s/%s", w->j->path, name);
	snprintf(aside, sizeof(aside), "%s%s", name, set_aside);
	if (!w->j->read_only && (e->code == -EBADMSG || e->code == -ENODATA))
		renameat(w->j->dir_fd, name, w->j->dir_fd, aside);
	w->bad(name, e, w->arg);
}

static int journal_visit(const struct walk *w, const char *name)
{
	AUTO_FD fd = openat(w->j->dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct err e = {0};
	struct stat st;
	int r;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	r = read_record(w, fd, name, &e);
	if (r == -ENOMEM)
		return r;
	if (r < 0) {
		if (w->bad)
			report_bad(w, name, &e);
		return 0;
	}
	r = w->fn(w->record, w->arg);
	if (r > 0 && !w->j->read_only)
		unlinkat(w->j->dir_fd, name, 0);
	return r;
}

/* Opens the folder again: the position of the journal's descriptor is shared. */
static int walk_folder(const struct walk *w, struct err *e)
{
	AUTO_FD fd = openat(w->j->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_DIR dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	int r = 0;

	if (!dir)
		return journal_failed(w->j, "reading", ".", -errno, e);
	(void)take_fd(&fd);
	while (r >= 0 && (entry = readdir(dir))) {
		const char *name = entry->d_name;
		bool left = journal_ends_with(name, unfinished);

		if (left && !w->j->read_only)
			unlinkat(w->j->dir_fd, name, 0);
		else if (!left && name[0] != '.' && !journal_ends_with(name, set_aside))
			r = journal_visit(w, name);
	}
	return r < 0 ? r : 0;
}

bool journal_has(const char *state_dir, const struct attach_record *r)
{
	char name[JOURNAL_KEY_SIZE], path[PATH_MAX];
	int n;

	journal_key(r, name);
	n = snprintf(path, sizeof(path), "%s/%s/%s%s", state_dir, folder, name, set_aside);
	if (n < 0 || (size_t)n >= sizeof(path))
		return false;
	if (access(path, F_OK) == 0)
		return true;
	path[(size_t)n - strlen(set_aside)] = '\0';
	return access(path, F_OK) == 0;
}

int journal_each(struct journal *j, journal_fn *fn, journal_bad_fn *bad, void *arg, struct err *e)
{
	uint8_t bytes[FILE_SIZE + 1];
	struct attach_record record = {0};
	const struct walk w = {j, fn, bad, arg, bytes, &record};

	return walk_folder(&w, e);
}

static int is_free(const struct attach_record *r, void *arg)
{
	(void)arg;
	return r->state == ATTACH_FREE;
}

void journal_sweep(struct journal *j)
{
	struct err ignored;

	if (!j->read_only)
		journal_each(j, is_free, NULL, NULL, &ignored);
}
