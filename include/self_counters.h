/* SPDX-License-Identifier: Apache-2.0 */
/* self_counters.h - the counters of the daemon itself. The struct, the metrics page and the docs
 * are generated from one list.
 *
 * X(field, labels, family, help): consecutive entries of one family differ in their labels. Owned
 * and incremented by the loop thread only. */
#pragma once

#include <stdint.h>

#define SELF_COUNTERS(X)                                                                           \
	X(events_rtnetlink, "source=\"rtnetlink\"", "rocelet_events_total",                        \
	  "Events received from the kernel.")                                                      \
	X(events_rdma, "source=\"rdma\"", "rocelet_events_total", "")                              \
	X(events_devlink, "source=\"devlink\"", "rocelet_events_total", "")                        \
	X(events_uevent, "source=\"uevent\"", "rocelet_events_total", "")                          \
	X(events_bpf, "source=\"bpf\"", "rocelet_events_total", "")                                \
	X(malformed_rtnetlink, "source=\"rtnetlink\"", "rocelet_malformed_messages_total",         \
	  "Messages dropped: wrong framing or attributes, or not from the kernel.")                \
	X(malformed_rdma, "source=\"rdma\"", "rocelet_malformed_messages_total", "")               \
	X(malformed_devlink, "source=\"devlink\"", "rocelet_malformed_messages_total", "")         \
	X(malformed_uevent, "source=\"uevent\"", "rocelet_malformed_messages_total", "")           \
	X(malformed_bpf, "source=\"bpf\"", "rocelet_malformed_messages_total", "")                 \
	X(overruns_rtnetlink, "source=\"rtnetlink\"", "rocelet_event_overruns_total",              \
	  "How often the kernel dropped events; rocelet then scans all hardware again.")           \
	X(overruns_rdma, "source=\"rdma\"", "rocelet_event_overruns_total", "")                    \
	X(overruns_devlink, "source=\"devlink\"", "rocelet_event_overruns_total", "")              \
	X(overruns_uevent, "source=\"uevent\"", "rocelet_event_overruns_total", "")                \
	X(overruns_bpf, "source=\"bpf\"", "rocelet_event_overruns_total", "")                      \
	X(suppressed_bpf, "", "rocelet_bpf_events_suppressed_total",                               \
	  "Failed work completions above 256 a second, which are not reported as events.")         \
	X(unlisted_bpf, "kind=\"other\"", "rocelet_bpf_events_unlisted_total",                     \
	  "Events of BPF programs above the rate limit: counted here, and not listed.")            \
	X(unlisted_bpf_cm, "kind=\"connection\"", "rocelet_bpf_events_unlisted_total", "")         \
	X(rescans_functions, "kind=\"functions\"", "rocelet_rescans_total",                        \
	  "Rescans of the host's hardware.")                                                       \
	X(rescans_devices, "kind=\"devices\"", "rocelet_rescans_total", "")                        \
	X(rescans_details, "kind=\"details\"", "rocelet_rescans_total", "")                        \
	X(rescans_reports, "kind=\"reports\"", "rocelet_rescans_total", "")                        \
	X(resyncs, "", "rocelet_resyncs_total",                                                    \
	  "Full rescans of the hardware because events were lost.")                                \
	X(reloads_ok, "result=\"ok\"", "rocelet_config_reloads_total",                             \
	  "Reloads of the configuration.")                                                         \
	X(reloads_partial, "result=\"partial\"", "rocelet_config_reloads_total", "")               \
	X(reloads_failed, "result=\"failed\"", "rocelet_config_reloads_total", "")                 \
	X(samples, "", "rocelet_samples_total", "Samples taken of all counters.")                  \
	X(samples_late, "", "rocelet_samples_skipped_total",                                       \
	  "Samples skipped because the previous one still ran.")                                   \
	X(burst_reads, "", "rocelet_burst_reads_total",                                            \
	  "Burst readings: reads of congested ports between samples.")                             \
	X(http_requests, "", "rocelet_http_requests_total", "Requests answered.")                  \
	X(http_errors, "", "rocelet_http_errors_total",                                            \
	  "Requests answered with a status of 400 or more.")                                       \
	X(http_connections, "", "rocelet_http_connections_total", "Connections accepted.")         \
	X(http_evictions, "", "rocelet_http_evictions_total",                                      \
	  "Connections closed because they were slow or too many.")

struct self_counters {
#define X(field, labels, family, help) uint64_t field;
	SELF_COUNTERS(X)
#undef X
};
