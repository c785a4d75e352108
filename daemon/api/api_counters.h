/* SPDX-License-Identifier: Apache-2.0 */
/* api_counters.h - the counters of one port as JSON. Pure. */
#pragma once

#include <stddef.h>

struct port_counters;

/* The document of /api/v1/counters:
 * {"time":"2026-...Z","timeMs":123,"device":"mlx5_0","port":1,"resets":0,"overMs":1000,
 *  "counters":[{"name":"roce_bytes_total{direction=\"sent\"}","type":"counter","unit":"B",
 *   "ofDevice":false,"value":1500000,"rate":1.5e5,"help":"..."}]}
 * overMs: time that the rates cover. ofDevice: counted for the whole device, not the port. value:
 * null if it could not be read. rate: per second; null for gauges and if unknown. Heap, terminated;
 * NULL if out of memory. */
char *api_counters(const struct port_counters *, size_t *ret_len);
