# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Devices are added and removed again and again: the daemon does not grow, and its inventory is right in the end.
#   churn.sh [ROUNDS]    how often a soft-RoCE device is added and removed, 250
# proves: daemon/inventory daemon/packets
# when: soak --timeout 3600 --
# shellcheck source=../guest/lib.sh
. /rocelet/lab/guest/lib.sh

ROUNDS=${1:-250} VF_ROUNDS=3
# The heap reaches its final size late, depending on its fragmentation: each device has programs loaded for it, whose objects are
# allocated and freed among all others (600 rounds grow no more than 250). Leaking a device with its programs per round would exceed this.
MEMORY_TOLERANCE_KB=768

sample_age() { # whole seconds
    metric rocelet_sample_timestamp_seconds | awk -v now="$(date +%s)" '{ printf "%d\n", now - $1 }'
}

make_vfs 1
ip link set "${VFS[0]}" up
wait_until "ip link show ${VFS[0]} | grep -q LOWER_UP"
start_rocelet --sample-interval 0.2
wait_until is_up
# BPF programs on RDMA's modules come with the first device and go with the last: one stays.
rdma link add rxe_keep type rxe netdev "$PF"
for program in qp_created soft_completion; do
    wait_until 120 "[[ \$(metric rocelet_bpf_program_loaded 'program=\"$program\"') == 1 ]]"
done

say "$ROUNDS times: a soft-RoCE device on a VF"
python3 /rocelet/lab/guest/churn.py "$ROCELET_PID" "${VFS[0]}" "$ROUNDS" >/tmp/churn || fail "churn: $(cat /tmp/churn)"
eval "$(tr ' ' '\n' </tmp/churn)"
echo "# $ROUNDS rounds in $TOOK_S s: $EVENTS events, $LOOKS scans, $SAMPLES samples, $SCRAPES scrapes, $OVERRUNS overruns;" \
    "memory $MEMORY_QUARTER kB after a quarter, $MEMORY_END kB at the end"
# Added and removed at least in every other round.
check "the inventory followed ($GENERATIONS changes)" '((GENERATIONS >= ROUNDS))'
check "memory does not grow ($MEMORY_QUARTER kB, then $MEMORY_END kB)" '((MEMORY_END <= MEMORY_QUARTER + MEMORY_TOLERANCE_KB))'
check "nor does the number of descriptors ($FDS_QUARTER, then $FDS_END)" '((FDS_END <= FDS_QUARTER))'
check "no message was malformed" '((MALFORMED == 0))'
check "the page was never old (at most $OLDEST_MS ms)" '((OLDEST_MS <= 15000))'

rdma link delete rxe_keep

say "$VF_ROUNDS times: the VF itself, with a soft-RoCE device on it"
for ((round = 0; round < VF_ROUNDS; round++)); do
    rdma link add rxe_last type rxe netdev "${VFS[0]}"
    wait_until "holds_in_devices '\"rxe_last\" in rdma'"
    echo 0 >"/sys/class/net/$PF/device/sriov_numvfs"
    wait_until "holds_in_devices 'not rdma and all(d[\"kind\"] != \"vf\" for d in functions.values())'"
    make_vfs 1
done
VF=${VFS[0]} VF_ID=$(basename "$(readlink "/sys/class/net/$PF/device/virtfn0")")

say "afterwards"
rdma link add rxe_last type rxe netdev "$VF"
check_within 5 "the inventory has this VF only" \
    "holds_in_devices '[d for d in functions if functions[d][\"kind\"] == \"vf\"] == [\"$VF_ID\"]'"
check_within 5 "the inventory has its netdev only" \
    "holds_in_devices '[n[\"name\"] for d in functions.values() if d[\"kind\"] == \"vf\" for n in d[\"netdevs\"]] == [\"$VF\"]'"
check_within 5 "a new RDMA device is on its VF" "holds_in_devices 'list(rdma) == [\"rxe_last\"] and rdma[\"rxe_last\"][\"ports\"][0][\"netdev\"] == \"$VF\"'"
check_within 5 "the soft-RoCE device is on the page" "metric roce_port_info 'device=\"rxe_last\"' 'netdev=\"$VF\"' >/dev/null"
check_within 5 "the page is current" '(( $(sample_age) <= 3 ))'
check "no message was malformed" "[[ -z \$(curl -fsS $HTTP/metrics | grep '^rocelet_malformed_messages_total' | grep -v ' 0\$') ]]"
rdma link delete rxe_last
stop_rocelet
# Removing a device takes its port down.
check_complaints "rxe_.*PortDown"
