/* SPDX-License-Identifier: Apache-2.0 */
/* readiness.h - checks whether the daemon can provide what its configuration requests. Pure. */
#pragma once

#include <stddef.h>

struct routes;

#define READINESS_TEXT 4096
/* Begins each reason in the text of /readyz. */
#define READINESS_MARK "not ready: "

enum readiness_kind {
	READINESS_CONFIG,   /* there is no usable configuration */
	READINESS_STARTING, /* the devices have not been read, or the first sample not been taken */
	READINESS_ATTACH,   /* attachments cannot be managed, or nothing can be attached */
	/* A capability is missing, no kubelet knows any of the configured resources, or a listener
	 * or a folder is unusable. One registered resource is sufficient: the others are findings
	 * of doctor. */
	READINESS_SERVE,
};

/* The reasons why the daemon is not ready, the most important first. */
struct readiness {
	unsigned n;	/* number of reasons; 0: it is ready */
	unsigned kinds; /* bits of enum readiness_kind */
	size_t len;
	char text[READINESS_TEXT]; /* a line "not ready: REASON" for each, as in /readyz */
};

void readiness_read(struct readiness *ret, const struct routes *);
