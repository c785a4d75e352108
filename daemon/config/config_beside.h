/* SPDX-License-Identifier: Apache-2.0 */
/* config_beside.h - finds other files in the folder of a missing configuration file: a ConfigMap
 * whose key has another name. */
#pragma once

#include <stdbool.h>

struct options;

#define CONFIG_BESIDE_SIZE 352

/* Call if the configuration file is missing. True if its folder has other files, except those that
 * other options name: "/etc/rocelet has config.yaml, but no config.json". */
bool config_beside(const struct options *, char ret[CONFIG_BESIDE_SIZE]);
