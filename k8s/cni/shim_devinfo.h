/* SPDX-License-Identifier: Apache-2.0 */
/* shim_devinfo.h - writes the device-info file that a runtime requests by the capability
 * CNIDeviceInfoFile (Network Plumbing Working Group, device-info specification 1.1.0). Multus reads
 * it after ADD for the pod's network-status. */
#pragma once

#include "shim_env.h"

/* Default folder: that of Multus (network-attachment-definition-client, pkg/utils). */
#define SHIM_DEVINFO_DIR "/var/run/k8s.cni.cncf.io/devinfo/cni"

/* Gets the name of the file requested in runtimeConfig; NULL: none. Borrowed from the
 * configuration. Error code 7 if the path is not DIR/...-CONTAINERID_IFNAME, the form that Multus
 * uses: the path may come from the author of a configuration, who must not choose where root writes
 * or overwrite another pod's file. */
int shim_devinfo_name(const char **ret, const char *dir, const struct shim_env *,
		      const json_t *config, struct shim_error *);
/* Writes the file atomically. An existing file for the same device is kept: Multus has copied it
 * from the device plugin, whose version has more details. Error code 5. */
int shim_devinfo_write(const char *dir, const char *name, const json_t *info, struct shim_error *);
/* Removes the file, and the temporary file of a killed plugin. Ignores errors: Multus removes it,
 * too. */
void shim_devinfo_remove(const char *dir, const char *name);
