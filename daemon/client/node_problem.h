/* SPDX-License-Identifier: Apache-2.0 */
/* node_problem.h - checks for node-problem-detector, in the protocol of its custom plugins
 * (pkg/custompluginmonitor/plugin/plugin.go in kubernetes/node-problem-detector): one line on
 * stdout, and an exit status. For rocectl, and for rocelet-cni, which also runs on hosts and in
 * containers that lack our libraries. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* NPD's default for max_output_length; NPD would truncate longer lines, possibly within a
 * character. */
#define NODE_PROBLEM_LINE    80
/* Less than NPD's default timeout of 5 s, after which NPD kills the plugin. */
#define NODE_PROBLEM_WAIT_MS 3000

/* Exit statuses; NPD treats all others as Unknown. */
enum node_problem { NODE_PROBLEM_OK, NODE_PROBLEM_YES, NODE_PROBLEM_UNKNOWN };

/* Checks the diagnosis. NODE_PROBLEM_YES if there is a critical verdict, or a warning if
 * `warnings`. */
enum node_problem node_problem_rdma(const char *socket, uint64_t wait_ms, bool warnings, FILE *);
/* Checks the daemon. NODE_PROBLEM_YES if it is not ready or does not answer. */
enum node_problem node_problem_rocelet(const char *socket, uint64_t wait_ms, FILE *);
