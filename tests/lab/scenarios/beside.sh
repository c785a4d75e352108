# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Beside another device plugin and its CNI plugin, which call and answer as sriov-network-device-plugin and sriov-cni do: the plugin offers two of
# our three VFs, and a fourth one of the same PF. rocelet does not touch what a pod of the other plugin has, and offers it again when it is free.
# lab: --kubelet --memory 4096 --timeout 1200
# proves: daemon/pools daemon/attach daemon/plugin daemon/api
# shellcheck source=../guest/lib.sh
. /rocelet/lab/guest/lib.sh
# shellcheck source=../guest/kubelet.sh
. /rocelet/lab/guest/kubelet.sh
# shellcheck source=../guest/attach.sh
. /rocelet/lab/guest/attach.sh

readonly OTHER=intel.com/sriov
SOFT_ROCE=false

# What sriov-cni does in ADD, with "vlan", "mac", "spoofchk" and "trust": the PF's settings, then a namespace of its own, where the VF gets the
# pod's name and its MAC, then the pod's namespace.
sriov_add() { # POD ID NAME MAC VLAN
    local netdev index
    netdev=$(netdev_of "$2") index=$(vf_index "$2")
    ip link set "$PF" vf "$index" vlan "$5"
    ip link set "$PF" vf "$index" mac "$4"
    ip link set "$PF" vf "$index" spoofchk off
    ip link set "$PF" vf "$index" trust on
    ip netns add sriov-cni
    ip link set "$netdev" down
    ip link set "$netdev" netns sriov-cni
    ip -n sriov-cni link set "$netdev" name "$3"
    ip -n sriov-cni link set "$3" address "$4"
    ip -n sriov-cni link set "$3" netns "$(pod_pid "$1")"
    ip netns delete sriov-cni
    in_netns "$1" ip link set "$3" up
    echo "$netdev" >"/run/sriov-$2"
}

# DEL: the name and the MAC of the VF, the host's namespace, the PF's settings.
sriov_del() { # POD ID NAME
    local netdev index mac
    netdev=$(<"/run/sriov-$2") index=$(vf_index "$2")
    mac=$(awk '$1 == "link/ether" { print $2 }' <<<"${CLEAN[$2]}")
    in_netns "$1" ip link set "$3" down
    in_netns "$1" ip link set "$3" name "$netdev"
    in_netns "$1" ip link set "$netdev" address "$mac"
    in_netns "$1" ip link set "$netdev" netns 1
    ip link set "$PF" vf "$index" vlan 0
    ip link set "$PF" vf "$index" mac "$(awk '/link\/ether/ { print $4; exit }' <<<"$(vf_settings_before "$2")")"
    ip link set "$PF" vf "$index" spoofchk on
    ip link set "$PF" vf "$index" trust off
}

vf_settings_before() { # ID
    grep -w "vf $(vf_index "$1")" <<<"${CLEAN[$1]}"
}

# The VF as the other plugin has made it, in the pod and on the PF.
taken_look() { # POD ID NAME
    in_netns "$1" ip -d link show "$3" 2>&1 | sed -E 's/ (qlen|numtxqueues) .*//'
    vf_settings "$2"
}

# Each list of rocelet that names the VF says that this pod has it, as the other resource.
names_holder() { # ID POD
    [[ $(rocectl explain "$1") == *"$2-rig"*"$OTHER"* ]] || { rocectl explain "$1"; return 1; }
    rocectl pods | grep "$2-rig" | grep -q "$OTHER" || { rocectl pods; return 1; }
}

offered() { # ID..: exactly these, to the kubelet
    [[ $(registered $RESOURCE | xargs -n1 | sort | xargs) == "$*" ]]
}

make_pool 4
readonly A=${VF_IDS[0]} B=${VF_IDS[1]} C=${VF_IDS[2]} D=${VF_IDS[3]}
sed -i "s|#0-3|#0-2|" "$CONFIG"
start_node
start_engine
start_other() {
    /usr/bin/python3 "$KUBELET_DIR/rig/sriov_plugin.py" "$OTHER" "$A" "$B" "$D" >>"$OUT/other.log" 2>&1 </dev/null &
    OTHER_PID=$!
    wait_until 60 "grep -q '^registered' $OUT/other.log"
}
start_other
need_within 60 "both plugins offer three VFs, two of them twice" "offered $A $B $C && (( \$(n_registered $OTHER) == 3 ))"

say "a pod of the other plugin has all of its VFs"
run_pod s "$OTHER=3"
check_within 10 "rocelet offers only the VF that it has not" "offered $C"
sriov_add s "$A" net1 02:00:00:00:0a:01 101
sriov_add s "$D" net2 02:00:00:00:0a:04 104
wait_until 30 "in_netns s ip link show net1 | grep -q LOWER_UP && in_netns s ip link show net2 | grep -q LOWER_UP"
before_a=$(taken_look s "$A" net1) before_d=$(taken_look s "$D" net2) before_b=$(look_of "$B")
untouched() {
    diff <(echo "$before_a") <(taken_look s "$A" net1) && diff <(echo "$before_d") <(taken_look s "$D" net2) && diff <(echo "$before_b") <(look_of "$B")
}
check_within 30 "explain and pods name the pod and the resource" "names_holder $A s && names_holder $B s && names_holder $D s"
ip netns add box
for id in "$B" "$D"; do
    check "its VF is not attached on request, and the reason names the pod ($id)" "! rocectl attach $id --netns /run/netns/box --ip 10.9.0.9/24 >/tmp/why 2>&1 && grep -q 's-rig' /tmp/why"
done
ip netns delete box
rocectl doctor --fix || true
check "doctor --fix returns nothing" untouched
kill_rocelet
start_engine
check_within 60 "after a crash rocelet offers the same" "offered $C"
restart_kubelet KILL
kill "$OTHER_PID"
start_other
check_within 60 "after a restart of the kubelet, too" "offered $C && names_holder $A s"
check "nothing was touched" untouched

say "our pods beside it"
run_pod r "$RESOURCE=1" "$(entry '"ips": ["10.9.0.1/24"]')"
check "our pod gets the free VF" "[[ \$(vf_of r) == $C ]] && is_complete r $C 10.9.0.1/24"
remove_pod r
check "and returns it" "becomes_true 30 'is_free $C'"

say "the other pod ends"
sriov_del s "$A" net1
sriov_del s "$D" net2
remove_pod s
check_within 60 "all VFs are offered again" "offered $A $B $C"
check_all_free

say "our pod has the VFs first, and the other plugin does not know that"
run_pod ours "$RESOURCE=3" "$(entry '"ips": ["10.9.0.1/24"]')"
check "our pod has three VFs" "(( \$(in_netns ours ip -brief link | grep -c ^net) == 3 ))"
look=$(in_netns ours ip -d link show)
run_pod late "$OTHER=3"
check_within 30 "doctor names both pods of a VF" "rocectl doctor >/tmp/doctor; grep $A /tmp/doctor | grep -q late-rig && grep $A /tmp/doctor | grep -q ours-rig"
check "our pod keeps them" "[[ \$(in_netns ours ip -d link show) == \"\$look\" ]]"
remove_pod ours
check_within 60 "they return, and only the VF that the other pod has not is offered" "offered $C"
check_within 30 "all are clean" "is_clean $A && is_clean $B && is_clean $C"
remove_pod late
check_within 60 "all VFs are offered again" "offered $A $B $C"

say "the other plugin allocates while rocelet cannot see it"
sed -i "s|#0-2|#0|" "$CONFIG"
need_within 60 "one VF is offered" "offered $A"
kill -STOP "$ROCELET_PID"
run_pod first "$OTHER=3"
make_pod second "$RESOURCE=1" "$(entry '"ips": ["10.9.0.2/24"]')"
wait_until 60 "grep -q 'second' $OUT/kubelet.log"
before_a=$(look_of "$A")
kill -CONT "$ROCELET_PID"
# Either Allocate or the start of the container is refused.
check_within 60 "our pod does not start, and its status names the other one" "pod_status second | grep -q first-rig"
check "the VF is untouched" "[[ \$(look_of $A) == \"\$before_a\" ]] && ! pod_started second"
remove_pod first
check_within 120 "when the other pod has ended, ours starts, or can be created again" "pod_started second || [[ \$(pod_status second) == Failed* ]]"
remove_pod second
check_all_free
stop_rocelet
kill "$OTHER_PID"
