# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A machine with two NUMA nodes and a kubelet with the policy single-numa-node: all devices of a container are on one node.
# proves: daemon/pools
# shellcheck source=../rig/lib.sh
. "$(dirname "$0")/../rig/lib.sh" "$1"

readonly VF=rocelet.dev/vf

# The NUMA nodes of a pod's devices, each once.
numa_of() { # POD
    local pci
    for pci in $(pod_env "$1" PCIDEVICE_ROCELET_DEV_VF | tr , ' '); do
        cat "$(function_of "$(netdev_of "$pci")")/numa_node"
    done | sort -u | xargs
}

# Three VFs on each node.
make_hardware 2 6
fake_numa
configure <<EOT
{"resourceList": [{"resourceName": "vf", "resourcePrefix": "rocelet.dev", "selectors": {"pfNames": ["ens1np0", "ens2np0"], "isRdma": true}}]}
EOT
start_kubelet "topologyManagerPolicy: single-numa-node"
start_rocelet
need_within 20 "six devices on two nodes" "(( \$(n_registered $VF) == 6 ))"
check "the kubelet knows both nodes" "! kubelet_log | grep -q 'Ignoring NUMA node'"
run_pod a "$VF=2"
run_pod b "$VF=2"
check "two devices are on one node" "[[ '$(numa_of a)' == [01] ]]"
check "the next two are on the other" "[[ '$(numa_of b)' == [01] && '$(numa_of b)' != '$(numa_of a)' ]]"
make_pod c "$VF=2"
check_within 10 "a pod that requests two is rejected if one is free on each node" "pod_status c | grep -q TopologyAffinityError"
remove_pod c
run_pod d "$VF=1"
run_pod e "$VF=1"
check "pods that request one each start" "[[ '$(numa_of d) $(numa_of e)' == [01]\ [01] ]]"
[[ $(numa_of d) == "$(numa_of a)" ]] && single=d || single=e
remove_pod a
remove_pod "$single"
run_pod f "$VF=3"
check "a pod that requests three gets them if they are free on one node" "[[ '$(numa_of f)' == [01] ]]"
stop_rocelet
