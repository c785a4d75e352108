/* SPDX-License-Identifier: Apache-2.0 */
/* pod_stream.h - decodes a ListPodResourcesResponse as it arrives, piece by piece. Pure.
 *
 * A list may have tens of megabytes, nearly all of them CDI names of claims: unneeded fields are
 * skipped as they arrive, so memory grows with the number of devices, not of bytes. Field numbers:
 * k8s.io/kubelet/pkg/apis/podresources/v1/api.proto. Fields may come in any order.
 *
 * A device of a claim (dynamic_resources) is an entry, too: its resource is the name of the DRA
 * driver, which has no '/', its id the PCI address (claim_device_address()) or the name given by
 * the driver. An extended resource served by a DRA driver is listed only as a claim. The device is
 * identified by its device_name: with two devices, the CDI names of the second are also listed for
 * the first. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "pod_devices.h"

struct pod_stream;

/* Starts a list; NULL: out of memory. */
struct pod_stream *pod_stream_new(void);
/* May be NULL. */
void pod_stream_free(struct pod_stream *);
/* Decodes the next bytes of the message. -EBADMSG: not such a message; -EMSGSIZE: more devices than
 * a node has; -ENOMEM. After a failure, the stream can only be freed. */
int pod_stream_feed(struct pod_stream *, const uint8_t *, size_t len);
/* Call at the end of the message: returns its devices; entries with invalid names are left out and
 * counted. -EBADMSG: the message is incomplete; -ENOMEM. *ret is untouched on failure. */
int pod_stream_end(struct pod_stream *, struct pod_list *ret, size_t *ret_left_out);

/* Recognises a PCI address in the name that a DRA driver assigns to a claim's device.
 *
 * The name is a DNS label, so drivers of PCI functions write the address with dashes, some with
 * a prefix: "0000-18-00-1", "pci-0000-18-00-1". */

/* Replaces such a name in place by the address, "0000:18:00.1"; other names are unchanged. */
void claim_device_address(char *name);
