/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* netdev_inside.h - netdev properties that no netlink message contains, read by a BPF program. */
#pragma once

/* A netdev stacked on the one that was read. */
struct netdev_upper {
	char name[16], kind[16]; /* "macvlan"; "" = no rtnl_link_ops kind */
	unsigned netns;		 /* inode of its namespace */
	int ifindex;		 /* in that namespace */
	/* Identity that survives changes of name, namespace and index: the inode of its sysfs
	 * folder, unique within a boot (kernfs_new_node() in linux/fs/kernfs/dir.c). 0 = unknown */
	unsigned long long id;
};

struct netdev_inside {
	unsigned n_uppers;	 /* number in all namespaces; 64: or more */
	unsigned napi_differing; /* NAPI instances whose settings differ from those of the netdev */
	struct netdev_upper first;
	struct netdev_upper match; /* result of netdev_upper_find(); id 0 = not found */
	unsigned more;		   /* there are more uppers than were searched */
};
