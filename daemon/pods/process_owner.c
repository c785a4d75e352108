// SPDX-License-Identifier: Apache-2.0
#include "process_owner.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cleanup.h"
#include "file_io.h"

struct word {
	const char *s;
	size_t len;
};

static bool is(struct word w, const char *text)
{
	return w.len == strlen(text) && memcmp(w.s, text, w.len) == 0;
}

/* Removes the prefix `text`; returns false if *w does not begin with it. */
static bool cut_prefix(struct word *w, const char *text)
{
	size_t n = strlen(text);

	if (w->len < n || memcmp(w->s, text, n) != 0)
		return false;
	w->s += n;
	w->len -= n;
	return true;
}

static bool is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

/* Parses a UUID with this separator between its groups, or the 32 digits of a static pod, and
 * advances *w past it. */
static bool cut_uid(struct word *w, char dash, char ret[POD_UID_SIZE])
{
	bool grouped = w->len > 8 && w->s[8] == dash;
	size_t n = grouped ? 36 : 32;
	char uid[POD_UID_SIZE] = "";

	if (w->len < n)
		return false;
	for (size_t i = 0; i < n; i++) {
		bool at_dash = grouped && (i == 8 || i == 13 || i == 18 || i == 23);

		if (at_dash ? w->s[i] != dash : !is_hex(w->s[i]))
			return false;
		uid[i] = at_dash ? '-' : w->s[i];
	}
	memcpy(ret, uid, sizeof(uid));
	w->s += n;
	w->len -= n;
	return true;
}

/* Matches "kubepods-burstable-pod<uid>.slice", after any prefix from --cgroup-root. If the runtime
 * and the kubelet use different cgroup drivers, ":cri-containerd:<id>" follows. */
static bool is_slice(struct word w, char ret[POD_UID_SIZE])
{
	static const char name[] = "kubepods";
	const char *found = memmem(w.s, w.len, name, strlen(name));
	char uid[POD_UID_SIZE];

	if (!found || (found > w.s && found[-1] != '-'))
		return false;
	w.len -= (size_t)(found - w.s) + strlen(name);
	w.s = found + strlen(name);
	if (!cut_prefix(&w, "-burstable"))
		cut_prefix(&w, "-besteffort");
	if (!cut_prefix(&w, "-pod") || !cut_uid(&w, '_', uid) || !cut_prefix(&w, ".slice") ||
	    (w.len > 0 && w.s[0] != ':'))
		return false;
	memcpy(ret, uid, sizeof(uid));
	return true;
}

/* Matches "kubepods", optionally "burstable" or "besteffort", then "pod<uid>". */
static bool cgroup_pod_is_folder(struct word w, const struct word before[2], char ret[POD_UID_SIZE])
{
	bool by_class = is(before[0], "burstable") || is(before[0], "besteffort");
	char uid[POD_UID_SIZE];

	if (!is(before[by_class ? 1 : 0], "kubepods") || !cut_prefix(&w, "pod") ||
	    !cut_uid(&w, '-', uid) || w.len > 0)
		return false;
	memcpy(ret, uid, sizeof(uid));
	return true;
}

static size_t component_length(const char *s, size_t len)
{
	size_t n = 0;

	while (n < len && s[n] != '/' && s[n] != '\n')
		n++;
	return n;
}

/* Checks each component of the path, together with the two before it. */
bool cgroup_pod_uid(const char *text, size_t len, char ret[POD_UID_SIZE])
{
	static const struct word none = {"", 0};
	struct word before[2] = {none, none};

	while (len > 0) {
		struct word w = {text, component_length(text, len)};
		size_t step = w.len < len ? w.len + 1 : w.len;

		if (is_slice(w, ret) || cgroup_pod_is_folder(w, before, ret))
			return true;
		before[1] = text[step - 1] == '\n' ? none : before[0];
		before[0] = text[step - 1] == '\n' ? none : w;
		text += step;
		len -= step;
	}
	return false;
}

/* Room for one line per cgroup v1 hierarchy; the kubelet's own paths have some 200 bytes. */
#define CGROUP_TEXT_MAX 16384

/* Reads the first `size` bytes of the file. */
static ssize_t process_read_file(int proc_fd, uint32_t pid, const char *name, char *buf,
				 size_t size)
{
	char path[40];

	snprintf(path, sizeof(path), "%u/%s", pid, name);

	AUTO_FD fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : file_read_all(fd, buf, size);
}

/* --- by cgroup -------------------------------------------------------------------------------- */

/* File handle type of kernfs; a handle of this type contains the cgroup's id (FILEID_KERNFS and
 * kernfs_fh_to_dentry() in linux/fs/kernfs/mount.c). */
#define HANDLE_TYPE_KERNFS 0xfe

union cgroup_handle {
	struct file_handle head;
	char room[sizeof(struct file_handle) + sizeof(uint64_t)];
};

/* Returns a descriptor of the cgroup's directory, or a negative errno. Uses the mount of process 1,
 * which has all cgroups, regardless of our own namespace. */
static int open_cgroup(int proc_fd, uint64_t id)
{
	AUTO_FD mount = openat(proc_fd, "1/root/sys/fs/cgroup", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	union cgroup_handle h = {
		.head = {.handle_bytes = sizeof(id), .handle_type = HANDLE_TYPE_KERNFS}};
	int fd;

	if (mount < 0)
		return -errno;
	memcpy(h.head.f_handle, &id, sizeof(id));
	fd = open_by_handle_at(mount, &h.head, O_PATH | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int cgroup_pod(int proc_fd, uint64_t id, char ret_uid[POD_UID_SIZE])
{
	AUTO_FD fd = open_cgroup(proc_fd, id);
	char link[32], path[PATH_MAX];
	ssize_t n;

	if (fd < 0)
		return fd;
	snprintf(link, sizeof(link), "self/fd/%d", fd);
	n = readlinkat(proc_fd, link, path, sizeof(path));
	if (n < 0)
		return -errno;
	cgroup_pod_uid(path, (size_t)n, ret_uid);
	return 0;
}

/* --- by process ------------------------------------------------------------------------------- */

static int process_pod(int proc_fd, uint32_t pid, struct process_owner *ret)
{
	char text[CGROUP_TEXT_MAX] = "";
	ssize_t n = process_read_file(proc_fd, pid, "cgroup", text, sizeof(text));

	if (n < 0)
		return (int)n;
	cgroup_pod_uid(text, (size_t)n, ret->pod_uid);
	n = process_read_file(proc_fd, pid, "comm", text, sizeof(ret->comm) - 1);
	if (n > 0)
		snprintf(ret->comm, sizeof(ret->comm), "%.*s", (int)n, text);
	ret->comm[strcspn(ret->comm, "\n")] = '\0';
	return 0;
}

int process_owner(int proc_fd, uint32_t pid, uint64_t cgroup, struct process_owner *ret)
{
	struct process_owner owner = {.pid = pid, .cgroup = cgroup};
	int r = cgroup ? cgroup_pod(proc_fd, cgroup, owner.pod_uid) : -ENOENT;

	if (r < 0)
		r = process_pod(proc_fd, pid, &owner);
	if (r == 0)
		*ret = owner;
	return r;
}

static int process_by_pid(const void *a, const void *b)
{
	const struct process_owner *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

size_t process_owners(int proc_fd, struct process_owner *processes, size_t n,
		      struct process_owner **ret)
{
	struct process_owner *owners = calloc(n ? n : 1, sizeof(*owners));
	uint32_t before = 0;
	size_t known = 0;

	*ret = owners;
	if (!owners)
		return 0;
	qsort(processes, n, sizeof(*processes), process_by_pid);
	for (size_t i = 0; i < n; before = processes[i++].pid)
		if (processes[i].pid != before &&
		    process_owner(proc_fd, processes[i].pid, processes[i].cgroup, &owners[known]) ==
			    0)
			known++;
	return known;
}

uint32_t process_of_thread(int proc_fd, uint32_t tid)
{
	static const char key[] = "\nTgid:\t";
	char text[1024]; /* Tgid is among the first lines */
	ssize_t n = process_read_file(proc_fd, tid, "status", text, sizeof(text) - 1);
	const char *found;

	if (n < 0)
		return 0;
	text[n] = '\0';
	found = strstr(text, key);
	return found ? (uint32_t)strtoul(found + strlen(key), NULL, 10) : 0;
}
