/* SPDX-License-Identifier: Apache-2.0 */
/* plugin_search.h - searches for IPAM plugins on a worker, because a folder may be on a file system
 * that does not answer. One search runs at a time, so a folder that hangs blocks one thread. */
#pragma once

#include "err.h"

struct uv_loop_s;
struct plugin_search;

/* Code 0: there is such a plugin; -ENOENT: there is none; -ETIMEDOUT: a folder does not answer;
 * -ECANCELED: the search was closed. Called exactly once, in the loop. */
typedef void plugin_search_fn(const struct err *, void *arg);

/* folders: absolute, separated by ':'; borrowed until the last job has ended. NULL: out of memory.
 */
struct plugin_search *plugin_search_new(struct uv_loop_s *, const char *folders);
/* Calls the function of each search that has not ended. A worker may run on; the loop frees the
 * memory after it. NULL is fine. */
void plugin_search_close(struct plugin_search *);
/* Begins a search. type: the plugin's name. -ENOMEM. */
int plugin_search_begin(struct plugin_search *, const char *type, plugin_search_fn *, void *arg);
