/* SPDX-License-Identifier: Apache-2.0 */
/* attach_ops.h - the functions that the engine calls on workers, for IPAM plugins, and to get
 * allocations and sandboxes. Tests replace them. */
#pragma once

#include "holders.h"
#include "ipam.h"
#include "journal.h"
#include "netns.h"
#include "steps.h"

struct attach_ops {
	int (*journal_open)(struct journal **, const char *state_dir, struct err *);
	int (*journal_open_existing)(struct journal **, const char *state_dir, struct err *);
	void (*journal_close)(struct journal *);
	int (*journal_each)(struct journal *, journal_fn *, journal_bad_fn *, void *arg,
			    struct err *);
	void (*journal_sweep)(struct journal *);
	bool (*journal_is_removed)(const struct journal *);
	int (*journal_write)(struct journal *, const struct attach_record *, bool durable,
			     struct err *);
	int (*journal_probe)(struct journal *, struct err *);
	int (*run)(struct attach_job *);
	int (*check)(struct attach_job *, bool repair);
	int (*announce)(struct attach_job *);
	void (*boot_id)(const struct hw *, char ret[BOOT_ID_SIZE]);
	bool (*netns_exists)(const struct hw *, const struct netns_id *);
	enum netns_life (*netns_search)(const struct hw *, struct netns_id *);
	void (*netns_users)(const struct hw *, const struct netns_id *, size_t n,
			    enum netns_use *ret_use, unsigned *ret_pid);
	/* See host_view.h. Returns 0, or an error that names the hidden parts. */
	int (*check_host)(const struct hw *, const char *runtime_socket, struct err *);
	/* Identifies the namespace to which a path leads now. */
	int (*netns_find)(const struct hw *, const char *path, struct netns_id *ret);

	int (*ipam_start)(struct ipam_call **ret, struct uv_loop_s *, enum ipam_verb,
			  const struct attach_record *, const struct json_t *more,
			  const struct ipam_host *, uint32_t timeout_ms, ipam_fn *, void *arg,
			  struct err *);
	void (*ipam_cancel)(struct ipam_call *);

	/* holders.h */
	const struct pod_list *(*held)(const struct holders *);
	const struct granted_list *(*granted)(struct holders *);
	const struct sandbox_list *(*sandboxes)(const struct holders *);
	void (*request_lists)(struct holders *);
	int (*watch_sandboxes)(struct holders *, struct err *);
	void (*expect_sandboxes)(struct holders *, bool);
	bool (*runtime)(const struct holders *, struct cri_status *);
};

extern const struct attach_ops attach_real_ops;
