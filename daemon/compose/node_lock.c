// SPDX-License-Identifier: Apache-2.0
/* node_lock.c - see node_lock.h.
 *
 * The socket listens only for SO_PEERCRED: a client that connects gets the pid of the listener. */
#include "node_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "cleanup.h"
#include "nlsock.h"
#include "utf8.h"

/* Simultaneous clients; they do not wait for us. */
#define BACKLOG 16

static socklen_t node_lock_name_of(struct sockaddr_un *ret)
{
	*ret = (struct sockaddr_un){.sun_family = AF_UNIX};
	memcpy(ret->sun_path + 1, NODE_LOCK_NAME, strlen(NODE_LOCK_NAME));
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(NODE_LOCK_NAME));
}

static int node_lock_open_socket(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	return fd < 0 ? -errno : fd;
}

/* Writes a text such as "pid 17 (rocelet)". The command line is not read, because it is in the
 * process's memory, and the read could block us forever. */
static void node_lock_describe(const struct hw *hw, pid_t pid, char *ret, size_t size)
{
	char path[32], name[32];
	ssize_t n;

	snprintf(ret, size, "pid %d", pid);
	snprintf(path, sizeof(path), "%d/comm", pid);
	AUTO_FD fd = hw->proc_fd < 0 ? -1 : openat(hw->proc_fd, path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, name, sizeof(name) - 1);
	name[n > 0 ? n : 0] = '\0';
	name[strcspn(name, "\n")] = '\0';
	if (*name && utf8_is_name(name, sizeof(name)))
		snprintf(ret, size, "pid %d (%s)", pid, name);
}

/* --- an owner that accepts no connections ----------------------------------------------------- */

static const char *attribute(const struct nlmsghdr *h, int type, size_t size)
{
	const struct nlattr *a = nlmsg_find_attr((struct nlmsghdr *)h,
						 (int)sizeof(struct unix_diag_msg), type);

	return a && (size_t)nla_len(a) == size ? nla_data(a) : NULL;
}

static int read_socket(const struct nlmsghdr *h, void *arg)
{
	struct ucred *ret = arg;
	struct sockaddr_un name;
	size_t len = node_lock_name_of(&name) - offsetof(struct sockaddr_un, sun_path);
	const struct unix_diag_msg *m = nlmsg_data(h);
	const char *found, *uid;

	if (h->nlmsg_type != SOCK_DIAG_BY_FAMILY || !nlmsg_valid_hdr(h, (int)sizeof(*m)) ||
	    m->udiag_type != SOCK_STREAM)
		return 0;
	found = attribute(h, UNIX_DIAG_NAME, len);
	uid = attribute(h, UNIX_DIAG_UID, sizeof(ret->uid));
	if (found && uid && memcmp(found, name.sun_path, len) == 0)
		memcpy(&ret->uid, uid, sizeof(ret->uid));
	return 0;
}

/* Finds the owner of a socket that does not listen, or whose backlog is full, from the kernel.
 * False: not found, as on Linux before 5.3, or without unix_diag. */
static bool find_owner(struct ucred *ret)
{
	const struct unix_diag_req request = {.sdiag_family = AF_UNIX,
					      .udiag_states = 1 << TCP_LISTEN | 1 << TCP_CLOSE,
					      .udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_UID};
	struct nl_msg *msg = nlmsg_alloc_simple(SOCK_DIAG_BY_FAMILY, NLM_F_DUMP);
	struct nlsock s;
	struct err e;

	*ret = (struct ucred){.uid = (uid_t)-1};
	if (msg && nlmsg_append(msg, (void *)&request, sizeof(request), NLMSG_ALIGNTO) == 0 &&
	    nlsock_open(&s, NETLINK_SOCK_DIAG, &e) == 0) {
		(void)nlsock_call(&s, msg, read_socket, ret, &e);
		nlsock_close(&s);
	}
	nlmsg_free(msg);
	return ret->uid != (uid_t)-1;
}

/* --- the owner -------------------------------------------------------------------------------- */

/* Returns the error that names the owner. The pid of a process in an invisible pid namespace is 0.
 */
static int report_holder(const struct hw *hw, struct err *e)
{
	struct ucred peer = {.pid = 0};
	socklen_t size = sizeof(peer);
	struct sockaddr_un name;
	socklen_t len = node_lock_name_of(&name);
	AUTO_FD fd = node_lock_open_socket();
	bool is_known, is_other_user;
	char owner[64];

	is_known = fd >= 0 && connect(fd, (struct sockaddr *)&name, len) == 0 &&
		   getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
	is_known = is_known || find_owner(&peer);
	is_other_user = is_known && peer.uid != 0 && peer.uid != geteuid();
	if (is_known && peer.pid > 0)
		node_lock_describe(hw, peer.pid, owner, sizeof(owner));
	else
		snprintf(owner, sizeof(owner), "a process that is not visible from here");
	if (is_other_user)
		return err_set(e, -EACCES, "@" NODE_LOCK_NAME " is in use by user %u, %s", peer.uid,
			       owner);
	return err_set(e, -EALREADY, "this node is in use by another rocelet: %s", owner);
}

int node_lock_take(struct node_lock *ret, const struct hw *hw, struct err *e)
{
	struct sockaddr_un name;
	socklen_t len = node_lock_name_of(&name);
	AUTO_FD fd = node_lock_open_socket();

	if (fd < 0)
		return err_set(e, fd, "this node cannot be locked: %s", strerror(-fd));
	if (bind(fd, (struct sockaddr *)&name, len) < 0)
		return errno == EADDRINUSE ? report_holder(hw, e)
					   : err_set(e, -errno, "this node cannot be locked: %s",
						     strerror(errno));
	(void)listen(fd, BACKLOG);
	ret->fd = take_fd(&fd);
	return 0;
}

static void node_lock_on_client(uv_poll_t *poll, int status, int events)
{
	const struct node_lock *l = poll->data;
	int fd;

	(void)status, (void)events;
	while ((fd = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC)) >= 0)
		close(fd);
}

void node_lock_serve(struct node_lock *l, uv_loop_t *loop)
{
	if (l->fd < 0)
		return;
	uv_poll_init(loop, &l->clients, l->fd);
	l->clients.data = l;
	l->is_polled = uv_poll_start(&l->clients, UV_READABLE, node_lock_on_client) == 0;
}

void node_lock_stop(struct node_lock *l)
{
	if (l->is_polled)
		uv_close((uv_handle_t *)&l->clients, NULL);
	l->is_polled = false;
}

void node_lock_release(struct node_lock *l)
{
	if (l->fd >= 0)
		close(l->fd);
	l->fd = -1;
}
