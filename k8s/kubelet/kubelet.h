/* SPDX-License-Identifier: Apache-2.0 */
/* kubelet.h - the kubelet of this node, as seen by a device plugin: the folders it watches, its
 * restarts, and the resources that we serve to it.
 *
 * A resource is registered in one of two ways. Registry: our socket is in plugins_registry/, where
 * the kubelet finds it and calls GetInfo. Legacy: our socket is in device-plugins/, and we call
 * Register on kubelet.sock there; the kubelet calls us back before it answers. A starting kubelet
 * deletes every socket in device-plugins/. Sources: pkg/kubelet/pluginmanager,
 * pkg/kubelet/cm/devicemanager/plugin/v1beta1. */
#pragma once

#include <stdint.h>

#include "err.h"
#include "plugin.h"
#include "uds.h"

struct uv_loop_s;
struct kubelet;
struct kubelet_plugin;

struct kubelet_opts {
	const char *dir; /* copied */
	/* auto: registry if that folder exists, legacy if only device-plugins/ does. The choice is
	 * made as soon as one of them exists, and does not change if a registry appears later. If
	 * the kubelet serves kubelet.sock but ignores the registry, we switch to legacy, once.
	 */
	enum registration registration;
	bool zero_on_close; /* send an empty list before leaving */
};

/* Each may be NULL. Called from the loop; everything in this header may be called from within. */
struct kubelet_hooks {
	/* Sockets in device-plugins/ may have been deleted by a starting kubelet or another
	 * program. Our own have already been created again. */
	void (*sockets_swept)(void *arg);
	/* The kubelet wrote its checkpoint: the allocations have changed. */
	void (*allocations_changed)(void *arg);
	/* plugin_status() of one of our resources has changed. May be NULL. */
	void (*status_changed)(void *arg);
	void *arg;
};

/* A pending request. Answer it with exactly one of these functions, now or later. After the hook
 * `gone` it must not be used. */
struct plugin_answer;

/* Answer with n grants or lists, one per container of the request; the caller keeps them. */
void plugin_answer_allocate(struct plugin_answer *, const struct container_grant *, size_t n);
void plugin_answer_preferred(struct plugin_answer *, const struct id_list *, size_t n);
void plugin_answer_started(struct plugin_answer *); /* PreStartContainer: the container may start */
/* The kubelet copies the message into the pod's status. */
void plugin_answer_error(struct plugin_answer *, const struct err *);

/* The kubelet's requests for one resource; ids are borrowed until the hook returns, each 1 to 63
 * bytes of UTF-8. Without pre_start or preferred, the kubelet does not send these requests.
 * Everything in this header may be called from within. */
struct plugin_hooks {
	void (*allocate)(struct plugin_answer *, const struct id_list *containers, size_t n,
			 void *arg);
	void (*preferred)(struct plugin_answer *, const struct preference_request *containers,
			  size_t n, void *arg);
	void (*pre_start)(struct plugin_answer *, const struct id_list *ids, void *arg);
	/* The request was withdrawn (cancelled, connection lost, timed out). */
	void (*gone)(struct plugin_answer *, void *arg);
	void *arg;
};

enum plugin_state {
	PLUGIN_WAITING,	   /* no kubelet, or it has not found us yet */
	PLUGIN_REGISTERED, /* registered, and the kubelet watches our list */
	PLUGIN_REFUSED,	   /* the kubelet returned an error; retrying with backoff */
};

struct plugin_status {
	enum plugin_state state;
	const char *socket;	/* path; borrowed; NULL: the kubelet has no folder yet */
	uint64_t registrations; /* successful ones */
	uint64_t failures;	/* errors, timeouts, lost connections */
	uint64_t lists;		/* lists sent */
	unsigned watchers;	/* open ListAndWatch streams */
	bool left_registry;	/* the kubelet ignores plugins_registry/, so legacy is used */
	char error[256];	/* the last error, or the event that the registration waits for; ""
				 * = none */
};

int kubelet_open(struct kubelet **ret, struct uv_loop_s *, const struct kubelet_opts *,
		 const struct kubelet_hooks *, struct err *);
/* Serves a resource ("prefix/name") until it is withdrawn. The socket is created, and then
 * registered, after the first plugin_set_devices(). -EINVAL: not a valid resource name;
 * -ENAMETOOLONG: the path of the socket is too long, even with a shortened name; -EEXIST: served
 * already. */
int kubelet_serve(struct kubelet_plugin **ret, struct kubelet *, const char *resource,
		  const struct plugin_hooks *, struct err *);
/* Sets the complete list, which is copied, and sends it to every watcher whose last list differs. A
 * list that exceeds the kubelet's 4 MiB is truncated to whole devices, which is logged. -ENOMEM
 * keeps the old list. */
int plugin_set_devices(struct kubelet_plugin *, const struct plugin_device *, size_t n);
void plugin_status(const struct kubelet_plugin *, struct plugin_status *ret);
/* Withdraws the resource: sends an empty list to every watcher, then removes the socket. May be
 * NULL. */
void plugin_withdraw(struct kubelet_plugin *);
/* Withdraws all remaining plugins (with the empty list only if zero_on_close). May be NULL. The
 * object is freed when the loop has no handles left. */
void kubelet_close(struct kubelet *);

/* --- a successor ------------------------------------------------------------------------------ */

/* The sockets that a successor takes over, so that the kubelet does not notice the change. */
struct kubelet_sockets {
	struct kubelet_socket {
		char resource[RESOURCE_NAME_SIZE];
		char path[UDS_PATH_SIZE]; /* the socket's path */
		bool has_pre_start, has_preferred;
		struct uds_sockets sockets;
	} * items;
	size_t n;
};

/* Closes the kubelet and adds its sockets to *ret for a successor. The kubelet's requests,
 * including those not answered yet, wait for the successor. Call instead of kubelet_close(); not
 * from a hook. May be NULL. */
void kubelet_hand_over(struct kubelet *, struct kubelet_sockets *ret);
/* Takes over the sockets of a predecessor: resources that are served again with the same options
 * need no registration. Sockets that are not served again within 30 s are closed. Call once, before
 * kubelet_serve(). */
void kubelet_take_over(struct kubelet *, struct kubelet_sockets *take);
/* Closes this process' copies of the sockets; those of the successor stay open. */
void kubelet_sockets_done(struct kubelet_sockets *);
