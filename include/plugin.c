// SPDX-License-Identifier: Apache-2.0
#include "plugin.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"

static void free_pairs(struct plugin_pair *pairs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(pairs[i].key);
		free(pairs[i].value);
	}
	free(pairs);
}

void container_grant_done(struct container_grant *g)
{
	free_pairs(g->envs, g->n_envs);
	free_pairs(g->annotations, g->n_annotations);
	for (size_t i = 0; i < g->n_nodes; i++) {
		free(g->nodes[i].host_path);
		free(g->nodes[i].container_path);
	}
	for (size_t i = 0; i < g->n_mounts; i++) {
		free(g->mounts[i].host_path);
		free(g->mounts[i].container_path);
	}
	for (size_t i = 0; i < g->n_cdi_devices; i++)
		free(g->cdi_devices[i]);
	free(g->nodes);
	free(g->mounts);
	free(g->cdi_devices);
	*g = (struct container_grant){0};
}

/* Duplicates both strings or neither. */
static int copy_two(char **ret_a, char **ret_b, const char *a, const char *b)
{
	*ret_a = strdup(a);
	*ret_b = strdup(b);
	if (*ret_a && *ret_b)
		return 0;
	free(*ret_a);
	free(*ret_b);
	return -ENOMEM;
}

static int add_pair(struct plugin_pair **pairs, size_t *n, const char *key, const char *value)
{
	struct plugin_pair *p;

	for (size_t i = 0; i < *n; i++)
		if (strcmp((*pairs)[i].key, key) == 0)
			return 0;
	p = array_push(*pairs, *n);
	if (!p)
		return -ENOMEM;
	if (copy_two(&p->key, &p->value, key, value) == 0)
		return 0;
	(*n)--;
	return -ENOMEM;
}

int container_grant_env(struct container_grant *g, const char *key, const char *value)
{
	return add_pair(&g->envs, &g->n_envs, key, value);
}

int container_grant_annotation(struct container_grant *g, const char *key, const char *value)
{
	return add_pair(&g->annotations, &g->n_annotations, key, value);
}

int container_grant_node(struct container_grant *g, const char *host_path,
			 const char *container_path, const char *permissions)
{
	struct plugin_node *node;

	for (size_t i = 0; i < g->n_nodes; i++)
		if (strcmp(g->nodes[i].host_path, host_path) == 0)
			return 0;
	node = array_push(g->nodes, g->n_nodes);
	if (!node)
		return -ENOMEM;
	if (copy_two(&node->host_path, &node->container_path, host_path, container_path) < 0) {
		g->n_nodes--;
		return -ENOMEM;
	}
	strncpy(node->permissions, permissions, sizeof(node->permissions) - 1);
	return 0;
}

int container_grant_mount(struct container_grant *g, const char *host_path,
			  const char *container_path, bool read_only)
{
	struct plugin_mount *m;

	for (size_t i = 0; i < g->n_mounts; i++)
		if (strcmp(g->mounts[i].container_path, container_path) == 0)
			return 0;
	m = array_push(g->mounts, g->n_mounts);
	if (!m)
		return -ENOMEM;
	if (copy_two(&m->host_path, &m->container_path, host_path, container_path) < 0) {
		g->n_mounts--;
		return -ENOMEM;
	}
	m->read_only = read_only;
	return 0;
}

int container_grant_cdi(struct container_grant *g, const char *name)
{
	char **slot = array_push(g->cdi_devices, g->n_cdi_devices);

	if (!slot)
		return -ENOMEM;
	*slot = strdup(name);
	if (*slot)
		return 0;
	g->n_cdi_devices--;
	return -ENOMEM;
}
