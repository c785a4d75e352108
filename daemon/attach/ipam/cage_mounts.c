/* cage_mounts.c - see cage_mounts.h.
 *
 * A place is a folder or file that is hidden or given. Places are made in the order of the length
 * of their real paths, so that each covers or uncovers a part of what is above it: a folder that is
 * hidden stays so below one that is given, and the other way round. */
#include "cage_mounts.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "cleanup.h"

/* Where services listen, and where root's programs and pods leave sockets and data. Some of /run
 * also by name, for a program that is given all of it. */
static const char *const always_hidden[] = {
	"/run",	     "/var/run",     "/tmp",	  "/var/tmp",	     "/dev/shm", "/run/containerd",
	"/run/crio", "/run/systemd", "/run/dbus", "/var/lib/kubelet"};
/* /proc is covered by one of its own, and without /dev no script runs. */
static const char *const never_hidden[] = {"/", "/dev", "/proc"};
static const char *const devices[] = {"/dev/null", "/dev/zero", "/dev/urandom"};

/* A resolver's own, which /etc/resolv.conf is a link to. */
#define RESOLV_CONF "/etc/resolv.conf"

#define PLACES_MAX (ARRAY_SIZE(always_hidden) + CAGE_HIDDEN_MAX + CAGE_WRITABLE_MAX + 2)

#define ALL_CLOSED (MOUNT_ATTR_RDONLY | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOSUID)

struct place {
	char path[PATH_MAX]; /* real */
	size_t len;
	bool is_given, is_folder;
	int fd; /* given: a copy of its mounts. Hidden: what covers it, -1 = not made yet */
};

struct places {
	struct place items[PLACES_MAX];
	size_t n;
};

/* --- paths ------------------------------------------------------------------------------------ */

/* Of an open descriptor, by the link in /proc. */
static void real_path(struct place *p, int fd)
{
	char link[32] = "/proc/self/fd/", digits[12];
	size_t at = strlen(link), n = 0;
	ssize_t len;

	do
		digits[n++] = (char)('0' + fd % 10);
	while ((fd /= 10) > 0);
	while (n > 0)
		link[at++] = digits[--n];
	len = readlink(link, p->path, sizeof(p->path) - 1);
	if (len <= 0)
		cage_fail(link);
	p->path[len] = '\0';
	p->len = (size_t)len;
}

static bool is_in(const struct place *p, const struct place *above)
{
	return strncmp(p->path, above->path, above->len) == 0 &&
	       (p->path[above->len] == '/' || p->path[above->len] == '\0');
}

static bool is_below_hidden(const struct places *all, const struct place *p)
{
	for (size_t i = 0; i < all->n; i++)
		if (!all->items[i].is_given && is_in(p, &all->items[i]))
			return true;
	return false;
}

/* With the folders above it; its own last part only if it is a folder. */
static void make_folders(const char *path, bool is_folder)
{
	char part[PATH_MAX];

	for (size_t n = 1; n < sizeof(part); n++) {
		if (path[n] != '/' && path[n] != '\0')
			continue;
		if (path[n] == '\0' && !is_folder)
			return;
		memcpy(part, path, n);
		part[n] = '\0';
		if (mkdir(part, 0755) < 0 && errno != EEXIST)
			cage_fail(part);
		if (path[n] == '\0')
			return;
	}
}

/* Something to mount on. */
static void make_point(const struct place *p)
{
	int fd;

	make_folders(p->path, p->is_folder);
	if (p->is_folder)
		return;
	fd = open(p->path, O_CREAT | O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644);
	if (fd < 0)
		cage_fail(p->path);
	close(fd);
}

/* --- which places there are ------------------------------------------------------------------- */

/* Shorter paths first; of the same path what hides it. */
static void add(struct places *all, const struct place *p)
{
	size_t at = all->n++;

	while (at > 0 &&
	       (all->items[at - 1].len > p->len || (all->items[at - 1].len == p->len &&
						    all->items[at - 1].is_given && !p->is_given))) {
		all->items[at] = all->items[at - 1];
		at--;
	}
	all->items[at] = *p;
}

/* False: there is no such file. */
static bool look_at(struct place *p, const char *path, int *ret_fd)
{
	struct stat st;
	int fd = open(path, O_PATH | O_CLOEXEC);

	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return false;
	if (fd < 0 || fstat(fd, &st) < 0)
		cage_fail(path);
	p->is_folder = S_ISDIR(st.st_mode);
	real_path(p, fd);
	*ret_fd = fd;
	return true;
}

static void add_hidden(struct places *all, const char *path)
{
	struct place p = {.fd = -1};
	int fd;

	if (!look_at(&p, path, &fd))
		return;
	close(fd);
	for (size_t i = 0; i < all->n; i++)
		if (!all->items[i].is_given && strcmp(all->items[i].path, p.path) == 0)
			return;
	for (size_t i = 0; i < ARRAY_SIZE(never_hidden); i++)
		if (strcmp(never_hidden[i], p.path) == 0)
			return;
	add(all, &p);
}

static int copy_mounts(int fd, const char *path, unsigned flags)
{
	int copy = open_tree(fd, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | flags);

	if (copy < 0)
		cage_fail(*path ? path : "copy of a mount");
	return copy;
}

/* What is only read need not be given where nothing hides it. */
static void add_given(struct places *all, const char *path, bool is_writable)
{
	struct mount_attr attr = {.attr_set = is_writable ? MOUNT_ATTR_NODEV | MOUNT_ATTR_NOSUID
							  : ALL_CLOSED};
	struct place p = {.is_given = true};
	int fd;

	if (!look_at(&p, path, &fd))
		return;
	if (is_writable || is_below_hidden(all, &p)) {
		p.fd = copy_mounts(fd, "", AT_EMPTY_PATH | AT_RECURSIVE);
		if (mount_setattr(p.fd, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof(attr)) < 0)
			cage_fail(path);
		add(all, &p);
	}
	close(fd);
}

/* The program's helpers are beside it. */
static void add_folder_of(struct places *all, const char *program)
{
	char folder[PATH_MAX];
	const char *slash = strrchr(program, '/');
	size_t n = slash ? (size_t)(slash - program) : 0;

	if (n == 0 || n >= sizeof(folder))
		return;
	memcpy(folder, program, n);
	folder[n] = '\0';
	add_given(all, folder, false);
}

static void gather(struct places *all, const struct cage *c)
{
	all->n = 0;
	for (size_t i = 0; i < ARRAY_SIZE(always_hidden); i++)
		add_hidden(all, always_hidden[i]);
	for (size_t i = 0; c->hidden && i < CAGE_HIDDEN_MAX && c->hidden[i]; i++)
		add_hidden(all, c->hidden[i]);
	for (size_t i = 0; c->writable && i < CAGE_WRITABLE_MAX && c->writable[i]; i++) {
		make_folders(c->writable[i], true);
		add_given(all, c->writable[i], true);
	}
	add_folder_of(all, c->program);
	if (c->host_network)
		add_given(all, RESOLV_CONF, false);
}

/* --- making them ------------------------------------------------------------------------------ */

static void put(int fd, const char *path)
{
	if (move_mount(fd, "", AT_FDCWD, path, MOVE_MOUNT_F_EMPTY_PATH) < 0)
		cage_fail(path);
	close(fd);
}

/* Its flags are one of those that the daemon's filter of system calls lets through
 * (privileges/syscalls.c). */
static void hide(struct place *p)
{
	int fd = open(p->path, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 && errno == ENOENT) /* what is above it is hidden */
		return;
	if (fd < 0)
		cage_fail(p->path);
	close(fd);
	if (!p->is_folder) {
		put(copy_mounts(AT_FDCWD, devices[0], 0), p->path);
		return;
	}
	if (mount("tmpfs", p->path, "tmpfs", MS_NODEV | MS_NOEXEC | MS_NOSUID,
		  "mode=0755,size=64k,nr_inodes=256") < 0)
		cage_fail(p->path);
	p->fd = open(p->path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (p->fd < 0)
		cage_fail(p->path);
}

static void make(struct places *all)
{
	for (size_t i = 0; i < all->n; i++) {
		struct place *p = &all->items[i];

		if (!p->is_given) {
			hide(p);
			continue;
		}
		make_point(p);
		put(p->fd, p->path);
	}
}

/* What hides something could be written to, for what is mounted on it. */
static void seal(const struct places *all)
{
	struct mount_attr attr = {.attr_set = ALL_CLOSED};

	for (size_t i = 0; i < all->n; i++) {
		const struct place *p = &all->items[i];

		if (p->is_given || p->fd < 0)
			continue;
		if (mount_setattr(p->fd, "", AT_EMPTY_PATH, &attr, sizeof(attr)) < 0)
			cage_fail(p->path);
		close(p->fd);
	}
}

void cage_mounts_close(const struct cage *c)
{
	struct mount_attr attr = {.attr_set = ALL_CLOSED};
	int dev_fds[ARRAY_SIZE(devices)];
	struct places all;

	/* Nothing of ours is seen outside; what is unmounted there goes here, too. */
	if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
		cage_fail("mounts");
	gather(&all, c);
	for (size_t i = 0; i < ARRAY_SIZE(devices); i++)
		dev_fds[i] = copy_mounts(AT_FDCWD, devices[i], AT_RECURSIVE);
	if (mount_setattr(AT_FDCWD, "/", AT_RECURSIVE, &attr, sizeof(attr)) < 0)
		cage_fail("read-only mounts");
	for (size_t i = 0; i < ARRAY_SIZE(devices); i++)
		put(dev_fds[i], devices[i]);
	make(&all);
	seal(&all);
	/* By that of outside the roots of other processes could be reached. */
	if (mount("proc", "/proc", "proc", MS_RDONLY | MS_NODEV | MS_NOEXEC | MS_NOSUID, NULL) < 0)
		cage_fail("/proc");
}
