// SPDX-License-Identifier: Apache-2.0
#include "http_client.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "loop_helpers.h"

static void connect_to(struct client *c, const struct sockaddr *sa, socklen_t len)
{
	*c = (struct client){.fd = socket(sa->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0)};
	if (c->fd >= 0 && connect(c->fd, sa, len) < 0) {
		close(c->fd);
		c->fd = -1;
	}
	if (c->fd >= 0)
		fcntl(c->fd, F_SETFL, O_NONBLOCK);
}

void client_tcp(struct client *c, unsigned port)
{
	struct sockaddr_in sa = {.sin_family = AF_INET,
				 .sin_port = htons((unsigned short)port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

	connect_to(c, (struct sockaddr *)&sa, sizeof(sa));
}

void client_tcp_from(struct client *c, const char *source, unsigned port)
{
	const struct sockaddr_in to = {.sin_family = AF_INET,
				       .sin_port = htons((unsigned short)port),
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr_in from = {.sin_family = AF_INET};

	*c = (struct client){.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
	if (inet_pton(AF_INET, source, &from.sin_addr) != 1 ||
	    bind(c->fd, (const struct sockaddr *)&from, sizeof(from)) < 0 ||
	    connect(c->fd, (const struct sockaddr *)&to, sizeof(to)) < 0)
		client_close(c);
	else
		fcntl(c->fd, F_SETFL, O_NONBLOCK);
}

void client_unix(struct client *c, const char *path)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};

	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", path);
	connect_to(c, (struct sockaddr *)&sa, sizeof(sa));
}

void client_close(struct client *c)
{
	if (c->fd >= 0)
		close(c->fd);
	free(c->in);
	*c = (struct client){.fd = -1};
}

void client_send(struct client *c, const char *bytes, size_t n)
{
	c->out = bytes;
	c->out_len = n;
	client_step(c);
}

static void step_out(struct client *c)
{
	ssize_t n;

	while (c->out_len > 0 && (n = send(c->fd, c->out, c->out_len, MSG_NOSIGNAL)) > 0) {
		c->out += n;
		c->out_len -= (size_t)n;
	}
}

static void step_in(struct client *c)
{
	ssize_t n;

	do {
		if (c->cap - c->len < 65536) {
			c->cap += 262144;
			c->in = realloc(c->in, c->cap);
			if (!c->in)
				abort();
		}
		n = recv(c->fd, c->in + c->len, c->cap - c->len - 1, 0);
		if (n > 0)
			c->len += (size_t)n;
	} while (n > 0);
	c->in[c->len] = '\0';
	if (n == 0 || (errno != EAGAIN && errno != EINTR))
		c->ended = true;
}

void client_step(struct client *c)
{
	if (c->fd < 0 || c->ended)
		return;
	step_out(c);
	step_in(c);
}

bool answer_header(const struct answer *a, const char *name, char *buf, size_t size)
{
	size_t n = strlen(name);
	const char *line = a->head, *end;

	for (; line < a->body && (end = strstr(line, "\r\n")) != NULL && end > line;
	     line = end + 2) {
		if (strncasecmp(line, name, n) != 0 || line[n] != ':')
			continue;
		for (line += n + 1; *line == ' '; line++)
			;
		snprintf(buf, size, "%.*s", (int)(end - line), line);
		return true;
	}
	return false;
}

bool client_answer(const struct client *c, bool to_head, struct answer *ret)
{
	const char *end = c->in ? strstr(c->in, "\r\n\r\n") : NULL;
	char length[32];

	if (!end || sscanf(c->in, "HTTP/1.%*c %u", &ret->status) != 1)
		return false;
	ret->head = c->in;
	ret->body = end + 4;
	ret->body_len = 0;
	if (!to_head && answer_header(ret, "Content-Length", length, sizeof(length)))
		ret->body_len = strtoul(length, NULL, 10);
	ret->size = (size_t)(ret->body - c->in) + ret->body_len;
	return c->len >= ret->size;
}

struct wait {
	struct client *client;
	bool to_head;
	struct answer *answer;
};

static bool has_answer(void *arg)
{
	struct wait *w = arg;

	client_step(w->client);
	return client_answer(w->client, w->to_head, w->answer);
}

void client_await(struct client *c, uv_loop_t *loop, bool to_head, struct answer *ret)
{
	struct wait w = {c, to_head, ret};

	assert_true(loop_until(loop, has_answer, &w, PATIENCE_MS));
}

void client_next(struct client *c, const struct answer *a)
{
	size_t size = a->size;

	memmove(c->in, c->in + size, c->len - size + 1);
	c->len -= size;
}
