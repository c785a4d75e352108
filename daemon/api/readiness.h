/* SPDX-License-Identifier: Apache-2.0 */
/* readiness.h - checks whether the daemon can provide what its configuration requests. Pure. */
#pragma once

#include <stdbool.h>

struct routes;

#define READINESS_TEXT 512

/* Each is true if the daemon is not ready for that reason; ret is then the reason, as the text of
 * /readyz, and undefined otherwise. */

/* The devices have not been read, or the first sample has not been taken. */
bool readiness_is_starting(const struct routes *, char ret[READINESS_TEXT]);
/* There is no usable configuration. */
bool readiness_is_refused(const struct routes *, char ret[READINESS_TEXT]);
/* Attachments cannot be managed, or nothing can be attached. */
bool readiness_cannot_attach(const struct routes *, char ret[READINESS_TEXT]);
/* A capability is missing, no kubelet knows any of the configured resources, or a listener or a
 * folder is unusable. One registered resource is sufficient: the others are findings of doctor. */
bool readiness_cannot_serve(const struct routes *, char ret[READINESS_TEXT]);
