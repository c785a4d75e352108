#include "process_owner.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cgroup_pod.h"
#include "cleanup.h"

/* One line for each hierarchy of cgroup v1; the kubelet's own paths have some 200 bytes. */
#define CGROUP_TEXT_MAX 16384

/* The first `size` bytes of it. */
static ssize_t read_file(int proc_fd, uint32_t pid, const char *name, char *buf, size_t size)
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

int process_owner(int proc_fd, uint32_t pid, struct qp_owner *ret)
{
	char text[CGROUP_TEXT_MAX];
	struct qp_owner owner = {.pid = pid};
	ssize_t n = read_file(proc_fd, pid, "cgroup", text, sizeof(text));

	if (n < 0)
		return (int)n;
	cgroup_pod_uid(text, (size_t)n, owner.pod_uid);
	n = read_file(proc_fd, pid, "comm", text, sizeof(owner.comm) - 1);
	if (n > 0)
		snprintf(owner.comm, sizeof(owner.comm), "%.*s", (int)n, text);
	owner.comm[strcspn(owner.comm, "\n")] = '\0';
	*ret = owner;
	return 0;
}

uint32_t process_of_thread(int proc_fd, uint32_t tid)
{
	static const char key[] = "\nTgid:\t";
	char text[1024]; /* it is among the first lines */
	ssize_t n = read_file(proc_fd, tid, "status", text, sizeof(text) - 1);
	const char *found;

	if (n < 0)
		return 0;
	text[n] = '\0';
	found = strstr(text, key);
	return found ? (uint32_t)strtoul(found + strlen(key), NULL, 10) : 0;
}
