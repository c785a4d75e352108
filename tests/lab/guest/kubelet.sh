# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# containerd and the real kubelet in the guest, for scenarios that begin with the line
#     # lab: --kubelet --memory 4096
# and source this after lib.sh. A pod is then a real one, from a manifest that the kubelet reads (tests/kubelet/rig/pods.sh has
# make_pod, run_pod, remove_pod, pod_status, ..), and the functions of lib.sh (in_pod, perftest, ping_pod, ..) use them.

readonly KUBELET_DIR=/rocelet/kubelet KUBELET_BIN=/rocelet/kubelet-bin
readonly RUNTIME_ROOT='' CGROUP='' # the rig of tests/kubelet brings its own runtime and cgroup, the guest uses the system's

. "$KUBELET_DIR/rig/containerd.sh"
. "$KUBELET_DIR/rig/kubelet.sh"
. "$KUBELET_DIR/rig/pods.sh"

# Mounts for perftest, ip and rdma in a container whose image has only a busybox.
POD_FOLDERS=(/usr /etc/libibverbs.d)
POD_TIMEOUT=90 # all of this is emulated

# Starts containerd, then the kubelet.
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

# Containers keep running.
restart_containerd() { # [SIGNAL]
    kill -"${1:-TERM}" "$CONTAINERD_PID"
    wait "$CONTAINERD_PID" 2>/dev/null || true
    launch_containerd &
    CONTAINERD_PID=$!
    containerd_answers
}

# Creates a pod whose manifest is changed by a Python expression on `doc`, which must be false.
make_pod_with() { # EXPRESSION NAME [RESOURCE=COUNT | ANNOTATION]..
    mkdir -p "$PODS/$2"
    pod_manifest "${@:2}" | json "$1 or json.dumps(doc)" >"/run/rig/$2.json"
    mv "/run/rig/$2.json" "/run/rig/manifests/$2.json"
}

# Runs a command as a process of the pod's container: in its namespaces and device cgroup, with its capabilities.
in_pod() { # NAME COMMAND..
    runc --root /run/containerd/runc/k8s.io exec "$(container_id "$1")" "${@:2}" </dev/null
}

# A namespace created by the scenario itself has its name, as without a kubelet.
pod_netns() { # NAME
    local path=/run/netns/$1
    [[ -e $path ]] || path=/proc/$(pod_pid "$1")/ns/net
    echo "$path"
}

# The container's ID: the last part of its cgroup's path.
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
