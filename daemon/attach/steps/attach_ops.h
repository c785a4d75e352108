/* attach_ops.h - what the engine has done by others: on workers, by IPAM plugins, and by the
 * container runtime. Tests bring their own. */
#pragma once

#include "cri.h"
#include "ipam.h"
#include "journal.h"
#include "netns.h"
#include "steps.h"

struct attach_ops {
	int (*journal_open)(struct journal **, const char *state_dir, struct err *);
	int (*journal_look)(struct journal **, const char *state_dir, struct err *);
	void (*journal_close)(struct journal *);
	int (*journal_each)(struct journal *, journal_fn *, journal_bad_fn *, void *arg,
			    struct err *);
	int (*run)(struct attach_job *);
	int (*check)(struct attach_job *, bool repair);
	int (*announce)(struct attach_job *);
	void (*boot_id)(const struct hw *, char ret[BOOT_ID_SIZE]);
	bool (*netns_is_there)(const struct hw *, const struct netns_id *);
	enum netns_life (*netns_search)(const struct hw *, struct netns_id *);
	/* host_view.h: 0, or what is missing. */
	int (*look_at_host)(const struct hw *, const char *runtime_socket, struct err *);
	/* The namespace that a path leads to now. */
	int (*netns_find)(const struct hw *, const char *path, struct netns_id *ret);

	int (*ipam_start)(struct ipam_call **ret, struct uv_loop_s *, enum ipam_verb,
			  const struct attach_record *, const char *path, uint32_t timeout_ms,
			  ipam_fn *, void *arg, struct err *);
	void (*ipam_cancel)(struct ipam_call *);

	int (*cri_open)(struct cri **, struct uv_loop_s *, const char *socket, cri_fn *, void *arg,
			struct err *);
	void (*cri_refresh)(struct cri *);
	void (*cri_expect)(struct cri *, bool);
	const struct sandbox_list *(*cri_sandboxes)(const struct cri *);
	void (*cri_status)(const struct cri *, struct cri_status *);
	void (*cri_close)(struct cri *);
};

extern const struct attach_ops attach_real_ops;
