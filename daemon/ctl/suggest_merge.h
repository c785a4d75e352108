/* SPDX-License-Identifier: Apache-2.0 */
/* suggest_merge.h - merges the configurations suggested by several nodes into one with groups:
 * nodes with the same pools are a group. Pure. */
#pragma once

#include <jansson.h>
#include <stddef.h>

#include "err.h"

struct node_suggestion {
	const char *node;     /* its name */
	const json_t *config; /* its suggestion; borrowed */
};

/* Returns the configuration, owned by the caller, largest group first. A group matches by the
 * longest common prefix of its nodes' names if no other node has that prefix, otherwise by all
 * names. NULL: -EINVAL with a message (a suggestion without "pools", a duplicate node), or
 * -ENOMEM. */
json_t *suggest_merge(const struct node_suggestion *, size_t n, struct err *);
