/* SPDX-License-Identifier: Apache-2.0 */
/* ctl_explain.h - runs `explain`: of a device, a pod, or a word of the diagnosis. */
#pragma once

#include "question.h"

enum ctl_exit ctl_explain(const struct ctl *);
