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

static void read_request(struct wire_request *q)
{
	for (size_t i = 0; i <= wire_request_n(q); i++) {
		struct preference_request p = wire_request_preference(q, i);

		read_ids(wire_request_ids(q, i));
		read_ids(p.available);
		read_ids(p.must_include);
	}
	wire_request_free(q);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct wire_request *q;
	bool registered;
	char text[32];

	if (wire_decode_allocate(&q, data, n) == 0)
		read_request(q);
	if (wire_decode_pre_start(&q, data, n) == 0)
		read_request(q);
	if (wire_decode_preferred(&q, data, n) == 0)
		read_request(q);
	if (wire_decode_registration_status(&registered, text, sizeof(text), data, n) == 0 &&
	    strlen(text) >= sizeof(text))
		abort();
	return 0;
}
