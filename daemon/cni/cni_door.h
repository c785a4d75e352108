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

/* Takes ownership of text; NULL = out of memory. */
typedef void cni_answer_fn(char *text, void *arg);
typedef bool cni_is_wanted_fn(void *arg);

/* All are borrowed and must outlive it. cni_path: where IPAM plugins are; ipam_needs: what they may
 * use (ipam_grants.h). NULL: out of memory. */
struct cni_door *cni_door_new(struct attach_engine *, const struct inventory *,
			      const char *cni_path, const struct option_list *ipam_needs);
/* The engine must be closed before, so that all requests are answered. NULL is fine. */
void cni_door_free(struct cni_door *);

/* Handles one request. 1: calls fn exactly once, later; 0: *ret_text is the reply, owned by the
 * caller, NULL = out of memory. is_wanted: polled while an ADD is in progress; if it returns false,
 * the ADD is undone. NULL = always wanted. */
int cni_door_request(struct cni_door *, const char *text, size_t len, cni_answer_fn *fn,
		     cni_is_wanted_fn *is_wanted, void *arg, char **ret_text);
