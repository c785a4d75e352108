// SPDX-License-Identifier: Apache-2.0
/* Any bytes as an answer of the daemon: further bytes do not change a complete answer.
 *
 * proves: daemon/client
 * when: turns 4
 * when: soak 120 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct client_answer part, whole;
	size_t cut = n / 2;

	if (client_answer_decode(&part, (const char *)data, cut, false) == 1) {
		if (client_answer_decode(&whole, (const char *)data, n, false) != 1 ||
		    part.len != whole.len || memcmp(part.body, whole.body, part.len) != 0)
			abort();
		free(part.body);
		free(whole.body);
	}
	if (client_answer_decode(&whole, (const char *)data, n, true) == 1) {
		if (whole.body[whole.len] != '\0' || strlen(whole.body) > whole.len)
			abort();
		free(whole.body);
	}
	return 0;
}
