/* ctl_config_map.h - a configuration as the ConfigMap that brings it to all nodes. Pure. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

/* [NAMESPACE/]NAME as the API server takes them: a DNS label, and a DNS subdomain. */
bool config_map_name_is_valid(const char *name);
/* The manifest, with the text under the key config.json. The name must be valid. */
void config_map_print(const char *name, const char *text, FILE *);
