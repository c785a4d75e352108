// SPDX-License-Identifier: Apache-2.0
/* Any bytes as each of the container runtime's messages, and as its JSON.
 *
 * proves: k8s/cri
 * when: core 2
 * when: turns 10
 * when: soak 120 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cri_details.h"
#include "cri_hints.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void is_path(const char *path)
{
	if (path[0] && path[0] != '/')
		abort();
}

static void try_list(const uint8_t *data, size_t n)
{
	struct sandbox_list l = {0}, again = {0};
	struct cri_details d = {0};
	size_t left_out;

	if (cri_list_decode(&l, &left_out, data, n) < 0)
		return;
	if (cri_list_decode(&again, &left_out, data, n) < 0 || again.n != l.n)
		abort();
	if (cri_details_list(&d, &again, &l) == 0 && d.n > l.n)
		abort();
	for (size_t i = 0; i < l.n; i++)
		if (!sandbox_find(&l, l.items[i].id))
			abort();
	cri_details_done(&d);
	sandbox_list_done(&l);
	sandbox_list_done(&again);
}

static void try_status(const uint8_t *data, size_t n)
{
	struct cri_detail d = {0};

	if (cri_status_decode(&d, data, n) < 0)
		return;
	is_path(d.netns);
	if ((d.host_network && d.netns[0]) ||
	    (d.networks && strlen(d.networks) > SANDBOX_NETWORKS_MAX + 1))
		abort();
	free(d.networks);
}

static void try_event(const uint8_t *data, size_t n)
{
	static const struct sandbox_list none;
	struct cri_await a = {0};
	struct cri_event e;

	if (cri_envelope_decode(&e, data, n) == 0)
		cri_await_event(&a, &e, &none, true, 0);
	if (cri_event_decode(&e, data, n) == 0)
		cri_await_event(&a, &e, &none, true, 0);
	if (cri_await_pause(&a, &none, 1000) != 0)
		abort();
}

static void try_version(const uint8_t *data, size_t n)
{
	struct cri_version v;

	if (cri_version_decode(&v, data, n) == 0)
		cri_hints_next(&v, cri_hints_first(&v));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct cri_namespaces namespaces;

	try_list(data, n);
	try_status(data, n);
	try_event(data, n);
	try_version(data, n);
	if (cri_info_namespaces(&namespaces, (const char *)data, n) == 0)
		is_path(namespaces.netns);
	return 0;
}
