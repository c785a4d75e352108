/* netdev_inside.h - what of a netdev no message tells, as the kernel's program tells it. */
#pragma once

/* A netdev that sits on it. */
struct netdev_upper {
	char name[16], kind[16]; /* "macvlan"; "" = the kernel has no word for it */
	unsigned netns;		 /* inode of its namespace */
};

struct netdev_inside {
	unsigned n_uppers;   /* in whichever namespaces; 64: or more */
	unsigned napi_apart; /* NAPI instances that are set unlike the netdev as a whole */
	struct netdev_upper first;
};
