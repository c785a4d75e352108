/* SPDX-License-Identifier: Apache-2.0 */
/* qp_words.h - names of the types, states, completion statuses and events of queue pairs, from
 * linux/include/rdma/ib_verbs.h. Pure. */
#pragma once

#include <stdint.h>

const char *qp_type_name(uint32_t type);   /* enum ib_qp_type: "RC", "UD"; "unknown" */
const char *qp_state_name(uint32_t state); /* enum ib_qp_state: "RTS", ...; "unknown" */
#define N_WC_STATUSES 22
/* enum ib_wc_status: "RETRY_EXC_ERR"; "UNKNOWN_ERR" */
const char *wc_status_name(uint32_t status);
/* Returns a short explanation, such as "the peer aborted the request". */
const char *wc_status_meaning(uint32_t status);
/* enum ib_event_type: "QP_FATAL"; "UNKNOWN_EVENT" */
const char *ib_event_name(int event);
const char *ib_event_meaning(int event);
