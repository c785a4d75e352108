# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Two pools of VFs and a shared one under a real kubelet, with both kinds of registration: containers get exactly their devices, and
# kubelet, PodResources and rocelet report the same.
# proves: daemon/plugin daemon/pools daemon/pods k8s/kubelet k8s/cri
# when: turns
# shellcheck source=../rig/lib.sh
. "$(dirname "$0")/../rig/lib.sh" "$1"

readonly A=rocelet.dev/vf_a B=rocelet.dev/vf_b SHARED=rdma/hca_shared

# The device nodes of the addresses in PCIDEVICE_*, which the container must see.
granted_nodes() { # POD VARIABLE
    local pci netdevs=()
    for pci in $(pod_env "$1" "$2" | tr , ' '); do netdevs+=("$(netdev_of "$pci")"); done
    chardevs_of "${netdevs[@]}"
}

has_exactly_its_devices() { # POD VARIABLE COUNT
    [[ $(pod_env "$1" "$2" | tr , '\n' | sort -u | wc -l) == "$3" && $(pod_devices "$1") == "$(granted_nodes "$1" "$2")" ]]
}

# _INFO names each device with its own nodes, as sriov-network-device-plugin writes it.
info_agrees() { # POD VARIABLE
    local pci index
    for pci in $(pod_env "$1" "$2" | tr , ' '); do
        index=$(index_of "$(netdev_of "$pci")")
        pod_env "$1" "${2}_INFO" | json "doc['$pci']['generic']['deviceID'] == '$pci' and
            doc['$pci']['rdma']['uverbs'] == '/dev/infiniband/uverbs$index' and doc['$pci']['rdma']['rdma_cm'] == '/dev/infiniband/rdma_cm'" |
            grep -qx True
    done
}

# The daemon's own list of a pod's devices, sorted, in one line.
our_pod_devices() { # POD RESOURCE
    api pods "' '.join(sorted(d['id'] for p in doc['pods'] for c in p['containers'] for d in c['devices']
        if p['name'].removesuffix('-rig') == '$1' and d['resource'] == '$2'))"
}

all_agree() { # POD RESOURCE VARIABLE
    local ids
    ids=$(pod_env "$1" "$3" | tr , '\n' | sort | xargs)
    [[ -n $ids && $(pod_resources "$1" "$2") == "$ids" && $(our_pod_devices "$1" "$2") == "$ids" ]]
}

labelled() { # POD VARIABLE
    local pci
    for pci in $(pod_env "$1" "$2" | tr , ' '); do
        metric roce_cnp_sent_packets_total "device=\"$(rdma_of "$(netdev_of "$pci")")\"" "namespace=\"default\"" "pod=\"$1-rig\"" 'container="main"' >/dev/null ||
            return 1
    done
}

# The kubelet has received a list of every resource from this daemon: more lists than the given numbers.
everything_registered() { # LISTS_OF_A LISTS_OF_B LISTS_OF_SHARED
    (($(lists_received $A) > $1 && $(lists_received $B) > $2 && $(lists_received $SHARED) > $3 &&
        $(n_registered $A) == 4 && $(n_registered $B) == 4 && $(n_registered $SHARED) == 10))
}

in_mode() { # registry|legacy
    local pod before
    before="$(lists_received $A) $(lists_received $B) $(lists_received $SHARED)"
    say "$1"
    start_rocelet --registration "$1"
    need_within 20 "$1: the kubelet lists all three resources" everything_registered "$before"
    check "$1: IDs of VFs are their PCI addresses" "[[ '$(registered $A)' == '$(pci_of ens1v{0..3} | sort | xargs)' ]]"
    if [[ $1 == legacy ]]; then
        check "$1: each was registered once" "(( \$(registrations $A) == 1 && \$(registrations $B) == 1 && \$(registrations $SHARED) == 1 ))"
        check "$1: the sockets are named after the resources" "[[ -S $PLUGINS/rocelet.dev_vf_a.sock && -S $PLUGINS/rdma_hca_shared.sock ]]"
    else
        check "$1: the sockets are named after the resources" \
            "[[ -S /var/lib/kubelet/plugins_registry/rocelet.dev_vf_a.sock && -S /var/lib/kubelet/plugins_registry/rdma_hca_shared.sock ]]"
    fi

    run_pod one "$A=1"
    run_pod two "$A=2"
    run_pod other "$B=1"
    run_pod mixed "$A=1" "$SHARED=1"
    run_pod sharing "$SHARED=1"
    run_pod none
    check "$1: a pod that requests one VF sees it and nothing else" "has_exactly_its_devices one PCIDEVICE_ROCELET_DEV_VF_A 1"
    check "$1: a pod that requests two sees two" "has_exactly_its_devices two PCIDEVICE_ROCELET_DEV_VF_A 2"
    check "$1: a pod that requests the other pool gets one of its VFs" \
        "has_exactly_its_devices other PCIDEVICE_ROCELET_DEV_VF_B 1 && [[ \$(netdev_of \$(pod_env other PCIDEVICE_ROCELET_DEV_VF_B)) == ens2v* ]]"
    check "$1: no VF is allocated twice" \
        "[[ -z \$(for p in one two mixed; do pod_env \$p PCIDEVICE_ROCELET_DEV_VF_A | tr , '\n'; done | sort | uniq -d) ]]"
    check "$1: a shared pod sees the HCA's nodes" "[[ '$(pod_devices sharing)' == '$(chardevs_of ens1np0)' ]]"
    check "$1: a pod with both resources sees both" \
        "[[ '$(pod_devices mixed)' == '$(chardevs_of ens1np0 "$(netdev_of "$(pod_env mixed PCIDEVICE_ROCELET_DEV_VF_A)")")' ]]"
    check "$1: a pod that requests nothing sees nothing" "[[ -z '$(pod_devices none)' ]] && ! grep -q PCIDEVICE $PODS/none/env"
    check "$1: _INFO describes each device" "info_agrees one PCIDEVICE_ROCELET_DEV_VF_A && info_agrees two PCIDEVICE_ROCELET_DEV_VF_A"

    check_within 10 "$1: PodResources, /api/v1/pods and the environment agree" \
        "all_agree one $A PCIDEVICE_ROCELET_DEV_VF_A && all_agree two $A PCIDEVICE_ROCELET_DEV_VF_A && all_agree other $B PCIDEVICE_ROCELET_DEV_VF_B"
    check "$1: and the API and PodResources have the same shared slot" "[[ -n '$(pod_resources sharing $SHARED)' && '$(pod_resources sharing $SHARED)' == \$(our_pod_devices sharing $SHARED) ]]"
    check_within 10 "$1: series bear the pod's name" "labelled one PCIDEVICE_ROCELET_DEV_VF_A && labelled two PCIDEVICE_ROCELET_DEV_VF_A"

    make_pod greedy "$B=4"
    check_within 10 "$1: a pod that requests too many is rejected" "pod_status greedy | grep -q UnexpectedAdmissionError"
    remove_pod greedy
    remove_pod one
    check_within 10 "$1: a removed pod is removed from rocelet's list" "[[ -z \$(our_pod_devices one $A) ]]"
    run_pod next "$B=3"
    check "$1: and the daemon keeps working" "has_exactly_its_devices next PCIDEVICE_ROCELET_DEV_VF_B 3"
    for pod in two other mixed sharing none next; do remove_pod "$pod"; done
}

# PreStartContainer checks a container that restarts: its device node is missing.
pre_start() {
    local node
    say "PreStartContainer"
    run_pod gate "$A=1"
    node=uverbs$(index_of "$(netdev_of "$(pod_env gate PCIDEVICE_ROCELET_DEV_VF_A)")")
    rm "/dev/infiniband/$node"
    rm "$PODS/gate/starts"
    kill -KILL "$(pod_pid gate)"
    check_within 20 "a container without its device node does not start, and the pod's status has the reason" "pod_status gate | grep -q 'PreStartContainer.*$node'"
    echo "# $(pod_status gate)"
    make_chardev "$node"
    check_within 60 "it starts when the node is back" "pod_started gate"
    remove_pod gate
}

# "STATE CONTAINER": of an offered VF, from the API.
state_of() { # ID
    api devices "next(o['state'] + ' ' + str((o['holder'] or {}).get('container')) for d in doc['devices'] for o in d['resources'] if o['id'] == '$1')"
}

# PodResources names the containers of a pod, but not its init containers.
init_container() {
    local pci
    say "an init container"
    POD_INIT="$A=1"
    run_pod early
    POD_INIT=''
    pci=$(pod_env early PCIDEVICE_ROCELET_DEV_VF_A init_env)
    run_pod later "$B=1"
    run_pod last "$B=1"
    check "the kubelet does not list the device of an init container" "[[ -n '$pci' && -z '$(pod_resources early $A)' ]]"
    check_within 10 "rocelet does, from the kubelet's checkpoint" "[[ \$(state_of $pci) == 'reserved init' ]]"
    remove_pod early
    check_within 60 "it is free when the pod is removed" "[[ \$(state_of $pci) == 'free None' ]]"
    remove_pod later
    remove_pod last
}

make_hardware 2 8
configure <<EOT
{"resourceList": [
  {"resourceName": "vf_a", "resourcePrefix": "rocelet.dev", "selectors": {"pfNames": ["ens1np0#0-3"], "isRdma": true}},
  {"resourceName": "vf_b", "resourcePrefix": "rocelet.dev", "selectors": [{"pfNames": ["ens2np0#0,1-3"], "isRdma": true}]}],
 "configList": [
  {"resourceName": "hca_shared", "rdmaHcaMax": 10, "selectors": {"ifNames": ["ens1np0"]}}]}
EOT
start_kubelet
in_mode registry
init_container
stop_rocelet
# A kubelet that notices the removal of our sockets from the registry drops their resources a second later, even if they were registered again meanwhile.
stop_kubelet
launch_kubelet
wait_until kubelet_ready
in_mode legacy
pre_start
# The device is unhealthy while its node is missing. On a slow machine that is long enough for a verdict.
check_complaints "the sysfs root is not this kernel|container not started|is unhealthy: no_chardev|no_device_node"
stop_rocelet
