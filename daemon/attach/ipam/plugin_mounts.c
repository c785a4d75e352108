// SPDX-License-Identifier: Apache-2.0
/* plugin_mounts.c - see plugin_mounts.h.
 *
 * A place is a folder or file that is hidden from the program or given to it. Places are mounted in
 * the order of the length of their real paths, so that each overrides the place above it: a hidden
 * folder below a given one stays hidden, and a given folder below a hidden one stays visible.
 *
 * Another sandboxed program may write to a folder above a place, and rename or link its contents at
 * any time. So links to a writable folder are not followed, and the folder is mounted from the
 * checked descriptor. Every place is opened by its real path without links, and compared with the
 * checked place. */
#include "plugin_mounts.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "cleanup.h"
#include "search.h"

/* Folders with sockets of services, and with sockets and data of root's programs and of pods.
 * Folders below /run are listed, too, for a program that is given all of /run. */
static const char *const always_hidden[] = {"/run",
					    "/var/run",
					    "/tmp",
					    "/var/tmp",
					    "/dev/shm",
					    "/run/containerd",
					    "/run/crio",
					    "/run/k3s",
					    "/run/k0s",
					    "/run/systemd",
					    "/run/dbus",
					    "/var/snap/microk8s",
					    "/var/lib/kubelet",
					    "/var/lib/k0s"};
/* /proc is covered by a new procfs. Scripts need /dev. */
static const char *const never_hidden[] = {"/", "/dev", "/proc"};
static const char *const devices[] = {"/dev/null", "/dev/zero", "/dev/urandom"};

/* This may be a link to a resolver's file in a hidden folder. */
#define RESOLV_CONF "/etc/resolv.conf"

#define PLACES_MAX                                                                                 \
	(ARRAY_SIZE(always_hidden) + PLUGIN_SANDBOX_HIDDEN_MAX + PLUGIN_SANDBOX_WRITABLE_MAX + 2)

#define ALL_CLOSED (MOUNT_ATTR_RDONLY | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOSUID)

struct place {
	char path[PATH_MAX]; /* without links */
	size_t len;
	bool is_given, is_folder;
	dev_t dev; /* with the inode: identifies the checked file */
	ino_t ino;
	int fd; /* given: a copy of its mounts; hidden: the mount that covers it, -1 = none yet */
};

struct places {
	struct place items[PLACES_MAX];
	size_t n;
};

/* --- paths ------------------------------------------------------------------------------------ */

#define LINK_SIZE 32

/* Writes "/proc/self/fd/N" without stdio. */
static void link_of(int fd, char link[LINK_SIZE])
{
	static const char folder[] = "/proc/self/fd/";
	char digits[12];
	size_t at = sizeof(folder) - 1, n = 0;

	memcpy(link, folder, at);
	do
		digits[n++] = (char)('0' + fd % 10);
	while ((fd /= 10) > 0);
	while (n > 0)
		link[at++] = digits[--n];
	link[at] = '\0';
}

static void real_path(struct place *p, int fd)
{
	char link[LINK_SIZE];
	ssize_t len;

	link_of(fd, link);
	len = readlink(link, p->path, sizeof(p->path) - 1);
	if (len <= 0)
		plugin_sandbox_fail(link);
	p->path[len] = '\0';
	p->len = (size_t)len;
}

static bool plugin_mounts_is_in(const struct place *p, const struct place *above)
{
	return strncmp(p->path, above->path, above->len) == 0 &&
	       (p->path[above->len] == '/' || p->path[above->len] == '\0');
}

static bool is_below_hidden(const struct places *all, const struct place *p)
{
	return any_of(all->n, i, !all->items[i].is_given && plugin_mounts_is_in(p, &all->items[i]));
}

static int open_real(const char *path)
{
	const struct open_how how = {.flags = O_PATH | O_CLOEXEC,
				     .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};

	return (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
}

/* Opens the place, and fails if it is not the checked one. A place below a hidden one is new and
 * made by us. -1: it does not exist. */
static int open_place(const struct places *all, const struct place *p)
{
	struct stat st;
	int fd = open_real(p->path);

	if (fd < 0 && errno == ENOENT)
		return -1;
	if (fd < 0 || fstat(fd, &st) < 0)
		plugin_sandbox_fail(p->path);
	for (size_t i = 0; i < all->n; i++)
		if (!all->items[i].is_given && &all->items[i] != p &&
		    plugin_mounts_is_in(p, &all->items[i]))
			return fd;
	if (st.st_dev == p->dev && st.st_ino == p->ino)
		return fd;
	errno = ESTALE;
	plugin_sandbox_fail(p->path);
}

/* Creates the folders above the path, and the path itself if it is a folder. */
static void plugin_mounts_make_folders(const char *path, bool is_folder)
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
			plugin_sandbox_fail(part);
		if (path[n] == '\0')
			return;
	}
}

/* Creates the folder or file to mount on. */
static void make_point(const struct place *p)
{
	int fd;

	plugin_mounts_make_folders(p->path, p->is_folder);
	if (p->is_folder)
		return;
	fd = open(p->path, O_CREAT | O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644);
	if (fd < 0)
		plugin_sandbox_fail(p->path);
	close(fd);
}

/* --- the list of places ----------------------------------------------------------------------- */

/* Inserts the place: shorter paths first; for the same path, hidden before given. */
static void plugin_mounts_add(struct places *all, const struct place *p)
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

static void place_read(struct place *p, int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		plugin_sandbox_fail("fstat");
	p->is_folder = S_ISDIR(st.st_mode);
	p->dev = st.st_dev;
	p->ino = st.st_ino;
	real_path(p, fd);
}

/* Opens the path and reads the place; false: it does not exist. */
static bool place_open(struct place *p, const char *path, int *ret_fd)
{
	int fd = open(path, O_PATH | O_CLOEXEC);

	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return false;
	if (fd < 0)
		plugin_sandbox_fail(path);
	place_read(p, fd);
	*ret_fd = fd;
	return true;
}

/* Opens the folder one component at a time, without following links, and creates missing
 * components. Only the link /var/run is followed: most systems have it, and it is safe because no
 * program may write to /var. */
static int open_writable(const char *path)
{
	int above = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	if (strncmp(path, "/var/run/", 9) == 0 && lstat("/var/run", &st) == 0 &&
	    S_ISLNK(st.st_mode))
		path += strlen("/var");
	while (above >= 0 && *(path += strspn(path, "/"))) {
		char part[NAME_MAX + 1];
		size_t n = strcspn(path, "/");
		int fd;

		if (n >= sizeof(part))
			n = sizeof(part) - 1;
		memcpy(part, path, n);
		part[n] = '\0';
		if (mkdirat(above, part, 0755) < 0 && errno != EEXIST)
			plugin_sandbox_fail(path);
		fd = openat(above, part, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0 && errno == ENOTDIR &&
		    fstatat(above, part, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode))
			errno = ELOOP;
		if (fd < 0)
			plugin_sandbox_fail(path);
		close(above);
		above = fd;
		path += n;
	}
	if (above < 0)
		plugin_sandbox_fail("/");
	return above;
}

static void add_hidden(struct places *all, const char *path)
{
	struct place p = {.fd = -1};
	int fd;

	if (!place_open(&p, path, &fd))
		return;
	close(fd);
	for (size_t i = 0; i < all->n; i++)
		if (!all->items[i].is_given && strcmp(all->items[i].path, p.path) == 0)
			return;
	for (size_t i = 0; i < ARRAY_SIZE(never_hidden); i++)
		if (strcmp(never_hidden[i], p.path) == 0)
			return;
	plugin_mounts_add(all, &p);
}

static int copy_mounts(int fd, const char *path, unsigned flags)
{
	int copy = open_tree(fd, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | flags);

	if (copy < 0)
		plugin_sandbox_fail(*path ? path : "copy of a mount");
	return copy;
}

/* Adds a place that is given, with a copy of the mounts at the descriptor. closed: the mount
 * attributes to set. */
static void add_given(struct places *all, struct place *p, int fd, unsigned closed)
{
	struct mount_attr attr = {.attr_set = closed};

	p->is_given = true;
	p->fd = copy_mounts(fd, "", AT_EMPTY_PATH | AT_RECURSIVE);
	if (mount_setattr(p->fd, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof(attr)) < 0)
		plugin_sandbox_fail(p->path);
	plugin_mounts_add(all, p);
}

static void add_writable(struct places *all, const char *path)
{
	struct place p = {0};
	int fd = open_writable(path);

	place_read(&p, fd);
	add_given(all, &p, fd, MOUNT_ATTR_NODEV | MOUNT_ATTR_NOSUID);
	close(fd);
}

/* Adds a place only if it is hidden: otherwise it is readable anyway. */
static void add_readable(struct places *all, const char *path)
{
	struct place p = {0};
	int fd;

	if (!place_open(&p, path, &fd))
		return;
	if (is_below_hidden(all, &p))
		add_given(all, &p, fd, ALL_CLOSED);
	close(fd);
}

/* The program's helper programs are in the same folder. */
static void add_folder_of(struct places *all, const char *program)
{
	char folder[PATH_MAX];
	const char *slash = strrchr(program, '/');
	size_t n = slash ? (size_t)(slash - program) : 0;

	if (n == 0 || n >= sizeof(folder))
		return;
	memcpy(folder, program, n);
	folder[n] = '\0';
	add_readable(all, folder);
}

static void plugin_mounts_gather(struct places *all, const struct plugin_sandbox *c,
				 const char *program)
{
	all->n = 0;
	for (size_t i = 0; i < ARRAY_SIZE(always_hidden); i++)
		add_hidden(all, always_hidden[i]);
	for (size_t i = 0; c->hidden && i < PLUGIN_SANDBOX_HIDDEN_MAX && c->hidden[i]; i++)
		add_hidden(all, c->hidden[i]);
	for (size_t i = 0; c->writable && i < PLUGIN_SANDBOX_WRITABLE_MAX && c->writable[i]; i++)
		add_writable(all, c->writable[i]);
	add_folder_of(all, program);
	if (c->host_network)
		add_readable(all, RESOLV_CONF);
}

/* --- mounting --------------------------------------------------------------------------------- */

/* Mounts fd over on_fd, and closes both. */
static void plugin_mounts_put(int fd, int on_fd, const char *path)
{
	if (move_mount(fd, "", on_fd, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
		plugin_sandbox_fail(path);
	close(fd);
	close(on_fd);
}

/* Mounts an empty tmpfs or /dev/null over the place. The daemon's system call filter allows only a
 * few combinations of mount flags, among them the tmpfs's (privileges/syscalls.c). */
static void hide(const struct places *all, struct place *p)
{
	char link[LINK_SIZE];
	int fd = open_place(all, p);

	if (fd < 0) /* a hidden folder covers it */
		return;
	if (!p->is_folder) {
		plugin_mounts_put(copy_mounts(AT_FDCWD, devices[0], 0), fd, p->path);
		return;
	}
	link_of(fd, link);
	if (mount("tmpfs", link, "tmpfs", MS_NODEV | MS_NOEXEC | MS_NOSUID,
		  "mode=0755,size=64k,nr_inodes=256") < 0)
		plugin_sandbox_fail(p->path);
	close(fd);
	p->fd = open_real(p->path);
	if (p->fd < 0)
		plugin_sandbox_fail(p->path);
}

static void plugin_mounts_make(struct places *all)
{
	for (size_t i = 0; i < all->n; i++) {
		struct place *p = &all->items[i];
		int fd;

		if (!p->is_given) {
			hide(all, p);
			continue;
		}
		make_point(p);
		fd = open_place(all, p);
		if (fd < 0)
			plugin_sandbox_fail(p->path);
		plugin_mounts_put(p->fd, fd, p->path);
	}
}

/* Makes the covering mounts read-only. They were writable so that mount points could be created on
 * them. */
static void seal(const struct places *all)
{
	struct mount_attr attr = {.attr_set = ALL_CLOSED};

	for (size_t i = 0; i < all->n; i++) {
		const struct place *p = &all->items[i];

		if (p->is_given || p->fd < 0)
			continue;
		if (mount_setattr(p->fd, "", AT_EMPTY_PATH, &attr, sizeof(attr)) < 0)
			plugin_sandbox_fail(p->path);
		close(p->fd);
	}
}

void plugin_mounts_close(const struct plugin_sandbox *c, const char *program)
{
	struct mount_attr attr = {.attr_set = ALL_CLOSED};
	int dev_fds[ARRAY_SIZE(devices)];
	struct places all;

	/* Our mounts do not propagate to the host, but unmounts in the host propagate to us. */
	if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
		plugin_sandbox_fail("mounts");
	plugin_mounts_gather(&all, c, program);
	for (size_t i = 0; i < ARRAY_SIZE(devices); i++)
		dev_fds[i] = copy_mounts(AT_FDCWD, devices[i], AT_RECURSIVE);
	if (mount_setattr(AT_FDCWD, "/", AT_RECURSIVE, &attr, sizeof(attr)) < 0)
		plugin_sandbox_fail("read-only mounts");
	for (size_t i = 0; i < ARRAY_SIZE(devices); i++)
		plugin_mounts_put(dev_fds[i], open(devices[i], O_PATH | O_CLOEXEC), devices[i]);
	plugin_mounts_make(&all);
	seal(&all);
	/* The host's /proc would lead to the root folders of other processes. */
	if (mount("proc", "/proc", "proc", MS_RDONLY | MS_NODEV | MS_NOEXEC | MS_NOSUID, NULL) < 0)
		plugin_sandbox_fail("/proc");
}
