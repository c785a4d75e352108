// SPDX-License-Identifier: Apache-2.0
#include "world_ipam.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "world_steps.h"

/* A hanging plugin is killed after this time, regardless of the engine's timeout. */
#define HANG_MS	 15
/* Factor for real programs, which may have to wait for a CPU. */
#define PATIENCE 20
/* Attempts of the engine to release an address before it gives up. */
#define REFUSALS 3

struct call {
	uv_timer_t timer;
	unsigned vf;
	enum ipam_verb verb;
	enum world_ipam how;
	char sandbox[SANDBOX_ID_SIZE];
	ipam_fn *fn;
	void *arg;
};

static unsigned n_calls;

static void on_closed(uv_handle_t *handle)
{
	free(handle->data);
}

/* True if the call takes effect, which it may even if it fails. */
static bool is_done_all_the_same(const struct call *c)
{
	return c->how == WORLD_IPAM_WORKS || (c->how == WORLD_IPAM_HANGS && n_calls % 2);
}

static void give(struct world_lease *l, const struct call *c)
{
	assert_false(l->held);
	l->held = true;
	l->n_refused = 0;
	memcpy(l->sandbox, c->sandbox, sizeof(l->sandbox));
}

static void take_back(struct world_lease *l, const struct call *c)
{
	if (l->held)
		assert_string_equal(l->sandbox, c->sandbox);
	l->held = false;
}

static void do_it(const struct call *c)
{
	struct world *w = world_of_steps();
	struct world_lease *l = &w->devices[c->vf].lease;

	pthread_mutex_lock(&w->lock);
	if (is_done_all_the_same(c) && c->verb == IPAM_ADD)
		give(l, c);
	else if (is_done_all_the_same(c))
		take_back(l, c);
	pthread_mutex_unlock(&w->lock);
}

static void refuse(unsigned vf, unsigned n)
{
	struct world *w = world_of_steps();

	pthread_mutex_lock(&w->lock);
	w->devices[vf].lease.n_refused += n;
	pthread_mutex_unlock(&w->lock);
}

static void on_timer(uv_timer_t *timer)
{
	struct call *c = timer->data;
	struct err err = {0};
	char text[64];
	int n = snprintf(text, sizeof(text), "{\"ips\": [{\"address\": \"10.0.0.%u/8\"}]}",
			 c->vf + 1);

	do_it(c);
	if (c->how == WORLD_IPAM_FAILS)
		err_set(&err, -EIO, "the plugin failed");
	else if (c->how == WORLD_IPAM_HANGS)
		err_set(&err, -ETIMEDOUT, "the plugin does not answer");
	if (err.code && c->verb == IPAM_DEL)
		refuse(c->vf, 1);
	c->fn(text, (size_t)n, &err, c->arg);
	uv_close((uv_handle_t *)timer, on_closed);
}

static int start(struct ipam_call **ret, enum ipam_verb verb, const struct attach_record *r,
		 uint32_t timeout_ms, ipam_fn *fn, void *arg, struct err *e)
{
	struct world *w = world_of_steps();
	unsigned vf = world_vf_of(w, r->function);
	struct call *c;

	n_calls++;
	if (w->ipam == WORLD_IPAM_IS_GONE) {
		refuse(vf, verb == IPAM_DEL ? REFUSALS : 0);
		return err_set(e, -ENOENT, "there is no such plugin");
	}
	c = calloc(1, sizeof(*c));
	if (!c)
		abort();
	*c = (struct call){.vf = vf, .verb = verb, .how = w->ipam, .fn = fn, .arg = arg};
	memcpy(c->sandbox, r->owner.sandbox, sizeof(c->sandbox));
	uv_timer_init(&w->loop, &c->timer);
	c->timer.data = c;
	uv_timer_start(&c->timer, on_timer,
		       c->how != WORLD_IPAM_HANGS ? n_calls % 2
		       : timeout_ms < HANG_MS	  ? timeout_ms
						  : HANG_MS,
		       0);
	*ret = (struct ipam_call *)c;
	return 0;
}

int world_ipam_start(struct ipam_call **ret, struct uv_loop_s *loop, enum ipam_verb verb,
		     const struct attach_record *r, const struct json_t *more,
		     const struct ipam_host *host, uint32_t timeout_ms, ipam_fn *fn, void *arg,
		     struct err *e)
{
	if (world_of_steps()->ipam == WORLD_IPAM_PROGRAM)
		return ipam_start(ret, loop, verb, r, more, host, PATIENCE * timeout_ms, fn, arg,
				  e);
	return start(ret, verb, r, timeout_ms, fn, arg, e);
}

/* A cancelled plugin may be killed at any instruction. */
void world_ipam_cancel(struct ipam_call *call)
{
	struct call *c = (struct call *)call;

	if (world_of_steps()->ipam == WORLD_IPAM_PROGRAM) {
		ipam_cancel(call);
		return;
	}
	if (!c)
		return;
	n_calls++;
	if (n_calls % 3)
		do_it(c);
	uv_close((uv_handle_t *)&c->timer, on_closed);
}

bool world_ipam_is_settled(struct world *w, unsigned i)
{
	struct world_lease *l = &w->devices[i].lease;
	bool settled = !l->held || l->n_refused >= REFUSALS;

	l->held = false;
	return settled;
}
