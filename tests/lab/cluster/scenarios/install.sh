# shellcheck shell=bash
# What an administrator does, in his words, on a cluster of two nodes: install, and two pods with a VF each and RDMA traffic between them, from node
# to node.
# cluster: --kubelet --memory 3072 --timeout 1800
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh" "$1"

RESOURCE=rocelet.dev/roce
N_VFS=2
IMAGE=localhost/rocelet:$VERSION
cd "$PROJECT_DIR" || exit # where the words of docs/install.md are typed

# ---- what the cluster says

daemonset() { # JSONPATH
    kubectl -n rocelet get daemonset rocelet -o jsonpath="$1"
}

# On all nodes, with this image.
rolled_out() { # IMAGE
    [[ $(daemonset '{.status.observedGeneration} {.status.updatedNumberScheduled} {.status.numberReady}') == "$(daemonset '{.metadata.generation}') $N_NODES $N_NODES" ]] &&
        [[ $(kubectl -n rocelet get pods -o jsonpath='{.items[*].spec.containers[*].image}') == "$1 $1" ]]
}

# How many devices pods can be given there.
allocatable() { # NODE
    kubectl get node "node$1" -o jsonpath='{.status.allocatable.rocelet\.dev/roce}'
}

pod_phase() { # POD
    kubectl get pod "$1" -o jsonpath='{.status.phase}'
}

# ---- pods. Their last argument is how a node's helpers find them.

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
    # Of the image there is a busybox only: perftest is the node's.
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

# From left to right until one of them ends.
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

# Of the traffic so far: packets that right has received; of those, how many came out of sequence; left's and right's that came twice or were sent again;
# frames that the switch has dropped.
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

# ---- the scenario

wait_for_nodes
echo "# both machines are up after $SECONDS s"
on_nodes "make_vfs $N_VFS"
join_nodes
echo "# both nodes are Ready after $SECONDS s"
on_nodes "import_image rocelet-$VERSION-amd64.tar"

say "install"
kubectl apply -k k8s/deploy/overlays/native
need_within 60 "the DaemonSet is ready on both nodes" rolled_out "$IMAGE"
echo "# installed after $SECONDS s"
check "without a pool nothing is offered" "[[ -z \$(allocatable 0) && -z \$(allocatable 1) ]]"
PF=$(node 0 'find_pf; echo $PF')

say "a pool"
configure <<END
{"pools": [{"resourceName": "roce", "selectors": {"pfNames": ["$PF"], "drivers": ["igbvf"]}, "softRoce": true,
  "network": {"subnets": ["10.9.0.0/24"]}}]}
END
# The kubelet brings a ConfigMap to its pods within a minute and a half.
need_within 120 "both nodes offer their VFs" "[[ \$(allocatable 0) == $N_VFS && \$(allocatable 1) == $N_VFS ]]"

say "two pods on two nodes"
{ pod_manifest left 0 10.9.0.1/24; echo ---; pod_manifest right 1 10.9.0.2/24; } | kubectl apply -f -
need_within 90 "both run" "[[ \$(pod_phase left) == Running && \$(pod_phase right) == Running ]]"
check "each has its VF as net1, with its address" \
    "kubectl exec left -- ip -brief address show net1 | grep -q 10.9.0.1/24 && kubectl exec right -- ip -brief address show net1 | grep -q 10.9.0.2/24"
check "they reach each other across the switch" "kubectl exec left -- busybox ping -c 1 -W 10 10.9.0.2 >/dev/null"
write_bw right -n 100 -s 1024 &>"$CLUSTER_OUT/right.log" &
server=$!
wait_until is_listening
check "ib_write_bw runs from node to node" "write_bw left -n 100 -s 1024 10.9.0.2 &>$CLUSTER_OUT/left.log || grep -q \"Can't produce a report\" $CLUSTER_OUT/left.log"
wait "$server" || true

say "traffic without end"
start_traffic
wait_until "[[ \$(counter 1 right rcvd_pkts) -gt 2000 ]]"
read -ra before <<<"$(traffic)"
wait_until "[[ \$(counter 1 right rcvd_pkts) -gt $((before[0] + 20000)) ]]"
read -ra after <<<"$(traffic)"
echo "# $((after[0] - before[0])) packets, $((after[1] - before[1])) out of sequence, $((after[2] - before[2])) sent again," \
    "$((after[3] - before[3])) dropped by the switch"
check "packets go on" "((${after[0]} > ${before[0]}))"
check "none is lost" "((${after[1]} == ${before[1]} && ${after[3]} == ${before[3]}))"
check "perftest has not ended" "kill -0 $TRAFFIC"
echo "# the scenario took $SECONDS s"
