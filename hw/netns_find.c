/* netns_find.c - every network namespace there is, whatever keeps it.
 *
 * Happy path: names, then processes one by one: the namespace each is in, mounts (once per mount
 * namespace), open descriptors. Nothing is opened that was seen before: the links in /proc tell the
 * inode.
 * Can fail by: processes that vanish or may not be looked into (passed over); more namespaces,
 * mounts or descriptors than are looked at. A namespace that only sockets, netdevs or threads other
 * than a process's first one keep cannot be found this way. */
#include <fcntl.h>
#include <sys/stat.h>

#include "array.h"
#include "cleanup.h"
#include "netns.h"
#include "netns_ops.h"
#include "netns_walk.h"
#include "sysfs.h"

#define NAMESPACES_MAX 65536
#define MOUNTS_MAX     65536 /* lines of one mountinfo */
#define LINE_SIZE      8192

struct set {
	uint64_t *items;
	size_t n;
};

struct walk {
	const struct hw *hw;
	int (*fn)(int netns_fd, const char *path, void *arg);
	void *arg;
	struct set seen;   /* inodes of network namespaces; all are on one file system */
	struct set mounts; /* of mount namespaces */
	int end;	   /* what ends the walk, negative */
	const char *pid;
	int pid_fd;
};

static bool is_in(const struct set *s, uint64_t ino)
{
	for (size_t i = s->n; i > 0; i--)
		if (s->items[i - 1] == ino)
			return true;
	return false;
}

/* 1: it is new, 0: it was there. */
static int add(struct set *s, uint64_t ino)
{
	uint64_t *new;

	if (is_in(s, ino))
		return 0;
	if (s->n >= NAMESPACES_MAX)
		return -E2BIG;
	new = array_push(s->items, s->n);
	if (!new)
		return -ENOMEM;
	*new = ino;
	return 1;
}

/* "net:[4026531840]" */
static bool parse_link(const char *link, const char *kind, uint64_t *ret)
{
	size_t n = strlen(kind);
	char number[24];
	size_t digits;

	if (strncmp(link, kind, n) != 0 || strncmp(link + n, ":[", 2) != 0)
		return false;
	digits = strcspn(link + n + 2, "]");
	if (digits >= sizeof(number))
		return false;
	memcpy(number, link + n + 2, digits);
	number[digits] = '\0';
	return parse_u64(number, ret) == 0;
}

/* --- tell ----------------------------------------------------------------------------------- */

/* Once for each. Returns w->end. */
static int tell(struct walk *w, int netns_fd, const char *path)
{
	struct stat st;
	int r = fstat(netns_fd, &st) < 0 ? 0 : add(&w->seen, st.st_ino);

	if (r > 0)
		r = w->fn(netns_fd, path, w->arg);
	w->end = r < 0 ? r : 0;
	return w->end;
}

/* What we ran out of is no reason to pass a namespace over: it may be the one that is looked for.
 */
static int tell_opened(struct walk *w, int netns_fd, const char *path)
{
	if (netns_fd >= 0)
		return tell(w, netns_fd, path);
	if (netns_fd == -EMFILE || netns_fd == -ENFILE || netns_fd == -ENOMEM)
		w->end = netns_fd;
	return w->end;
}

static int on_name(int netns_fd, const char *name, void *arg)
{
	char path[SYSFS_PATH_MAX];

	snprintf(path, sizeof(path), "/run/netns/%s", name);
	return tell(arg, netns_fd, path);
}

/* An entry of the process's folder that links to a namespace, "ns/net" or "fd/4". */
static int look_at_link(struct walk *w, const char *entry)
{
	char link[64], path[SYSFS_PATH_MAX];
	uint64_t ino;
	AUTO_FD fd = -1;

	if (sysfs_target(w->pid_fd, link, sizeof(link), "%s", entry) < 0 ||
	    !parse_link(link, "net", &ino) || is_in(&w->seen, ino))
		return 0;
	fd = netns_open_proc(w->pid_fd, entry);
	snprintf(path, sizeof(path), "/proc/%s/%s", w->pid, entry);
	return tell_opened(w, fd, path);
}

static int on_descriptor(int dir, const char *name, void *arg)
{
	char entry[64];

	(void)dir;
	snprintf(entry, sizeof(entry), "fd/%.32s", name);
	return look_at_link(arg, entry);
}

/* --- mounts --------------------------------------------------------------------------------- */

/* The next field, ended; blanks in it are "\040" (mangle() in linux/fs/seq_file.c). */
static char *next_field(char **line)
{
	char *field = strsep(line, " "), *to = field;

	for (const char *from = field; from && *from; to++) {
		bool escaped = from[0] == '\\' && strspn(from + 1, "01234567") >= 3;

		*to = escaped ? (char)((from[1] - '0') << 6 | (from[2] - '0') << 3 |
				       (from[3] - '0'))
			      : *from;
		from += escaped ? 4 : 1;
	}
	if (to)
		*to = '\0';
	return field;
}

/* "36 35 0:4 net:[4026532001] /run/netns/a rw shared:1 - nsfs nsfs rw": the root of such a mount is
 * the namespace (proc_pid_mountinfo(5)). */
static int look_at_mount(struct walk *w, int root, char *line)
{
	const char *link = NULL, *point = NULL;
	char path[SYSFS_PATH_MAX];
	uint64_t ino;
	AUTO_FD fd = -1;

	for (int i = 0; i < 4; i++)
		link = next_field(&line);
	if (!link || !parse_link(link, "net", &ino) || is_in(&w->seen, ino))
		return 0;
	point = next_field(&line);
	if (!point ||
	    (size_t)snprintf(path, sizeof(path), "/proc/%s/root%s", w->pid, point) >= sizeof(path))
		return 0;
	fd = netns_open_below(root, point);
	return tell_opened(w, fd, strcmp(w->pid, "1") == 0 ? point : path);
}

static int read_mounts(struct walk *w, FILE *f, int root)
{
	char line[LINE_SIZE];

	for (int i = 0; i < MOUNTS_MAX && !w->end && fgets(line, sizeof(line), f); i++)
		look_at_mount(w, root, line);
	return w->end;
}

/* Processes that see the same mounts are many. */
static int look_at_mounts(struct walk *w)
{
	AUTO_FD root = -1, fd = -1;
	char link[64];
	uint64_t ino;
	FILE *f;

	if (sysfs_target(w->pid_fd, link, sizeof(link), "ns/mnt") < 0 ||
	    !parse_link(link, "mnt", &ino) || is_in(&w->mounts, ino))
		return 0;
	root = sysfs_open_dir(w->pid_fd, "root");
	fd = openat(w->pid_fd, "mountinfo", O_RDONLY | O_CLOEXEC);
	f = root < 0 || fd < 0 ? NULL : fdopen(fd, "r");
	if (!f)
		return 0;
	take_fd(&fd);
	w->end = add(&w->mounts, ino) < 0 ? -ENOMEM : read_mounts(w, f, root);
	fclose(f);
	return w->end;
}

/* --- processes ------------------------------------------------------------------------------ */

/* It may vanish meanwhile, or not be for us to look into: then the rest is looked at all the same.
 */
static int on_process(int dir, const char *name, void *arg)
{
	struct walk *w = arg;
	AUTO_FD pid_fd = -1;

	if (strspn(name, "0123456789") != strlen(name))
		return 0;
	pid_fd = sysfs_open_dir(dir, "%s", name);
	if (pid_fd < 0)
		return 0;
	w->pid = name;
	w->pid_fd = pid_fd;
	if (look_at_link(w, "ns/net") == 0 && look_at_mounts(w) == 0)
		sysfs_list(pid_fd, "fd", on_descriptor, w);
	return w->end;
}

static int leave_out_own(struct walk *w)
{
	AUTO_FD own = netns_open_own();
	struct stat st;

	if (own < 0)
		return own;
	return fstat(own, &st) < 0 ? -errno : add(&w->seen, st.st_ino);
}

/* Without its folder nothing has a name; without processes nothing else is to be seen. */
static int walk_all(struct walk *w)
{
	int r = leave_out_own(w);

	if (r < 0)
		return r;
	sysfs_starved();
	netns_list(w->hw, on_name, w);
	if (!w->end && w->hw->proc_fd >= 0)
		sysfs_list(w->hw->proc_fd, ".", on_process, w);
	return w->end ? w->end : sysfs_starved();
}

int netns_each(const struct hw *hw, int (*fn)(int netns_fd, const char *path, void *arg), void *arg)
{
	struct walk w = {.hw = hw, .fn = fn, .arg = arg};
	int r = walk_all(&w);

	free(w.seen.items);
	free(w.mounts.items);
	return r;
}
