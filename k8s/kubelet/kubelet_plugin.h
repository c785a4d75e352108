/* kubelet_plugin.h - one resource at the kubelet: its socket, its service, its registration. What
 * kubelet.c is made of; everybody else wants kubelet.h.
 *
 * Everything happens in plugin_run(), called from the loop and never from within a call's hook,
 * where a socket may not be closed. */
#pragma once

#include <stdint.h>

#include "due.h"
#include "file_id.h"
#include "kubelet.h"
#include "registration.h"

struct plugin_service;
struct uds_client;
struct uds_server;

/* Where a plugin lives; of the kubelet, and the same for all. */
struct kubelet_place {
	uv_loop_t *loop;
	const char *kubelet_sock; /* path */
	const char *folder;	  /* of our sockets; NULL: not known yet */
	const char *other_folder; /* where they would stand if registered in the other way */
	bool registry;
	bool may_leave_registry; /* it was our choice */
	bool left_registry;	 /* kubelet_place_leave_registry() */
	bool asked;		 /* in the registry, of any of ours */
	bool kubelet_there;
	struct file_id kubelet_id; /* of its socket, when we looked last */
	const struct kubelet_hooks *hooks;
	struct kubelet_estate estate; /* what a predecessor has left, and nobody has claimed yet */
	bool swept;	  /* a socket of ours was gone, and the owner has not been told yet */
	bool told_nobody; /* that nobody listens on kubelet.sock: said in the log */
};

struct kubelet_plugin {
	struct kubelet_plugin *next; /* the kubelet's */
	struct kubelet *kubelet;
	struct kubelet_place *place;
	void (*gone)(void *arg); /* it has left and is freed */
	void *gone_arg;
	char resource[RESOURCE_NAME_SIZE];
	char *name; /* of its socket, in the folder */
	char *path; /* NULL: no folder yet */
	bool has_pre_start, has_preferred;
	struct plugin_service *service;
	struct uds_server *server;
	struct uds_client *client;
	unsigned client_attempt; /* which one it carries */
	struct file_id called;	 /* the kubelet.sock that it was sent to */
	bool has_served, leaving, handed_over, kicked;
	uint64_t leave_ms; /* no later */
	uint32_t nag_ms;   /* between looks at watchers that do not read */
	struct due due;
	struct registration_plan registration;

	/* What the owner knows. */
	struct plugin_status status;
	/* What the log knows. */
	bool told_works, told_worked;
	uint64_t told_errors[4];
	size_t n_told_errors, told_left_out;
};

/* The name of its socket, heap: "<prefix>_<name>.sock"; one with more than `most` bytes ends with a
 * hash of all of it instead. NULL: out of memory. */
char *plugin_socket_name(const char *resource, size_t most);
/* name: of its socket; its own in any case. */
int plugin_new(struct kubelet_plugin **ret, struct kubelet_place *, const char *resource,
	       char *name, const struct plugin_hooks *, struct err *);
/* Something moved in the folders: takes in what is there. is_new: another kubelet.sock than before.
 */
void plugin_look(struct kubelet_plugin *, bool is_new);
/* Does what is due, and comes back when more is. */
void plugin_run(struct kubelet_plugin *);
/* Leaves by itself, with the empty list if `zero`, at most a second from now; then `gone`. */
void plugin_leave(struct kubelet_plugin *, bool zero);
/* Leaves by itself without a word to who watches the list: see kubelet_hand_over(). */
void plugin_hand_over(struct kubelet_plugin *, struct kubelet_estate *ret);
/* The registry's folder is left for the other one: by all plugins, each at its next step. */
void kubelet_place_leave_registry(struct kubelet_place *);
/* Closes one that nobody goes on with, and its file. */
void kubelet_bequest_close(struct kubelet_estate *, struct kubelet_bequest *);
