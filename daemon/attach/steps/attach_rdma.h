/* attach_rdma.h - the RDMA device of an attachment: moved, or made. Internal to attach/. */
#pragma once

#include "step_run.h"

/* Is the function's own RDMA device one that moves (exclusive mode)? Negative errno. */
int attach_rdma_moves(struct step_run *);
/* The function's own into the pod, in exclusive mode; nothing in shared mode. */
int attach_rdma_move(struct step_run *);
/* A soft-RoCE device on the interface in the pod, and its device nodes. */
int attach_rdma_make(struct step_run *);
/* The soft-RoCE device is there, and its nodes lead to it. */
int attach_rdma_verify(struct step_run *);
/* Both undone, wherever they are by now. */
int attach_rdma_return(struct step_run *);
/* After the function's driver has made its RDMA device anew: its own name. */
int attach_rdma_renewed(struct step_run *);
/* The soft-RoCE device's name: of the function, or of the ID where several share one. */
void attach_rdma_soft_name(const struct attach_record *, char ret[RDMA_NAME_SIZE]);
