/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* common.bpf.h - the ring buffer to the daemon and the counters of lost events.
 *
 * The daemon creates the maps of this file and reuses them in every object, so that all programs
 * share one ring and the counts outlive the programs. Include it after vmlinux.h. */
#pragma once

#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf_event.h"

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 256 * 1024);
} events SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, N_BPF_LOSSES);
	__type(key, __u32);
	__type(value, __u64);
} losses SEC(".maps");

static __always_inline void count_loss(enum bpf_loss which)
{
	__u32 key = which;
	__u64 *n = bpf_map_lookup_elem(&losses, &key);

	if (n)
		__sync_fetch_and_add(n, 1);
}

/* Reserves an event, zeroed except for its head; NULL (and counted) if the ring is full. */
static __always_inline void *event_reserve(enum bpf_event_kind kind, __u32 size)
{
	struct bpf_event *e = bpf_ringbuf_reserve(&events, size, 0);

	if (!e) {
		count_loss(BPF_LOST);
		return NULL;
	}
	__builtin_memset(e, 0, size);
	e->version = BPF_EVENT_VERSION;
	e->kind = kind;
	e->size = size;
	e->time_ns = bpf_ktime_get_ns();
	return e;
}

#define EVENT_RESERVE(kind, type) ((type *)event_reserve(kind, sizeof(type)))

/* PF_KTHREAD, linux/include/linux/sched.h */
#define TASK_IS_KERNEL 0x00200000

/* Records the requesting task, in hooks that run in its context. The fields stay 0 for kernel
 * threads. */
static __always_inline void event_task(struct bpf_event *e)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();

	if (BPF_CORE_READ(task, flags) & TASK_IS_KERNEL)
		return;
	e->pid = bpf_get_current_pid_tgid() >> 32;
	e->cgroup = bpf_get_current_cgroup_id();
	bpf_get_current_comm(e->comm, sizeof(e->comm));
}
