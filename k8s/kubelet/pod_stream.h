/* pod_stream.h - a ListPodResourcesResponse as it arrives, piece by piece. Pure.
 *
 * A list may have tens of megabytes, nearly all of them claims' CDI names: fields that are not read
 * are skipped as they arrive, so memory follows the devices that are listed, not the bytes. Field
 * numbers: k8s.io/kubelet/pkg/apis/podresources/v1/api.proto. Fields may come in any order.
 *
 * What a pod has by a claim (dynamic_resources) is an entry too: its resource is the name of the
 * DRA driver, which has no '/', its id the PCI address (claim_device.h) or the name that the driver
 * gave. An extended resource that a DRA driver serves is listed as a claim only. Of the claim the
 * device_name counts: with two devices the CDI names of the second are also the first's. */
#pragma once

#include "pod_devices.h"

struct pod_stream;

/* NULL: out of memory. */
struct pod_stream *pod_stream_new(void);
/* NULL is fine. */
void pod_stream_free(struct pod_stream *);
/* -EBADMSG: not such a message; -EMSGSIZE: more devices than a node has; -ENOMEM. Then only to be
 * freed. */
int pod_stream_feed(struct pod_stream *, const uint8_t *, size_t len);
/* The message is complete: its devices; entries with names that no such thing can have are left out
 * and counted. -EBADMSG: it is not; -ENOMEM. *ret is untouched on failure. */
int pod_stream_end(struct pod_stream *, struct pod_list *ret, size_t *ret_left_out);
