// SPDX-License-Identifier: Apache-2.0
#include "qp_words.h"

#include <stddef.h>

#include "cleanup.h"

#define WORD(table, i, otherwise)                                                                  \
	((size_t)(i) < ARRAY_SIZE(table) && (table)[i] ? (table)[i] : (otherwise))

const char *qp_type_name(uint32_t type)
{
	static const char *const names[] = {"SMI", "GSI", "RC",		"UC",	   "UD",     NULL,
					    NULL,  NULL,  "RAW_PACKET", "XRC_INI", "XRC_TGT"};

	return type == 0xff ? "DRIVER" : WORD(names, type, "unknown");
}

const char *qp_state_name(uint32_t state)
{
	static const char *const names[] = {"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"};

	return WORD(names, state, "unknown");
}

static const struct {
	const char *name, *meaning;
} statuses[N_WC_STATUSES] = {
	{"SUCCESS", "success"},
	{"LOC_LEN_ERR", "a message was longer than the receive buffer posted for it"},
	{"LOC_QP_OP_ERR", "a work request does not fit the queue pair"},
	{"LOC_EEC_OP_ERR", "an end-to-end context is inconsistent"},
	{"LOC_PROT_ERR", "a work request names memory that is not registered for it here"},
	{"WR_FLUSH_ERR", "flushed, because the queue pair had failed before"},
	{"MW_BIND_ERR", "a memory window could not be bound"},
	{"BAD_RESP_ERR", "the peer sent an unexpected response"},
	{"LOC_ACCESS_ERR", "the peer wrote to memory without write permission"},
	{"REM_INV_REQ_ERR", "the peer rejected the request as invalid"},
	{"REM_ACCESS_ERR",
	 "the peer rejected access to its memory (wrong key, address or permission)"},
	{"REM_OP_ERR", "the peer could not carry out the request"},
	{"RETRY_EXC_ERR", "the peer does not respond (down, unreachable, or packets are lost)"},
	{"RNR_RETRY_EXC_ERR", "the peer has no receive buffer posted"},
	{"LOC_RDD_VIOL_ERR", "its reliable datagram domain differs"},
	{"REM_INV_RD_REQ_ERR", "the peer rejected the reliable datagram request as invalid"},
	{"REM_ABORT_ERR", "the peer aborted the request"},
	{"INV_EECN_ERR", "no such end-to-end context"},
	{"INV_EEC_STATE_ERR", "the end-to-end context is in the wrong state"},
	{"FATAL_ERR", "the device failed"},
	{"RESP_TIMEOUT_ERR", "no response came in time"},
	{"GENERAL_ERR", "the device reports no reason"},
};

const char *wc_status_name(uint32_t status)
{
	return status < ARRAY_SIZE(statuses) ? statuses[status].name : "UNKNOWN_ERR";
}

const char *wc_status_meaning(uint32_t status)
{
	return status < ARRAY_SIZE(statuses) ? statuses[status].meaning : "unknown reason";
}

static const struct {
	const char *name, *meaning;
} events[] = {
	{"CQ_ERR", "a completion queue overran"},
	{"QP_FATAL", "fatal error of the queue pair on the device"},
	{"QP_REQ_ERR", "the peer sent an invalid request"},
	{"QP_ACCESS_ERR", "the peer requested memory without permission"},
	{"COMM_EST", "it received its first packet"},
	{"SQ_DRAINED", "its send queue is empty"},
	{"PATH_MIG", "the path was migrated"},
	{"PATH_MIG_ERR", "the path migration failed"},
	{"DEVICE_FATAL", "the device failed"},
	{"PORT_ACTIVE", "the port came up"},
	{"PORT_ERR", "the port went down"},
	{"LID_CHANGE", "the port's LID changed"},
	{"PKEY_CHANGE", "the port's partition keys changed"},
	{"SM_CHANGE", "the subnet manager changed"},
	{"SRQ_ERR", "its shared receive queue failed"},
	{"SRQ_LIMIT_REACHED", "its shared receive queue is low"},
	{"QP_LAST_WQE_REACHED", "its last receive work request was used"},
	{"CLIENT_REREGISTER", "clients must register again"},
	{"GID_CHANGE", "the port's GIDs changed"},
	{"WQ_FATAL", "its work queue failed"},
};

const char *ib_event_name(int event)
{
	return event >= 0 && (size_t)event < ARRAY_SIZE(events) ? events[event].name
								: "UNKNOWN_EVENT";
}

const char *ib_event_meaning(int event)
{
	return event >= 0 && (size_t)event < ARRAY_SIZE(events) ? events[event].meaning
								: "unknown reason";
}
