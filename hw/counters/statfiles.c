// SPDX-License-Identifier: Apache-2.0
/* statfiles.c - lists counter files, keeps them open and reads them.
 *
 * A file can fail in many ways: removed (ENODEV, ENOENT), EIO, EINVAL, "N/A (no PMA)", empty,
 * negative, endless. Each makes that reading absent and counts as one error.
 *
 * A removed sysfs file returns ENODEV. In a copied tree a removed or replaced file stays readable
 * through its descriptor, so the directory's modification time is checked for each sample. Its
 * resolution is a few milliseconds: a change in the same tick as the listing would be missed, so
 * the first sample after a listing also checks for files without a link. */
#include "statfiles.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array.h"
#include "cleanup.h"

/* Descriptors reserved for the rest of the process: connections, sockets, the next scan. */
#define FD_RESERVE 256
#define NUMBER_MAX 24 /* 20 digits, a newline, and room to detect longer texts */

/* --- pure ------------------------------------------------------------------------------------- */

bool statfile_parse(const char *text, size_t n, uint64_t *ret)
{
	uint64_t v = 0;

	if (n && text[n - 1] == '\n')
		n--;
	if (!n)
		return false;
	for (size_t i = 0; i < n; i++) {
		unsigned digit = (unsigned char)text[i] - '0';

		if (digit > 9)
			return false;
		/* 19 digits cannot overflow. */
		if (i >= 19 && (__builtin_mul_overflow(v, UINT64_C(10), &v) ||
				__builtin_add_overflow(v, digit, &v)))
			return false;
		if (i < 19)
			v = v * 10 + digit;
	}
	*ret = v;
	return true;
}

/* Returns the position of a file in the order of reading. Counter 0 is read first, because mlx5
 * updates the age of its cache only when counter 0 is read (for others, do_get_hw_stats returns
 * fewer counters than the port has). Then the others need no firmware command for 10 ms. */
static int statfiles_read_order(const char *name)
{
	return strcmp(name, "rx_write_requests") != 0 &&
	       strcmp(name, "vport_rx_write_requests") != 0;
}

static int by_read_order(const void *a, const void *b)
{
	const char *const *na = a, *const *nb = b;
	int r = statfiles_read_order(*na) - statfiles_read_order(*nb);

	return r ? r : strcmp(*na, *nb);
}

/* --- listing ---------------------------------------------------------------------------------- */

struct names {
	char *all[STATFILES_PER_DIR];
	size_t n;
};

static void names_done(struct names *names)
{
	while (names->n)
		free(names->all[--names->n]);
}

static bool may_be_counter(const struct dirent *d)
{
	return d->d_name[0] != '.' && (d->d_type == DT_REG || d->d_type == DT_UNKNOWN);
}

static int list_names(int fd, struct names *ret)
{
	AUTO_FD own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_DIR dir = own < 0 ? NULL : fdopendir(own);
	struct dirent *d;

	if (!dir)
		return -errno;
	take_fd(&own);
	while (ret->n < STATFILES_PER_DIR && (d = readdir(dir))) {
		if (!may_be_counter(d))
			continue;
		ret->all[ret->n] = strdup(d->d_name);
		if (!ret->all[ret->n])
			return -ENOMEM;
		ret->n++;
	}
	qsort(ret->all, ret->n, sizeof(ret->all[0]), by_read_order);
	return 0;
}

/* Adds the files that the layout uses. Their slots are consecutive, so the first slot and the
 * number of files suffice. */
static void add_files(struct statdir *dir, const struct names *names, layout_slot_fn *fn, void *arg)
{
	for (size_t i = 0; i < names->n; i++) {
		uint32_t slot = fn(names->all[i], arg);

		if (slot == NO_SLOT)
			continue;
		if (dir->n++ == 0)
			dir->first = slot;
	}
}

int statfiles_add(struct statfiles *sf, int dir_fd, const char *path, layout_slot_fn *fn, void *arg)
{
	AUTO_FD fd = openat(dir_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct names names = {.n = 0};
	struct statdir *dir;
	struct stat st;
	int r;

	/* fstat() before listing, so that a change during the listing is detected. */
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	dir = array_push(sf->dirs, sf->n_dirs);
	if (!dir)
		return -ENOMEM;
	*dir = (struct statdir){.fd = take_fd(&fd), .changed = st.st_mtim};
	r = list_names(dir->fd, &names);
	if (r == 0)
		add_files(dir, &names, fn, arg);
	names_done(&names);
	return r;
}

void statfiles_done(struct statfiles *sf)
{
	for (size_t i = 0; i < sf->n_files; i++)
		cleanup_fd(&sf->fds[i]);
	for (size_t i = 0; i < sf->n_dirs; i++)
		cleanup_fd(&sf->dirs[i].fd);
	free(sf->fds);
	free(sf->dirs);
	*sf = (struct statfiles){0};
}

/* --- open files ------------------------------------------------------------------------------- */

/* Returns the highest descriptor to keep open. The kernel returns the lowest free one, so a higher
 * one means that few are left. */
static int highest_fd(void)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim) < 0 || lim.rlim_cur > INT32_MAX)
		return INT32_MAX;
	return lim.rlim_cur > 2 * FD_RESERVE ? (int)lim.rlim_cur - FD_RESERVE
					     : (int)lim.rlim_cur / 2;
}

static int statfiles_open_file(const struct statdir *dir, const struct layout *l, uint32_t cell)
{
	/* O_NONBLOCK: another kind of file must not block us. */
	int fd = openat(dir->fd, layout_cell_name(l, cell),
			O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);

	return fd < 0 ? -errno : fd;
}

/* Returns a descriptor to keep, -1 if too few are left. */
static int hold_file(const struct statdir *dir, const struct layout *l, uint32_t cell, int highest)
{
	AUTO_FD fd = statfiles_open_file(dir, l, cell);

	return fd < 0 || fd > highest ? -1 : take_fd(&fd);
}

/* Replaces the range of slots by the range of their cells. */
static void statfiles_find_cells(struct statdir *dir, const struct layout *l)
{
	uint32_t slot = dir->first, end = slot + dir->n;

	for (dir->n = 0; slot < end; slot++) {
		uint32_t cell = layout_cell(l, slot);

		if (cell != NO_SLOT && dir->n++ == 0)
			dir->first = cell;
	}
}

int statfiles_trim(struct statfiles *sf, const struct layout *l)
{
	size_t n = 0;

	for (size_t i = 0; i < sf->n_dirs; i++) {
		statfiles_find_cells(&sf->dirs[i], l);
		n += sf->dirs[i].n;
	}
	sf->fds = reallocarray(NULL, n + 1, sizeof(*sf->fds));
	if (!sf->fds)
		return -ENOMEM;
	while (sf->n_files < n)
		sf->fds[sf->n_files++] = -1;
	return 0;
}

void statfiles_open(struct statfiles *sf, const struct layout *l)
{
	int highest = highest_fd(), *fd = sf->fds;

	for (size_t i = 0; i < sf->n_dirs; i++)
		for (uint32_t k = 0; k < sf->dirs[i].n; k++)
			*fd++ = hold_file(&sf->dirs[i], l, sf->dirs[i].first + k, highest);
	sf->check_links = true;
}

/* --- reading ---------------------------------------------------------------------------------- */

static bool statfiles_read_number(int fd, uint64_t *ret)
{
	char buf[NUMBER_MAX];
	ssize_t n = pread(fd, buf, sizeof(buf), 0);

	return n > 0 && (size_t)n < sizeof(buf) && statfile_parse(buf, (size_t)n, ret);
}

/* Reads one file; held: its open descriptor, or -1. */
static bool statfiles_read_file(const struct statdir *dir, int held, const struct layout *l,
				uint32_t cell, uint64_t *ret)
{
	AUTO_FD fd = -1;

	if (held >= 0)
		return statfiles_read_number(held, ret);
	fd = statfiles_open_file(dir, l, cell);
	return fd >= 0 && statfiles_read_number(fd, ret);
}

static bool dir_changed(const struct statdir *dir)
{
	struct stat st;

	return fstat(dir->fd, &st) < 0 || st.st_nlink == 0 ||
	       st.st_mtim.tv_sec != dir->changed.tv_sec ||
	       st.st_mtim.tv_nsec != dir->changed.tv_nsec;
}

static bool file_unlinked(int fd)
{
	struct stat st;

	return fd >= 0 && (fstat(fd, &st) < 0 || st.st_nlink == 0);
}

bool statfiles_stale(const struct statfiles *sf)
{
	for (size_t i = 0; i < sf->n_dirs; i++)
		if (dir_changed(&sf->dirs[i]))
			return true;
	for (size_t i = 0; sf->check_links && i < sf->n_files; i++)
		if (file_unlinked(sf->fds[i]))
			return true;
	return false;
}

static size_t read_dir(const struct statdir *dir, const int *fds, struct layout *l)
{
	size_t errors = 0;

	for (uint32_t i = 0; i < dir->n; i++) {
		struct widen *cell = &l->cells[dir->first + i];

		cell->ok = statfiles_read_file(dir, fds[i], l, dir->first + i, &cell->raw);
		errors += !cell->ok;
	}
	return errors;
}

size_t statfiles_read(struct statfiles *sf, struct layout *l)
{
	const struct cells all = {0, NO_SLOT};
	size_t asked = 0;

	sf->check_links = false;
	return statfiles_read_cells(sf, l, &all, &asked);
}

size_t statfiles_read_cells(struct statfiles *sf, struct layout *l, const struct cells *cells,
			    size_t *asked)
{
	size_t errors = 0, first = 0;

	for (size_t i = 0; i < sf->n_dirs; i++) {
		const struct statdir *dir = &sf->dirs[i];

		if (dir->n && cells_have(cells, dir->first)) {
			errors += read_dir(dir, &sf->fds[first], l);
			*asked += dir->n;
		}
		first += dir->n;
	}
	return errors;
}
