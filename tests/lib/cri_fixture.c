// SPDX-License-Identifier: Apache-2.0
#include "cri_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "cri_internal.h"
#include "loop_helpers.h"
#include "tmptree.h"

const struct fake_sandbox three_sandboxes[3] = {
	{.id = "aaa1", .namespace = "default", .pod = "a", .uid = "u1", .netns = "/run/netns/a"},
	{.id = "bbb2",
	 .namespace = "ml",
	 .pod = "b",
	 .uid = "u2",
	 .netns = "/run/netns/b",
	 .networks = "[{\"resource\":\"rocelet.dev/roce\"}]"},
	{.id = "ccc3", .namespace = "ml", .pod = "host", .uid = "u3", .host_network = true},
};

/* --- life ------------------------------------------------------------------------------------- */

static void on_sandboxes(const struct sandbox_list *l, uint64_t asked_ms, void *arg)
{
	struct cri_fixture *f = arg;

	assert_ptr_equal(l, cri_sandboxes(f->cri));
	assert_false(f->closed);
	f->failures += asked_ms == 0;
	if (asked_ms)
		f->asked_ms = asked_ms;
	if (f->close_in_callback) {
		f->closed = true;
		cri_close(f->cri);
	}
}

void cri_fixture_init(struct cri_fixture *f)
{
	*f = (struct cri_fixture){.dir = tmptree_new()};
	assert_int_equal(uv_loop_init(&f->loop), 0);
	snprintf(f->path, sizeof(f->path), "%s/cri.sock", f->dir);
	fake_cri_init(&f->fake, &f->loop, f->path);
	fake_cri_set(&f->fake, three_sandboxes, 3);
}

int cri_fixture_try(struct cri_fixture *f, const char *path, struct err *e)
{
	return cri_open(&f->cri, &f->loop, path, on_sandboxes, f, e);
}

void cri_fixture_open(struct cri_fixture *f)
{
	struct err e = {0};

	assert_int_equal(cri_fixture_try(f, f->path, &e), 0);
	assert_false(cri_sandboxes(f->cri)->known);
}

void cri_fixture_start(struct cri_fixture *f)
{
	fake_cri_start(&f->fake);
	cri_fixture_open(f);
}

void cri_fixture_calm(struct cri_fixture *f)
{
	cri_until(f, cri_is_listened_to);
	cri_until(f, cri_is_calm);
}

void cri_fixture_stop(struct cri_fixture *f)
{
	if (!f->closed)
		cri_close(f->cri);
	fake_cri_done(&f->fake);
	assert_int_equal(loop_end(&f->loop), 0);
	tmptree_free(f->dir);
}

/* --- conditions ------------------------------------------------------------------------------- */

const struct sandbox *cri_get(const struct cri_fixture *f, const char *id)
{
	return sandbox_find(cri_sandboxes(f->cri), id);
}

struct cri_status cri_status_of(const struct cri_fixture *f)
{
	struct cri_status s;

	cri_status(f->cri, &s);
	return s;
}

static bool is_met(void *arg)
{
	struct cri_fixture *f = arg;

	return f->until(f);
}

void cri_fixture_until(struct cri_fixture *f, bool (*until)(struct cri_fixture *), const char *name)
{
	f->until = until;
	if (!loop_until(&f->loop, is_met, f, PATIENCE_MS))
		fail_msg("%s did not become true", name);
}

bool cri_is_known(struct cri_fixture *f)
{
	return cri_sandboxes(f->cri)->known;
}

bool cri_is_unknown(struct cri_fixture *f)
{
	return !cri_is_known(f);
}

bool cri_is_detailed(struct cri_fixture *f)
{
	const struct sandbox_list *l = cri_sandboxes(f->cri);
	size_t n = 0;

	while (n < l->n && l->items[n].detailed)
		n++;
	return l->known && l->n > 0 && n == l->n;
}

bool cri_has_failed(struct cri_fixture *f)
{
	return f->failures > 0;
}

bool cri_is_gone(struct cri_fixture *f)
{
	return !cri_get(f, f->id);
}

bool cri_is_listened_to(struct cri_fixture *f)
{
	return f->fake.stream != NULL;
}

bool cri_is_calm(struct cri_fixture *f)
{
	return f->fake.lists > 0 && !f->cri->await.n && !f->cri->wanted && !f->cri->asking;
}

bool cri_is_asked_five_times(struct cri_fixture *f)
{
	return f->fake.lists >= 5;
}
