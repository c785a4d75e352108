# shellcheck shell=bash
# Devices that come and go all day: the daemon neither grows nor tires, and ends up with the right picture.
#   churn.sh [ROUNDS]    how often a soft-RoCE device is added and removed, 250
# shellcheck source=../guest/lib.sh
. /rocelet/lab/guest/lib.sh

ROUNDS=${1:-250} VF_ROUNDS=3
# The heap finds its final size late, by chance of what lies beside what. One device kept per round, or one descriptor, would be
# more than that.
RSS_TOLERANCE_KB=256

vf_ids() {
    local path
    for path in "/sys/class/net/$PF/device/virtfn"*; do basename "$(readlink "$path")"; done
}

sample_age() { # whole seconds
    metric rocelet_sample_timestamp_seconds | awk -v now="$(date +%s)" '{ printf "%d\n", now - $1 }'
}

make_vfs 2
VF=${VFS[0]}
ip address add 10.9.0.1/24 dev "$VF"
ip link set "$VF" up
wait_until "ip link show $VF | grep -q LOWER_UP"
start_rocelet
wait_until "curl -fsS $HTTP/readyz"

say "$ROUNDS times: a soft-RoCE device on a VF"
python3 /rocelet/lab/guest/churn.py "$ROCELET_PID" "$VF" "$ROUNDS" >/tmp/churn || fail "churn: $(cat /tmp/churn)"
eval "$(tr ' ' '\n' </tmp/churn)"
echo "# $ROUNDS rounds in $ROUNDS_S s: $EVENTS events, $LOOKS looks, $SAMPLES samples, $SCRAPES scrapes, $OVERRUNS overruns;" \
    "RSS $RSS_QUARTER kB after a quarter, $RSS_END kB at the end"
check "each was seen to come and go" '((GENERATIONS >= 2 * (ROUNDS - ROUNDS / 10)))'
check "resident memory does not grow ($RSS_QUARTER kB, then $RSS_END kB)" '((RSS_END <= RSS_QUARTER + RSS_TOLERANCE_KB))'
check "nor does the number of descriptors ($FDS_QUARTER, then $FDS_END)" '((FDS_END <= FDS_QUARTER))'
check "no message was malformed" '((MALFORMED == 0))'
check "the page was never old (at most $OLDEST_MS ms)" '((OLDEST_MS <= 4000))'

say "$VF_ROUNDS times: the VFs themselves, with a soft-RoCE device on one"
for ((round = 0; round < VF_ROUNDS; round++)); do
    rdma link add rxe_last type rxe netdev "$VF"
    wait_until "holds_in_devices '\"rxe_last\" in rdma'"
    echo 0 >"/sys/class/net/$PF/device/sriov_numvfs"
    wait_until "holds_in_devices 'not rdma and all(d[\"kind\"] != \"vf\" for d in functions.values())'"
    make_vfs 2
    VF=${VFS[0]}
done

say "afterwards"
rdma link add rxe_last type rxe netdev "$VF"
check_within 5 "the VFs are those of the kernel" \
    "holds_in_devices 'sorted(d for d in functions if functions[d][\"kind\"] == \"vf\") == sorted(\"$(vf_ids | xargs)\".split())'"
check_within 5 "their netdevs are those of the kernel" \
    "holds_in_devices 'all(n in netdevs for n in \"${VFS[*]}\".split()) and sum(len(d[\"netdevs\"]) for d in functions.values() if d[\"kind\"] == \"vf\") == 2'"
check_within 5 "a new RDMA device is on its VF" "holds_in_devices 'list(rdma) == [\"rxe_last\"] and rdma[\"rxe_last\"][\"ports\"][0][\"netdev\"] == \"$VF\"'"
check_within 5 "and on the page" "metric roce_port_info 'device=\"rxe_last\"' 'netdev=\"$VF\"' >/dev/null"
check "the page is of now" '(( $(sample_age) <= 3 ))'
check "no message was malformed" "[[ -z \$(curl -fsS $HTTP/metrics | grep '^rocelet_malformed_messages_total' | grep -v ' 0\$') ]]"
rdma link delete rxe_last
stop_rocelet
check "nothing to complain about" '! grep -E " (error|warn) " $OUT/rocelet.log'
