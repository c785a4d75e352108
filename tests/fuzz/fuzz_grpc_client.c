// SPDX-License-Identifier: Apache-2.0
/* Feeds the gRPC client with a server's bytes. Bits of the first byte: 0-3 size of the pieces (a
 * power of two), 4 begin with the server's SETTINGS, 5 never read the output, 6 let time pass, 7
 * cancel each call at its first message.
 *
 * proves: k8s/rpc
 * when: core 2
 * when: turns 10
 * when: soak 120 */
#include <stdlib.h>
#include <string.h>

#include "grpc_bytes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum { MAX_CALLS = 6 };

struct calls {
	struct call {
		struct grpc_call *call;
		bool is_started, is_ended, gives_up;
		struct calls *all;
	} calls[MAX_CALLS];
	struct grpc_conn *conn;
	unsigned n;
	size_t sum;
};

static void start(struct calls *all, uint32_t timeout_ms, bool gives_up);

static void on_message(struct grpc_call *call, const uint8_t *message, size_t len, void *arg)
{
	struct call *a = arg;

	if (a->is_ended)
		abort();
	for (size_t i = 0; i < len; i++)
		a->all->sum += message[i];
	if (a->gives_up)
		grpc_cancel(call);
}

static void on_end(struct grpc_call *call, enum grpc_status status, const char *text, void *arg)
{
	struct call *a = arg;

	(void)call;
	if (a->is_ended)
		abort();
	a->is_ended = true;
	a->all->sum += strlen(text) + strlen(grpc_status_name(status));
	start(a->all, 0, false); /* a further call, started inside the hook */
}

static void start(struct calls *all, uint32_t timeout_ms, bool gives_up)
{
	struct call *a = &all->calls[all->n];
	struct grpc_reply reply = {.message = on_message, .end = on_end, .arg = a};

	if (all->n == MAX_CALLS)
		return;
	all->n++;
	a->all = all;
	a->gives_up = gives_up;
	a->call = grpc_start(all->conn, "/v1.PodResourcesLister/List", (const uint8_t *)"abc", 3,
			     timeout_ms, &reply, 1000);
	a->is_started = a->call;
}

static void talk(struct calls *all, uint8_t how, const uint8_t *data, size_t n)
{
	static const uint8_t settings[] = {0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 4, 1, 0, 0, 0, 0};
	size_t step = (size_t)1 << (how & 0xf), part;
	uint64_t now = 1000;

	grpc_bytes_take(all->conn, &all->sum);
	if (how & 0x10)
		grpc_bytes_feed(all->conn, settings, sizeof(settings), now);
	for (size_t at = 0; at < n; at += part) {
		part = n - at < step ? n - at : step;
		if (grpc_bytes_feed(all->conn, data + at, part, now) < 0)
			break;
		if (!(how & 0x20))
			grpc_bytes_take(all->conn, &all->sum);
		if (how & 0x40)
			now += 7;
		if (grpc_deadline(all->conn) <= now && grpc_tick(all->conn, now, NULL) < 0)
			break;
	}
	grpc_bytes_take(all->conn, &all->sum);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static const struct grpc_limits limits = {100000, 100, 50};
	struct calls all = {0};

	if (n == 0 || grpc_client_new(&all.conn, &limits, 1000) < 0)
		return 0;
	start(&all, 0, data[0] & 0x80);
	start(&all, 30, false);
	start(&all, 0, false);
	talk(&all, data[0], data + 1, n - 1);
	grpc_conn_free(all.conn);
	for (unsigned i = 0; i < all.n; i++)
		if (all.calls[i].is_ended != all.calls[i].is_started)
			abort();
	return 0;
}
