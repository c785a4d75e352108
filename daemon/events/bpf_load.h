/* SPDX-License-Identifier: Apache-2.0 */
/* bpf_load.h - loads and unloads a group's programs. Synchronous, for workers, on one thread at a
 * time: reading the kernel's BTF is slow.
 *
 * If the kernel accepts all programs of a group, they are one object. If it rejects one, each
 * program is loaded separately, hook by hook, so that only the rejected program is missing. Nothing
 * is pinned. */
#pragma once

#include "bpf_event.h"
#include "bpf_points.h"
#include "err.h"

struct bpf_loaded;

/* Maps shared by all programs, see include/bpf_event.h. Owned by the caller. */
struct bpf_maps {
	int events_fd, losses_fd, soft_counts_fd; /* -1 = not open */
};

/* Creates the maps; after an error none is open. */
int bpf_maps_open(struct bpf_maps *ret, struct err *);
void bpf_maps_close(struct bpf_maps *);
/* Writes the counters of each device once, in no order. Returns the number of elements filled. */
unsigned bpf_maps_soft_counts(const struct bpf_maps *, struct bpf_soft_device *ret, unsigned cap);

/* The state of a point. */
struct bpf_program_status {
	const char *name;
	const char *hook; /* "tp_btf", "fentry", "kprobe" or "none" */
	char error[160];  /* why it is not loaded, or not loaded with a better hook; "" = no problem
			   */
	bool may_be_temporary; /* the failure may be temporary */
};

/* Loads and attaches the group's programs, and fills in the elements of status for its points.
 * NULL: none is attached. */
struct bpf_loaded *bpf_group_load(enum bpf_group, const struct bpf_maps *,
				  struct bpf_program_status status[N_BPF_POINTS]);
/* Detaches and frees the programs. May be NULL. */
void bpf_loaded_free(struct bpf_loaded *);
