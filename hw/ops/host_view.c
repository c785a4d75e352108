// SPDX-License-Identifier: Apache-2.0
#include "host_view.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "cleanup.h"
#include "sysfs.h"

/* Returns the next field, terminated and unescaped: a blank is "\040" (mangle() in
 * linux/fs/seq_file.c). */
static char *next_field(char **line)
{
	char *field = strsep(line, " \n"), *to = field;

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

/* Parses a line such as "36 35 0:4 net:[4026532001] /run/netns/a rw shared:1 master:2 - nsfs nsfs
 * rw". */
bool mountinfo_parse(char *line, struct mount_line *ret)
{
	struct mount_line m = {0};
	const char *field = "";

	for (int i = 0; i < 6 && field; i++) {
		field = next_field(&line);
		m.root = i == 3 ? field : m.root;
		m.point = i == 4 ? field : m.point;
	}
	while (field && (field = next_field(&line)) && strcmp(field, "-") != 0) {
		m.shared |= strncmp(field, "shared:", 7) == 0;
		m.slave |= strncmp(field, "master:", 7) == 0;
	}
	m.type = field ? next_field(&line) : NULL;
	if (!m.type || !m.type[0])
		return false;
	*ret = m;
	return true;
}

bool nsfs_inode(const char *name, const char *kind, uint64_t *ret)
{
	size_t n = strlen(kind), digits;
	char number[24];

	if (strncmp(name, kind, n) != 0 || strncmp(name + n, ":[", 2) != 0)
		return false;
	name += n + 2;
	digits = strspn(name, "0123456789");
	if (digits >= sizeof(number) || strcmp(name + digits, "]") != 0)
		return false;
	memcpy(number, name, digits);
	number[digits] = '\0';
	return parse_u64(number, ret) == 0;
}

#define NETNS_DIR  "/run/netns"
/* PROC_PID_INIT_INO, linux/proc_ns.h */
#define FIRST_PIDS "pid:[4026531836]"
#define LINE_SIZE  8192

/* Reads the target of a link below /proc. Returns 0 or a negative errno. */
static int host_view_read_link(const struct hw *hw, const char *link, char ret[64])
{
	int r = hw->proc_fd < 0 ? -ENOENT : sysfs_target(hw->proc_fd, ret, 64, "%s", link);

	return r < 0 ? r : 0;
}

/* Returns the runtime's PID in our PID namespace, 0 if the runtime has no PID there (SO_PEERCRED,
 * unix(7)); -1: cannot connect. */
static int runtime_pid(const char *path)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	struct ucred peer;
	socklen_t len = sizeof(peer);
	AUTO_FD fd = -1;

	if (!path[0] || strlen(path) >= sizeof(to.sun_path))
		return -1;
	memcpy(to.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&to, sizeof(to)) < 0 ||
	    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0)
		return -1;
	return peer.pid;
}

static int open_root_of_init(const struct hw *hw)
{
	AUTO_FD fd = openat(hw->proc_fd, "1/root/run", O_PATH | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? errno : 0;
}

/* Whether the path is the mount point or below it. */
static bool mount_covers(const char *point, const char *path)
{
	size_t n = strlen(point);

	return strcmp(point, "/") == 0 ||
	       (strncmp(point, path, n) == 0 && (path[n] == '/' || path[n] == '\0'));
}

/* True if the host's mounts in NETNS_DIR propagate to us. This depends on the innermost mount that
 * covers it: the one with the longest mount point, and of several with the same mount point the
 * last. */
static bool follows_host(const struct hw *hw)
{
	AUTO_FD fd = openat(hw->proc_fd, "self/mountinfo", O_RDONLY | O_CLOEXEC);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	char line[LINE_SIZE];
	struct mount_line m;
	bool follows = false;
	size_t most = 0;

	if (!f)
		return false;
	take_fd(&fd);
	while (fgets(line, sizeof(line), f)) {
		if (!mountinfo_parse(line, &m) || !mount_covers(m.point, NETNS_DIR) ||
		    strlen(m.point) < most)
			continue;
		most = strlen(m.point);
		follows = m.shared || m.slave;
	}
	fclose(f);
	return follows;
}

void host_view_read(const struct hw *hw, const char *runtime_socket, struct host_view *ret)
{
	char own[64], first[64];

	*ret = (struct host_view){.runtime_pid = -1};
	ret->first_pids = host_view_read_link(hw, "self/ns/pid", own) == 0 &&
			  strcmp(own, FIRST_PIDS) == 0;
	if (!ret->first_pids)
		ret->runtime_pid = runtime_pid(runtime_socket);
	ret->process_error = -host_view_read_link(hw, "1/ns/net", first);
	ret->own_mounts = host_view_read_link(hw, "self/ns/mnt", own) == 0 &&
			  host_view_read_link(hw, "1/ns/mnt", first) == 0 &&
			  strcmp(own, first) != 0;
	if (!ret->own_mounts)
		return;
	ret->root_error = open_root_of_init(hw);
	ret->follows = ret->root_error && follows_host(hw);
}

int host_view_judge(const struct host_view *v, struct err *e)
{
	if (!v->first_pids && v->runtime_pid <= 0)
		return err_set(
			e, v->runtime_pid < 0 ? -EAGAIN : -ESRCH,
			"the host's processes are not visible: does the pod lack \"hostPID: true\"?");
	if (v->process_error)
		return err_set(
			e, -v->process_error,
			"process 1 of the host is not accessible (%s): does the container lack CAP_SYS_PTRACE?",
			strerror(v->process_error));
	if (v->own_mounts && v->root_error && !v->follows)
		return err_set(e, -v->root_error,
			       "the host's " NETNS_DIR
			       " is not visible from here (%s): does the container lack "
			       "\"mountPropagation: HostToContainer\" on " NETNS_DIR "?",
			       strerror(v->root_error));
	return 0;
}

/* --- boot ------------------------------------------------------------------------------------- */

void boot_id_read(const struct hw *hw, char ret[BOOT_ID_SIZE])
{
	char text[BOOT_ID_SIZE];

	ret[0] = '\0';
	if (hw->proc_fd >= 0 && sysfs_str(hw->proc_fd, text, sizeof(text),
					  "sys/kernel/random/boot_id") == BOOT_ID_SIZE - 1)
		memcpy(ret, text, BOOT_ID_SIZE);
}
