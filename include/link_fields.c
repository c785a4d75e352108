// SPDX-License-Identifier: Apache-2.0
#include "link_fields.h"

#include <linux/if_link.h>

#define ROW(id, name, attribute, file, least, most, initial, every_pod, words)                     \
	[LINK_##id] = {#name, file, words, attribute, least, most, initial, every_pod}

const struct link_field_row link_fields[N_LINK_FIELDS] = {LINK_FIELDS(ROW)};
