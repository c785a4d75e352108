// SPDX-License-Identifier: Apache-2.0
/* rocelet_cni.c - main() of the CNI plugin rocelet-cni. Runtimes pass no arguments. The same
 * program is also a plugin of node-problem-detector (`rocelet-cni node-problem rdma|rocelet`): it
 * needs no libraries, so it runs in that container. */
#include <signal.h>
#include <string.h>

#include "client.h"
#include "node_problem.h"
#include "shim.h"
#include "shim_devinfo.h"

/* Runs a check of node-problem-detector; argv[2]: the name of the check. */
static int node_problem_main(int argc, char *argv[], const char *socket)
{
	bool warnings = argc == 4 && strcmp(argv[3], "--severity=warning") == 0;

	if ((argc == 3 || warnings) && strcmp(argv[2], "rdma") == 0)
		return node_problem_rdma(socket, NODE_PROBLEM_WAIT_MS, warnings, stdout);
	if (argc == 3 && strcmp(argv[2], "rocelet") == 0)
		return node_problem_rocelet(socket, NODE_PROBLEM_WAIT_MS, stdout);
	puts("usage: rocelet-cni node-problem rdma [--severity=warning] | rocelet");
	return NODE_PROBLEM_UNKNOWN;
}

int main(int argc, char *argv[])
{
	const char *socket = secure_getenv("ROCELET_SOCKET");
	const char *state_dir = secure_getenv("ROCELET_STATE_DIR");
	const char *devinfo_dir = secure_getenv("ROCELET_DEVINFO_DIR");
	const struct shim_places places = {
		.socket = socket ? socket : CLIENT_SOCKET,
		.state_dir = state_dir ? state_dir : "/var/lib/rocelet",
		.devinfo_dir = devinfo_dir ? devinfo_dir : SHIM_DEVINFO_DIR,
	};

	if (argc > 1 && strcmp(argv[1], "node-problem") == 0)
		return node_problem_main(argc, argv, places.socket);
	signal(SIGPIPE, SIG_IGN); /* writing to a runtime that has exited must fail, so that the ADD
				     is undone */
	return shim_run(&places);
}
