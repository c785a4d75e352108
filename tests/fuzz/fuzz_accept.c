// SPDX-License-Identifier: Apache-2.0
/* Any bytes as the headers Accept and Accept-Encoding.
 *
 * proves: daemon/http
 * when: turns 4
 * when: soak 120 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "accept.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	/* exactly this size, so that sanitizers find a read past the end */
	char *s = malloc(n + 1);

	if (!s)
		return 0;
	memcpy(s, data, n);
	s[n] = '\0';
	if (accept_metrics(s) >= N_METRICS_FORMATS)
		abort();
	accept_gzip(s);
	free(s);
	return 0;
}
