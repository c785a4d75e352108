/* SPDX-License-Identifier: Apache-2.0 */
/* groups.h - "groups" of the configuration file: settings for a set of nodes, so that one file
 * serves a fleet. Pure.
 *
 * A group has a name, conditions ("match"), and keys of the file itself. On its nodes, its options
 * take precedence over those of the file's top level, and if it defines resources, the top level's
 * resources do not apply. The first group that matches counts; a group without "match" applies only
 * where it is requested by name. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "config_file.h"
#include "err.h"
#include "node_facts.h"

struct json_t;

#define GROUP_NAME_SIZE CONFIG_GROUP_SIZE
#define GROUPS_MAX	64

/* The text that contains the groups, for messages. */
struct groups_text {
	const char *name, *text;
	size_t len;
};

/* Checks all groups, and writes the name of the one that applies; "" = none. wanted: its name, or
 * "" = the first that matches. -EINVAL with a message 'file:line: ...'. */
int groups_choose(const struct json_t *root, const struct groups_text *, const char *wanted,
		  const struct node_facts *, char ret[GROUP_NAME_SIZE], struct err *);
/* Returns the group with the name that groups_choose() returned; *ret_index: its index in
 * "groups". NULL: no such group. */
const struct json_t *groups_find(const struct json_t *root, const char *name, size_t *ret_index);
/* Lists the names of the groups of a file that groups_choose() accepted. Returns their number. */
size_t groups_names(const struct config_file *, char ret[GROUPS_MAX][GROUP_NAME_SIZE]);
/* True if it is a key of groups, but not of the file's top level. */
bool groups_own_key(const char *key);
/* True if the pattern matches the whole text: '*' matches any characters, '?' one; case is ignored.
 */
bool groups_glob(const char *pattern, const char *text);
