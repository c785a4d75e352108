// SPDX-License-Identifier: Apache-2.0
#include "ctl_words.h"

#include <string.h>

#include "cleanup.h"
#include "search.h"

#define OF_DEVICE "critical while a container has the device, else a warning"

static const struct ctl_word words[] = {
	{"gone", "device", OF_DEVICE, "the device was removed from the bus",
	 "Were the VFs created again, or was the card removed?"},
	{"no_driver", "device", OF_DEVICE, "the device is not bound to the driver that it needs",
	 "Bind it to the driver that the pool selects."},
	{"no_chardev", "device", OF_DEVICE,
	 "a node of the device in /dev/infiniband is missing: programs cannot open the device",
	 "`rocectl doctor` has the node (chardev). Is udev running, and is this container's /dev the host's?"},
	{"no_rdma", "device", OF_DEVICE, "the function has no RDMA device in the host",
	 "Is the driver's module loaded? Is the RDMA device in another namespace?"},
	{"link_down", "device, link",
	 OF_DEVICE "; a warning if only the link of a pod's port is known",
	 "the device, or its PF, has no carrier",
	 "Check the cable, the switch port and the PF. `rocectl diagnose` reports whether the PF is down (link_flap) or only the VF (port_off)."},
	{"port_down", "device", OF_DEVICE, "the RDMA port is not active",
	 "Is its netdev up, and does its link come up?"},
	{"pci", "device", OF_DEVICE, "reads from the card return only ones",
	 "It is no longer reachable on the bus, or is being reset."},
	{"devlink", "device", OF_DEVICE, "a devlink health reporter of the device reports an error",
	 "`devlink health show` has details; `devlink health recover` may help."},
	{"not_clean", "device", OF_DEVICE,
	 "the device was attached by hand, or could not be cleaned after a pod",
	 "`rocectl doctor` has the reason (dirty); `rocectl doctor --fix` retries."},
	{"leaving", "device", "information", "the previous pod still has the device",
	 "Check why that pod does not end."},
	{"node_changed", "device", OF_DEVICE,
	 "the device was rebound or reset, so the device nodes in its container are stale",
	 "Delete the pod that holds it."},
	{"node_held", "device", OF_DEVICE, "a container of another pod may open its device node",
	 "The device is not offered until that pod has ended."},
	{"attaching", "attachment", "warning",
	 "the device has been moved into the pod for more than 30 s, or that fails",
	 "`rocectl events` lists the attempts; the container waits."},
	{"returning", "attachment", "warning",
	 "the device has been returned to the host for more than 30 s, or that fails",
	 "`rocectl events` lists the attempts; `rocectl doctor --fix` retries."},
	{"bad", "attachment", "warning", "the device could not be cleaned, and is not offered",
	 "`rocectl doctor` has the reason; `rocectl doctor --fix` retries."},
	{"drift", "attachment", "warning",
	 "a setting of the device is not the one that was set for the pod",
	 "A program on the host or in the pod changed it after the attach; `rocectl doctor --fix` repairs what it can."},
	{"attach_failed", "attachment", "warning",
	 "the device could not be attached, so the container cannot start",
	 "rocelet tries again; `rocectl events` lists the attempts."},
	{"not_registered", "resource", "information", "the kubelet does not know the resource",
	 "New pods that request it stay pending. `rocectl doctor` has the kubelet's error."},
	{"no_files", "resource", "information", "the CDI file of the resource cannot be written",
	 "Containers that request it do not start. `rocectl doctor` has the error."},
};

const struct ctl_word *ctl_word(size_t i)
{
	return i < ARRAY_SIZE(words) ? &words[i] : NULL;
}

const struct ctl_word *ctl_word_find(const char *word)
{
	return find_first(words, ARRAY_SIZE(words), i, strcmp(words[i].word, word) == 0);
}
