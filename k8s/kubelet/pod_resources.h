/* pod_resources.h - which container holds which device, asked of the kubelet.
 *
 * PodResources.List on <kubelet-dir>/pod-resources/kubelet.sock; where that socket is missing, the
 * kubelet's checkpoint file. The kubelet answers 100 calls a second in bursts of 10 and refuses
 * what is above with RESOURCE_EXHAUSTED (pkg/kubelet/apis/grpc/ratelimit.go): questions are
 * coalesced and spaced, and a refusal is asked again. */
#pragma once

#include <stdint.h>

#include "err.h"
#include "pod_devices.h"

struct uv_loop_s;
struct pod_resources;

/* The text of device-plugins/kubelet_internal_checkpoint (pkg/kubelet/cm/devicemanager/checkpoint;
 * device IDs as a list up to 1.19, by NUMA node from 1.20 on). Returns how many entries were left
 * out, because their names are too long. -EMSGSIZE: more devices than a node has (16384). *ret is
 * untouched on failure. Messages name line or entry, not the file. */
int pod_checkpoint_parse(struct pod_list *ret, const char *text, size_t len, struct err *);
/* The same of the file below the kubelet's folder; messages name it. */
int pod_checkpoint_read(struct pod_list *ret, const char *kubelet_dir, struct err *);
/* The kubelet takes out what an ended pod had when it next gives something away, not before
 * (allocateContainerResources() in pkg/kubelet/cm/devicemanager). Takes out the entries of pods
 * that have no folder any more in <kubelet-dir>/pods. */
void pod_checkpoint_drop_gone(struct pod_list *, const char *kubelet_dir);

/* After every question: the list that is known now, borrowed. asked_ms: loop time at which the
 * question was sent, so that everything before it is in the list; 0: it was not answered, the list
 * is as old as before. */
typedef void pod_resources_fn(const struct pod_list *, uint64_t asked_ms, void *arg);

/* Asks at once, and by itself again when another kubelet makes its socket. */
int pod_resources_open(struct pod_resources **ret, struct uv_loop_s *, const char *kubelet_dir,
		       pod_resources_fn *, void *arg, struct err *);
/* The list may have changed: asks soon. Every request made before the question is sent is answered
 * by it. */
void pod_resources_refresh(struct pod_resources *);
/* The last list; empty with POD_SOURCE_NONE until there is one. */
const struct pod_list *pod_resources_list(const struct pod_resources *);
/* The kubelet has allocated the device since: whoever the last list named for it has it no more. */
void pod_resources_disprove(struct pod_resources *, const char *resource, const char *id);
/* The last question had an answer, and the one under way has not been waited for longer than
 * answers take: the next answer is near. */
bool pod_resources_answers(const struct pod_resources *);
/* Questions sent, and those that failed (refused, timed out, no answer). */
void pod_resources_counts(const struct pod_resources *, uint64_t *ret_asked, uint64_t *ret_failed);
/* Why the last question had no answer; "" = it had one, or there is no kubelet. */
const char *pod_resources_trouble(const struct pod_resources *);
/* NULL is fine. */
void pod_resources_close(struct pod_resources *);
