# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# containerd and the real kubelet in the guest, for scenarios that begin with the line
#     # lab: --kubelet --memory 4096
# and source this after lib.sh. A pod is then a real one, from a manifest that the kubelet reads (tests/kubelet/rig/pods.sh has
# make_pod, run_pod, remove_pod, pod_status, ..), and what lib.sh does with pods (in_pod, perftest, ping_pod, ..) it does with them.

readonly KUBELET_DIR=/rocelet/kubelet KUBELET_BIN=/rocelet/kubelet-bin
readonly RUNTIME_ROOT='' CGROUP='' # what the rig of tests/kubelet brings along, the guest has as its own

. "$KUBELET_DIR/rig/containerd.sh"
. "$KUBELET_DIR/rig/kubelet.sh"
. "$KUBELET_DIR/rig/pods.sh"

# What perftest, ip and rdma need in a container whose image has a busybox.
POD_FOLDERS=(/usr /etc/libibverbs.d)
POD_TIMEOUT=90 # all of this is emulated

# containerd, then the kubelet.
start_node() { # [YAML_LINE..]   added to the kubelet's configuration
    modprobe -a overlay bridge br_netfilter veth
    hand_down_controllers
    mkdir -p /run/rig/{manifests,pods,cni} /var/lib/kubelet
    start_containerd
    start_kubelet "$@"
}

hand_down_controllers() {
    sed 's/[a-z]\+/+&/g' /sys/fs/cgroup/cgroup.controllers >/sys/fs/cgroup/cgroup.subtree_control
}

restart_kubelet() { # [SIGNAL]
    stop_kubelet "$@"
    launch_kubelet
    wait_until 180 kubelet_ready
}

# Containers live on.
restart_containerd() { # [SIGNAL]
    kill -"${1:-TERM}" "$CONTAINERD_PID"
    wait "$CONTAINERD_PID" 2>/dev/null || true
    launch_containerd &
    CONTAINERD_PID=$!
    containerd_answers
}

# A pod as others, with more in its manifest: a Python expression that changes `doc`, and is false.
make_pod_with() { # EXPRESSION NAME [RESOURCE=COUNT | ANNOTATION]..
    mkdir -p "$PODS/$2"
    pod_manifest "${@:2}" | json "$1 or json.dumps(doc)" >"/run/rig/$2.json"
    mv "/run/rig/$2.json" "/run/rig/manifests/$2.json"
}

# As a process of the pod's container: its namespaces, its cgroup with the devices it may open, its capabilities.
in_pod() { # NAME COMMAND..
    runc --root /run/containerd/runc/k8s.io exec "$(container_id "$1")" "${@:2}" </dev/null
}

# A namespace that the scenario has made by hand has its name, as without a kubelet.
pod_netns() { # NAME
    local path=/run/netns/$1
    [[ -e $path ]] || path=/proc/$(pod_pid "$1")/ns/net
    echo "$path"
}

# The last part of its cgroup's path.
container_id() { # NAME
    local path
    path=$(<"/proc/$(pod_pid "$1")/cgroup")
    echo "${path##*/}"
}

show_logs() {
    echo "--- pods"
    pods 2>/dev/null || true
    echo "--- end of the kubelet's log"
    tail -n 15 "$OUT/kubelet.log" 2>/dev/null || true
}
