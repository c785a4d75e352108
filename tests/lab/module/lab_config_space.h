/* SPDX-License-Identifier: Apache-2.0 */
/* lab_config_space.h - the PCIe link shown by a function and the bridge above it, and whether
 * the function answers at all: intercepts reads of their configuration spaces.
 *
 * `link` sets both ends, so that they agree; with `gone` all reads of the function return ones. */
#pragma once

#include "lab_function.h"

void config_space_add(struct lab_nic *);
void config_space_remove(struct lab_nic *);
/* Called before the module is unloaded. */
void config_space_end(void);
