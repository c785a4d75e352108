/* SPDX-License-Identifier: Apache-2.0 */
/* fake_functions.h - fake functions, PFs and RDMA devices; calls of the code under test are
 * redirected to them (--wrap, see the Makefile). A netdev belongs to the fake function if it has a
 * certain alternative name, which moves with it. Without fakes, the real functions are called. */
#pragma once

#include <sys/types.h>

#include "attachment.h"
#include "netdev_ops.h"

void fake_function(const char *function, const char *altname);
/* Called once, right after a function's netdev was found, before the caller can act on it. */
extern void (*fake_meanwhile)(const struct netdev_seen *);

/* The driver of every function; NULL: write to sysfs. */
struct fake_driver {
	void (*unbind)(void);
	void (*bind)(void);
	unsigned n_unbound;
};
extern struct fake_driver *fake_driver;

/* A PF and the settings of its VFs; the netdev is the one of `function`. */
#define FAKE_VFS 8
struct fake_pf {
	char function[DEV_ID_SIZE];
	uint8_t mac[6]; /* permanent MAC */
	struct vf_settings vfs[FAKE_VFS];
	unsigned unsupported; /* enum vf_field bits that cannot be set */
	int failure;	      /* returned by every call; 0 = none */
	unsigned n_failures;  /* number of failing calls; 0: all */
	unsigned n_set;
};
extern struct fake_pf *fake_pf;

struct fake_rdma {
	enum rdma_netns_mode mode;
	struct {
		char name[RDMA_NAME_SIZE];
		ino_t netns;	/* inode; 0 = no such device */
		unsigned dies;	/* removed after being listed this often; 0 = never */
		unsigned bound; /* number of times it was bound; index = 100 * bound + position */
		int netdev;	/* ifindex of its netdev, in its namespace */
		bool soft;
		unsigned contexts, closes; /* open user contexts; how many of them close, one after
					      each read of the number */
	} devices[24];
	unsigned n_deleted;
};
extern struct fake_rdma *fake_rdma;
/* Adds a device to a namespace; returns its position. */
uint32_t fake_rdma_add(const char *name, ino_t netns, int netdev, bool soft);
/* Inode of the namespace of a socket or of this thread (-1). */
ino_t fake_rdma_netns(int socket_fd);
void fake_functions_end(void);
