/* qp_table_parts.h - what qp_table.c and qp_table_dump.c share. For nobody else. Pure. */
#pragma once

#include "qp_table.h"

/* More destroyed than these while a dump is read, and another dump is worth more. */
#define QP_DESTROYED_MAX 512
/* ib_destroy_qp_user() is heard of as it begins: for this long a dump may still list what it
 * destroys. */
#define QP_DESTROYING_NS UINT64_C(10000000000)

/* As strcmp(). */
int qp_compare(const struct qp *, const char *device, uint32_t qpn);
/* The queue pair of that name if it stands at that place, or NULL. */
struct qp *qp_table_at(const struct qp_table *, size_t place, const char *device, uint32_t qpn);
/* RESET makes it begin anew. */
void qp_take_state(struct qp *, uint32_t state);
