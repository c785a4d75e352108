/* api_settings.h - what a RoCE port is set to, as it stands in /api/v1/devices. Pure. */
#pragma once

#include "json_out.h"
#include "port_settings.h"

/* Adds the member "settings" of a port; NULL, or nothing of it was seen: null. What was not seen is
 * null, part by part. PCIe speeds are mega transfers a second and lane.
 *
 * {"dscpTrusted":true,"dscpPriorities":{"26":3,"48":6},"pfc":[3],"peerPfc":null,
 *  "ets":{"classes":[0,1,2,3,4,5,6,7],"algorithms":["ets",...],"percents":[50,0,0,50,0,0,0,0]},
 *  "pause":{"receives":false,"sends":false},"dcbx":["host","ieee"],
 *  "rdmaCm":{"type":"RoCE v2","tos":106},
 *  "pcie":{"speed":16000,"maxSpeed":16000,"width":16,"maxWidth":16},
 *  "slowSegments":[{"bridge":"0000:00:01.0","speed":16000,"maxSpeed":32000,"width":16,
 *                   "maxWidth":16}]}
 * pfc and peerPfc are priorities. dcbx is of "host", "firmware", "cee", "ieee", "static". classes
 * is by priority, algorithms ("strict", "cbs", "ets", "vendor", else the number as text) and
 * percents by class. slowSegments is [] when no link above the function's own runs slower than both
 * of its ends could; never more than the slowest. rdmaCm needs a folder of the device's in
 * configfs, which a container sees only with the host's /sys. */
void api_settings(struct json_out *, const struct port_settings *);
