/* SPDX-License-Identifier: Apache-2.0 */
/* host_series.h - the series that describe the host: identity, state and configuration of ports and
 * functions. Pure; they change with the host, not with a sample. */
#pragma once

#include "model.h"
#include "page.h"
#include "resource_table.h"
#include "sample.h"
#include "series_choice.h"

/* Appends a label value, quoted and escaped. */
void text_add_label(struct text *, const char *value);
/* Appends `{device="mlx5_0",port="1"`, without the port if it is 0, and, if one container has the
 * device exclusively, `,namespace="..",pod="..",container=".."`; the caller adds the closing
 * brace. */
void text_add_port(struct text *, const char *device, uint32_t port,
		   const struct pod_device *holder);
/* The label of an RDMA device: its name, or "NAME@FUNCTION" if a device in another namespace has
 * the same name. Otherwise two devices would share a series. */
#define DEVICE_LABEL_SIZE (RDMA_NAME_SIZE + DEV_ID_SIZE)
const char *device_label(const struct host *, const struct rdma_dev *,
			 char text[DEVICE_LABEL_SIZE]);
/* Appends `,namespace="..",pod="..",container=".."`; nothing for NULL, or for a pod whose name is
 * not known (yet). */
void text_add_holder(struct text *, const struct pod_device *);

enum host_family {
	HOST_PORT_INFO,
	HOST_PORT_STATE,
	HOST_PORT_PHYSICAL_STATE,
	HOST_PORT_RATE,
	HOST_PORT_MTU,
	HOST_PORT_NETDEV_MTU,
	HOST_GID_ENTRIES,
	HOST_GID_USED,
	HOST_PF_VFS,
	HOST_PF_VFS_MAX,
	N_HOST_FAMILIES
};

const struct family *host_family(enum host_family);
/* Appends all samples of one family. sample (may be NULL): the sources of the ports' bytes; table
 * (may be NULL): the holders of devices; choice: the series that are left out, NULL = none. */
void host_series(struct text *, enum host_family, const struct host *, const struct sample *,
		 const struct resource_table *, const struct series_choice *);
