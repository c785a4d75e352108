/* list_watch.h - the ListAndWatch streams of one resource and the list they are given. Pure.
 *
 * A watcher gets the complete list when it comes and whenever the list differs from what it was
 * given last. One that does not read is queued nothing more: it gets the newest list once it has
 * taken the one before. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plugin.h"

/* A kubelet takes messages of 4 MiB, grpc-go's default. */
#define LIST_WATCH_MAX (3584u * 1024)

struct grpc_call;
struct device_list;
struct watcher;

struct list_watch {
	unsigned n_watchers;
	uint64_t given; /* lists */
	struct device_list *list;
	struct watcher *watchers;
};

/* The empty list, no watcher; -ENOMEM. */
int list_watch_init(struct list_watch *);
/* Its calls have ended or are somebody else's to end. */
void list_watch_done(struct list_watch *);
/* 1: it is another list now, 0: the same, -ENOMEM keeps the old one. *ret_left_out: devices cut off
 * the end because the list would be longer than LIST_WATCH_MAX. */
int list_watch_set(struct list_watch *, const struct plugin_device *, size_t n,
		   size_t *ret_left_out);
/* Gives the list to those who have not got it; how many are still busy with an older one. */
unsigned list_watch_send(struct list_watch *);
/* A stream is opened, and given the list; -ENOMEM. */
int list_watch_add(struct list_watch *, struct grpc_call *);
/* It has ended; false: it is none of these. */
bool list_watch_remove(struct list_watch *, const struct grpc_call *);
