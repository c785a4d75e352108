/* kubelet.h - the kubelet of this node, seen by a device plugin: the folders it watches, its
 * restarts, and the resources we serve it.
 *
 * Registered in one of two ways. Registry: our socket stands in plugins_registry/, where the
 * kubelet finds it at any time and asks GetInfo. Legacy: our socket stands in device-plugins/ and
 * we call Register on kubelet.sock there; the kubelet calls us back before it answers. A starting
 * kubelet deletes every socket in device-plugins/. Sources: pkg/kubelet/pluginmanager,
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
	/* auto: registry if that folder exists, legacy if only device-plugins/ does. Decided when
	 * the first of them is there; a registry that comes later is not moved to. One that the
	 * kubelet does not look into while it serves kubelet.sock is left for legacy, once. */
	enum registration registration;
	bool zero_on_close; /* tell the kubelet an empty list before leaving */
};

/* May be NULL. From the loop; everything in this header may be called from within. */
struct kubelet_hooks {
	/* Sockets in device-plugins/ may have been deleted: the kubelet (re)started, or somebody
	 * cleaned up. Ours are made anew already. */
	void (*sockets_swept)(void *arg);
	/* The kubelet wrote its checkpoint: allocations have changed. */
	void (*allocations_changed)(void *arg);
	/* plugin_status() of one of our resources is another one. May be NULL. */
	void (*status_changed)(void *arg);
	void *arg;
};

/* Where an asynchronous answer goes. Exactly one of its verbs is called, now or later; `gone` of
 * the hooks tells that nobody waits any more, after which it may not be used. */
struct plugin_answer;

/* n grants or lists, one per container of the request; they stay the caller's. */
void plugin_answer_allocate(struct plugin_answer *, const struct container_grant *, size_t n);
void plugin_answer_preferred(struct plugin_answer *, const struct id_list *, size_t n);
void plugin_answer_started(struct plugin_answer *); /* PreStartContainer: go ahead */
/* The sentence reaches a person: the kubelet puts it into the pod's status. */
void plugin_answer_error(struct plugin_answer *, const struct err *);

/* What the kubelet asks of one resource; ids are borrowed until the hook returns, and are 1 to 63
 * bytes of UTF-8 each. Without pre_start or preferred the kubelet is told not to ask. Everything in
 * this header may be called from within. */
struct plugin_hooks {
	void (*allocate)(struct plugin_answer *, const struct id_list *containers, size_t n,
			 void *arg);
	void (*preferred)(struct plugin_answer *, const struct preference_request *containers,
			  size_t n, void *arg);
	void (*pre_start)(struct plugin_answer *, const struct id_list *ids, void *arg);
	/* The question was withdrawn (cancelled, connection lost, timed out). */
	void (*gone)(struct plugin_answer *, void *arg);
	void *arg;
};

enum plugin_state {
	PLUGIN_WAITING,	   /* no kubelet, or it has not found us yet */
	PLUGIN_REGISTERED, /* and it watches our list */
	PLUGIN_REFUSED,	   /* it answered with an error; tried again with back-off */
};

struct plugin_status {
	enum plugin_state state;
	const char *socket;	/* path; borrowed; NULL: the kubelet has no folder yet */
	uint64_t registrations; /* that succeeded */
	uint64_t failures;	/* refusals, time-outs, lost connections */
	uint64_t lists;		/* lists sent */
	unsigned watchers;	/* open ListAndWatch streams */
	bool left_registry; /* the kubelet does not look into plugins_registry/: legacy instead */
	char error[256];    /* the last refusal, "" = none */
};

int kubelet_open(struct kubelet **ret, struct uv_loop_s *, const struct kubelet_opts *,
		 const struct kubelet_hooks *, struct err *);
/* Serves a resource ("prefix/name") until it is withdrawn. Nothing is served or told before the
 * first plugin_set_devices(); then the socket serves before the kubelet is told. -EINVAL: no name
 * of a resource, -ENAMETOOLONG: no path of a socket, whatever its name (a long one is shortened),
 * -EEXIST: served already. */
int kubelet_serve(struct kubelet_plugin **ret, struct kubelet *, const char *resource,
		  const struct plugin_hooks *, struct err *);
/* The complete list; copied. Sent to every watcher when the content differs from what it has been
 * sent. A list that would not fit the kubelet's 4 MiB is cut, whole devices at a time, and told in
 * the log. -ENOMEM keeps the old one. */
int plugin_set_devices(struct kubelet_plugin *, const struct plugin_device *, size_t n);
void plugin_status(const struct kubelet_plugin *, struct plugin_status *ret);
/* The resource leaves: an empty list to every watcher, then its socket goes. NULL is fine. */
void plugin_withdraw(struct kubelet_plugin *);
/* Withdraws every plugin that is left (with the empty list only if zero_on_close). NULL is fine.
 * Gone when the loop has run out of handles. */
void kubelet_close(struct kubelet *);

/* --- a successor ------------------------------------------------------------------------------ */

/* What a successor goes on with: the kubelet notices nothing, in whichever way it knows us. */
struct kubelet_estate {
	struct kubelet_bequest {
		char resource[RESOURCE_NAME_SIZE];
		char path[UDS_PATH_SIZE]; /* of its socket */
		bool has_pre_start, has_preferred;
		struct uds_estate sockets;
	} * items;
	size_t n;
};

/* Closes it for a successor: what the kubelet asks waits for that one, also what is not answered
 * yet. Adds to *ret. Instead of kubelet_close(); not from a hook. NULL is fine. */
void kubelet_hand_over(struct kubelet *, struct kubelet_estate *ret);
/* Takes over what a predecessor has given: resources that are served again, with the same options,
 * need no registration. What is not served within 30 s is closed. Once, before kubelet_serve(). */
void kubelet_inherit(struct kubelet *, struct kubelet_estate *take);
/* Frees it without a word: another process has it. */
void kubelet_estate_done(struct kubelet_estate *);
