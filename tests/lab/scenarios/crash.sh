# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The daemon is killed before and after every step of an attach and of a return, and started again: the VF is attached, or clean
# and free; none is lost, none is half attached.
# lab: --kubelet --memory 4096 --timeout 1800
# proves: daemon/attach daemon/attach/journal
# when: turns some
# when: soak --timeout 3600 -- 3
# needs: kill-points
# shellcheck source=../guest/lib.sh
. /rocelet/lab/guest/lib.sh
# shellcheck source=../guest/kubelet.sh
. /rocelet/lab/guest/kubelet.sh
# shellcheck source=../guest/attach.sh
. /rocelet/lab/guest/attach.sh

# crash.sh [ROUNDS [KILL_POINT..]]    every kill point that often (1) by admin requests; in every other round a pod ends with its
# namespace instead of a request
# crash.sh some                       once, after the steps that move or record most, and the kubelet's pods as with all
ROUNDS=${1:-1} POINTS=("${@:2}") WHICH=.
[[ $ROUNDS != some ]] || ROUNDS=1 WHICH='record|(move|renew|configure|done)-after'
# Kill points that only InfiniBand VFs pass; the lab has none.
INFINIBAND=' attach-admin-2-before attach-move-2-before '
IN_PODS=(attach-move-after attach-done-before back-move-after)
POD=crash IP=10.9.0.1/24
MAC=02:00:00:00:00:0a VLAN=100

# The VF is attached or free, and the daemon reports the same.
is_right() { # ID
    is_free "$1" || { [[ $(engine_state "$1") == in_pod ]] && is_complete $POD "$1" $IP && has_settings "$1" "$MAC" "vlan $VLAN"; }
}

# An attach request with an address from an IPAM plugin.
request_attach() { # ID
    curl -fsS -m 30 --unix-socket /run/rocelet/rocelet.sock -o /dev/null --data @- http://localhost/api/v1/attach <<END
{"device": "$1", "netns": "/run/netns/$POD", "mac": "$MAC", "vlan": $VLAN, "mtu": 1400, "softRoce": true,
 "ipam": {"type": "static", "addresses": [{"address": "$IP"}]}}
END
}

# Residual state that outlives the namespace, and that only a new netdev ends.
leave_behind() {
    ip netns add $POD-nested
    ip -n $POD link add link net1 name up0 type macvlan
    ip -n $POD link set up0 netns $POD-nested
}

# Runs an attach or a return up to the daemon's death.
die_at() { # KILL_POINT ROUND ID
    start_armed "$1"
    if [[ $1 == attach-* ]]; then
        request_attach "$3" &>/dev/null || true # without an answer
    else
        request_attach "$3"
        [[ $1 != back-renew-[0-9]* ]] || leave_behind
        if (($2 % 2)); then rocectl detach "$3" &>/dev/null || true; else ip netns delete $POD; fi
    fi
    dies 60
}

by_request() { # KILL_POINT ROUND ID
    ip netns add $POD
    if ! die_at "$@"; then
        check "$1: the kill point is reached" false
        kill_rocelet
    fi
    start_engine
    check_within 30 "$1: it is in its namespace, or free and as before" "is_right $3"
    is_right "$3" || show_difference "$3" $POD
    echo "# $1: $(engine_state "$3")"
    # In any state it can be returned.
    rocectl detach "$3" &>/dev/null || true
    [[ ! -e /run/netns/$POD ]] || ip netns delete $POD
    wait_until "is_free $3"
    [[ ! -e /run/netns/$POD-nested ]] || ip netns delete $POD-nested
    kill_rocelet
}

with_lists() { # N: waits until the kubelet has received more than N lists
    wait_until 60 "(( \$(lists_received $RESOURCE) > $1 ))"
}

in_a_pod() { # KILL_POINT
    local lists id
    lists=$(lists_received $RESOURCE)
    start_armed "$1"
    with_lists "$lists"
    lists=$(lists_received $RESOURCE)
    make_pod $POD "$RESOURCE=1" "[{\"resource\": \"$RESOURCE\", \"ips\": [\"$IP\"]}]"
    if [[ $1 == back-* ]]; then
        wait_until "$POD_TIMEOUT" "pod_started $POD"
        remove_pod $POD
    fi
    dies 60 || fail "$1: is not passed"
    start_engine
    if [[ $1 == attach-* ]]; then
        check_within 120 "$1: the pod starts" "pod_started $POD"
        id=$(pod_env $POD $VARIABLE)
        check "$1: its VF is complete" "is_complete $POD $id $IP"
        with_lists "$lists" # of the new daemon, before it exits
        remove_pod $POD
    fi
    check_all_free
    kill_rocelet
}

make_pool 2 '{"mtu": 1400, "vlan": 100, "spoofchk": "off", "trust": "on", "maxTxRate": 200}'
((${#POINTS[@]})) || {
    host_part
    mapfile -t POINTS < <(grep -E -e "$WHICH" "$OUT/kill_points" | grep -v '^cni-') # those are for crash_cni
}
namespaces=$(n_namespaces)

say "by admin requests: ${#POINTS[@]} kill points, $ROUNDS times"
n=0
for ((round = 1; round <= ROUNDS; round++)); do
    for point in "${POINTS[@]}"; do
        [[ $INFINIBAND != *" $point "* ]] || continue
        by_request "$point" "$round" "${VF_IDS[n++ % 2]}"
    done
done
start_engine
check_all_free
check "no namespace is left" "(( $(n_namespaces) <= namespaces ))"
check "the journal has one file for each VF at most" "(( $(find $STATE_DIR/devices -type f | wc -l) <= 2 ))"
kill_rocelet
echo "# by admin requests: $SECONDS s"

(($# < 2)) || exit 0
say "through the kubelet"
start_node
for point in "${IN_PODS[@]}"; do in_a_pod "$point"; done
echo "# the scenario took $SECONDS s"
