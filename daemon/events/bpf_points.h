/* bpf_points.h - the table of what our BPF programs watch, and on which hooks each can hang.
 *
 * Data only: a point is tried on its hooks in their order, and on each with the functions in
 * theirs. */
#pragma once

#include <stddef.h>

/* The programs of a group are one object file, and are there while what they watch is. */
enum bpf_group {
	BPF_GROUP_HOST, /* the kernel itself */
	BPF_GROUP_RDMA, /* ib_core: while there are RDMA devices */
	BPF_GROUP_CM,	/* rdma_cm: with them, once it is loaded */
	BPF_GROUP_RXE,	/* rdma_rxe: while there are its devices */
	N_BPF_GROUPS
};

#define BPF_POINT_FUNCTIONS 4
#define BPF_POINT_HOOKS	    2

enum bpf_hook_kind { BPF_HOOK_TP_BTF, BPF_HOOK_FENTRY, BPF_HOOK_KPROBE };

struct bpf_hook {
	enum bpf_hook_kind kind;
	const char *program;  /* NULL: there is no such hook */
	const char *returned; /* a kprobe's second program, for the function's end; or NULL */
};

struct bpf_point {
	const char *name; /* what it watches */
	enum bpf_group group;
	/* Names that the function, or tracepoint, has had: the first that the kernel knows. */
	const char *functions[BPF_POINT_FUNCTIONS];
	struct bpf_hook hooks[BPF_POINT_HOOKS];
};

#define N_BPF_POINTS 21

extern const struct bpf_point bpf_points[N_BPF_POINTS];

const char *bpf_hook_name(enum bpf_hook_kind); /* "tp_btf", "fentry", "kprobe" */
/* The object file of a group, embedded in this program. */
const void *bpf_group_elf(enum bpf_group, size_t *ret_size);
