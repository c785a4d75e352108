// SPDX-License-Identifier: Apache-2.0
/* Any bytes as the text of a sysfs attribute, for every parser.
 *
 * proves: hw
 * when: turns 4
 * when: soak 120 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "functions.h"
#include "rdma_sysfs.h"
#include "sysfs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	char *text = malloc(n + 1), id[DEV_ID_SIZE];
	uint8_t gid[16];
	uint64_t u64;
	uint32_t u32;
	int i;

	if (!text)
		return 0;
	memcpy(text, data, n);
	text[n] = '\0';
	parse_u64(text, &u64);
	parse_int(text, &i);
	parse_leading_u32(text, &u32);
	parse_rate(text, &u64);
	if (parse_link_speed(text, &u32) == 0 && u32 == 0)
		abort();
	parse_guid(text, &u64);
	parse_gid(text, gid);
	gid_type_parse(text, LINK_ETHERNET);
	rdma_driver_of(text);
	if (function_id_from_path(text, id) && !is_function_id(id))
		abort();
	if (natural_cmp(text, text) != 0)
		abort();
	free(text);
	return 0;
}
