// SPDX-License-Identifier: Apache-2.0
#include "ctl_examples.h"

#include "cleanup.h"

static const struct ctl_example examples[] = {
	{CTL_STATUS, "status", "print the state of the node on one screen"},
	{CTL_STATUS, "status -o json", "print it for a script"},
	{CTL_PODS, "pods", "list devices and interfaces of all pods"},
	{CTL_PODS, "pods -n training --sort-by age",
	 "list those of one namespace, the youngest first"},
	{CTL_PODS, "pods -o wide --field-selector state!=in_pod",
	 "list interfaces that are not in place"},
	{CTL_RESOURCES, "resources", "compare allocatable with healthy devices"},
	{CTL_RESOURCES, "resources -w", "follow changes of the pools"},
	{CTL_DEVICES, "devices --field-selector pod!=", "list allocated devices with their pods"},
	{CTL_DEVICES, "devices --columns device,netdev,pod,NUMA:numaNode",
	 "choose columns, one of them by its path"},
	{CTL_DEVICES, "devices -o name --field-selector kind=vf", "print names for other commands"},
	{CTL_PORTS, "ports --field-selector verdict!=ok",
	 "list ports with a verdict, or without one yet"},
	{CTL_PORTS, "ports --pod training/worker-0", "list the ports of one pod"},
	{CTL_TOP, "top", "watch the ports live"},
	{CTL_TOP, "top --sort-by pause", "begin with the port that is paused most"},
	{CTL_EXPLAIN, "explain 03:00.2", "print why a device is free, allocated or not offered"},
	{CTL_EVENTS, "events --limit 20", "print the newest events"},
	{CTL_EVENTS, "events --pod training/worker-0", "print the events of one pod"},
	{CTL_WATCH, "watch -n training", "follow the events of one namespace"},
	{CTL_WATCH, "watch -o json", "follow all of them, one object a line"},
	{CTL_QPS, "qps --top retransmissions --limit 10",
	 "list the queue pairs that retransmit most"},
	{CTL_QPS, "qps --pod training/worker-0 -o wide", "list the queue pairs of one pod"},
	{CTL_DIAGNOSE, "diagnose", "print verdicts with evidence and advice"},
	{CTL_DIAGNOSE, "diagnose --pod training/worker-0", "print those that concern one pod"},
	{CTL_DIAGNOSE, "diagnose --record 60 --write incident.json --trace incident.trace.json",
	 "record a minute, also for ui.perfetto.dev"},
	{CTL_DIAGNOSE, "diagnose --replay incident.json", "diagnose a recording"},
	{CTL_DOCTOR, "doctor", "print problems of rocelet itself"},
	{CTL_DOCTOR, "doctor --fix", "repair what can be repaired"},
	{CTL_READY, "ready", "print whether the daemon is ready"},
	{CTL_ALIVE, "alive", "exit with 1 if the daemon hangs"},
	{CTL_NODE_PROBLEM, "node-problem rdma",
	 "check for critical verdicts, as a plugin of node-problem-detector"},
	{CTL_NODE_PROBLEM, "node-problem rocelet", "check whether rocelet is ready"},
	{CTL_SUGGEST, "suggest", "propose a configuration for this node"},
	{CTL_SUGGEST, "suggest --configmap rocelet-system/rocelet-config",
	 "propose it as a ConfigMap"},
	{CTL_SUPPORT_BUNDLE, "support-bundle -o bundle.tar.gz", "write one archive for a ticket"},
	{CTL_ATTACH, "attach 03:00.2 --pod training/worker-0 --ip 10.0.0.7/24",
	 "attach a VF to a running pod"},
	{CTL_DETACH, "detach 03:00.2", "return a device to the host"},
	{CTL_PCAP, "pcap capture.pcap", "sum up the RoCE traffic of a capture"},
	{CTL_PCAP, "pcap capture.pcap --only nak", "list the NAKs in it"},
	{CTL_SNIFF, "sniff mlx5_0 --seconds 5", "sum up the next five seconds"},
	{CTL_COMPLETION, "completion bash", "print the completion script for bash"},
	{CTL_HELP, "help top", "print the help of a command"},
	{CTL_VERSION, "version", "print the version of rocectl"},
};

const struct ctl_example *ctl_example(size_t i)
{
	return i < ARRAY_SIZE(examples) ? &examples[i] : NULL;
}
