// SPDX-License-Identifier: Apache-2.0
/* Any bytes as each message that the kubelet sends a device plugin.
 *
 * proves: k8s/kubelet
 * when: core 2
 * when: turns 10
 * when: soak 120 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "plugin_wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void read_ids(struct id_list l)
{
	size_t total = 0;

	for (size_t i = 0; i < l.n; i++)
		total += strlen(l.ids[i]);
	if (total > SIZE_MAX / 2)
		abort();
}

static void read_request(struct plugin_request *q)
{
	for (size_t i = 0; i < q->n; i++) {
		if (q->ids)
			read_ids(q->ids[i]);
		if (q->preferences) {
			read_ids(q->preferences[i].available);
			read_ids(q->preferences[i].must_include);
		}
	}
	plugin_request_done(q);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct plugin_request q;
	struct err e;
	bool registered;
	char text[32];

	if (plugin_request_allocate(&q, data, n, &e) == 0)
		read_request(&q);
	if (plugin_request_pre_start(&q, data, n, &e) == 0)
		read_request(&q);
	if (plugin_request_preferred(&q, data, n, &e) == 0)
		read_request(&q);
	if (wire_decode_registration_status(&registered, text, sizeof(text), data, n) == 0 &&
	    strlen(text) >= sizeof(text))
		abort();
	return 0;
}
