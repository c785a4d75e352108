# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A demo: the commands of docs/start/install.md with their output, on a cluster of two nodes, then traffic between two pods and both rocelets' counters of
# it, until Ctrl-C or for DEMO_SECONDS. With congestion at times: the switch's port to node 1 is slow for half of every minute.
# cluster: --kubelet --memory 3072 --timeout 86400
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh" "$1"
# shellcheck source=../rocelet.sh
. "$(dirname "$0")/../rocelet.sh"

cd "$PROJECT_DIR" || exit

# Prints a command as typed, and runs it.
type() {
    printf '\n$ %s\n' "$*"
    "$@"
}

# Sets RATE to a counter's growth per second since the last call; "-" if unknown.
declare -A LAST
measure() { # NODE NAME ['label="x"'..]
    local value now=${EPOCHREALTIME/[.,]/} last
    RATE=-
    value=$(node_metric "$@" 2>/dev/null) || return 0
    read -ra last <<<"${LAST[$*]:-}"
    [[ -z ${last[0]:-} ]] || RATE=$(awk -v grown="$((value - last[0]))" -v us="$((now - last[1]))" 'BEGIN { printf "%.0f", grown * 1e6 / us }')
    LAST[$*]="$value $now"
}

show_node() { # NODE POD
    local series row
    printf -v row '%-6s %-8s' "node$1" "$2"
    for series in roce_bytes_total roce_packets_total; do
        measure "$1" "$series" 'direction="received"'
        printf -v row '%s %12s' "$row" "$RATE"
    done
    measure "$1" roce_ecn_ce_received_packets_total
    printf '%s %10s\n' "$row" "$RATE"
}

wait_for_nodes
on_nodes "make_vfs 2"
join_nodes
type kubectl get nodes
on_nodes "import_image rocelet-$VERSION-amd64.tar"
echo "(the image of \`make image\` is imported on both nodes)"
type kubectl apply -f k8s/deploy/before-1.30/native.yaml
need_within 60 "the DaemonSet is ready on both nodes" rolled_out rocelet "$IMAGE"
type kubectl -n rocelet get daemonset
type kubectl -n rocelet exec "$(rocelet_on 0)" -- rocectl suggest
PF=$(node 0 'find_pf; echo $PF')
configure <<END
{"pools": [{"resourceName": "roce", "selectors": {"pfNames": ["$PF"], "drivers": ["igbvf"]}, "softRoce": true,
  "network": {"subnets": ["10.9.0.0/24"]}}]}
END
echo "(that, with soft-RoCE and addresses, is the ConfigMap from now on; the kubelets bring it to the nodes within a minute)"
need_within 120 "both nodes offer their VFs" "[[ \$(allocatable 0) == 2 && \$(allocatable 1) == 2 ]]"
type kubectl get nodes -o custom-columns='NODE:.metadata.name,VFS:.status.allocatable.rocelet\.dev/roce'
{ pod_manifest left 0 10.9.0.1/24; echo ---; pod_manifest right 1 10.9.0.2/24; } | kubectl apply -f -
need_within 90 "both run" "[[ \$(pod_phase left) == Running && \$(pod_phase right) == Running ]]"
type kubectl get pods -o wide
type kubectl exec left -- ip address show net1
for n in 0 1; do type kubectl -n rocelet exec "$(rocelet_on $n)" -- rocectl pods; done
printf '\n$ kubectl exec left -- ib_write_bw ... 10.9.0.2      (from node to node, without end)\n'
start_traffic

began=$SECONDS
until ((SECONDS - began >= ${DEMO_SECONDS:-86400})); do
    if (((SECONDS - began) % 60 < 30)); then set_port 1 off; way="as wide as it can be"; else set_port 1 rate=8e6 mark=5000; way="8 Mbit/s, and ECN marks from 5 kB on"; fi
    printf '\n%3d s   the switch to node1: %s\n%-6s %-8s %12s %12s %10s\n' $((SECONDS - began)) "$way" NODE POD "RX byte/s" "RX packet/s" "CE/s"
    show_node 0 left
    show_node 1 right
    sleep 3
done
check "packets have gone from node to node" "[[ \$(counter 1 right rcvd_pkts) -gt 1000 ]]"
check "perftest has not ended" "kill -0 $TRAFFIC"
