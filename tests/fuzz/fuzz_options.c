// SPDX-License-Identifier: Apache-2.0
/* Any bytes as the configuration file: options or an error.
 *
 * proves: daemon/config
 * when: turns 4
 * when: soak 120 */
#include <stdint.h>
#include <stdlib.h>

#include "options.h"

static void ignore(const char *sentence, void *arg)
{
	(void)sentence, (void)arg;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct options o;
	struct err e = {0};

	options_defaults(&o);
	if (options_parse_json(&o, (const char *)data, n, "fuzz.json", ignore, NULL, &e) < 0) {
		if (e.code >= 0 || e.msg[0] == '\0')
			abort();
		return 0;
	}
	free(options_json(&o, NULL));
	return 0;
}
