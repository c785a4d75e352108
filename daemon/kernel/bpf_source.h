/* bpf_source.h - loads our BPF programs where the kernel allows it and brings their events into the
 * loop.
 *
 * Never a reason not to start: what the kernel refuses is told in the log with its reason, listed
 * as not loaded, and everything else works. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bpf_event.h"
#include "err.h"

struct uv_loop_s;
struct bpf_source;
struct self_counters;

/* e == NULL: events were lost. Borrowed for the call. */
typedef void bpf_event_fn(const struct bpf_event *e, void *arg);

struct bpf_program_status {
	const char *name; /* what it watches */
	const char *hook; /* "fentry", "kprobe" or "none" */
};

/* Fails only without memory: a program that is refused is listed with hook "none". */
int bpf_source_open(struct bpf_source **ret, struct uv_loop_s *, struct self_counters *,
		    bpf_event_fn *, void *arg, struct err *);
/* NULL is fine. Detaches and frees once its handle has closed. */
void bpf_source_close(struct bpf_source *);

/* Pure: 0 when the bytes are an event of our version, -EBADMSG otherwise. */
int bpf_event_check(const void *data, unsigned long size);

/* The programs and what became of them; borrowed. Works with NULL (none). */
unsigned bpf_source_programs(const struct bpf_source *, const struct bpf_program_status **ret);
