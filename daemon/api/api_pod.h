/* SPDX-License-Identifier: Apache-2.0 */
/* api_pod.h - the state of a pod's own device, which the pod reads as status.json. Pure.
 *
 * Contains only the device's ports and their verdicts: no other device, pod or peer. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct diagnosis_report;
struct host;

/* The document of a function; heap, terminated by a newline and 0. NULL: out of memory.
 * {"time":"2026-...Z","timeMs":123,"everyMs":1000,"function":"0000:03:00.2",
 *  "ports":[{"device":"mlx5_1",...}],
 *  "verdicts":[{"device":"mlx5_1","port":1,"cause":"packet_loss","severity":"critical",
 *    "level":3,...,"runbook":"/runbook/packet_loss"}]}
 * ports: as in api_ports(), with null for parent, namespace, pod and container, and with
 * "counters":{"roce_bytes_total{direction=\"received\"}":123,...}: the counters that diagnosis
 * reads; they count since the driver was loaded; null: not visible this time. verdicts: as in
 * api_diagnosis(), without evidence (which may compare with other devices), pods and peer.
 * every_ms: interval at which the document is rewritten, so that a reader can detect a stale one.
 */
char *api_pod_status(const struct diagnosis_report *, const struct host *, const char *function,
		     uint32_t every_ms, size_t *ret_len);
