/* netdev_inside.h - what of a netdev no message tells, as the kernel's program tells it. */
#pragma once

/* A netdev that sits on it. */
struct netdev_upper {
	char name[16], kind[16]; /* "macvlan"; "" = the kernel has no word for it */
	unsigned netns;		 /* inode of its namespace */
	int ifindex;		 /* there */
	/* The netdev itself, whatever its name, namespace and index become: the inode of its folder
	 * in sysfs, which no second one gets in a boot (kernfs_new_node() in
	 * linux/fs/kernfs/dir.c). 0 = unknown */
	unsigned long long id;
};

struct netdev_inside {
	unsigned n_uppers;   /* in whichever namespaces; 64: or more */
	unsigned napi_apart; /* NAPI instances that are set unlike the netdev as a whole */
	struct netdev_upper first;
	struct netdev_upper sought; /* netdev_upper_find(); id 0 = it is not among them */
	unsigned more;		    /* there are more than were looked at for it */
};
