/* SPDX-License-Identifier: Apache-2.0 */
/* pod_resources.h - queries the kubelet for devices allocated to containers.
 *
 * PodResources.List on <kubelet-dir>/pod-resources/kubelet.sock; if that socket is missing, the
 * kubelet's checkpoint file. The kubelet answers 100 calls per second in bursts of 10, and rejects
 * more with RESOURCE_EXHAUSTED (pkg/kubelet/apis/grpc/ratelimit.go): so queries are coalesced and
 * spaced, and retried if rejected. */
#pragma once

#include <stdint.h>

#include "err.h"
#include "pod_devices.h"

struct uv_loop_s;
struct pod_resources;

/* Parses device-plugins/kubelet_internal_checkpoint (pkg/kubelet/cm/devicemanager/checkpoint;
 * device IDs are a list up to 1.19, grouped by NUMA node since 1.20). Returns the number of entries
 * left out because their names are too long. -EMSGSIZE: more devices than a node has (16384). *ret
 * is untouched on failure. Messages contain line or entry, not the file. */
int pod_checkpoint_parse(struct pod_list *ret, const char *text, size_t len, struct err *);
/* Reads and parses the file below the kubelet's folder; messages contain its name. */
int pod_checkpoint_read(struct pod_list *ret, const char *kubelet_dir, struct err *);
/* Removes the entries of pods that have no folder in <root_dir>/pods any more. The kubelet keeps
 * the entries of an ended pod until its next allocation (allocateContainerResources() in
 * pkg/kubelet/cm/devicemanager). */
void pod_checkpoint_drop_ended(struct pod_list *, const char *root_dir);

/* Called after every query with the last known list, borrowed. asked_ms: loop time at which the
 * query was sent, so earlier changes are in the list; 0: it failed, the list is unchanged. */
typedef void pod_resources_fn(const struct pod_list *, uint64_t asked_ms, void *arg);

/* Queries at once, and again whenever a new kubelet creates its socket. folder: of that socket,
 * copied. The kubelet's checkpoint is in kubelet_dir. */
int pod_resources_open(struct pod_resources **ret, struct uv_loop_s *, const char *kubelet_dir,
		       const char *folder, pod_resources_fn *, void *arg, struct err *);
/* Queries soon, because the list may have changed. One query serves all calls that were made before
 * it is sent. */
void pod_resources_refresh(struct pod_resources *);
/* Returns the last list; empty with POD_SOURCE_NONE before the first one. */
const struct pod_list *pod_resources_list(const struct pod_resources *);
/* Marks an allocation of the last list as outdated: the kubelet has allocated the device again. */
void pod_resources_disprove(struct pod_resources *, const char *resource, const char *id);
/* True if an answer can be expected soon: the last query was answered, and a running one has not
 * exceeded the usual time. */
bool pod_resources_answers(const struct pod_resources *);
/* Returns the number of queries, and of failed queries (rejected, timed out, no answer). */
void pod_resources_counts(const struct pod_resources *, uint64_t *ret_asked, uint64_t *ret_failed);
/* Returns why the last query failed; "" = it succeeded, or there is no kubelet. */
const char *pod_resources_error(const struct pod_resources *);
/* May be NULL. */
void pod_resources_close(struct pod_resources *);
