/* SPDX-License-Identifier: Apache-2.0 */
/* cni_door.h - handles requests of CNI plugins: parse -> decide -> attach engine -> reply. cni.h
 * defines their format. Requests run in parallel; the engine serialises those for one device. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "err.h"

struct attach_engine;
struct cni_door;
struct inventory;
struct option_list;
struct uv_loop_s;

/* Receives the reply and owns its text; NULL = out of memory. */
typedef void cni_answer_fn(char *text, void *arg);
typedef bool cni_is_wanted_fn(void *arg);

/* Creates the handler of requests. The arguments are borrowed and must outlive it. cni_path: the
 * folders of IPAM plugins; ipam_needs: their permissions (ipam_grants.h). NULL: out of memory. */
struct cni_door *cni_door_new(struct attach_engine *, struct uv_loop_s *, const struct inventory *,
			      const char *cni_path, const struct option_list *ipam_needs);
/* Answers every waiting STATUS. The engine must be closed before: that answers all other requests.
 * May be NULL. */
void cni_door_free(struct cni_door *);

/* Called before each ADD begins. Returns 0, or an errno with the reason for which the ADD fails. */
typedef int cni_before_add_fn(const char *container, const char *ifname, void *arg, struct err *);
/* fn NULL: none. */
void cni_door_before_add(struct cni_door *, cni_before_add_fn *fn, void *arg);

/* Handles one request. 1: calls fn exactly once, later; 0: *ret_text is the reply, owned by the
 * caller, NULL = out of memory. is_wanted: polled while an ADD is in progress; if it returns false,
 * the ADD is undone. NULL = always wanted. */
int cni_door_request(struct cni_door *, const char *text, size_t len, cni_answer_fn *fn,
		     cni_is_wanted_fn *is_wanted, void *arg, char **ret_text);
