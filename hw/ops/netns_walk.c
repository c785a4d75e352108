// SPDX-License-Identifier: Apache-2.0
/* netns_walk.c - finds every network namespace, whatever keeps it alive.
 *
 * Success: names, then for each process its namespace and its mounts (once per mount namespace),
 * then open files, in rounds over all processes, so that a process with many does not starve the
 * others. Errors: processes that exit (skipped); unreadable processes, or an exhausted budget (the
 * set is incomplete). Not found this way: a namespace kept only by sockets, netdevs or threads
 * other than the main thread of a process. */
#include "netns_walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "array.h"
#include "cleanup.h"
#include "host_view.h"
#include "ino_set.h"
#include "netns.h"
#include "sysfs.h"

#define LINE_SIZE    8192
#define USERS_MAX    256 /* further users share the budget of the last entry */
#define TABLES_MAX   64 /* number of processes whose open files are compared with those of others */
#define FIRST_ROUND  256
#define LATER_ROUNDS 4096
/* Steps between two reads of the clock; with fewer steps, the reads would be too expensive. */
#define CLOCK_STEPS  256

const struct netns_budget netns_budget_usual = {
	.namespaces = 65536,
	.processes = 262144,
	.descriptors = 262144,
	.user_descriptors = 131072,
	.mount_bytes = 64 << 20,
	.user_mount_bytes = 16 << 20,
	.cpu_ns = UINT64_C(2000000000),
};

struct user {
	uid_t uid;
	size_t descriptors, mount_bytes;
};

struct process {
	int pid;
	unsigned user;
	long at; /* position in its folder of open files */
	bool done;
};

struct walk {
	const struct hw *hw;
	const struct netns_budget *budget;
	struct netns_set *set;
	struct ino_set seen, mounts;
	struct process *processes;
	size_t n_processes;
	struct user users[USERS_MAX];
	unsigned n_users;
	size_t mount_bytes;
	int tables[TABLES_MAX]; /* processes with many open files, none shared between them */
	unsigned n_tables, steps;
	uint64_t end_ns;
	bool same_pids; /* our PIDs are those of this /proc, so kcmp() can be used */
	int error;	/* stops the walk */
};

/* --- budget ----------------------------------------------------------------------------------- */

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

static void mark_incomplete(struct walk *w)
{
	w->set->complete = false;
}

/* Counts one step of the walk. False: the time is used up, or there was an error. */
static bool walk_step(struct walk *w)
{
	if (w->error)
		return false;
	if (++w->steps % CLOCK_STEPS || cpu_ns() < w->end_ns)
		return true;
	w->steps--; /* so that the next call reads the clock again */
	mark_incomplete(w);
	return false;
}

static unsigned user_of(struct walk *w, uid_t uid)
{
	unsigned i = 0;

	while (i < w->n_users && w->users[i].uid != uid)
		i++;
	if (i == USERS_MAX)
		return USERS_MAX - 1;
	if (i == w->n_users)
		w->users[w->n_users++] = (struct user){.uid = uid};
	return i;
}

/* Handles an error: an unreadable object makes the set incomplete, a removed one does not. */
static void walk_failed(struct walk *w, int code)
{
	if (code != ENOENT && code != ESRCH && code != EINVAL && code != ENOTDIR)
		mark_incomplete(w);
}

/* --- results ---------------------------------------------------------------------------------- */

static void walk_found(struct walk *w, uint64_t ino, const char *path)
{
	struct netns_found *found = NULL;
	char *copy = NULL;
	int r;

	if (ino_set_has(&w->seen, ino))
		return;
	if (w->set->n >= w->budget->namespaces) {
		mark_incomplete(w);
		return;
	}
	copy = strdup(path);
	r = copy ? ino_set_add(&w->seen, ino) : -ENOMEM;
	found = r < 0 ? NULL : array_push(w->set->items, w->set->n);
	if (!found) {
		free(copy);
		w->error = -ENOMEM;
		return;
	}
	found->ino = ino;
	found->path = copy;
}

static int netns_walk_on_name(int netns_fd, const char *name, void *arg)
{
	char path[SYSFS_PATH_MAX];
	struct stat st;
	struct walk *w = arg;

	snprintf(path, sizeof(path), "/run/netns/%s", name);
	if (fstat(netns_fd, &st) == 0)
		walk_found(w, st.st_ino, path);
	return w->error;
}

/* Reads the namespace inode of a link: "ns/net", or "4" among the open files. False: not a
 * namespace of this kind. */
static bool link_inode(struct walk *w, int dir, const char *entry, const char *kind, uint64_t *ret)
{
	char link[64];
	ssize_t n = readlinkat(dir, entry, link, sizeof(link));

	if (n < 0)
		walk_failed(w, errno);
	if (n < 0 || n == sizeof(link))
		return false;
	link[n] = '\0';
	return nsfs_inode(link, kind, ret);
}

/* --- mounts ----------------------------------------------------------------------------------- */

/* Adds the namespace of a mountinfo line: the root of a nsfs mount is the namespace. */
static void add_mount(struct walk *w, int pid, char *line)
{
	struct mount_line m;
	char path[LINE_SIZE];
	uint64_t ino;

	if (!mountinfo_parse(line, &m) || strcmp(m.type, "nsfs") != 0 ||
	    !nsfs_inode(m.root, "net", &ino))
		return;
	if (pid == 1)
		snprintf(path, sizeof(path), "%s", m.point);
	else if ((size_t)snprintf(path, sizeof(path), "/proc/%d/root%s", pid, m.point) >=
		 sizeof(path))
		return;
	walk_found(w, ino, path);
}

/* True if the budget allows to read the process's mounts. Those of process 1 are the host's own and
 * always read. */
static bool may_read_mounts(struct walk *w, const struct process *p)
{
	const struct netns_budget *b = w->budget;

	if (p->pid == 1 || (w->mount_bytes < b->mount_bytes &&
			    w->users[p->user].mount_bytes < b->user_mount_bytes))
		return true;
	mark_incomplete(w);
	return false;
}

/* Adds the namespaces in a mountinfo file. Lines longer than the buffer are skipped and make the
 * set incomplete. */
static void read_mounts(struct walk *w, const struct process *p, FILE *f)
{
	char line[LINE_SIZE];
	bool whole = true;

	while (walk_step(w) && may_read_mounts(w, p) && fgets(line, sizeof(line), f)) {
		size_t n = strlen(line);
		bool is_start = whole;

		whole = n > 0 && line[n - 1] == '\n';
		if (!whole)
			mark_incomplete(w);
		if (p->pid != 1) {
			w->mount_bytes += n;
			w->users[p->user].mount_bytes += n;
		}
		if (is_start && whole)
			add_mount(w, p->pid, line);
	}
}

/* Reads each mount namespace once: many processes share one. */
static void walk_mounts(struct walk *w, const struct process *p, int pid_fd)
{
	AUTO_FD fd = -1;
	uint64_t ino;
	FILE *f;

	if (!link_inode(w, pid_fd, "ns/mnt", "mnt", &ino) || ino_set_has(&w->mounts, ino))
		return;
	fd = openat(pid_fd, "mountinfo", O_RDONLY | O_CLOEXEC);
	f = fd < 0 ? NULL : fdopen(fd, "r");
	if (!f) {
		walk_failed(w, errno);
		return;
	}
	take_fd(&fd);
	if (ino_set_add(&w->mounts, ino) < 0)
		w->error = -ENOMEM;
	read_mounts(w, p, f);
	fclose(f);
}

/* --- processes -------------------------------------------------------------------------------- */

static struct process *netns_add_process(struct walk *w, const char *name, uid_t uid)
{
	struct process *p = NULL;

	if (w->n_processes >= w->budget->processes) {
		mark_incomplete(w);
		return NULL;
	}
	p = array_push(w->processes, w->n_processes);
	if (!p) {
		w->error = -ENOMEM;
		return NULL;
	}
	*p = (struct process){.pid = atoi(name), .user = user_of(w, uid)};
	return p;
}

/* Handles one entry of /proc. A process that exits or is unreadable does not stop the walk. */
static int netns_walk_on_process(int dir, const char *name, void *arg)
{
	struct walk *w = arg;
	struct process *p;
	AUTO_FD pid_fd = -1;
	char path[64];
	struct stat st;
	uint64_t ino;

	if (strlen(name) > 9 || strspn(name, "0123456789") != strlen(name))
		return 0;
	pid_fd = openat(dir, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (pid_fd < 0 || fstat(pid_fd, &st) < 0) {
		walk_failed(w, errno);
		return 0;
	}
	p = netns_add_process(w, name, st.st_uid);
	if (!p)
		return w->error;
	snprintf(path, sizeof(path), "/proc/%s/ns/net", name);
	if (link_inode(w, pid_fd, "ns/net", "net", &ino))
		walk_found(w, ino, path);
	if (walk_step(w))
		walk_mounts(w, p, pid_fd);
	return w->error;
}

/* --- open files ------------------------------------------------------------------------------- */

static bool may_read_descriptors(struct walk *w, const struct process *p)
{
	const struct netns_budget *b = w->budget;

	if (w->set->n_descriptors < b->descriptors &&
	    w->users[p->user].descriptors < b->user_descriptors)
		return true;
	mark_incomplete(w);
	return false;
}

static void add_descriptor(struct walk *w, const struct process *p, int dir, const char *name)
{
	char path[64];
	uint64_t ino;

	w->set->n_descriptors++;
	w->users[p->user].descriptors++;
	if (!link_inode(w, dir, name, "net", &ino))
		return;
	snprintf(path, sizeof(path), "/proc/%d/fd/%.32s", p->pid, name);
	walk_found(w, ino, path);
}

/* Reads up to `most` entries. Returns true if the folder was read to its end. */
static bool read_some(struct walk *w, struct process *p, DIR *d, size_t most)
{
	const struct dirent *entry = NULL;

	seekdir(d, p->at);
	for (size_t i = 0; i < most && walk_step(w) && may_read_descriptors(w, p); i++) {
		errno = 0;
		entry = readdir(d);
		if (!entry && errno)
			walk_failed(w, errno);
		if (!entry)
			return true;
		if (entry->d_name[0] != '.')
			add_descriptor(w, p, dirfd(d), entry->d_name);
	}
	p->at = telldir(d);
	return false;
}

/* Reads up to `most` open files of a process. If it exits before all were read, the set is
 * incomplete: another process may share these files. */
static void walk_descriptors(struct walk *w, struct process *p, size_t most)
{
	char path[32];
	AUTO_FD fd = -1;
	DIR *d;

	snprintf(path, sizeof(path), "%d/fd", p->pid);
	fd = openat(w->hw->proc_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	d = fd < 0 ? NULL : fdopendir(fd);
	if (!d) {
		p->done = true;
		if (p->at)
			mark_incomplete(w);
		walk_failed(w, errno);
		return;
	}
	take_fd(&fd);
	p->done = read_some(w, p, d, most);
	closedir(d);
}

/* True if the process shares its open files (CLONE_FILES) with a process that was read already. */
static bool has_known_files(struct walk *w, const struct process *p)
{
	for (unsigned i = 0; i < w->n_tables; i++)
		if (syscall(SYS_kcmp, w->tables[i], p->pid, KCMP_FILES, 0, 0) == 0)
			return true;
	if (w->n_tables < TABLES_MAX)
		w->tables[w->n_tables++] = p->pid;
	return false;
}

static bool may_go_on(struct walk *w)
{
	return !w->error && w->set->n_descriptors < w->budget->descriptors && walk_step(w);
}

static void walk_all_descriptors(struct walk *w)
{
	size_t most = FIRST_ROUND, left = w->n_processes;

	for (; left > 0 && may_go_on(w); most = LATER_ROUNDS) {
		left = 0;
		for (size_t i = 0; i < w->n_processes && !w->error; i++) {
			struct process *p = &w->processes[i];

			if (p->done || !may_read_descriptors(w, p))
				continue;
			walk_descriptors(w, p, most);
			if (!p->done && most == FIRST_ROUND && w->same_pids)
				p->done = has_known_files(w, p);
			left += !p->done;
		}
	}
	if (left > 0)
		mark_incomplete(w);
}

/* --- the walk --------------------------------------------------------------------------------- */

static bool has_our_pids(const struct hw *hw)
{
	char link[32], own[32];

	snprintf(own, sizeof(own), "%d", (int)getpid());
	return sysfs_target(hw->proc_fd, link, sizeof(link), "self") == 0 && strcmp(link, own) == 0;
}

/* Runs the whole walk. Without /run/netns there are no names; without /proc nothing else can be
 * found. */
static void netns_walk_all(struct walk *w)
{
	sysfs_exhausted();
	netns_list(w->hw, netns_walk_on_name, w);
	if (w->hw->proc_fd < 0) {
		mark_incomplete(w);
		return;
	}
	w->same_pids = has_our_pids(w->hw);
	if (sysfs_list(w->hw->proc_fd, ".", netns_walk_on_process, w) < 0)
		mark_incomplete(w);
	walk_all_descriptors(w);
	if (sysfs_exhausted())
		mark_incomplete(w);
}

int netns_walk(const struct hw *hw, const struct netns_budget *budget, struct netns_set *ret)
{
	struct netns_set set = {.complete = true};
	struct walk w = {
		.hw = hw, .budget = budget, .set = &set, .end_ns = cpu_ns() + budget->cpu_ns};

	netns_walk_all(&w);
	free(w.seen.slots);
	free(w.mounts.slots);
	free(w.processes);
	if (w.error)
		netns_set_done(&set);
	else
		*ret = set;
	return w.error;
}

void netns_set_done(struct netns_set *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->items[i].path);
	free(s->items);
	*s = (struct netns_set){0};
}
