// SPDX-License-Identifier: Apache-2.0
/* Feeds the gRPC server with a client's bytes. Bits of the first byte: 0-3 size of the pieces (a
 * power of two), 4 begin with the connection preface, 5 never read the output, 6 let time pass, 7
 * shut down (GOAWAY) half-way.
 *
 * proves: k8s/rpc
 * when: core 2
 * when: turns 10
 * when: soak 120 */
#include <stdlib.h>
#include <string.h>

#include "grpc_bytes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum { MAX_HELD = 200 };

struct service {
	struct grpc_call *held[MAX_HELD];
	unsigned n_held, n_requests;
	size_t sum;
};

static void on_request(struct grpc_call *call, const char *path, const uint8_t *message, size_t len,
		       void *arg)
{
	struct service *s = arg;

	s->sum += strlen(path);
	for (size_t i = 0; i < len; i++)
		s->sum += message[i];
	switch (s->n_requests++ % 4) {
	case 0:
		grpc_send(call, message, len);
		grpc_finish(call, GRPC_OK, NULL);
		break;
	case 1:
		grpc_finish(call, GRPC_NOT_FOUND, path);
		break;
	case 2:
		grpc_send(call, message, len);
		/* fall through */
	default:
		if (s->n_held == MAX_HELD)
			abort(); /* more than max_calls at a time */
		s->held[s->n_held++] = call;
	}
}

static void on_cancel(struct grpc_call *call, void *arg)
{
	struct service *s = arg;

	for (unsigned i = 0; i < s->n_held; i++) {
		if (s->held[i] != call)
			continue;
		s->held[i] = s->held[--s->n_held];
		return;
	}
	abort(); /* an unknown call, or cancelled twice */
}

/* Sends to, or finishes, some of the held calls. */
static void move(struct service *s, unsigned i)
{
	if (s->n_held == 0 || i % 2)
		return;
	grpc_send(s->held[0], (const uint8_t *)"more", 4);
	if (i % 4)
		return;
	grpc_finish(s->held[0], GRPC_OK, NULL);
	s->held[0] = s->held[--s->n_held];
}

static void talk(struct grpc_conn *c, struct service *s, uint8_t how, const uint8_t *data, size_t n)
{
	static const char magic[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0";
	size_t step = (size_t)1 << (how & 0xf), part;
	uint64_t now = 1000;

	if (how & 0x10) /* including the terminating NUL */
		grpc_bytes_feed(c, (const uint8_t *)magic, sizeof(magic), now);
	for (size_t at = 0; at < n; at += part) {
		part = n - at < step ? n - at : step;
		if (grpc_bytes_feed(c, data + at, part, now) < 0)
			break;
		move(s, s->n_requests + (unsigned)at);
		if (!(how & 0x20))
			grpc_bytes_take(c, &s->sum);
		if (how & 0x40)
			now += 7;
		if ((how & 0x80) && at > n / 2)
			grpc_shutdown(c);
		if (grpc_deadline(c) <= now && grpc_tick(c, now, NULL) < 0)
			break;
	}
	grpc_bytes_take(c, &s->sum);
	if (grpc_is_done(c) && s->n_held > 0 && !grpc_is_closing(c))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static const struct grpc_limits limits = {4000, 8, 50};
	struct service s = {0};
	struct grpc_service hooks = {on_request, on_cancel, &s};
	struct grpc_conn *c;

	if (n == 0 || grpc_server_new(&c, &limits, &hooks, 1000) < 0)
		return 0;
	talk(c, &s, data[0], data + 1, n - 1);
	grpc_conn_free(c);
	if (s.n_held > 0)
		abort(); /* no cancel for an open call */
	return 0;
}
