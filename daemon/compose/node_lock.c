/* node_lock.c - see node_lock.h.
 *
 * The socket listens only for SO_PEERCRED: who connects learns the process that listens. */
#include "node_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "cleanup.h"
#include "utf8.h"

/* Those who ask at once; they are not waited for. */
#define BACKLOG 16

static socklen_t name_of(struct sockaddr_un *ret)
{
	*ret = (struct sockaddr_un){.sun_family = AF_UNIX};
	memcpy(ret->sun_path + 1, NODE_LOCK_NAME, strlen(NODE_LOCK_NAME));
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(NODE_LOCK_NAME));
}

static int open_socket(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	return fd < 0 ? -errno : fd;
}

/* "pid 17 (rocelet)". Its command line would be read from its memory, for which it could have us
 * wait for ever. */
static void describe(const struct hw *hw, pid_t pid, char *ret, size_t size)
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

/* The pid of a process that we cannot see is 0. */
static int tell_holder(const struct hw *hw, struct err *e)
{
	struct ucred peer = {.pid = 0};
	socklen_t size = sizeof(peer);
	struct sockaddr_un name;
	socklen_t len = name_of(&name);
	AUTO_FD fd = open_socket();
	bool is_known, is_stranger;
	char who[64];

	is_known = fd >= 0 && connect(fd, (struct sockaddr *)&name, len) == 0 &&
		   getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
	is_stranger = is_known && peer.uid != 0 && peer.uid != geteuid();
	if (is_known && peer.pid > 0)
		describe(hw, peer.pid, who, sizeof(who));
	else
		snprintf(who, sizeof(who), "a process that cannot be seen from here");
	if (is_stranger)
		return err_set(e, -EACCES, "@" NODE_LOCK_NAME " is in use by user %u, %s", peer.uid,
			       who);
	return err_set(e, -EALREADY, "this node is in use by another rocelet: %s", who);
}

int node_lock_take(struct node_lock *ret, const struct hw *hw, struct err *e)
{
	struct sockaddr_un name;
	socklen_t len = name_of(&name);
	AUTO_FD fd = open_socket();

	if (fd < 0)
		return err_set(e, fd, "this node cannot be locked: %s", strerror(-fd));
	if (bind(fd, (struct sockaddr *)&name, len) < 0)
		return errno == EADDRINUSE ? tell_holder(hw, e)
					   : err_set(e, -errno, "this node cannot be locked: %s",
						     strerror(errno));
	(void)listen(fd, BACKLOG);
	ret->fd = take_fd(&fd);
	return 0;
}

static void on_asked(uv_poll_t *poll, int status, int events)
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
	uv_poll_init(loop, &l->asked, l->fd);
	l->asked.data = l;
	l->is_polled = uv_poll_start(&l->asked, UV_READABLE, on_asked) == 0;
}

void node_lock_stop(struct node_lock *l)
{
	if (l->is_polled)
		uv_close((uv_handle_t *)&l->asked, NULL);
	l->is_polled = false;
}

void node_lock_release(struct node_lock *l)
{
	if (l->fd >= 0)
		close(l->fd);
	l->fd = -1;
}
