/* SPDX-License-Identifier: Apache-2.0 */
/* api_qps.h - queue pairs and the traffic of their flows, as JSON. Pure.
 *
 * The documents are compact JSON on the heap, NUL-terminated; NULL if out of memory. Every key is
 * always present, and null if it has no value. */
#pragma once

#include "qp_flows.h"

/* Default and greatest number of rows. */
#define API_QPS_DEFAULT 1000
#define API_QPS_MAX	10000

struct api_qps_input {
	struct qp_sources sources;
	struct qps_status status;
	uint64_t epoch_ms; /* unix time at the loop's time 0 */
	uint64_t now_ms;   /* current time of the loop */
};

/* {"source":"events","ageSeconds":null,"error":null,"retries":true,"dropped":0,"flows":true,"total":1,
 *  "qps":[
 *  {"device":"rxe_a","port":1,"netdev":"veth0","qpn":17,"address":"10.9.0.1","peerQpn":18,
 *   "peerAddress":"10.9.0.2","type":"RC","state":"RTS","namespace":"train","pod":"job-7",
 *   "uid":...,"pid":4711,"comm":"python3","kernel":false,"mtu":4096,"trafficClass":106,
 *   "dscp":26,"ecn":2,"timeout":14,"retryCount":7,"rnrRetry":7,"failure":null,
 *   "received":{"packets":10,"bytes":...,"ce":0,"cnp":0,"naks":0,"rnr":0,"retransmissions":0,
 *    "rtt":{"count":5,"meanNs":8000,"p50Ns":7000,"p99Ns":15000},"lastSeen":"2026-...Z"},
 *   "sent":null}]}
 * source: "events", "netlink" (ageSeconds is the table's age) or null; retries: false if
 * rocelet has given up reading; flows: packets are counted per queue pair. A row without a queue
 * pair has what the frames contain: qpn and address of the destination, peerAddress of the sender,
 * and its traffic in "received". */
char *api_qps(const struct api_qps_input *, const struct qp_query *, size_t *ret_len);
