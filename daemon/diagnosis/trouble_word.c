// SPDX-License-Identifier: Apache-2.0
#include "trouble_word.h"

#include <string.h>

#include "search.h"

#define OF_DEVICE "critical while a container has the device, else a warning"

static const struct trouble_row rows[N_TROUBLE_WORDS] = {
	[WORD_GONE] = {"gone", "device", OF_DEVICE, SIDE_NODE,
		       "the device was removed from the bus",
		       "Check whether the VFs were created again, or the card was removed."},
	[WORD_NO_DRIVER] = {"no_driver", "device", OF_DEVICE, SIDE_NODE,
			    "the device is not bound to the driver that it needs",
			    "Bind it to the driver that the pool selects."},
	[WORD_NO_CHARDEV] =
		{"no_chardev", "device", OF_DEVICE, SIDE_NODE,
		 "a node of the device in /dev/infiniband is missing: programs cannot open the device",
		 "The finding chardev of `rocectl doctor` names the node. Check that udev runs, and that rocelet's container has the host's /dev."},
	[WORD_NO_RDMA] =
		{"no_rdma", "device", OF_DEVICE, SIDE_NODE,
		 "the function has no RDMA device in the host",
		 "Check that the driver's module is loaded, and whether the RDMA device is in another network namespace."},
	[WORD_LINK_DOWN] =
		{"link_down", "device, link",
		 OF_DEVICE "; a warning if only the link of a pod's port is known", SIDE_NETWORK,
		 "the device, or its PF, has no carrier",
		 "If its PF is down, too, check the PF's cable, optic and switch port. If the PF has a link, check the VF's link state (ip link set PF vf N state auto), and that its netdev is up in the pod."},
	[WORD_PORT_DOWN] = {"port_down", "device", OF_DEVICE, SIDE_UNCLEAR,
			    "the RDMA port is not active",
			    "Check that its netdev is up and has a link."},
	[WORD_PCI] = {"pci", "device", OF_DEVICE, SIDE_NODE, "reads from the card return only ones",
		      "The card is no longer reachable on the bus, or is being reset."},
	[WORD_DEVLINK] = {"devlink", "device", OF_DEVICE, SIDE_NODE,
			  "a devlink health reporter of the device reports an error",
			  "`devlink health show` has details; `devlink health recover` may help."},
	[WORD_NOT_CLEAN] =
		{"not_clean", "device", "warning", SIDE_NODE,
		 "the device was attached by hand, or could not be cleaned after a pod",
		 "The finding dirty of `rocectl doctor` has the reason; `rocectl doctor --fix` retries."},
	[WORD_LEAVING] = {"leaving", "device", "information", SIDE_NODE,
			  "the previous pod still has the device",
			  "Check why that pod does not end."},
	[WORD_NODE_CHANGED] =
		{"node_changed", "device", OF_DEVICE, SIDE_NODE,
		 "the device was rebound or reset, so the device nodes in its container are stale",
		 "Delete the pod that holds it."},
	[WORD_NODE_HELD] = {"node_held", "device", "warning", SIDE_NODE,
			    "a container of another pod may open its device node",
			    "The device is not offered until that pod has ended."},
	[WORD_ATTACHING] =
		{"attaching", "attachment", "warning", SIDE_NODE,
		 "the device has been moved into the pod for more than 30 s, or that fails",
		 "`rocectl events` lists the attempts; the container waits."},
	[WORD_RETURNING] =
		{"returning", "attachment", "warning", SIDE_NODE,
		 "the device has been returned to the host for more than 30 s, or that fails",
		 "`rocectl events` lists the attempts; `rocectl doctor --fix` retries."},
	[WORD_BAD] = {"bad", "attachment", "warning", SIDE_NODE,
		      "the device could not be cleaned, and is not offered",
		      "`rocectl doctor` has the reason; `rocectl doctor --fix` retries."},
	[WORD_DRIFT] =
		{"drift", "attachment", "warning", SIDE_NODE,
		 "a setting of the device is not the one that was set for the pod",
		 "A program on the host or in the pod changed it after the attach; `rocectl doctor --fix` repairs what it can."},
	[WORD_ATTACH_FAILED] = {"attach_failed", "attachment", "warning", SIDE_NODE,
				"the device could not be attached, so the container cannot start",
				"rocelet tries again; `rocectl events` lists the attempts."},
	[WORD_NOT_REGISTERED] =
		{"not_registered", "resource", "information", SIDE_NODE,
		 "the kubelet does not know the resource",
		 "New pods that request it stay pending. `rocectl doctor` has the kubelet's error."},
	[WORD_NO_FILES] =
		{"no_files", "resource", "information", SIDE_NODE,
		 "the CDI file of the resource cannot be written",
		 "Containers that request it do not start. `rocectl doctor` has the error."},
};

const struct trouble_row *trouble_row(enum trouble_word word)
{
	return &rows[word];
}

const struct trouble_row *trouble_row_find(const char *word)
{
	return find_first(rows, N_TROUBLE_WORDS, i, strcmp(rows[i].word, word) == 0);
}

const char *trouble_kind_name(enum trouble_kind kind)
{
	static const char *const names[N_TROUBLE_KINDS] = {
		[TROUBLE_DEVICE] = "device",	 [TROUBLE_ATTACHMENT] = "attachment",
		[TROUBLE_LINK] = "link",	 [TROUBLE_VERDICT] = "verdict",
		[TROUBLE_RESOURCE] = "resource",
	};

	return names[kind];
}
