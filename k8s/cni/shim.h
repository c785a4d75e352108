/* SPDX-License-Identifier: Apache-2.0 */
/* shim.h - one run of rocelet-cni: validates the runtime's request, forwards it to the daemon, and
 * prints the result. */
#pragma once

/* Paths in the default --run-dir and --state-dir, and the folder of device-info files; tests
 * override them by $ROCELET_SOCKET, $ROCELET_STATE_DIR and $ROCELET_DEVINFO_DIR. A network
 * configuration must not set them: its author would choose where root writes. */
struct shim_places {
	const char *socket, *state_dir, *devinfo_dir;
};

/* Returns the exit status. */
int shim_run(const struct shim_places *);
