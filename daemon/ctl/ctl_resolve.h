/* SPDX-License-Identifier: Apache-2.0 */
/* ctl_resolve.h - finds the pod that a name on the command line means. */
#pragma once

#include "question.h"

/* Completes the command line before a command runs: a pod's name without its namespace becomes
 * NAMESPACE/NAME, and the argument of `explain` and `diagnose` that is no device becomes the pod
 * with that name, uid or address. CTL_NO, after a message with the candidates: several pods have
 * the name, or nothing on the node has it. */
enum ctl_exit ctl_resolve(const struct ctl *, struct ctl_args *);
/* Prints "; did you mean NAMESPACE/NAME?", or nothing: the pod of the documents of /api/v1/pods and
 * /api/v1/attachments whose name is the nearest. */
void ctl_resolve_suggest(const char *name, const json_t *pods, const json_t *attachments, FILE *);
