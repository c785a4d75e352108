// SPDX-License-Identifier: Apache-2.0
#include "process_owner.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cgroup_pod.h"
#include "cleanup.h"

/* Room for one line per cgroup v1 hierarchy; the kubelet's own paths have some 200 bytes. */
#define CGROUP_TEXT_MAX 16384

/* Reads the first `size` bytes of the file. */
static ssize_t process_read_file(int proc_fd, uint32_t pid, const char *name, char *buf,
				 size_t size)
{
	char path[40];
	size_t len = 0;
	ssize_t n;

	snprintf(path, sizeof(path), "%u/%s", pid, name);

	AUTO_FD fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	do {
		n = read(fd, buf + len, size - len);
		len += n > 0 ? (size_t)n : 0;
	} while (n > 0 && len < size);
	return n < 0 ? -errno : (ssize_t)len;
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
 * which sees all cgroups whatever namespace we are in. */
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
	char text[CGROUP_TEXT_MAX];
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

size_t process_owners(int proc_fd, struct process_owner *asked, size_t n,
		      struct process_owner **ret)
{
	struct process_owner *owners = calloc(n ? n : 1, sizeof(*owners));
	uint32_t before = 0;
	size_t known = 0;

	*ret = owners;
	if (!owners)
		return 0;
	qsort(asked, n, sizeof(*asked), process_by_pid);
	for (size_t i = 0; i < n; before = asked[i++].pid)
		if (asked[i].pid != before &&
		    process_owner(proc_fd, asked[i].pid, asked[i].cgroup, &owners[known]) == 0)
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
