# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Pods with a VF each, from plain manifests: net1, RDMA, the settings on the PF, and everything restored afterwards.
# lab: --kubelet --memory 4096 --timeout 1500
# proves: daemon/attach daemon/plugin daemon/pods hw/ops
# when: core 1 two_pods in_a_row
# when: turns 1
# when: soak --timeout 3600 -- 30
# shellcheck source=../guest/lib.sh
. /rocelet/lab/guest/lib.sh
# shellcheck source=../guest/kubelet.sh
. /rocelet/lab/guest/kubelet.sh
# shellcheck source=../guest/attach.sh
. /rocelet/lab/guest/attach.sh

# attach.sh [PODS [PART..]]     how many pods in a row check their interface from inside; parts: functions below, default all
PODS_IN_A_ROW=${1:-3}
PARTS=("${@:2}")
((${#PARTS[@]})) || PARTS=(two_pods in_a_row ends_at_once init_container annotations)

# The container's first command sees its interface. Each start leaves a line; a start without the interface ends it.
LOOK_FIRST='l=$(busybox ip address show net1 2>&1); echo $l >>/seen/first; case $l in *[,\<]UP[,\>]*"inet "*) ;; *) exit 9 ;; esac'

# Only the device cgroup decides, whichever nodes are visible in the container.
can_open() { # POD ID
    in_pod "$1" sh -c "exec 3<>/dev/infiniband/by-name/$2"
}

two_pods() {
    say "two pods"
    POD_FIRST=$LOOK_FIRST
    make_pod b "$RESOURCE=1" "$(entry '"ips": ["10.9.0.2/24"], "vlan": 100, "vlanQoS": 3')"
    run_pod a "$RESOURCE=1" "$(entry '"ips": ["10.9.0.1/24"], "mac": "02:00:00:00:00:0a", "vlan": 100, "maxTxRate": 200, "spoofchk": "off", "trust": "on", "mtu": 1300')"
    wait_until 60 "pod_started b"
    a=$(vf_of a) b=$(vf_of b)
    check "both have their VF as net1, with address and RDMA device" "is_complete a $a 10.9.0.1/24 && is_complete b $b 10.9.0.2/24"
    check "without an MTU in the annotation a pod gets the pool's" "in_netns b ip link show net1 | grep -q 'mtu 1400 ' && in_netns a ip link show net1 | grep -q 'mtu 1300 '"
    check "MAC, VLAN, rate, spoofchk and trust are set on the PF" \
        "has_settings $a 'link/ether 02:00:00:00:00:0a' 'vlan 100' 'max_tx_rate 200Mbps' 'spoof checking off' 'trust on'"
    check "the other VF has the pool's settings" "has_settings $b 'vlan 100' 'qos 3' 'spoof checking on' 'trust off'"
    check "the pod sees the MAC" "in_netns a ip link show net1 | grep -q 02:00:00:00:00:0a"
    check_within 10 "ping goes through" "ping_pod a b >/dev/null"
    check "ib_write_bw runs between the containers" "perftest ib_write_bw a b -n 100 -s 1024"
    check "ib_send_lat runs, too" "perftest ib_send_lat a b -n 50"
    check "a container can open its own RDMA device" "can_open a $a"
    check "and not the other's" "! can_open a $b"

    say "the pods end"
    remove_pod a
    remove_pod b
    check_all_free
}

gate_seconds() { metric rocelet_gate_seconds_sum; }

in_a_row() {
    say "$PODS_IN_A_ROW pods in a row: is the interface there before the first instruction?"
    POD_FIRST=$LOOK_FIRST
    well=0 WAITS=()
    for ((i = 0; i < PODS_IN_A_ROW; i++)); do
        before=$(gate_seconds)
        make_pod "row$i" "$RESOURCE=1" "$(entry "\"ips\": [\"10.9.1.$((i + 1))/24\"]")"
        becomes_true "$POD_TIMEOUT" "pod_started row$i || pod_status row$i | grep -q ^Failed" || true
        first=$(cat "$PODS/row$i/first" 2>&1 || true)
        if [[ $first == *"inet 10.9.1.$((i + 1))/24"* ]] && (($(wc -l <<<"$first") == 1)); then
            well=$((well + 1))
        else
            echo "row$i: $first; $(pod_status "row$i")"
        fi
        becomes_true 5 "[[ \$(gate_seconds) != $before ]]" || true
        WAITS+=("$(awk -v a="$before" -v b="$(gate_seconds)" 'BEGIN { printf "%.2f", (b - a) * 1000 }')")
        remove_pod "row$i"
    done
    echo "# PreStartContainer waited ${WAITS[*]} ms, median $(tr ' ' '\n' <<<"${WAITS[*]}" | sort -n | sed -n "$(((${#WAITS[@]} + 1) / 2))p")"
    check "$PODS_IN_A_ROW pods started, and none before its interface" "((well == PODS_IN_A_ROW))"
    check_all_free
}

ends_at_once() {
    say "three pods that end at once, twice: events report ordinary ends only"
    POD_FIRST=$LOOK_FIRST
    for round in 1 2; do
        for n in 1 2 3; do make_pod "end$n$round" "$RESOURCE=1" "$(entry "\"ips\": [\"10.9.3.$n/24\"]")"; done
        for n in 1 2 3; do wait_until "$POD_TIMEOUT" "pod_started end$n$round"; done
        rm -f /run/rig/manifests/end?"$round.json"
        for n in 1 2 3; do remove_pod "end$n$round"; done
        check_all_free
    done
    rocectl events --limit 500 | grep -w -e Returned -e AttachFailed | sed 's/^/# /'
    check "no end was reported as a failure" "! rocectl events --limit 500 | grep -q -e 'moved out of its pod' -e AttachFailed -e ReturnFailed -e Orphan"
}

init_container() {
    say "an init container alone has the VF"
    POD_FIRST=: POD_INIT=$RESOURCE=1
    run_pod early "$(entry '"ips": ["10.9.2.1/24"]')"
    POD_INIT=''
    early=$(pod_env early $VARIABLE init_env)
    check "the init container had its interface" "grep -q 'inet 10.9.2.1/24' $PODS/early/init_net"
    check "the VF stays with its pod" "[[ \$(engine_state $early) == in_pod ]] && is_complete early $early 10.9.2.1/24"
    remove_pod early
    check_all_free
}

# name | annotation | words of the sentence
bad_annotations() {
    local word
    cat <<END
json | [{"resource": "$RESOURCE", | JSON
foreign | [{"resource": "nobody.dev/x"}] | resource nobody.dev/x
path | $(entry '"interface": "../x"') | interface ../x
END
    printf 'big | [{"resource": "%s", "x": "' "$RESOURCE"
    for word in {1..12000}; do printf 'too long '; done
    echo '"}] | long'
}

NAMES=() WORDS=()

# The pods created so far fail, each with its own sentence.
check_refused() {
    local i
    for i in "${!NAMES[@]}"; do
        check_within 90 "${NAMES[i]}: the pod does not start, and its status has the reason" "refused ${NAMES[i]} ${WORDS[i]}"
        echo "# $(pod_status "${NAMES[i]}" | grep -o 'default/.*' | cut -c1-200)"
        check "${NAMES[i]}: nothing was started" "[[ ! -e $PODS/${NAMES[i]}/starts ]]"
        remove_pod "${NAMES[i]}"
    done
    NAMES=() WORDS=()
    check_all_free
}

annotations() {
    say "annotations that are wrong"
    POD_FIRST=:
    while IFS='|' read -r name annotation words; do
        name=bad-${name// /}
        annotation=${annotation# } annotation=${annotation% }
        make_pod "$name" "$RESOURCE=1" "$annotation"
        NAMES+=("$name") WORDS+=("$words")
        ((${#NAMES[@]} < ${#VF_IDS[@]})) || check_refused
    done < <(bad_annotations)
    check_refused
}

make_pool 4 '{"mtu": 1400, "allow": ["mac", "vlan", "vlanQoS", "maxTxRate", "spoofchk", "trust"]}'
start_node
start_engine
need_within 30 "the kubelet lists the VFs" "(( \$(n_registered $RESOURCE) == 4 ))"
for part in "${PARTS[@]}"; do "$part"; done

stop_rocelet
check_complaints "rocelet.dev/networks|going on without( them)?$" "the annotations"
echo "# the scenario took $SECONDS s"
