/* SPDX-License-Identifier: Apache-2.0 */
/* lab_config_space.h - what a function and the bridge above it show of their PCIe link, and whether
 * the function answers at all: reads of their configuration spaces pass here.
 *
 * `link` is told of both ends, so that they agree; `gone` makes the function read all ones. */
#pragma once

#include "lab_function.h"

void config_space_add(struct lab_nic *);
void config_space_remove(struct lab_nic *);
/* Before the module goes. */
void config_space_end(void);
