// SPDX-License-Identifier: Apache-2.0
/* Any input of the CNI plugin gives either a configuration or one error; a DEL always yields a
 * request that is not too long.
 *
 * proves: k8s/cni
 * when: core 2
 * when: turns 4
 * when: soak 120 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "shim_call.h"
#include "shim_config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void judge_error(struct shim_error *e)
{
	char *text = shim_error_text(e);

	if (!text || e->code <= 0 || strcasestr(text, "not found") ||
	    strcasestr(text, "no such file or directory"))
		abort();
	free(text);
}

static void judge_config(const json_t *config)
{
	static const struct shim_env env = {.verb = SHIM_DEL,
					    .command = "DEL",
					    .container_id = "c",
					    .netns = "",
					    .ifname = "net1",
					    .args = "",
					    .path = ""};
	struct shim_error e = {0};
	char *text;

	for (unsigned verb = SHIM_ADD; verb < SHIM_VERSION_VERB; verb++)
		if (shim_config_check_version(config, (enum shim_verb)verb, &e) < 0)
			judge_error(&e);
	e = (struct shim_error){0};
	text = shim_request(&env, SHIM_DEL, config, &e);
	if (!text || strlen(text) > SHIM_REQUEST_MAX)
		abort();
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	char *text = malloc(n + 1);
	struct shim_error e = {0};
	json_t *config = NULL;

	memcpy(text, data, n);
	text[n] = '\0';
	if (shim_env_check_args(text, &e) < 0)
		judge_error(&e);
	if (shim_config_load(&config, text, n, &e) < 0)
		judge_error(&e);
	else
		judge_config(config);
	json_decref(config);
	free(text);
	return 0;
}
