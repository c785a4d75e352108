/* SPDX-License-Identifier: Apache-2.0 */
/* series_choice.h - selects the series of VFs that the metrics page leaves out by default, so that
 * a node with hundreds of VFs has only some thousand series. Pure.
 *
 * A VF is idle while no pod has it and none of its counters has moved since it was sampled first.
 * An idle VF has no series. Another VF has all series except those of series_is_detail(). Physical
 * functions and soft-RoCE devices have all their series. */
#pragma once

#include "model.h"
#include "resource_table.h"
#include "sample.h"

struct series_port {
	bool is_vf, is_idle;
};

/* Zero-initialised it leaves nothing out. */
struct series_choice {
	bool few;		   /* false: nothing is left out */
	struct series_port *ports; /* one per sampled port */
	size_t n_ports;
	char (*moved)[RDMA_NAME_SIZE]; /* the devices whose counters have moved */
	size_t n_moved;
};

void series_choice_done(struct series_choice *);

/* Selects again; call it for a new layout of the sample, a new host, new holders, or a VF that is
 * not idle any more. -ENOMEM changes nothing. */
int series_choice_follow(struct series_choice *, const struct sample *, const struct host *,
			 const struct resource_table *);
/* False if the counters of an idle VF have moved since series_choice_follow(), which was called for
 * the same layout. */
bool series_choice_is_current(const struct series_choice *, const struct sample *);

/* True if few users need this family for a VF. */
bool series_is_detail(const char *family);
/* True for a VF's device, in our namespace or a pod's. choice NULL: false. */
bool series_is_of_vf(const struct series_choice *, const struct host *, const struct rdma_dev *);
/* True for an idle VF. holder: the pod that has the device; NULL: none. choice NULL: false. */
bool series_is_idle(const struct series_choice *, const struct host *, const struct rdma_dev *,
		    const struct pod_device *holder);

/* True if a family of this sampled port is left out. detail: series_is_detail() of the family. */
bool series_choice_skips(const struct series_choice *, size_t port, bool detail);
