/* ipam.h - addresses from a CNI IPAM plugin, run as a program. CNI specification 1.1.0, sections 2
 * ("Execution Protocol") and 4 ("Plugin Delegation"). */
#pragma once

#include "attachment.h"
#include "err.h"
#include "ipam_needs.h"

struct uv_loop_s;
struct ipam_call;

/* --- pure ------------------------------------------------------------------------------------- */

/* The network configuration for the plugin's standard input: {"cniVersion", "name", "type",
 * "ipam": ...}; the name is the resource's, so that the pods of one pool share one range. Fits into
 * a pipe (IPAM_CONFIG_MAX). Heap, NULL when out of memory. */
#define IPAM_CONFIG_MAX 4096
char *ipam_config(const struct attach_record *);
/* The plugin's answer to ADD: addresses and routes into the record, which is untouched on failure.
 * A route without a gateway takes that of an address of its family; gateways that no route needs
 * are not used. -EBADMSG: garbage; the message quotes its beginning. */
int ipam_parse_result(struct attach_record *, const char *text, size_t len, struct err *);
/* The answer of a plugin that failed: its "msg", "details" and "code", or what can be read of
 * `text`, or how it ended. exit_status: below 0 the signal that killed it. -EAGAIN: it asks to be
 * tried again (code 11); -EIO otherwise. */
void ipam_parse_error(const char *text, size_t len, int exit_status, struct err *);
/* The plugin of a record's plan and what it may; -EINVAL as ipam_needs_read(). */
int ipam_needs_of(const struct attach_record *, struct ipam_needs *ret, struct err *);

/* --- in the loop ------------------------------------------------------------------------------ */

enum ipam_verb { IPAM_ADD, IPAM_DEL };

/* Where plugins are, and what of the host they do not see. */
struct ipam_host {
	const char *path;	   /* absolute folders, "/opt/cni/bin:/usr/lib/cni" */
	const char *const *hidden; /* as struct cage's; NULL: nothing but what always is */
};

/* Exactly once per started call, never from within ipam_start(); the call is gone by then. text is
 * the plugin's standard output, borrowed; the error's code is 0 when it succeeded. */
typedef void ipam_fn(const char *text, size_t len, const struct err *, void *arg);

/* Finds the plugin in the folders of the path, runs it in a
 * cage (cage.h) with CNI_COMMAND, CNI_CONTAINERID (the sandbox), CNI_NETNS, CNI_IFNAME, CNI_ARGS
 * (K8S_POD_NAMESPACE ...), CNI_PATH and a PATH, and nothing of our environment; kills it with all
 * that it has started after timeout_ms or when it says more than IPAM_ANSWER_MAX. What it has
 * started never outlives it. -ENOENT: no such plugin. */
#define IPAM_ANSWER_MAX 65536
int ipam_start(struct ipam_call **ret, struct uv_loop_s *, enum ipam_verb,
	       const struct attach_record *, const struct ipam_host *, uint32_t timeout_ms,
	       ipam_fn *, void *arg, struct err *);
/* Its answer is not wanted any more: killed, `fn` is not called. NULL is fine. Gone when the loop
 * has run out of handles. */
void ipam_cancel(struct ipam_call *);
