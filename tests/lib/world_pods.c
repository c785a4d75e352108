// SPDX-License-Identifier: Apache-2.0
#include "world_pods.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "tmptree.h"

struct world *world_start(const char *network)
{
	struct world *w = world_new(network, false);

	world_until_ready(w);
	return w;
}

void world_end(struct world *w)
{
	assert_true(world_is_clean(w));
	world_free(w);
}

uint64_t world_run_pod(struct world *w, unsigned i, const char *pod)
{
	uint64_t ns = world_add_sandbox(w, pod, NULL);

	world_hold(w, i, pod);
	world_show_all(w);
	world_until_state(w, i, ATTACH_IN_POD);
	world_show_devices(w);
	return ns;
}

void world_end_pod(struct world *w, unsigned i, uint64_t ns)
{
	world_end_sandbox(w, ns);
	world_unhold(w, i);
	world_end_namespace(w, ns);
	world_show_all(w);
	world_until_state(w, i, ATTACH_FREE);
}

void world_plugin(const struct world *w, const char *script)
{
	char path[256];

	tmptree_write(w->dir, "plugin", "#!/bin/sh\n%s\n", script);
	snprintf(path, sizeof(path), "%s/plugin", w->dir);
	assert_int_equal(chmod(path, 0755), 0);
}
