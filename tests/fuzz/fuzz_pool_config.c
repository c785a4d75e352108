// SPDX-License-Identifier: Apache-2.0
/* Any bytes as the configuration of pools: an error, or pools that are equal when they are printed
 * and read again.
 *
 * proves: daemon/config
 * when: core 2
 * when: turns 10
 * when: soak 120 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "config_json.h"
#include "pool_config.h"

static void ignore(const char *sentence, void *arg)
{
	(void)arg;
	if (*sentence == '\0')
		abort();
}

static char *print(const struct pool_config *c)
{
	struct options o;
	char *text;

	options_defaults(&o);
	text = options_json(&o, pool_config_tree(c));
	if (!text)
		abort();
	return text;
}

static void find_line(const char *text, size_t n)
{
	const struct json_place list = {NULL, "pools", 0}, item = {&list, NULL, 1},
				key = {&item, "selectors", 0};
	size_t lines = 1;

	for (size_t i = 0; i < n; i++)
		lines += text[i] == '\n';
	if (json_line(text, n, &key) > lines)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct pool_config c = {0}, again = {0};
	struct err e = {0};
	char *once, *twice;

	find_line((const char *)data, n);
	if (pool_config_parse(&c, (const char *)data, n, "fuzz.json", ignore, NULL, &e) < 0) {
		if (e.code >= 0 || e.msg[0] == '\0')
			abort();
		return 0;
	}
	once = print(&c);
	if (pool_config_parse(&again, once, strlen(once), "again.json", ignore, NULL, &e) < 0)
		abort();
	twice = print(&again);
	if (strcmp(once, twice) != 0)
		abort();
	free(once);
	free(twice);
	pool_config_done(&c);
	pool_config_done(&again);
	return 0;
}
