/* SPDX-License-Identifier: Apache-2.0 */
/* bpf_points.h - the table of points that our BPF programs watch, and the hooks that each can use.
 *
 * Data only: the hooks of a point are tried in order, and with each the functions in order. */
#pragma once

#include <stddef.h>

/* The programs of a group are one object file, and are loaded while the objects that they watch
 * exist. */
enum bpf_group {
	BPF_GROUP_HOST, /* the kernel itself */
	BPF_GROUP_RDMA, /* ib_core: while RDMA devices exist */
	BPF_GROUP_CM,	/* rdma_cm: while RDMA devices exist and it is loaded */
	BPF_GROUP_RXE,	/* rdma_rxe: while soft-RoCE devices exist */
	N_BPF_GROUPS
};

#define BPF_POINT_FUNCTIONS 4
#define BPF_POINT_HOOKS	    2

enum bpf_hook_kind { BPF_HOOK_TP_BTF, BPF_HOOK_FENTRY, BPF_HOOK_KPROBE };

struct bpf_hook {
	enum bpf_hook_kind kind;
	const char *program;  /* NULL: no such hook */
	const char *returned; /* a kprobe's second program, for the function's return; or NULL */
};

struct bpf_point {
	const char *name; /* of the watched event */
	enum bpf_group group;
	/* Names of the function or tracepoint in different kernels; the first that exists is
	 * used. */
	const char *functions[BPF_POINT_FUNCTIONS];
	struct bpf_hook hooks[BPF_POINT_HOOKS];
};

#define N_BPF_POINTS 21

extern const struct bpf_point bpf_points[N_BPF_POINTS];

const char *bpf_hook_name(enum bpf_hook_kind); /* "tp_btf", "fentry", "kprobe" */
/* Returns the object file of a group, which is embedded in this executable. */
const void *bpf_group_elf(enum bpf_group, size_t *ret_size);
