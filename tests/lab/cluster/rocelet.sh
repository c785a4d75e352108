# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# For scenarios with rocelet on the cluster: its state in the cluster, pods with a VF each, and traffic between them. Sourced after lib.sh.

RESOURCE=rocelet.dev/roce
IMAGE=localhost/rocelet:$VERSION

# ---- its state in the cluster

# The DaemonSet runs on all nodes, with this image.
rolled_out() { # DAEMONSET IMAGE
    [[ $(kubectl -n rocelet get daemonset "$1" -o jsonpath='{.status.observedGeneration} {.status.updatedNumberScheduled} {.status.numberReady}' 2>/dev/null) == \
        "$(kubectl -n rocelet get daemonset "$1" -o jsonpath='{.metadata.generation}') $N_NODES $N_NODES" ]] &&
        [[ $(images) == "$2 $2" ]]
}

n_ready() { # DAEMONSET
    kubectl -n rocelet get daemonset "$1" -o jsonpath='{.status.numberReady}'
}

# The images of all pods of rocelet.
images() {
    kubectl -n rocelet get pods -o jsonpath='{.items[*].spec.containers[*].image}'
}

rocelet_on() { # NODE
    kubectl -n rocelet get pods --field-selector "spec.nodeName=node$1" -o name
}

# The number of allocatable devices of a node.
allocatable() { # NODE
    kubectl get node "node$1" -o jsonpath='{.status.allocatable.rocelet\.dev/roce}'
}

pod_phase() { # POD
    kubectl get pod "$1" -o jsonpath='{.status.phase}'
}

# rocelet has returned all VFs, and knows that no pod has one.
all_free() {
    [[ $(node_metric 0 rocelet_resource_free) == "$N_VFS" && $(node_metric 1 rocelet_resource_free) == "$N_VFS" ]]
}

# Everything that rocelet could leave on a node, except empty folders: the hardware's interfaces with their VFs, RDMA devices, programs, files. The PF
# does not know the MAC that igbvf has chosen before the VF is first up; from then on it shows the same as the VF's interface.
remains_of_rocelet() { # NODE
    node "$1" 'own=$(cat /sys/class/net/*/address | sort -u | paste -sd "|")
        for device in /sys/class/net/*/device; do cat "${device%device}address"; ip -d link show dev "$(basename "${device%/device}")"; done |
            sed -E "s/^[0-9]+: //; s/ qdisc [a-z_]+ / /; s/ (state|mode) [A-Z]+//g; s#^( +vf [0-9]+ +link/ether) ($own) #\1 own #" | grep -v "^ *link/ether"
        rdma link show; bpftool prog show | grep -oE " name (rocelet|roce)[^ ]*" || true
        find /run/rocelet /var/lib/rocelet /dev/rocelet /sys/fs/bpf /var/run/cdi /var/lib/kubelet/plugins_registry ! -type d 2>/dev/null || true
        ls -d /var/lib/kubelet/device-plugins/*rocelet* 2>/dev/null || true'
}

# ---- pods. A node's helpers find them by their last argument.

pod_manifest() { # NAME NODE IP/LEN
    cat <<END
apiVersion: v1
kind: Pod
metadata:
  name: $1
  annotations:
    rocelet.dev/networks: '[{"resource": "$RESOURCE", "ips": ["$3"]}]'
spec:
  nodeSelector: {kubernetes.io/hostname: node$2}
  terminationGracePeriodSeconds: 1
  containers:
  - name: main
    image: localhost/busybox:1
    imagePullPolicy: Never
    command: [/bin/sh, -c, 'trap exit TERM; while :; do sleep 3600 & wait; done', rig-pod-$1]
    resources: {limits: {$RESOURCE: 1}}
    # The image has only a busybox: perftest comes from the node.
    volumeMounts:
    - {name: usr, mountPath: /usr, readOnly: true}
    - {name: libibverbs, mountPath: /etc/libibverbs.d, readOnly: true}
  volumes:
  - {name: usr, hostPath: {path: /usr}}
  - {name: libibverbs, hostPath: {path: /etc/libibverbs.d}}
END
}

# perftest in a pod, on the RDMA device of its VF.
write_bw() { # POD ARGS..
    kubectl exec "$1" -- sh -c "exec ib_write_bw -d \$(echo rxe_\$PCIDEVICE_ROCELET_DEV_ROCE | tr :. __) ${*:2}"
}

is_listening() {
    node 1 'in_netns right ss -Hltn "sport = :18515" | grep -q .'
}

# Traffic from left to right until one of them ends.
start_traffic() {
    write_bw right -D 3000 -u 20 -s 4096 --tclass=106 &>"$CLUSTER_OUT/right.log" &
    wait_until is_listening
    write_bw left -D 3000 -u 20 -s 4096 --tclass=106 10.9.0.2 &>"$CLUSTER_OUT/left.log" &
    TRAFFIC=$!
}

# The ConfigMap, from stdin.
configure() {
    kubectl -n rocelet create configmap rocelet --from-file=config.json=/dev/stdin --dry-run=client -o yaml | kubectl apply -f -
}

# A counter of the kernel for the RDMA device of a pod.
counter() { # NODE POD NAME
    node "$1" "rdma_counter \$(pod_rdma $2) $3"
}

# Counts of the traffic so far: packets that right has received, out of sequence among them, duplicates and retries of both, and frames that
# the switch has dropped.
traffic() {
    local right left
    right=$(node 1 'rdma statistic show link "$(pod_rdma right)/1"') left=$(node 0 'rdma statistic show link "$(pod_rdma left)/1"')
    sums() { # TEXT COUNTER..
        xargs -n 2 <<<"${1#link */1}" | awk -v names=" ${*:2} " 'index(names, " " $1 " ") { n += $2 } END { print n + 0 }'
    }
    echo "$(sums "$right" rcvd_pkts) $(($(sums "$right" out_of_seq_request) + $(sums "$left" rcvd_seq_err)))" \
        "$(($(sums "$right" duplicate_request) + $(sums "$left" completer_retry_err)))" "$(($(dropped 0) + $(dropped 1)))"
}

dropped() { # NODE
    port_counters "$1" | cut -d' ' -f3
}
