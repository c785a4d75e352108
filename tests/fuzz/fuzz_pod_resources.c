// SPDX-License-Identifier: Apache-2.0
/* Any bytes as the kubelet's PodResources answer, whole and in pieces: both yield the same list.
 *
 * proves: k8s/kubelet
 * when: core 2
 * when: turns 10
 * when: soak 120 */
#include <stdint.h>
#include <stdlib.h>

#include "pod_stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static int decode(struct pod_list *ret, size_t *ret_left_out, const uint8_t *data, size_t n,
		  size_t piece)
{
	struct pod_stream *s = pod_stream_new();
	int r = 0;

	if (!s)
		abort();
	for (size_t at = 0, size; at < n && r == 0; at += size) {
		size = n - at < piece ? n - at : piece;
		r = pod_stream_feed(s, data + at, size);
	}
	if (r == 0)
		r = pod_stream_end(s, ret, ret_left_out);
	pod_stream_free(s);
	return r;
}

static void check(const struct pod_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (!l->devices[i].id[0] ||
		    !pod_list_find(l, l->devices[i].resource, l->devices[i].id, NULL))
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct pod_list whole = {0}, pieces = {0};
	size_t left_out = 0, left_out_of_pieces = 0;
	int r = decode(&whole, &left_out, data, n, SIZE_MAX);

	if (decode(&pieces, &left_out_of_pieces, data, n, n ? 1 + data[n - 1] % 7u : 1) != r ||
	    left_out != left_out_of_pieces || !pod_list_equal(&whole, &pieces))
		abort();
	check(&whole);
	pod_list_done(&whole);
	pod_list_done(&pieces);
	return 0;
}
