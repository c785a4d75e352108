/* host_series.h - the series that describe the host itself: identity, state and configuration of
 * ports and functions. Pure; they change with the host, not with a sample. */
#pragma once

#include "model.h"
#include "page.h"
#include "resource_table.h"
#include "sample.h"

/* Appends a label value in quotation marks, escaped. */
void text_add_label(struct text *, const char *value);
/* Appends `{device="mlx5_0",port="1"`, without the port for 0, and, where one container has the
 * device to itself, `,namespace="..",pod="..",container=".."`; the caller closes the brace. */
void text_add_port(struct text *, const char *device, uint32_t port,
		   const struct pod_device *holder);
/* An RDMA device's name, or, where another device has that one as well (in another namespace),
 * "NAME@FUNCTION": two devices in one series would be neither. */
#define DEVICE_LABEL_SIZE (RDMA_NAME_SIZE + DEV_ID_SIZE)
const char *device_label(const struct host *, const struct rdma_dev *,
			 char text[DEVICE_LABEL_SIZE]);
/* Appends `,namespace="..",pod="..",container=".."`; nothing for NULL, nor for a pod
 * whose name is not known (yet). */
void text_add_holder(struct text *, const struct pod_device *);

enum host_family {
	HOST_PORT_INFO,
	HOST_PORT_STATE,
	HOST_PORT_PHYSICAL_STATE,
	HOST_PORT_RATE,
	HOST_PORT_MTU,
	HOST_GID_ENTRIES,
	HOST_GID_USED,
	HOST_PF_VFS,
	HOST_PF_VFS_MAX,
	N_HOST_FAMILIES
};

const struct family *host_family(enum host_family);
/* Appends all samples of one family. sample (may be NULL) says where a port's bytes come from, the
 * table (may be NULL) who holds a device. */
void host_series(struct text *, enum host_family, const struct host *, const struct sample *,
		 const struct resource_table *);
