/* SPDX-License-Identifier: Apache-2.0 */
/* node_features.h - facts of the node as a feature file of Node Feature Discovery, which turns them
 * into node labels. Pure.
 *
 * One line per label, "feature.node.kubernetes.io/rocelet.NAME=VALUE"; the format is that of
 * source/local in kubernetes-sigs/node-feature-discovery. Every value is a valid label value: at
 * most 63 letters, digits and '-', '_', '.' between them. An unknown fact has the value "unknown"
 * or no label. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct diagnosis_report;
struct host;

#define NODE_FEATURES_FILE "rocelet.features"
#define NODE_FEATURES_SIZE 1024

struct node_features_input {
	const struct host *host;
	const struct diagnosis_report *report; /* NULL: none, or too old */
	uint64_t config_digest;		       /* 0 = no configuration file */
	const char *config_group;	       /* "" = none */
};

/* Writes the labels, related ones together. */
void node_features_labels(const struct node_features_input *, char ret[NODE_FEATURES_SIZE]);
/* The complete file: the labels, with the time after which NFD ignores them. Heap; NULL if out of
 * memory. */
char *node_features_file(const char *labels, uint64_t expires_unix_ms);
