/* vmlinux.h - the kernel types that our BPF programs read, and of each only the fields they read.
 *
 * Kept by hand. With preserve_access_index only the names matter: libbpf finds the real offsets in
 * the running kernel's BTF. Each struct says who uses it. */
#ifndef __VMLINUX_H__
#define __VMLINUX_H__

#include <linux/types.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

/* netdev_moves.bpf.c */
struct ns_common {
	unsigned int inum;
};

/* netdev_moves.bpf.c */
struct net {
	struct ns_common ns;
};

/* kprobe arguments: the registers of the first two */
#if defined(__TARGET_ARCH_x86)
struct pt_regs {
	unsigned long di, si;
};
#elif defined(__TARGET_ARCH_arm64)
struct user_pt_regs {
	__u64 regs[31];
};
#endif

/* netdev_moves.bpf.c: dev->nd_net holds the namespace the device is in */
typedef struct {
	struct net *net;
} possible_net_t;

/* netdev_moves.bpf.c */
struct net_device {
	char name[16];
	int ifindex;
	possible_net_t nd_net;
};

#pragma clang attribute pop

#endif
