/* SPDX-License-Identifier: Apache-2.0 */
/* ctl_known.h - checks whether the pod and the device on the command line exist on this node. */
#pragma once

#include "question.h"

/* To be called if an answer has no rows. CTL_NO, after a message, if nothing on this node has the
 * name of the pod or device, or if the daemon cannot list the pods. CTL_OK if both exist or were
 * not given. */
enum ctl_exit ctl_known(const struct ctl *);
