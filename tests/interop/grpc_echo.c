// SPDX-License-Identifier: Apache-2.0
/* grpc_echo.c - a small gRPC server and client over a unix socket, for other implementations to
 * judge (grpc_python.py). One blocking poll() loop; nothing but grpc.h.
 *
 *   grpc_echo serve SOCKET [MAX_MESSAGE [MAX_CALLS]]
 *   grpc_echo call SOCKET PATH TIMEOUT_MS MESSAGE_SIZE N_CALLS [CANCEL_AT [PING_MS [N_PINGS]]]
 *
 * The server's methods, all below /t.T/: Echo; Stream ("COUNT SIZE"); Fail ("STATUS TEXT"); Hold
 * (never answers); Quit (sends GOAWAY after its answer). It prints "listening SOCKET", "held TEXT"
 * for a call of Hold, "cancel" for a call that its client cancelled and, once per connection, why
 * that ended. The client prints "message LEN SUM" per message when it makes one call, and "end
 * STATUS TEXT" per call. With N_PINGS it cancels its last call after so many PINGs. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "grpc.h"

enum { MAX_PEERS = 16, PATIENCE_MS = 60000 };

struct peer {
	int fd; /* -1 = none */
	struct grpc_conn *conn;
	uint8_t *pending; /* not accepted by the socket yet */
	size_t n_pending, sent;
	unsigned n_ticks; /* expired timers: PINGs and deadlines */
};

static volatile sig_atomic_t is_stopped;
static uint64_t held_ms; /* see hold_clock() */

static void on_signal(int signal_number)
{
	(void)signal_number;
	is_stopped = 1;
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000 - held_ms;
}

static void print_line(const char *what, const char *text)
{
	printf("%s %s\n", what, text);
	fflush(stdout);
}

/* --- bytes ---------------------------------------------------------------------------------- */

static bool write_pending(struct peer *p)
{
	while (p->sent < p->n_pending) {
		ssize_t n = send(p->fd, p->pending + p->sent, p->n_pending - p->sent,
				 MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0)
			return errno == EAGAIN;
		p->sent += (size_t)n;
	}
	free(p->pending);
	p->pending = NULL;
	p->n_pending = p->sent = 0;
	return true;
}

/* Takes from the connection only what the socket accepts, so that a slow peer slows it down. */
static bool flush_peer(struct peer *p)
{
	const uint8_t *bytes;
	ssize_t n;

	while (write_pending(p)) {
		if (p->n_pending > 0)
			return true;
		n = grpc_take(p->conn, &bytes);
		if (n <= 0)
			return true;
		p->pending = malloc((size_t)n);
		if (!p->pending)
			return false;
		memcpy(p->pending, bytes, (size_t)n);
		p->n_pending = (size_t)n;
	}
	return false;
}

static bool read_peer(struct peer *p, struct err *err)
{
	static uint8_t buf[65536];
	ssize_t n = recv(p->fd, buf, sizeof(buf), MSG_DONTWAIT);

	if (n < 0 && errno == EAGAIN)
		return true;
	if (n <= 0) {
		err_set(err, -EPIPE, "closed by the peer");
		return false;
	}
	return grpc_feed(p->conn, buf, (size_t)n, now_ms(), err) == 0;
}

static void close_peer(struct peer *p, const char *why)
{
	flush_peer(p);
	close(p->fd);
	grpc_conn_free(p->conn);
	free(p->pending);
	*p = (struct peer){.fd = -1};
	print_line("closed", why);
}

static void serve_peer(struct peer *p, short revents)
{
	struct err err = {0};
	uint64_t now = now_ms();
	bool is_alive = !(revents & (POLLIN | POLLHUP)) || read_peer(p, &err);

	if (is_alive && grpc_deadline(p->conn) <= now) {
		p->n_ticks += grpc_deadline(p->conn) > 0;
		is_alive = grpc_tick(p->conn, now, &err) == 0;
	}
	if (is_alive && flush_peer(p) && !grpc_is_done(p->conn))
		return;
	close_peer(p, err.code ? err.msg : "done");
}

static int timeout_of(const struct peer *peers)
{
	uint64_t now = now_ms(), next = UINT64_MAX;

	for (unsigned i = 0; i < MAX_PEERS; i++)
		if (peers[i].fd >= 0 && grpc_deadline(peers[i].conn) < next)
			next = grpc_deadline(peers[i].conn);
	if (next == UINT64_MAX)
		return -1;
	return next <= now ? 0 : (int)(next - now);
}

/* One round of poll(); true if the listener, the first descriptor, is readable. */
static bool poll_once(struct peer *peers, int listener)
{
	struct pollfd fds[MAX_PEERS + 1] = {{.fd = listener, .events = POLLIN}};

	for (unsigned i = 0; i < MAX_PEERS; i++) {
		fds[i + 1].fd = peers[i].fd;
		fds[i + 1].events = (short)(POLLIN | (peers[i].n_pending ? POLLOUT : 0));
	}
	if (poll(fds, MAX_PEERS + 1, timeout_of(peers)) < 0)
		return false;
	for (unsigned i = 0; i < MAX_PEERS; i++)
		if (peers[i].fd >= 0)
			serve_peer(&peers[i], fds[i + 1].revents);
	return fds[0].revents & POLLIN;
}

/* --- the server ----------------------------------------------------------------------------- */

struct server {
	struct peer *peers;
	struct grpc_limits limits;
};

static void stream(struct grpc_call *call, const char *text)
{
	unsigned long count = 0, size = 0;
	uint8_t *message;
	char *end;

	count = strtoul(text, &end, 10);
	size = strtoul(end, NULL, 10);
	message = malloc(size + 1);
	for (unsigned long i = 0; message && i < count; i++) {
		memset(message, 'a' + (int)(i % 26), size);
		grpc_send(call, message, size);
	}
	free(message);
	grpc_finish(call, GRPC_OK, NULL);
}

static void fail_call(struct grpc_call *call, const char *text)
{
	char *end;
	unsigned long status = strtoul(text, &end, 10);

	grpc_finish(call, (enum grpc_status)status, *end ? end + 1 : "");
}

static void quit(struct grpc_call *call, struct server *s)
{
	grpc_send(call, (const uint8_t *)"bye", 3);
	grpc_finish(call, GRPC_OK, NULL);
	for (unsigned i = 0; i < MAX_PEERS; i++)
		if (s->peers[i].fd >= 0)
			grpc_shutdown(s->peers[i].conn);
}

static void on_request(struct grpc_call *call, const char *path, const uint8_t *message, size_t len,
		       void *arg)
{
	char text[256];

	snprintf(text, sizeof(text), "%.*s", (int)(len < 255 ? len : 255), (const char *)message);
	if (strcmp(path, "/t.T/Echo") == 0) {
		grpc_send(call, message, len);
		grpc_finish(call, GRPC_OK, NULL);
	} else if (strcmp(path, "/t.T/Stream") == 0) {
		stream(call, text);
	} else if (strcmp(path, "/t.T/Fail") == 0) {
		fail_call(call, text);
	} else if (strcmp(path, "/t.T/Quit") == 0) {
		quit(call, arg);
	} else if (strcmp(path, "/t.T/Hold") == 0) {
		print_line("held", text);
	} else {
		grpc_finish(call, GRPC_UNIMPLEMENTED, "unknown method");
	}
}

static void on_cancel(struct grpc_call *call, void *arg)
{
	(void)call;
	(void)arg;
	print_line("cancel", "");
}

static int open_socket(const char *path, struct sockaddr_un *addr)
{
	*addr = (struct sockaddr_un){.sun_family = AF_UNIX};
	if (strlen(path) >= sizeof(addr->sun_path))
		return -1;
	memcpy(addr->sun_path, path, strlen(path));
	return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

static int listen_at(const char *path)
{
	struct sockaddr_un addr;
	int fd = open_socket(path, &addr);

	unlink(path);
	if (fd < 0 || bind(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0 || listen(fd, 16) < 0) {
		perror(path);
		exit(1);
	}
	return fd;
}

static void accept_peer(struct server *s, int listener)
{
	struct grpc_service hooks = {on_request, on_cancel, s};
	int fd = accept(listener, NULL, NULL);
	unsigned i = 0;

	while (i < MAX_PEERS && s->peers[i].fd >= 0)
		i++;
	if (fd < 0 || i == MAX_PEERS ||
	    grpc_server_new(&s->peers[i].conn, &s->limits, &hooks, now_ms()) < 0) {
		if (fd >= 0)
			close(fd);
		return;
	}
	s->peers[i].fd = fd;
}

static void serve(struct peer *peers, int argc, char **argv)
{
	struct server s = {peers, {4 << 20, 100, 0}};
	int listener = listen_at(argv[2]);

	if (argc > 3)
		s.limits.max_message = strtoul(argv[3], NULL, 10);
	if (argc > 4)
		s.limits.max_calls = (uint32_t)strtoul(argv[4], NULL, 10);
	print_line("listening", argv[2]);
	while (!is_stopped)
		if (poll_once(peers, listener))
			accept_peer(&s, listener);
	for (unsigned i = 0; i < MAX_PEERS; i++)
		if (peers[i].fd >= 0)
			close_peer(&peers[i], "stopped");
	close(listener);
}

/* --- the client ----------------------------------------------------------------------------- */

struct caller {
	unsigned n_calls, n_open, n_messages, cancel_at, n_pings;
	struct grpc_call *last;
};

static void on_message(struct grpc_call *call, const uint8_t *message, size_t len, void *arg)
{
	struct caller *c = arg;
	uint64_t sum = 0;

	for (size_t i = 0; i < len; i++)
		sum += message[i];
	if (c->n_calls == 1) {
		printf("message %zu %llu\n", len, (unsigned long long)sum);
		fflush(stdout);
	}
	if (++c->n_messages == c->cancel_at)
		grpc_cancel(call);
}

static void on_end(struct grpc_call *call, enum grpc_status status, const char *text, void *arg)
{
	struct caller *c = arg;

	(void)call;
	c->n_open--;
	printf("end %s ", grpc_status_name(status));
	print_line("", text);
}

static int connect_to(const char *path)
{
	struct sockaddr_un addr;
	int fd = open_socket(path, &addr);

	if (fd < 0 || connect(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0) {
		perror(path);
		exit(1);
	}
	return fd;
}

static void start_call(struct peer *p, struct caller *c, char **argv)
{
	struct grpc_reply reply = {.message = on_message, .end = on_end, .arg = c};
	size_t size = strtoul(argv[5], NULL, 10);
	uint8_t *message = malloc(size + 1);

	if (!message)
		exit(1);
	memset(message, 'x', size);
	c->last = grpc_start(p->conn, argv[3], message, size, (uint32_t)strtoul(argv[4], NULL, 10),
			     &reply, now_ms());
	if (c->last)
		c->n_open++;
	else
		print_line("refused", "");
	free(message);
}

/* Stops the connection's clock until the peer has answered a PING: how soon a busy machine
 * does that is not judged. A peer that never does is noticed after PATIENCE_MS. */
static void hold_clock(const struct peer *p)
{
	struct pollfd fd = {.fd = p->fd, .events = POLLIN};
	uint64_t since_ms = now_ms();

	if (poll(&fd, 1, PATIENCE_MS) > 0)
		held_ms += now_ms() - since_ms;
}

static void after_ping(struct peer *p, struct caller *c)
{
	hold_clock(p);
	p->n_ticks = 0;
	if (c->n_pings && --c->n_pings == 0)
		grpc_cancel(c->last);
}

static void call(struct peer *peers, int argc, char **argv)
{
	struct caller c = {.n_calls = (unsigned)strtoul(argv[6], NULL, 10)};

	struct grpc_limits limits = {4 << 20, 100, 0};

	if (argc > 8)
		limits.ping_ms = (uint32_t)strtoul(argv[8], NULL, 10);
	peers[0].fd = connect_to(argv[2]);
	if (grpc_client_new(&peers[0].conn, &limits, now_ms()) < 0)
		exit(1);
	if (argc > 7)
		c.cancel_at = (unsigned)strtoul(argv[7], NULL, 10);
	if (argc > 9)
		c.n_pings = (unsigned)strtoul(argv[9], NULL, 10);
	for (unsigned i = 0; i < c.n_calls; i++)
		start_call(&peers[0], &c, argv);
	flush_peer(&peers[0]);
	while (c.n_open > 0 && peers[0].fd >= 0) {
		poll_once(peers, -1);
		if (limits.ping_ms && peers[0].fd >= 0 && peers[0].n_ticks > 0)
			after_ping(&peers[0], &c);
	}
	if (peers[0].fd < 0)
		return;
	grpc_shutdown(peers[0].conn);
	close_peer(&peers[0], "by us");
}

int main(int argc, char **argv)
{
	struct peer peers[MAX_PEERS];

	signal(SIGTERM, on_signal);
	for (unsigned i = 0; i < MAX_PEERS; i++)
		peers[i] = (struct peer){.fd = -1};
	if (argc >= 3 && strcmp(argv[1], "serve") == 0) {
		serve(peers, argc, argv);
	} else if (argc >= 7 && strcmp(argv[1], "call") == 0) {
		call(peers, argc, argv);
	} else {
		fprintf(stderr, "usage: grpc_echo serve|call SOCKET ...\n");
		return 2;
	}
	return 0;
}
