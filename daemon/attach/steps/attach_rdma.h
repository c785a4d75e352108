/* attach_rdma.h - the RDMA device of an attachment: moved, or made. Internal to attach/. */
#pragma once

#include "step_run.h"

/* Is the function's own RDMA device one that moves (exclusive mode)? Negative errno. */
int attach_rdma_moves(struct step_run *);
/* Into the record: which one that is; nothing in shared mode. */
int attach_rdma_note(struct step_run *);
/* The function's own into the pod, in exclusive mode; nothing in shared mode. */
int attach_rdma_move(struct step_run *);
/* A soft-RoCE device on the interface in the pod, and its device nodes. */
int attach_rdma_make(struct step_run *);
/* The soft-RoCE device is the one that was made, it is on the interface, and its nodes lead to it.
 */
int attach_rdma_verify(struct step_run *);
/* The device that was moved or made is still where the netdev is (run->at). -ENODEV: it is not. */
int attach_rdma_compare(struct step_run *);
/* Both undone, wherever they are by now. */
int attach_rdma_return(struct step_run *);
/* Does a process have the function's own RDMA device open in the host, though its pod has ended (a
 * descriptor of it that was passed on)? 1: yes, still after a moment; 0: no, or it has none;
 * negative errno: it cannot be told. */
int attach_rdma_is_open(struct step_run *);
/* After the function's driver has made its RDMA device anew: its own name. */
int attach_rdma_renewed(struct step_run *);
/* The name that a soft-RoCE device gets unless it is taken: of the function, or of the ID where
 * several share one. */
void attach_rdma_soft_name(const struct attach_record *, char ret[RDMA_NAME_SIZE]);
