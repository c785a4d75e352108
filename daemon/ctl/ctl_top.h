/* SPDX-License-Identifier: Apache-2.0 */
/* ctl_top.h - rocectl top: the node's ports, updated live; printed once if the output is not a
 * terminal. */
#pragma once

#include "question.h"

enum ctl_exit ctl_top(const struct ctl *);
