/* SPDX-License-Identifier: Apache-2.0 */
/* plugin.h - the values of the device plugin API, shared by daemon/pools, which decides them, and
 * k8s/, which transports them. Plain data. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Size of a device ID, terminator included: the API allows 63 bytes. */
#define PLUGIN_ID_SIZE	   64
/* "prefix/name": a DNS name of 253 bytes, a slash, a name of 63 (Kubernetes' qualified names). */
#define RESOURCE_NAME_SIZE 320

/* How a resource is registered. REGISTRY: the kubelet finds our socket in plugins_registry/;
 * LEGACY: we call Register; AUTO: REGISTRY if that folder exists. */
enum registration { REGISTRATION_AUTO, REGISTRATION_REGISTRY, REGISTRATION_LEGACY };

/* One line of a ListAndWatch list. */
struct plugin_device {
	char id[PLUGIN_ID_SIZE];
	bool healthy;
	int numa; /* -1 = no topology is reported */
};

struct plugin_pair {
	char *key, *value;
};

struct plugin_node {
	char *host_path, *container_path;
	char permissions[4]; /* subset of "rwm" */
};

struct plugin_mount {
	char *host_path, *container_path;
	bool read_only;
};

/* The answer to Allocate for one container. Owns its members; zero-initialised it is empty. */
struct container_grant {
	struct plugin_pair *envs, *annotations;
	size_t n_envs, n_annotations;
	struct plugin_node *nodes;
	size_t n_nodes;
	struct plugin_mount *mounts;
	size_t n_mounts;
	char **cdi_devices; /* "vendor/class=name" */
	size_t n_cdi_devices;
};

/* Device IDs of one container in a request; borrowed. */
struct id_list {
	const char *const *ids;
	size_t n;
};

/* One container's GetPreferredAllocation request; borrowed. */
struct preference_request {
	struct id_list available, must_include;
	size_t size;
};

/* Frees what it owns and leaves the empty grant. */
void container_grant_done(struct container_grant *);
/* Copy their arguments; -ENOMEM leaves the grant unchanged. An existing key keeps its value. A node
 * with the same host path, or a mount with the same container path, is not added again. */
int container_grant_env(struct container_grant *, const char *key, const char *value);
int container_grant_annotation(struct container_grant *, const char *key, const char *value);
int container_grant_node(struct container_grant *, const char *host_path,
			 const char *container_path, const char *permissions);
int container_grant_mount(struct container_grant *, const char *host_path,
			  const char *container_path, bool read_only);
int container_grant_cdi(struct container_grant *, const char *name);
