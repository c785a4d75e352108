/* SPDX-License-Identifier: Apache-2.0 */
/* node_facts.h - the properties of this node that conditions of configuration groups refer to. */
#pragma once

#include <stddef.h>

/* More than a node has slots. */
#define NODE_MODELS_MAX 32

/* NICs of one model: PCI functions of the classes "network" and "InfiniBand" that are not VFs. */
struct nic_model {
	char id[10]; /* "15b3:1021": vendor and device in hexadecimal */
	unsigned n;
};

struct node_facts {
	char node[254];	   /* $NODE_NAME, or the host name */
	char product[128]; /* DMI product name; "" = unknown */
	struct nic_model models[NODE_MODELS_MAX];
	size_t n_models;
};

/* Reads the facts; one that cannot be read is left empty. */
void node_facts_read(struct node_facts *ret, const char *sysfs_root);
/* "node gpu-7, product DGXH100, 8 x 15b3:1021": for messages. */
#define NODE_FACTS_TEXT 512
void node_facts_text(const struct node_facts *, char ret[NODE_FACTS_TEXT]);
