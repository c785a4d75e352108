/* ctl_bundle_host.h - what a support bundle can tell without the daemon. */
#pragma once

struct bundle;

/* The configuration file: a ConfigMap's links within its folder are followed. What is no JSON is
 * not taken in, since a secret in it could not be told from the rest. */
void bundle_config_file(struct bundle *, const char *path);
/* The records of the attach engine. */
void bundle_journal(struct bundle *, const char *state_dir);
/* The kernel's log as far as it is about RDMA, NICs and their bus. */
void bundle_kernel_log(struct bundle *);
/* Kernel, distribution, drivers, and what sysfs says of RDMA devices and NICs. */
void bundle_host(struct bundle *);
