// SPDX-License-Identifier: Apache-2.0
/* bpf_points.c - see bpf_points.h. The programs are described in the files in bpf/. */
#include "bpf_points.h"

#include "cm_events.skel.h"
#include "host_events.skel.h"
#include "rdma_events.skel.h"
#include "rxe_events.skel.h"

/* Programs are named after the point and the hook. A fexit is loaded like a fentry. */
#define TRACEPOINT(what)                                                                           \
	{                                                                                          \
		.kind = BPF_HOOK_TP_BTF, .program = what "_tp_btf"                                 \
	}
#define FENTRY(what)                                                                               \
	{                                                                                          \
		.kind = BPF_HOOK_FENTRY, .program = what "_fentry"                                 \
	}
#define FEXIT(what)                                                                                \
	{                                                                                          \
		.kind = BPF_HOOK_FENTRY, .program = what "_fexit"                                  \
	}
#define KPROBE(what)                                                                               \
	{                                                                                          \
		.kind = BPF_HOOK_KPROBE, .program = what "_kprobe"                                 \
	}
#define KPROBES(what)                                                                              \
	{                                                                                          \
		.kind = BPF_HOOK_KPROBE, .program = what "_kprobe", .returned = what "_kretprobe"  \
	}

#define ON_TRACEPOINT(what, in, ...)                                                               \
	{                                                                                          \
		.name = what, .group = in, .functions = {__VA_ARGS__}, .hooks = {                  \
			TRACEPOINT(what)                                                           \
		}                                                                                  \
	}
#define ON_ENTRY(what, in, ...)                                                                    \
	{                                                                                          \
		.name = what, .group = in, .functions = {__VA_ARGS__}, .hooks = {                  \
			FENTRY(what),                                                              \
			KPROBE(what)                                                               \
		}                                                                                  \
	}

const struct bpf_point bpf_points[N_BPF_POINTS] = {
	/* __dev_change_net_namespace since v5.13, netif_change_net_namespace since v6.15 */
	ON_ENTRY("netdev_moves", BPF_GROUP_HOST, "netif_change_net_namespace",
		 "__dev_change_net_namespace", "dev_change_net_namespace"),
	ON_TRACEPOINT("nic_health", BPF_GROUP_HOST, "devlink_health_report"),
	ON_TRACEPOINT("nic_health_aborted", BPF_GROUP_HOST, "devlink_health_recover_aborted"),
	ON_TRACEPOINT("tx_timeout", BPF_GROUP_HOST, "net_dev_xmit_timeout"),
	ON_ENTRY("dcb_set", BPF_GROUP_HOST, "dcbnl_ieee_set"),
	ON_ENTRY("dcb_set_cee", BPF_GROUP_HOST, "dcbnl_setpfccfg"),
	ON_ENTRY("dcb_app_set", BPF_GROUP_HOST, "dcb_ieee_setapp"),
	ON_ENTRY("dcb_app_deleted", BPF_GROUP_HOST, "dcb_ieee_delapp"),

	ON_ENTRY("qp_created", BPF_GROUP_RDMA, "rdma_restrack_add"),
	{.name = "qp_modified",
	 .group = BPF_GROUP_RDMA,
	 .functions = {"_ib_modify_qp"},
	 .hooks = {FEXIT("qp_modified"), KPROBES("qp_modified")}},
	ON_ENTRY("qp_destroyed", BPF_GROUP_RDMA, "ib_destroy_qp_user"),
	ON_ENTRY("qp_error", BPF_GROUP_RDMA, "__ib_qp_event_handler", "ib_uverbs_qp_event_handler"),
	ON_ENTRY("port_event", BPF_GROUP_RDMA, "ib_dispatch_event"),

	ON_TRACEPOINT("cm_request", BPF_GROUP_CM, "cm_send_req"),
	ON_TRACEPOINT("cm_reply", BPF_GROUP_CM, "cm_send_rep"),
	ON_TRACEPOINT("cm_event", BPF_GROUP_CM, "cm_event_handler"),

	ON_ENTRY("soft_completion", BPF_GROUP_RXE, "rxe_cq_post"),
	ON_ENTRY("soft_qp_failed", BPF_GROUP_RXE, "rxe_qp_error"),
	ON_ENTRY("soft_retransmit", BPF_GROUP_RXE, "retransmit_timer"),
	ON_ENTRY("soft_rnr", BPF_GROUP_RXE, "rnr_nak_timer"),
	{.name = "soft_icrc",
	 .group = BPF_GROUP_RXE,
	 .functions = {"rxe_icrc_check"},
	 .hooks = {FEXIT("soft_icrc")}},
};

const char *bpf_hook_name(enum bpf_hook_kind kind)
{
	switch (kind) {
	case BPF_HOOK_TP_BTF:
		return "tp_btf";
	case BPF_HOOK_FENTRY:
		return "fentry";
	case BPF_HOOK_KPROBE:
		return "kprobe";
	}
	return "none";
}

const void *bpf_group_elf(enum bpf_group group, size_t *ret_size)
{
	switch (group) {
	case BPF_GROUP_HOST:
		return host_events_bpf__elf_bytes(ret_size);
	case BPF_GROUP_RDMA:
		return rdma_events_bpf__elf_bytes(ret_size);
	case BPF_GROUP_CM:
		return cm_events_bpf__elf_bytes(ret_size);
	case BPF_GROUP_RXE:
		return rxe_events_bpf__elf_bytes(ret_size);
	case N_BPF_GROUPS:
		break;
	}
	*ret_size = 0;
	return NULL;
}
