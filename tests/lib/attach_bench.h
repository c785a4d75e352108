/* attach_bench.h - a host with one function to attach, and pods, in network namespaces that the
 * test makes: one end of a veth pair stands for the function's netdev. The test program's own
 * namespace is the host's, from its first bench on. */
#pragma once

#include <sys/types.h>

#include "fake_functions.h"
#include "journal.h"
#include "netdev_ops.h"
#include "steps.h"

#define BENCH_PF	 "0000:99:00.0"
#define BENCH_FUNCTION	 "0000:99:10.6" /* VF 3 of the PF */
#define BENCH_NAME	 "ens9f0v3"
#define BENCH_MTU	 1480
#define BENCH_SPARE_NAME "roce000099106" /* while somebody has its own */

struct attach_bench {
	char *tree; /* sys/, dev/, state/ */
	struct hw hw;
	struct attach_job job;
	pid_t pods[2]; /* who keeps their namespaces */
	struct fake_pf pf;
	struct fake_rdma rdma;
	struct fake_driver driver;
};

/* There is one at a time. NULL: this kernel has no namespaces or veth for us. with_pf: the function
 * is a VF of a fake PF. */
struct attach_bench *attach_bench_open(bool with_pf);
/* *state is what that returned: the test is skipped if there is none; it is closed if there is. */
struct attach_bench *attach_bench_need(void **state);
int attach_bench_teardown(void **state);

/* A new pod; its path in /proc. */
const char *attach_bench_pod(struct attach_bench *, int which);
/* It dies. keeps_vf: what the kernel does with a physical netdev: it is in the host afterwards,
 * down, under the name that it had there; a veth would be gone. */
void attach_bench_kill_pod(struct attach_bench *, int which, bool keeps_vf);

/* The job of a fresh attachment into pod 0: net1 with an address. */
void attach_bench_plan(struct attach_bench *);
/* All steps of an attach, or a return, IPAM's left out. Returns what failed. */
int attach_bench_attach(struct attach_bench *);
int attach_bench_return(struct attach_bench *);
/* The netdev of the function in the host (which < 0) or a pod; false: it is not there. */
bool attach_bench_look(struct attach_bench *, int which, struct netdev_seen *ret);
/* A shell command in the host, or a pod; it must succeed. */
__attribute__((format(printf, 3, 4))) void attach_bench_shell(struct attach_bench *, int which,
							      const char *fmt, ...);
/* As without its driver: no netdev. Again: another one, with a name and an MTU of the driver's. */
void attach_bench_unbind(void);
void attach_bench_bind(void);
/* In the host as it was before the first attach; the journal says free. */
void attach_bench_is_clean(struct attach_bench *);
