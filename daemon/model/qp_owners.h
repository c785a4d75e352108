/* qp_owners.h - what processes said when they were asked whose they are, for a while: a process that
 * makes and kills queue pairs in a loop is asked once. Pure; bounded; time is an argument. */
#pragma once

#include "qp_table.h"

#define QP_OWNERS_MAX 256
/* A pid that is given again within this, to a process of the same cgroup, is another one unseen. */
#define QP_OWNER_MS 10000

struct qp_owners {
	struct {
		struct qp_owner owner;
		uint64_t asked_ms;
	} items[QP_OWNERS_MAX];
	size_t n;
};

/* NULL: not known, or too long ago. */
const struct qp_owner *qp_owners_find(const struct qp_owners *, uint32_t pid, uint64_t cgroup,
				      uint64_t now_ms);
/* In the place of what was known of that pid, or of what was asked longest ago. */
void qp_owners_keep(struct qp_owners *, const struct qp_owner *, uint64_t now_ms);
