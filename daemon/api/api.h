/* api.h - the JSON documents of /api/v1. Pure: model values in, text out.
 *
 * Every key is always there; what is unknown or does not apply is null, never 0 or "". Bytes that
 * are not UTF-8 become U+FFFD. Objects have "netns" and "nsid": "host" and null in our own
 * namespace, else the name in /run/netns and the kernel's id, each null when unknown. */
#pragma once

#include <stddef.h>

#include "attach_status.h"
#include "model.h"
#include "resource_table.h"
#include "settings_table.h"

/* What the document is made from. */
struct api_scene {
	const struct host *host;
	uint64_t generation;			/* of the host */
	const struct resource_table *resources; /* NULL: none */
	struct attach_list attachments;
	uint64_t epoch_ms;		       /* unix time at the loop's time 0 */
	const struct settings_table *settings; /* NULL: none were read */
};

/* The document of /api/v1/devices, compact: functions in the host's order (host_sort()), each with
 * its netdevs and RDMA devices in that order; netdevs without a function are left out. Heap,
 * terminated; NULL when out of memory; *ret_len without the terminator.
 *
 * {"generation":7,"rdmaNetnsMode":"shared","devices":[{"id":"0000:03:00.0","kind":"pf",
 *  "parent":null,"vf":null,"sf":null,"driver":...,"vendor":"0x15b3","device":"0x1021",
 *  "class":"0x020000","numaNode":0,"numVfs":2,"totalVfs":8,
 *  "pciPath":"pci0000:00/0000:00:01.0","acpiIndex":null,"vfio":"vfio/12","uio":null,
 *  "vdpa":{"driver":"vhost_vdpa","node":"vhost-vdpa-0"},"vfLinkState":"auto","unreachable":false,
 *  "devlinkError":null,"netdevs":[...],"rdma":[...],"resources":[...],"notOffered":...,
 *  "attachment":...,"why":"free, offered as rocelet.dev/roce"},...],"resources":[...]}
 * vfio, uio and vdpa's node are names below /dev; a port's "settings" are api_settings.h's,
 * resources and notOffered api_resources.h's,
 * attachment is api_attachments.h's, why is explain.h's. */
char *api_devices(const struct api_scene *, size_t *ret_len);
