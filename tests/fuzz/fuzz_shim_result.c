// SPDX-License-Identifier: Apache-2.0
/* Any document as the daemon's result or a runtime's prevResult: an error, or a result that every
 * version of CNI reads back. The first byte chooses the version.
 *
 * proves: k8s/cni
 * when: core 2
 * when: turns 4
 * when: soak 120 */
#include <stdint.h>
#include <stdlib.h>

#include "json_text.h"
#include "shim_config.h"
#include "shim_result.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void judge(const json_t *result, const char *version)
{
	struct shim_error e = {0};
	json_t *shaped = shim_result_write(result, version, &e);
	json_t *again = shaped ? shim_result_read(shaped, version, "again", &e) : NULL;

	if (shaped ? !again : e.code <= 0)
		abort();
	json_decref(again);
	json_decref(shaped);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct shim_error e = {0};
	json_t *document, *result, *copy;

	if (n == 0)
		return 0;
	document = json_text_load((const char *)data + 1, n - 1, JSON_DECODE_ANY, NULL);
	if (!document)
		return 0;
	result = shim_result_read(document, shim_versions[data[0] % 7], "it", &e);
	if (!result && e.code <= 0)
		abort();
	copy = result ? json_deep_copy(result) : NULL;
	for (unsigned i = 0; result && shim_versions[i]; i++)
		judge(result, shim_versions[i]);
	if (result && shim_result_chain(result, copy, &e) < 0)
		abort();
	json_decref(copy);
	json_decref(result);
	json_decref(document);
	return 0;
}
