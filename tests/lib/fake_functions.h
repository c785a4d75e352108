/* fake_functions.h - functions, PFs and RDMA devices that this machine does not have, for the code
 * that is linked with them (--wrap, see the Makefile). A netdev with a certain alternative name is
 * the function's: that name travels with it. Without any of these the real ones answer. */
#pragma once

#include <sys/types.h>

#include "attachment.h"
#include "netdev_ops.h"

void fake_function(const char *function, const char *altname);
/* What happens right after a function's netdev was found, before whoever looked can act; it is
 * called once. */
extern void (*fake_meanwhile)(const struct netdev_seen *);

/* The driver of every function; NULL: sysfs is written to. */
struct fake_driver {
	void (*unbind)(void);
	void (*bind)(void);
	unsigned n_unbound;
};
extern struct fake_driver *fake_driver;

/* The settings that the PF keeps of its VFs; its netdev is that of ITS function. */
#define FAKE_VFS 8
struct fake_pf {
	char function[DEV_ID_SIZE];
	uint8_t mac[6]; /* its permanent one */
	struct vf_settings vfs[FAKE_VFS];
	unsigned unsupported; /* enum vf_field bits that cannot be set */
	int failure;	      /* answer of every question, 0 = none */
	unsigned n_failures;  /* then it answers; 0: it goes on like that */
	unsigned n_set;
};
extern struct fake_pf *fake_pf;

struct fake_rdma {
	enum rdma_netns_mode mode;
	struct {
		char name[RDMA_NAME_SIZE];
		ino_t netns;	/* inode; 0 = no such device */
		unsigned dies;	/* seen that often more, it is gone; 0 = it stays */
		unsigned bound; /* counted up: its index is 100 times that, and its place */
		int netdev;	/* below it, within its namespace */
		bool soft;
		unsigned contexts, closes; /* open; counted that often more, one less each time */
	} devices[24];
	unsigned n_deleted;
};
extern struct fake_rdma *fake_rdma;
/* One more, in that namespace; its place among the devices. */
uint32_t fake_rdma_add(const char *name, ino_t netns, int netdev, bool soft);
/* The inode of the namespace that a socket or this thread (-1) is in. */
ino_t fake_rdma_netns(int socket_fd);
void fake_functions_end(void);
