/* SPDX-License-Identifier: Apache-2.0 */
/* ctl_known.h - whether the pod and the device on the command line are of this node. */
#pragma once

#include "question.h"

/* For an answer without rows: CTL_NO, with a sentence, if --pod or the device names nothing on this
 * node, or the daemon does not know the pods. CTL_OK if both are known or were not given. */
enum ctl_exit ctl_known(const struct ctl *);
