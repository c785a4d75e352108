/* SPDX-License-Identifier: Apache-2.0 */
/* cni_left.h - processes DEL requests that rocelet-cni stored as files in <state-dir>/cni/del/
 * because no daemon answered (cni.h). Attachments whose DEL never comes are returned by
 * reconciliation (daemon/attach/reconcile.h). */
#pragma once

#include "err.h"

struct cni_door;
struct cni_left;
struct uv_loop_s;

/* Creates the folders and begins to process the files. state_dir is copied; the door must outlive
 * the last answer. */
int cni_left_open(struct cni_left **ret, struct uv_loop_s *, const char *state_dir,
		  struct cni_door *, struct err *);
/* May be NULL. Close the engine afterwards: it completes the pending requests, and the last one
 * frees this object. */
void cni_left_close(struct cni_left *);
