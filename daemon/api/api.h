/* SPDX-License-Identifier: Apache-2.0 */
/* api.h - the JSON documents of /api/v1. Pure: model values in, text out.
 *
 * Every key is always present; an unknown or inapplicable value is null, never 0 or "". Invalid
 * UTF-8 becomes U+FFFD. "netns" and "nsid" of an object: "host" and null in our own namespace,
 * otherwise the name in /run/netns and the kernel's id, each null if unknown. */
#pragma once

#include <stddef.h>

#include "api_filter.h"
#include "attach_status.h"
#include "model.h"
#include "resource_table.h"
#include "settings_table.h"

/* Inputs of the document. */
struct api_input {
	const struct host *host;
	uint64_t generation;			/* of the host */
	const struct resource_table *resources; /* NULL: none */
	struct attach_list attachments;
	uint64_t epoch_ms;		       /* unix time at the loop's time 0 */
	const struct settings_table *settings; /* NULL: not read */
	const struct api_filter *filter;       /* NULL: all devices */
	bool refused; /* the configuration file is rejected, and nothing is offered */
};

/* The document of /api/v1/devices, compact: functions in the host's order (host_sort()), each with
 * its netdevs and RDMA devices in that order; netdevs without a function are omitted. Heap,
 * terminated; NULL if out of memory; *ret_len excludes the terminator.
 *
 * {"generation":7,"rdmaNetnsMode":"shared","devices":[{"id":"0000:03:00.0","kind":"pf",
 *  "parent":null,"vf":null,"sf":null,"driver":...,"vendor":"0x15b3","device":"0x1021",
 *  "class":"0x020000","numaNode":0,"numVfs":2,"totalVfs":8,
 *  "pciPath":"pci0000:00/0000:00:01.0","acpiIndex":null,"vfio":"vfio/12","uio":null,
 *  "vdpa":{"driver":"vhost_vdpa","node":"vhost-vdpa-0"},"vfLinkState":"auto","unreachable":false,
 *  "devlinkError":null,"netdevs":[...],"rdma":[...],"resources":[...],"notOffered":...,
 *  "attachment":...,"why":"free, offered as rocelet.dev/roce"},...],"resources":[...]}
 * vfio, uio and vdpa's node are names below /dev. The formats of a port's "settings", of resources
 * and notOffered, attachment, and why are in api_settings.h, api_resources.h, api_attachments.h and
 * explain.h. */
char *api_devices(const struct api_input *, size_t *ret_len);
