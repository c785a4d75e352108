# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# An administrator's commands on a cluster of two nodes: install, pods with a VF each and RDMA traffic between them from node to node,
# updates and rollbacks during the traffic, and uninstall.
# cluster: --kubelet --memory 3072 --timeout 3600
# proves: k8s/deploy docs/start/install.md
# when: soak
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh" "$1"
# shellcheck source=../rocelet.sh
. "$(dirname "$0")/../rocelet.sh"

N_VFS=2
cd "$PROJECT_DIR" || exit # the folder of the commands in docs/start/install.md

# The next version is the same source with another number: its image was made before (check.sh), its manifests are copies.
NEXT=$VERSION-next
mkdir "$CLUSTER_OUT/next"
cp -r k8s "$CLUSTER_OUT/next"
grep -rlF "$VERSION" "$CLUSTER_OUT/next/k8s/deploy" | xargs sed -i "s/${VERSION//./\\.}/$NEXT/g"

# ---- effects

not_ready_because() { # NODE WORDS..
    local text word
    text=$(node "$1" "curl -sS http://127.0.0.1:9907/readyz")
    for word in "${@:2}"; do [[ $text == *"$word"* ]] || return; done
}

# Every change of the nodes' allocatable devices from now on: "NODE ALLOCATABLE" a line.
watch_allocatable() { # FILE
    kubectl get nodes --watch -o custom-columns='NAME:.metadata.name,N:.status.allocatable.rocelet\.dev/roce' --no-headers >"$1" 2>&1 &
}

fewest() { # FILE
    awk '{ print $2 + 0 }' "$1" | sort -n | head -n 1
}

# Counts both kubelets' log lines about a plugin's unhealthy devices (pkg/kubelet/cm/devicemanager, markResourceUnhealthy).
n_marked_unhealthy() {
    cat "$CLUSTER_OUT"/node?/kubelet.log | grep -c "Mark all resources Unhealthy for resource $RESOURCE" || true
}

# Runs a command while packets flow, and checks that none is lost.
over_traffic() { # WHAT COMMAND..
    local before after began=$SECONDS
    read -ra before <<<"$(traffic)"
    "${@:2}"
    read -ra after <<<"$(traffic)"
    echo "# $1: $((SECONDS - began)) s, $((after[0] - before[0])) packets, $((after[1] - before[1])) out of sequence," \
        "$((after[2] - before[2])) sent again, $((after[3] - before[3])) dropped by the switch"
    check "$1: packets continued" "((${after[0]} > ${before[0]}))"
    check "$1: none was lost" "((${after[1]} == ${before[1]} && ${after[3]} == ${before[3]}))"
    check "$1: perftest has not ended" "kill -0 $TRAFFIC"
}

wait_for_packets() { # N
    local from
    read -r from _ <<<"$(traffic)"
    wait_until "[[ \$(counter 1 right rcvd_pkts) -gt $((from + $1)) ]]"
}

# Updates one DaemonSet, as Kubernetes does by default.
update() {
    kubectl -n rocelet set image daemonset/rocelet "rocelet=localhost/rocelet:$NEXT"
    check_within 120 "updated on both nodes" rolled_out rocelet "localhost/rocelet:$NEXT"
}

roll_back() {
    kubectl -n rocelet rollout undo daemonset/rocelet
    check_within 120 "rolled back on both nodes" rolled_out rocelet "$IMAGE"
}

# Replaces a DaemonSet by a second one that takes over.
exchange() { # OLD NEW FOLDER   its overlay's
    kubectl apply -f "$3/k8s/deploy/before-1.30/native-versioned.yaml"
    wait_until 60 "[[ \$(n_ready $2) == $N_NODES ]]"
    kubectl -n rocelet delete daemonset "$1"
    check_within 60 "both nodes run $2" rolled_out "$2" "localhost/rocelet:${2#rocelet-}"
}

# ---- the scenario

wait_for_nodes
echo "# both machines are up after $SECONDS s"
on_nodes "make_vfs $N_VFS"
join_nodes
echo "# both nodes are Ready after $SECONDS s"
for version in "$VERSION" "$NEXT"; do on_nodes "import_image rocelet-$version-amd64.tar"; done
for n in 0 1; do remains_of_rocelet "$n" >"$CLUSTER_OUT/before$n"; done

say "install"
kubectl apply -f k8s/deploy/before-1.30/native.yaml
need_within 60 "the DaemonSet is ready on both nodes" rolled_out rocelet "$IMAGE"
echo "# installed after $SECONDS s"
check "without a pool nothing is offered" "[[ -z \$(allocatable 0) && -z \$(allocatable 1) ]]"
PF=$(node 0 'find_pf; echo $PF')

say "a configuration that is wrong when rocelet starts"
configure <<<'{"pools": [{"resourceName": "roce", "selectors": {"pfNames": "all of them"}, "network": {}}]}'
kubectl -n rocelet delete pod --all
check_within 60 "its pods run" "[[ \$(kubectl -n rocelet get pods -o jsonpath='{.items[*].status.phase}') == 'Running Running' ]]"
check_within 30 "and answer scrapes" "[[ \$(node_metric 0 rocelet_samples_total) -gt 0 ]]"
check_within 30 "are not ready" "[[ \$(n_ready rocelet) == 0 ]]"
check "/readyz has the reason: file, key and mistake" "not_ready_because 0 /etc/rocelet/config.json pfNames"
check "in the log, too" "kubectl -n rocelet logs \$(rocelet_on 0) | grep config.json | grep -q pfNames"
check "and rocectl doctor reports it" "kubectl -n rocelet exec \$(rocelet_on 0) -- rocectl doctor | grep -q pfNames"
node 0 "curl -sS http://127.0.0.1:9907/readyz" | sed 's/^/# /'

say "a pool"
configure <<END
{"pools": [{"resourceName": "roce", "selectors": {"pfNames": ["$PF"], "drivers": ["igbvf"]}, "softRoce": true,
  "network": {"subnets": ["10.9.0.0/24"]}}]}
END
# The kubelet updates a ConfigMap in its pods within a minute and a half.
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

# Soft-RoCE at full speed leaves no emulated processor time for kubelet and runtime: limit the rate, with room for all waiting frames.
say "continuous traffic"
set_port 1 rate=2e6 limit=8e6
start_traffic
wait_until "[[ \$(counter 1 right rcvd_pkts) -gt 1000 ]]"
over_traffic "nothing" wait_for_packets 2000

# Kubernetes 1.20 starts a node's next pod when the old one is removed: its devices are not offered in between.
say "a rolling update, and back"
over_traffic "rolling update" update
over_traffic "rollback" roll_back

say "two versions that hand over"
over_traffic "to a DaemonSet by its version" exchange rocelet "rocelet-$VERSION" .
need_within 60 "both nodes offer their VFs" "[[ \$(allocatable 0) == $N_VFS && \$(allocatable 1) == $N_VFS ]]"
watch_allocatable "$CLUSTER_OUT/allocatable"
marked=$(n_marked_unhealthy)
over_traffic "update" exchange "rocelet-$VERSION" "rocelet-$NEXT" "$CLUSTER_OUT/next"
over_traffic "and back" exchange "rocelet-$NEXT" "rocelet-$VERSION" .
sed 's/^/# /' "$CLUSTER_OUT/allocatable"
check "no node has offered fewer devices at any time" "[[ \$(fewest $CLUSTER_OUT/allocatable) == $N_VFS ]]"
check "no kubelet has marked them unhealthy" "[[ \$(n_marked_unhealthy) == $marked ]]"

for n in 0 1; do
    resident=$(node_metric $n process_resident_memory_bytes)
    check "the rocelet of node $n has at most 12 MB ($((resident / 1000)) kB)" "((resident <= 12000000))"
done

say "uninstall"
kubectl delete pod left right
need_within 60 "all VFs are free" all_free
kubectl delete -f k8s/deploy/before-1.30/native-versioned.yaml
for n in 0 1; do
    check_within 60 "node $n is restored" "diff <(remains_of_rocelet $n) $CLUSTER_OUT/before$n"
done
echo "# the scenario took $SECONDS s"
