/* plugin_service.h - what the kubelet may call on the socket of one resource: v1beta1.DevicePlugin
 * and, in the registry, pluginregistration.Registration. Pure: calls in, answers out.
 *
 * Also defines struct plugin_answer of kubelet.h. */
#pragma once

#include <stdint.h>

#include "grpc.h"
#include "plugin.h"

struct list_watch;
struct plugin_hooks;
struct plugin_service;

/* What the owner of the socket wants to know. From within calls, and from within the verbs of
 * struct plugin_answer. */
struct plugin_service_events {
	void (*watchers)(unsigned n, void *arg); /* so many streams are open now */
	void (*asked)(void *arg);		 /* GetInfo */
	void (*notified)(bool registered, const char *why, void *arg);
	void (*answered)(void *arg); /* outside of a call's hook: something is to be sent */
	void *arg;
};

/* What is given is copied. Without a hook its method does not exist. */
int plugin_service_new(struct plugin_service **ret, const char *resource,
		       const struct plugin_hooks *, const struct plugin_service_events *);
/* From now on GetInfo and NotifyRegistrationStatus are served. */
void plugin_service_join_registry(struct plugin_service *);
void plugin_service_leave_registry(struct plugin_service *);
/* All its calls have ended. NULL is fine. */
void plugin_service_free(struct plugin_service *);
/* For uds_server_open(). */
struct grpc_service plugin_service_grpc(struct plugin_service *);

/* Its streams. */
struct list_watch *plugin_service_lists(struct plugin_service *);
/* The hooks are not called any more: open questions are `gone`, new ones get UNAVAILABLE. Streams
 * stay. */
void plugin_service_retire(struct plugin_service *);
