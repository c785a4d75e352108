/* SPDX-License-Identifier: Apache-2.0 */
/* ctl_bundle_host.h - the parts of a support bundle that need no daemon. */
#pragma once

struct bundle;

/* Adds the configuration file. Links within its folder, as in a ConfigMap, are followed. A file
 * that is not JSON is left out, because secrets in it cannot be recognized. */
void bundle_config_file(struct bundle *, const char *path);
/* Adds the journal records of the attach engine. */
void bundle_journal(struct bundle *, const char *state_dir);
/* Adds the lines of the kernel's log about RDMA, NICs and their bus. */
void bundle_kernel_log(struct bundle *);
/* Adds kernel, distribution, drivers, and sysfs attributes of RDMA devices and NICs. */
void bundle_host(struct bundle *);
