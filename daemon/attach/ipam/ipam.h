/* SPDX-License-Identifier: Apache-2.0 */
/* ipam.h - addresses from a CNI IPAM plugin, run as a program. CNI specification 1.1.0, sections 2
 * ("Execution Protocol") and 4 ("Plugin Delegation"). */
#pragma once

#include "attachment.h"
#include "err.h"
#include "ipam_needs.h"

struct uv_loop_s;
struct ipam_call;

/* --- pure ------------------------------------------------------------------------------------- */

enum ipam_verb { IPAM_ADD, IPAM_DEL, IPAM_CHECK, IPAM_GC, IPAM_STATUS };

/* The "ipam" object of a record has this member for the parts of a CNI request that the plugin gets
 * outside of that object: {"runtimeConfig": {..}, "args": {..}: members of the configuration,
 * "env": "IP=..;GATEWAY=..": more of CNI_ARGS}. The DEL passes the same values, even after a
 * restart of the daemon. */
#define IPAM_CARRIED "rocelet"

/* Returns the network configuration for the plugin's standard input: {"cniVersion", "name", "type",
 * "ipam": ...} and the members of `more` (NULL: none), such as prevResult or the list of a GC. The
 * name is the resource's, so that the pods of one pool share one range. Fits into a pipe
 * (IPAM_CONFIG_MAX). On the heap; NULL when out of memory. */
#define IPAM_CONFIG_MAX 61440
struct json_t;
char *ipam_config(const struct attach_record *, enum ipam_verb, const struct json_t *more);
/* "CNI_ARGS=.." for the plugin. On the heap; NULL when out of memory. */
char *ipam_args(const struct attach_record *);
/* Parses the plugin's answer to ADD: adds addresses and routes to the record, which is unchanged on
 * failure. A route without a gateway gets the gateway that belongs to an address of the same
 * family; other gateways are ignored. -EBADMSG: the answer is invalid, or has a route of another
 * table than main; the message quotes the beginning of the answer. */
int ipam_parse_result(struct attach_record *, const char *text, size_t len, struct err *);
/* Parses the answer of a plugin that failed: its "msg", "details" and "code"; otherwise the
 * readable part of `text`; otherwise how the plugin ended. exit_status: below 0, the signal that
 * killed it. -EAGAIN: the plugin requests a retry (code 11); -ENETUNREACH: of STATUS, running
 * containers may have limited connectivity, too (code 51); -EOPNOTSUPP: the plugin does not have
 * the command, or does not have it in this version (whereabouts: "CNI CHECK method is not
 * implemented"); -EIO otherwise. */
void ipam_parse_error(const char *text, size_t len, int exit_status, struct err *);
/* Returns the plugin of a record's plan and its permissions; -EINVAL as ipam_needs_read(). */
int ipam_needs_of(const struct attach_record *, struct ipam_needs *ret, struct err *);

/* --- in the loop ------------------------------------------------------------------------------ */

/* The folders of the plugins, and the parts of the host that are hidden from them. */
struct ipam_host {
	const char *path;	   /* absolute folders, "/opt/cni/bin:/usr/lib/cni" */
	const char *const *hidden; /* as in struct plugin_sandbox; NULL: only the parts that are
				      always hidden */
};

/* Called exactly once per started call, never from within ipam_start(); the call must not be used
 * any more then. text: the plugin's standard output, borrowed. The error's code is 0 on success. */
typedef void ipam_fn(const char *text, size_t len, const struct err *, void *arg);

/* Finds the plugin in the folders of the path, and runs it in a sandbox (plugin_sandbox.h). Its
 * environment has only CNI_COMMAND, CNI_CONTAINERID (the pod sandbox), CNI_NETNS, CNI_IFNAME,
 * CNI_ARGS (K8S_POD_NAMESPACE ...), CNI_PATH and a PATH; for GC and STATUS it has no variables of a
 * container. Kills the plugin with all its processes after timeout_ms or when its output exceeds
 * IPAM_ANSWER_MAX. No process that the plugin has started outlives it. fn gets -ENOENT if there is
 * no such plugin, -ETIMEDOUT also if a folder of the path does not answer. */
#define IPAM_ANSWER_MAX 65536
int ipam_start(struct ipam_call **ret, struct uv_loop_s *, enum ipam_verb,
	       const struct attach_record *, const struct json_t *more, const struct ipam_host *,
	       uint32_t timeout_ms, ipam_fn *, void *arg, struct err *);
/* Kills the plugin; `fn` is not called. NULL is allowed. The call is freed later by the loop. */
void ipam_cancel(struct ipam_call *);
