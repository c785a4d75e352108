/* bpf_load.h - a group's programs: into the kernel and out again. Synchronous, on one thread at a
 * time, a worker's: reading the kernel's BTF takes a while.
 *
 * A group whose programs are all taken is one object. If one is refused, each is tried on its own,
 * hook by hook, so that it costs itself only. Nothing is pinned. */
#pragma once

#include "bpf_event.h"
#include "bpf_points.h"
#include "err.h"

struct bpf_loaded;

/* What all programs share; see include/bpf_event.h. They belong to the caller. */
struct bpf_maps {
	int events_fd, losses_fd, soft_counts_fd; /* -1 = not open */
};

/* A negative errno leaves none open. */
int bpf_maps_open(struct bpf_maps *ret, struct err *);
void bpf_maps_close(struct bpf_maps *);
/* Each device once, in no order. The number of places filled. */
unsigned bpf_maps_soft_counts(const struct bpf_maps *, struct bpf_soft_device *ret, unsigned cap);

/* What became of a point. */
struct bpf_program_status {
	const char *name;
	const char *hook; /* "tp_btf", "fentry", "kprobe" or "none" */
	char error[160];  /* why not, or why not on a better hook; "" = nothing to say */
	bool may_pass;	  /* one of the reasons may be gone later */
};

/* Fills the places of the group's points in status. NULL: none is attached. */
struct bpf_loaded *bpf_group_load(enum bpf_group, const struct bpf_maps *,
				  struct bpf_program_status status[N_BPF_POINTS]);
/* Detaches. NULL is fine. */
void bpf_loaded_free(struct bpf_loaded *);
