/* SPDX-License-Identifier: Apache-2.0 */
/* ctl_config_map.h - prints a configuration as a ConfigMap manifest. Pure. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

/* True if the API server accepts [NAMESPACE/]NAME: a DNS label, and a DNS subdomain. */
bool config_map_name_is_valid(const char *name);
/* Prints the manifest, with the text under the key config.json. The name must be valid. */
void config_map_print(const char *name, const char *text, FILE *);
