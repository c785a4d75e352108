/* SPDX-License-Identifier: Apache-2.0 */
/* list_watch.h - the ListAndWatch streams of one resource and its list. Pure.
 *
 * A watcher gets the complete list when it connects, and whenever the list differs from the last
 * one sent. While a watcher does not read, nothing more is queued for it: it gets the newest list
 * once it has read the previous one. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plugin.h"

/* The kubelet accepts messages of 4 MiB, grpc-go's default. */
#define LIST_WATCH_MAX (3584u * 1024)

struct grpc_call;
struct device_list;
struct watcher;

struct list_watch {
	unsigned n_watchers;
	uint64_t given; /* lists sent */
	struct device_list *list;
	struct watcher *watchers;
};

/* Starts with an empty list and no watchers; -ENOMEM. */
int list_watch_init(struct list_watch *);
/* Does not end the calls; their owner does. */
void list_watch_done(struct list_watch *);
/* Sets the list. 1: it has changed, 0: it is the same, -ENOMEM keeps the old one. *ret_left_out:
 * number of devices removed from the end because the list would exceed LIST_WATCH_MAX. */
int list_watch_set(struct list_watch *, const struct plugin_device *, size_t n,
		   size_t *ret_left_out);
/* Sends the list to watchers that do not have it; returns how many are still reading an older
 * one. */
unsigned list_watch_send(struct list_watch *);
/* Adds an opened stream, and sends it the list; -ENOMEM. */
int list_watch_add(struct list_watch *, struct grpc_call *);
/* Removes an ended stream; false: not one of these. */
bool list_watch_remove(struct list_watch *, const struct grpc_call *);
