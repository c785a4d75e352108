/* SPDX-License-Identifier: Apache-2.0 */
/* api_settings.h - the settings of a RoCE port, as in /api/v1/devices. Pure. */
#pragma once

#include "json_out.h"
#include "port_settings.h"

/* Adds the member "settings" of a port: null for NULL or if nothing is known. Each unknown part is
 * null. PCIe speeds are in MT/s per lane.
 *
 * {"dscpTrusted":true,"dscpPriorities":{"26":3,"48":6},"pfc":[3],"peerPfc":null,
 *  "ets":{"classes":[0,1,2,3,4,5,6,7],"algorithms":["ets",...],"percents":[50,0,0,50,0,0,0,0]},
 *  "pause":{"receives":false,"sends":false},"dcbx":["host","ieee"],
 *  "rdmaCm":{"type":"RoCE v2","tos":106},
 *  "pcie":{"speed":16000,"maxSpeed":16000,"width":16,"maxWidth":16},
 *  "slowSegments":[{"bridge":"0000:00:01.0","speed":16000,"maxSpeed":32000,"width":16,
 *                   "maxWidth":16}]}
 * pfc and peerPfc list the lossless priorities. dcbx lists "host", "firmware", "cee", "ieee" and
 * "static". classes is indexed by priority, algorithms ("strict", "cbs", "ets", "vendor", else the
 * number as text) and percents by class. slowSegments has at most one element: the
 * slowest PCIe link above the function's own link that runs below the speed or width that both of
 * its ends support. rdmaCm needs the device's folder in configfs, which a container sees only with
 * the host's /sys. */
void api_settings(struct json_out *, const struct port_settings *);
