/* api_qps.h - queue pairs and the traffic of their flows, as JSON. Pure.
 *
 * Compact, heap, terminated; NULL when out of memory. Every key is always there, null where there
 * is nothing to say. */
#pragma once

#include "qp_flows.h"

/* So many rows are told without being asked for more, and at most. */
#define API_QPS_DEFAULT 1000
#define API_QPS_MAX	10000

struct api_qps_scene {
	struct qp_sources sources;
	struct qps_status status;
	uint64_t epoch_ms; /* unix time at the loop's time 0 */
	uint64_t now_ms;   /* the loop's */
};

/* {"source":"events","ageSeconds":null,"error":null,"dropped":0,"flows":true,"total":1,"qps":[
 *  {"device":"rxe_a","port":1,"netdev":"veth0","qpn":17,"address":"10.9.0.1","peerQpn":18,
 *   "peerAddress":"10.9.0.2","type":"RC","state":"RTS","namespace":"train","pod":"job-7",
 *   "podUid":...,"pid":4711,"comm":"python3","kernel":false,"mtu":4096,"trafficClass":106,
 *   "dscp":26,"ecn":2,"timeout":14,"retryCount":7,"rnrRetry":7,"failure":null,
 *   "received":{"packets":10,"bytes":...,"ce":0,"cnp":0,"naks":0,"rnr":0,"retransmissions":0,
 *    "rtt":{"count":5,"meanNs":8000,"p50Ns":7000,"p99Ns":15000},"lastSeen":"2026-...Z"},
 *   "sent":null}]}
 * source: "events", "netlink" (then ageSeconds says how old the table is) or null; flows: whether
 * packets are counted by queue pair. A row that is only a flow has what the frames say: qpn and
 * address are its destination's, peerAddress its sender's, and the traffic is "received". */
char *api_qps(const struct api_qps_scene *, const struct qp_question *, size_t *ret_len);
