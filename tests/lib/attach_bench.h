/* SPDX-License-Identifier: Apache-2.0 */
/* attach_bench.h - a host with one function and pods in real network namespaces. One end of a veth
 * pair plays the function's netdev. From the first bench on, the test program's own namespace plays
 * the host's. */
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
#define BENCH_SPARE_NAME "roce000099106" /* its name in the host while BENCH_NAME is taken */

struct attach_bench {
	char *tree; /* sys/, dev/, state/ */
	struct hw hw;
	struct attach_job job;
	pid_t pods[2]; /* processes that keep the pods' namespaces */
	struct fake_pf pf;
	struct fake_rdma rdma;
	struct fake_driver driver;
};

/* Only one can exist at a time. NULL: namespaces or veth are not available. with_pf: the function
 * is a VF of a fake PF. */
struct attach_bench *attach_bench_open(bool with_pf);
/* *state is the result of attach_bench_open(): NULL skips the test. The teardown closes it. */
struct attach_bench *attach_bench_need(void **state);
int attach_bench_teardown(void **state);

/* Starts a pod; returns the path of its namespace in /proc. */
const char *attach_bench_pod(struct attach_bench *, int which);
/* Kills the pod. The kernel would move a physical netdev to the host, down and with its original
 * name, but deletes a veth; keeps_vf imitates the former. */
void attach_bench_kill_pod(struct attach_bench *, int which, bool keeps_vf);

/* Prepares the job of a new attachment to pod 0: net1 with one address. */
void attach_bench_plan(struct attach_bench *);
/* Runs all steps of an attach or a return, except IPAM. Returns the first error. */
int attach_bench_attach(struct attach_bench *);
int attach_bench_return(struct attach_bench *);
/* Reads the function's netdev in the host (which < 0) or a pod; false: not there. */
bool attach_bench_look(struct attach_bench *, int which, struct netdev_seen *ret);
/* Runs a shell command in the host or a pod; asserts success. */
__attribute__((format(printf, 3, 4))) void attach_bench_shell(struct attach_bench *, int which,
							      const char *fmt, ...);
/* Unbinding the driver removes the netdev. Binding creates a new one with the driver's name and
 * MTU. */
void attach_bench_unbind(void);
void attach_bench_bind(void);
/* Asserts that the device is in the host in its original state, and free in the journal. */
void attach_bench_is_clean(struct attach_bench *);
