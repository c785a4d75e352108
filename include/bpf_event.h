/* bpf_event.h - what BPF programs tell the daemon: an ABI between bpf/ and daemon/, checked by
 * version and size. */
#pragma once

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

#define BPF_EVENT_VERSION 1

enum bpf_event_kind {
	BPF_EVENT_NETDEV_MOVED = 1, /* a netdev was asked into another network namespace */
};

struct bpf_event {
	__u16 version, kind;
	__u32 ifindex;	  /* before the move */
	__u32 netns_from; /* namespace inode numbers */
	__u32 netns_to;
	__u32 pid; /* process that asked, in the initial pid namespace */
	char comm[16];
	char name[16]; /* of the netdev before the move */
	__u32 reserved;
};

_Static_assert(sizeof(struct bpf_event) == 56, "shared by bpf/ and daemon/");
