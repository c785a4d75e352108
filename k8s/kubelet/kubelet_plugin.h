/* SPDX-License-Identifier: Apache-2.0 */
/* kubelet_plugin.h - one resource registered with the kubelet: socket, service, registration.
 * Private to kubelet.c; other modules use kubelet.h.
 *
 * All actions are in plugin_run(), which is called from the loop and never from a call's hook,
 * where a socket must not be closed. */
#pragma once

#include <stdint.h>

#include "file_id.h"
#include "kubelet.h"
#include "registration.h"
#include "timer.h"

struct plugin_service;
struct uds_client;
struct uds_server;

/* The location of the plugins; owned by the kubelet and shared by all. */
struct kubelet_place {
	uv_loop_t *loop;
	const char *kubelet_sock; /* path */
	const char *folder;	  /* the folder of our sockets; NULL: not known yet */
	const char *other_folder; /* the folder of the other way of registration */
	bool registry;
	bool may_leave_registry; /* `auto` was configured */
	bool left_registry;	 /* kubelet_place_leave_registry() was called */
	bool asked; /* the kubelet has called GetInfo in the registry, for any plugin */
	bool kubelet_there;
	struct file_id kubelet_id; /* the kubelet's socket at the last scan */
	const struct kubelet_hooks *hooks;
	struct kubelet_sockets received; /* unused sockets of a predecessor */
	bool swept; /* one of our sockets was removed, and the owner has not been notified yet */
	bool absence_logged; /* "no kubelet answers" was logged */
};

struct kubelet_plugin {
	struct kubelet_plugin *next; /* in the kubelet's list */
	struct kubelet *kubelet;
	struct kubelet_place *place;
	void (*gone)(void *arg); /* called when the plugin has left and is being freed */
	void *gone_arg;
	char resource[RESOURCE_NAME_SIZE];
	char *name; /* the socket's name in the folder */
	char *path; /* the socket's path; NULL: no folder yet */
	bool has_pre_start, has_preferred;
	struct plugin_service *service;
	struct uds_server *server;
	struct uds_client *client;
	unsigned client_attempt; /* the registration attempt for which `client` is used */
	struct file_id called;	 /* the kubelet.sock that the call was sent to */
	bool has_served, leaving, handed_over, kicked;
	uint64_t leave_ms;   /* deadline for leaving */
	uint32_t recheck_ms; /* pause before the next check for watchers that do not read */
	struct timer timer;
	struct registration_plan registration;

	/* As last reported to the owner. */
	struct plugin_status status;
	/* As last logged. */
	bool logged_works, logged_worked;
	uint64_t logged_errors[4];
	size_t n_logged_errors, logged_left_out;
};

/* Returns the name of the resource's socket, on the heap: "<prefix>_<name>.sock"; if it exceeds
 * `most` bytes, its end is replaced by a hash of the whole name. NULL: out of memory. */
char *plugin_socket_name(const char *resource, size_t most);
/* Creates a plugin. name: the socket's name, of which it takes ownership even on failure. */
int plugin_new(struct kubelet_plugin **ret, struct kubelet_place *, const char *resource,
	       char *name, const struct plugin_hooks *, struct err *);
/* Checks our socket and the kubelet's after a change in a folder. is_new: kubelet.sock is another
 * file than before. */
void kubelet_plugin_check(struct kubelet_plugin *, bool is_new);
/* Executes everything that is due, and sets the timer for the rest. */
void plugin_run(struct kubelet_plugin *);
/* Starts to withdraw the resource, with an empty list if `zero`. This takes at most a second; then
 * `gone` is called. */
void plugin_leave(struct kubelet_plugin *, bool zero);
/* Hands the socket over without notifying watchers: see kubelet_hand_over(). */
void plugin_hand_over(struct kubelet_plugin *, struct kubelet_sockets *ret);
/* Switches from the registry's folder to the other one: all plugins do so at their next step. */
void kubelet_place_leave_registry(struct kubelet_place *);
/* Closes an unused socket, and removes its file. */
void kubelet_socket_close(struct kubelet_sockets *, struct kubelet_socket *);
