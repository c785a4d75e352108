// SPDX-License-Identifier: Apache-2.0
/* cni_left.c - at start and after each change of the folder, passes each file as a request to
 * cni_door, and removes it when the reply is {}.
 *
 * A file that is not a DEL is moved to bad/. If the engine fails, the file is retried with backoff.
 * If the folder cannot be read, it is retried on the next change or after LEFT_RESCAN_MS. */
#include "cni_left.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

#include "attachment_set.h"
#include "cleanup.h"
#include "cni.h"
#include "cni_door.h"
#include "dir_watch.h"
#include "file_io.h"
#include "log.h"
#include "timer.h"

#define LEFT_FIRST_MS	    1000
#define LEFT_LAST_MS	    300000
/* Maximum number of requests in progress. */
#define LEFT_AT_ONCE	    32
#define LEFT_RESCAN_MS	    60000
/* Maximum number of incomplete files that one scan examines. */
#define LEFT_INCOMPLETE_MAX 64

struct left_file {
	struct left_file *next;
	struct cni_left *left;
	char name[NAME_MAX + 1];
	/* Of its DEL; "": not read yet, or not a DEL. */
	char container[SANDBOX_ID_SIZE], ifname[IFNAMSIZ];
	bool is_busy, is_there;
	unsigned tries;
	uint64_t retry_ms;
};

struct cni_left {
	uv_loop_t *loop;
	struct cni_door *door;
	char dir[PATH_MAX], bad[PATH_MAX];
	struct dir_watch *watch;
	struct timer timer;
	struct left_file *files; /* files in progress, or to be retried */
	unsigned n_busy;
	bool closing, closed;
};

/* --- end -------------------------------------------------------------------------------------- */

static void left_release(struct cni_left *l)
{
	if (!l->closed || l->n_busy > 0)
		return;
	while (l->files) {
		struct left_file *f = l->files;

		l->files = f->next;
		free(f);
	}
	free(l);
}

static void left_forget(struct left_file *f)
{
	struct left_file **at = &f->left->files;

	while (*at != f)
		at = &(*at)->next;
	*at = f->next;
	free(f);
}

/* --- one file --------------------------------------------------------------------------------- */

static int left_open_dir(const char *path)
{
	return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Moves a file that can never be processed to bad/, where an administrator can inspect it. */
static void left_move_to_bad(struct left_file *f, const char *why)
{
	AUTO_FD from = left_open_dir(f->left->dir);
	AUTO_FD to = left_open_dir(f->left->bad);

	log_warn("cni", 0, "%s/%s cannot be executed as a DEL: %s; moved to %s", f->left->dir,
		 f->name, why, f->left->bad);
	if (from < 0 || to < 0 || renameat(from, f->name, to, f->name) < 0)
		log_warn("cni", -errno, "%s/%s cannot be moved", f->left->dir, f->name);
	f->retry_ms = uv_now(f->left->loop) + LEFT_LAST_MS;
}

static void left_retry(struct left_file *f, const char *why)
{
	const uint64_t ms = (uint64_t)LEFT_FIRST_MS << (f->tries < 9 ? f->tries : 9);

	if (f->tries++ == 0)
		log_info("cni", 0, "%s/%s: %s; retrying", f->left->dir, f->name, why);
	f->retry_ms = uv_now(f->left->loop) + (ms < LEFT_LAST_MS ? ms : LEFT_LAST_MS);
}

static void left_handle_answer(struct left_file *f, const char *text)
{
	json_auto_t *root = text ? json_loads(text, 0, NULL) : NULL;
	const json_t *error = json_object_get(root, "error");
	const char *msg = json_string_value(json_object_get(error, "msg"));
	AUTO_FD dir = left_open_dir(f->left->dir);

	if (!root || error)
		left_retry(f, msg ? msg : "no answer");
	else if (dir < 0 || (unlinkat(dir, f->name, 0) < 0 && errno != ENOENT))
		left_retry(f, strerror(errno));
	else
		left_forget(f);
}

static void left_on_answer(char *text, void *arg)
{
	struct left_file *f = arg;
	struct cni_left *l = f->left;

	f->is_busy = false;
	l->n_busy--;
	if (!l->closing) {
		left_handle_answer(f, text);
		timer_in(&l->timer, 1);
	}
	free(text);
	left_release(l);
}

/* Reads a regular file into heap memory; never blocks, even if the file is a FIFO. NULL with the
 * reason in *e. */
static char *left_read(const struct left_file *f, size_t *ret_len, struct err *e)
{
	AUTO_FD dir = left_open_dir(f->left->dir);
	AUTO_FD fd = dir < 0 ? -1
			     : openat(dir, f->name,
				      O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	char *text = NULL;
	int r = fd < 0 ? -errno : file_read_heap(fd, CNI_REQUEST_MAX, &text, ret_len);

	if (r == -EINVAL || r == -EFBIG)
		err_set(e, -EINVAL, "it is not a file of at most 1 MiB");
	else if (r < 0)
		err_set(e, r, "%s", strerror(-r));
	return text;
}

/* Notes the DEL's interface. False: it is not a DEL. */
static bool left_parse(struct left_file *f, const char *text, size_t len, struct cni_error *e)
{
	struct cni_request r = {.config = NULL};
	bool is = cni_request_parse(&r, text, len, e) == 0 && r.command == CNI_DEL;

	if (is) {
		memcpy(f->container, r.owner.sandbox, sizeof(f->container));
		memcpy(f->ifname, r.ifname, sizeof(f->ifname));
	}
	cni_request_done(&r);
	if (!is && !e->code)
		cni_fail(e, CNI_BAD_ENVIRONMENT, "its command is not DEL");
	return is;
}

static void left_request(struct left_file *f, const char *text, size_t len)
{
	struct cni_error e = {.code = CNI_OK};
	struct cni_left *l = f->left;
	char *answer = NULL;

	if (!left_parse(f, text, len, &e)) {
		left_move_to_bad(f, e.err.msg);
		return;
	}
	f->is_busy = true;
	l->n_busy++;
	if (cni_door_request(l->door, text, len, left_on_answer, NULL, f, &answer) == 0)
		left_on_answer(answer, f);
}

static void left_begin(struct left_file *f)
{
	struct err err = {0};
	size_t len = 0;
	char *text = left_read(f, &len, &err);

	if (text)
		left_request(f, text, len);
	else if (err.code == -EINVAL || err.code == -ELOOP)
		left_move_to_bad(f, err.msg);
	else
		left_retry(f, err.msg);
	free(text);
}

/* --- the folder ------------------------------------------------------------------------------- */

static struct left_file *left_find(struct cni_left *l, const char *name)
{
	struct left_file *f = l->files;

	while (f && strcmp(f->name, name) != 0)
		f = f->next;
	if (f)
		return f;
	f = calloc(1, sizeof(*f));
	if (!f)
		return NULL;
	f->left = l;
	snprintf(f->name, sizeof(f->name), "%s", name);
	f->next = l->files;
	l->files = f;
	return f;
}

/* Returns the next file to process; NULL: none. Sets the time of the next retry. */
static struct left_file *left_next(struct cni_left *l, uint64_t *ret_ms)
{
	const uint64_t now = uv_now(l->loop);

	for (struct left_file *f = l->files; f; f = f->next) {
		if (f->is_busy || !f->is_there)
			continue;
		if (f->retry_ms <= now)
			return f;
		*ret_ms = earlier(*ret_ms, f->retry_ms - now);
	}
	return NULL;
}

static void left_drop_removed(struct cni_left *l)
{
	struct left_file *next;

	for (struct left_file *f = l->files; f; f = next) {
		next = f->next;
		if (!f->is_there && !f->is_busy)
			left_forget(f);
	}
}

/* True for ".RANDOM.json", the name of an incomplete file of rocelet-cni: RANDOM is 32 hexadecimal
 * digits. */
static bool left_is_incomplete(const char *name)
{
	const char *at = name + 1;

	if (*name != '.')
		return false;
	while (isxdigit((unsigned char)*at))
		at++;
	return at == name + 33 && strcmp(at, ".json") == 0;
}

/* Removes an incomplete file unless its writer still holds the lock, which it keeps until the
 * rename. A writer that has created the file but not locked it yet detects the removal and creates
 * another file. */
static void left_remove_incomplete(int dir, const char *name)
{
	AUTO_FD fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
	    flock(fd, LOCK_EX | LOCK_NB) < 0)
		return;
	if (unlinkat(dir, name, 0) == 0)
		log_info("cni", 0, "removed %s: rocelet-cni ended before it was complete", name);
}

/* Reads the folder. Files whose names begin with a dot are not complete yet. */
static void left_list(struct cni_left *l)
{
	unsigned n_incomplete = 0;
	int fd = left_open_dir(l->dir);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	for (struct left_file *f = l->files; f; f = f->next)
		f->is_there = false;
	if (!dir && fd >= 0)
		close(fd);
	while (dir && (entry = readdir(dir))) {
		struct left_file *f = entry->d_name[0] == '.' ? NULL : left_find(l, entry->d_name);

		if (left_is_incomplete(entry->d_name) && n_incomplete++ < LEFT_INCOMPLETE_MAX)
			left_remove_incomplete(fd, entry->d_name);
		if (f)
			f->is_there = true;
	}
	if (dir)
		closedir(dir);
	left_drop_removed(l);
}

static void left_scan(void *arg)
{
	struct cni_left *l = arg;
	uint64_t ms = LEFT_RESCAN_MS;
	struct left_file *f;

	if (l->closing)
		return;
	left_list(l);
	while (l->n_busy < LEFT_AT_ONCE && (f = left_next(l, &ms)))
		left_begin(f);
	timer_in(&l->timer, ms);
}

/* --- an ADD of the same interface ------------------------------------------------------------- */

static bool left_is_of(struct left_file *f, const char *container, const char *ifname)
{
	if (!f->container[0]) {
		struct err ignored = {0};
		struct cni_error not_del = {.code = CNI_OK};
		size_t len = 0;
		char *text = left_read(f, &len, &ignored);

		if (text)
			left_parse(f, text, len, &not_del);
		free(text);
	}
	return strcmp(f->container, container) == 0 && strcmp(f->ifname, ifname) == 0;
}

static struct left_file *left_waiting(struct cni_left *l, const char *container, const char *ifname)
{
	struct left_file *f = l->files;

	while (f && (f->is_busy || !f->is_there || !left_is_of(f, container, ifname)))
		f = f->next;
	return f;
}

/* A runtime that adds the interface again has deleted it before, so DELs that are still here come
 * first: executed later, they would end the new attachment. The engine executes requests for an
 * interface in the order in which they came. */
static int left_before_add(const char *container, const char *ifname, void *arg, struct err *e)
{
	char begun[NAME_MAX + 1] = "";
	struct cni_left *l = arg;
	struct left_file *f;

	if (l->closing)
		return 0;
	left_list(l);
	while ((f = left_waiting(l, container, ifname)) && strcmp(f->name, begun) != 0) {
		memcpy(begun, f->name, sizeof(begun));
		left_begin(f);
	}
	return f ? err_set(e, -EAGAIN,
			   "a stored DEL of %s of container %s has not been executed yet", ifname,
			   container)
		 : 0;
}

/* --- changes of the folder -------------------------------------------------------------------- */

static void left_on_hint(const char *name, void *arg)
{
	struct cni_left *l = arg;

	(void)name;
	timer_in(&l->timer, 1);
}

/* --- life ------------------------------------------------------------------------------------- */

static int left_make_folders(const struct cni_left *l, const char *state_dir, struct err *e)
{
	char parent[PATH_MAX];
	const char *const folders[] = {parent, l->dir, l->bad};

	snprintf(parent, sizeof(parent), "%s/cni", state_dir);
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
		if (mkdir(folders[i], 0700) < 0 && errno != EEXIST)
			return err_set(e, -errno, "%s: %s", folders[i], strerror(errno));
	return 0;
}

static void left_on_closed(void *arg)
{
	struct cni_left *l = arg;

	l->closed = true;
	left_release(l);
}

int cni_left_open(struct cni_left **ret, struct uv_loop_s *loop, const char *state_dir,
		  struct cni_door *door, struct err *e)
{
	struct cni_left *l = calloc(1, sizeof(*l));
	int r;

	if (!l)
		return err_set(e, -ENOMEM, "out of memory");
	l->loop = loop;
	l->door = door;
	timer_init(&l->timer, loop, left_scan, l);
	if (snprintf(l->dir, sizeof(l->dir), "%s/cni/del", state_dir) >= (int)sizeof(l->dir) ||
	    snprintf(l->bad, sizeof(l->bad), "%s/cni/bad", state_dir) >= (int)sizeof(l->bad))
		r = err_set(e, -ENAMETOOLONG, "%.100s: the path is too long", state_dir);
	else
		r = left_make_folders(l, state_dir, e);
	if (r == 0)
		r = dir_watch_open(&l->watch, loop, l->dir, left_on_hint, l, e);
	if (r < 0) {
		cni_left_close(l);
		return r;
	}
	cni_door_before_add(door, left_before_add, l);
	timer_in(&l->timer, 1);
	*ret = l;
	return 0;
}

void cni_left_close(struct cni_left *l)
{
	if (!l)
		return;
	l->closing = true;
	cni_door_before_add(l->door, NULL, NULL);
	dir_watch_close(l->watch);
	l->watch = NULL;
	timer_close(&l->timer, left_on_closed);
}
