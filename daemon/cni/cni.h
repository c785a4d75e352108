/* SPDX-License-Identifier: Apache-2.0 */
/* cni.h - the contract between the daemon and rocelet-cni, the program that container runtimes run
 * (CNI specification 1.1.0). Pure.
 *
 * POST /api/v1/cni on the daemon's unix socket (the one that rocectl uses), root only, at most
 *   1 MiB of JSON:
 *     {"command": "ADD|DEL|CHECK|GC|STATUS", "containerID": "..", "netns": "/proc/1/ns/net",
 *      "ifname": "net1", "args": "CNI_ARGS as it is", "path": "CNI_PATH",
 *      "config": {the network configuration from stdin, runtimeConfig and prevResult
 *                 included}}
 * netns is absent if the runtime passes none. GC and STATUS need command and config only.
 *
 * Status 200 in any case:
 *     {"result": {..}}  ADD: in the format of 1.1.0 (cniVersion, interfaces, ips, routes, dns);
 *                       rocelet-cni converts it for older versions. "deviceInfo": {..} beside it
 *                       where runtimeConfig has CNIDeviceInfoFile, which rocelet-cni writes
 *     {}                the other commands
 *     {"error": {"code": N, "msg": "..", "details": ".."}}
 * If the client closes its connection during an ADD, the daemon cancels the ADD and returns the
 * device.
 *
 * If no daemon answers a DEL, rocelet-cni stores the request as a file in <state-dir>/cni/del/:
 * written under a unique name with a leading dot, then renamed to one without. The daemon processes
 * the folder at its start and when a file appears. It removes a file when its DEL is done, retries
 * one that fails, and moves a malformed one to <state-dir>/cni/bad/. */
#pragma once

#include "attachment.h"
#include "err.h"

struct json_t;

enum cni_command { CNI_ADD, CNI_DEL, CNI_CHECK, CNI_GC, CNI_STATUS };

/* Codes below 100 are defined by the specification. */
enum cni_code {
	CNI_OK,
	CNI_UNSUPPORTED_FIELD = 2,
	CNI_UNKNOWN_CONTAINER = 3,
	CNI_BAD_ENVIRONMENT = 4,
	CNI_IO = 5,
	CNI_NOT_DECODED = 6,
	CNI_BAD_CONFIG = 7,
	CNI_BAD_NETNS = 8,
	CNI_TRY_LATER = 11,
	CNI_UNAVAILABLE = 50,
	CNI_LIMITED = 51,
	CNI_FAILED = 100,    /* any other failure */
	CNI_NO_DEVICE = 101, /* no such function */
	CNI_IN_USE = 102,    /* used by another pod or by the host */
	CNI_DIFFERS = 103,   /* CHECK: the interface differs from what was attached */
};

struct cni_error {
	enum cni_code code; /* CNI_OK = none */
	struct err err;	    /* the message */
};
/* Sets code and message; returns -EINVAL. */
__attribute__((format(printf, 3, 4))) int cni_fail(struct cni_error *, enum cni_code,
						   const char *fmt, ...);
/* Converts an error of the engine: keeps its message, and maps its errno to a code. */
void cni_error_from(struct cni_error *, const struct err *);

#define CNI_REQUEST_MAX ((size_t)1 << 20)

struct cni_request {
	enum cni_command command;
	/* With DOOR_CNI: container ID, network, namespace, and the pod in CNI_ARGS. */
	struct attach_owner owner;
	char ifname[IFNAMSIZ];
	char mac[64], guid[32]; /* from CNI_ARGS, "" = none; Go's net.ParseMAC accepts 20 octets */
	char ip[256], gateway[256]; /* from CNI_ARGS, for IPAM: separated by ',' */
	struct json_t *config;	    /* an object; owned */
	/* Permissions of the IPAM plugin in addition to those of its sandbox; NULL = none; owned.
	 */
	struct json_t *ipam_needs;
};

/* Parses and validates a request; sets code 4, 6 or 7 on failure. A DEL needs only container ID and
 * interface name. On success *ret owns memory, which cni_request_done() frees; it accepts an
 * all-zero struct. */
int cni_request_parse(struct cni_request *ret, const char *text, size_t len, struct cni_error *);
void cni_request_done(struct cni_request *);

/* Return the texts of replies; heap, NULL = out of memory. cni_answer_result() takes ownership of
 * result; device_info NULL: none. */
char *cni_answer_result(struct json_t *result, struct json_t *device_info);
char *cni_answer_empty(void);
/* Returns the text of an error. Runtimes treat a failed DEL as success if the message contains "not
 * found" or "no such file or directory" (containerd, internal/cri/server/sandbox_stop.go; Multus,
 * pkg/multus), so these words are replaced in errors of a DEL. */
char *cni_answer_error(enum cni_command, const struct cni_error *);
