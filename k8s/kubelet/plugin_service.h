/* SPDX-License-Identifier: Apache-2.0 */
/* plugin_service.h - the gRPC services on the socket of one resource: v1beta1.DevicePlugin and, in
 * the registry, pluginregistration.Registration. Pure: calls in, answers out.
 *
 * Also defines struct plugin_answer of kubelet.h. */
#pragma once

#include <stdint.h>

#include "grpc.h"
#include "plugin.h"

struct list_watch;
struct plugin_hooks;
struct plugin_service;

/* Events for the owner of the socket. Called from within calls, and from the functions of struct
 * plugin_answer. */
struct plugin_service_events {
	void (*watchers)(unsigned n, void *arg); /* number of open streams */
	void (*asked)(void *arg);		 /* GetInfo */
	void (*notified)(bool registered, const char *why, void *arg);
	void (*answered)(void *arg); /* outside of a call's hook: there is something to send */
	void *arg;
};

/* Creates the service; copies its arguments. A method whose hook is NULL does not exist. */
int plugin_service_new(struct plugin_service **ret, const char *resource,
		       const struct plugin_hooks *, const struct plugin_service_events *);
/* Serves GetInfo and NotifyRegistrationStatus from now on. */
void plugin_service_join_registry(struct plugin_service *);
void plugin_service_leave_registry(struct plugin_service *);
/* Frees the service; all its calls must have ended. NULL: no-op. */
void plugin_service_free(struct plugin_service *);
/* Returns the service for uds_server_open(). */
struct grpc_service plugin_service_grpc(struct plugin_service *);

/* Returns the open ListAndWatch streams. */
struct list_watch *plugin_service_lists(struct plugin_service *);
/* Stops calling the hooks: open requests get `gone`, new ones UNAVAILABLE. Streams stay open. */
void plugin_service_retire(struct plugin_service *);
