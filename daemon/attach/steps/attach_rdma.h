/* SPDX-License-Identifier: Apache-2.0 */
/* attach_rdma.h - moves or creates the RDMA device of an attachment. Internal to attach/. */
#pragma once

#include "step_run.h"

/* Must the function's own RDMA device be moved (exclusive mode)? 1, 0 or negative errno. */
int attach_rdma_moves(struct step_run *);
/* Records the identity of the function's RDMA device; does nothing in shared mode. */
int attach_rdma_note(struct step_run *);
/* Moves the function's RDMA device into the pod in exclusive mode; in shared mode only records its
 * name. */
int attach_rdma_move(struct step_run *);
/* Creates a soft-RoCE device on the interface in the pod, and its device nodes. */
int attach_rdma_make(struct step_run *);
/* Checks that the soft-RoCE device is the created one, is on the interface, and has the right
 * device nodes. */
int attach_rdma_verify(struct step_run *);
/* Checks that the moved or created device is still where the netdev is (run->at). -ENODEV: it is
 * not. */
int attach_rdma_compare(struct step_run *);
/* Returns a moved device and deletes a created one, in whichever namespace they are. */
int attach_rdma_return(struct step_run *);
/* After the pod has ended: does a process still have the function's own RDMA device open in the
 * host, by a descriptor that was passed to it? 1: yes, after several tries; 0: no, or there is no
 * device; negative errno: unknown. */
int attach_rdma_is_open(struct step_run *);
/* Restores the name after the driver has recreated the function's RDMA device. */
int attach_rdma_renewed(struct step_run *);
/* Returns the preferred name of a soft-RoCE device: derived from the function, or from the ID if
 * several devices share a function. */
void attach_rdma_soft_name(const struct attach_record *, char ret[RDMA_NAME_SIZE]);
