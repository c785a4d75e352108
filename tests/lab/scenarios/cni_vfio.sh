# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# A VF for a program in user space, bound to vfio-pci behind an IOMMU: ADD sets it through the PF, CHECK compares it, DEL restores it, also
# while a program has it open, and after the daemon was killed. A VF with its kernel driver goes into the same pod.
# lab: --iommu --timeout 600
# proves: k8s/cni daemon/cni daemon/attach
# when: turns
# needs: kill-points
# shellcheck source=../guest/lib.sh
. /rocelet/lab/guest/lib.sh
# shellcheck source=../guest/attach.sh
. /rocelet/lab/guest/attach.sh
# shellcheck source=../guest/cni.sh
. /rocelet/lab/guest/cni.sh

SOFT_ROCE=false
IP=10.9.0.1/24 MAC=02:00:00:00:00:0a
BOX=box PROGRAM_PID=

driver_of() { # ID
    basename "$(readlink "/sys/bus/pci/devices/$1/driver")"
}

bind() { # ID DRIVER
    echo "$2" >"/sys/bus/pci/devices/$1/driver_override"
    echo "$1" >"/sys/bus/pci/devices/$1/driver/unbind"
    echo "$1" >/sys/bus/pci/drivers_probe
    [[ $(driver_of "$1") == "$2" ]]
}

# The daemon lists the function with this driver.
is_seen() { # ID DRIVER
    holds_in_devices "functions['$1']['driver'] == '$2'"
}

# ---- the VF of vfio-pci

add() { # [KEYS]
    plugin ADD c1 $BOX "$(netconf "$VF" "$KEYS${1:+, $1}")" >/tmp/answer || { cat /tmp/answer; return 1; }
}

checks() { # CHECK with the result of the ADD
    plugin CHECK c1 $BOX "$(netconf "$VF" "$KEYS, \"prevResult\": $RESULT")" >/tmp/answer || { cat /tmp/answer; return 1; }
}

del() { # NETNS
    plugin DEL c1 "$1" "$(netconf "$VF" "$KEYS")" >/tmp/answer || { cat /tmp/answer; return 1; }
}

fails_with() { # CODE COMMAND..
    if "${@:2}" >/dev/null; then return 1; fi
    echo "# $(tr -s ' \n' ' ' </tmp/answer)"
    grep -q "\"code\": $1," /tmp/answer
}

is_set() {
    has_settings "$VF" 'vlan 100' 'qos 3' 'spoof checking off' 'trust on' 'max_tx_rate 200Mbps' "$MAC"
}

is_nothing_set() {
    [[ $(engine_state "$VF") == free && $(vf_settings "$VF") == "$SETTINGS" ]]
}

# The VF is free, the PF has its original settings, and the driver is unchanged.
is_restored() {
    is_nothing_set && [[ $(driver_of "$VF") == vfio-pci ]]
}

check_restored() { # DESCRIPTION
    check_within 30 "$1" is_restored
    is_restored || echo "# $(engine_state "$VF"): $(vf_settings "$VF"); before: $SETTINGS"
}

in_result() { # EXPRESSION over doc
    [[ $(json "$1" <<<"$RESULT") == True ]]
}

# `ip`, as nsenter shows the host's /sys.
links_of_box() {
    in_netns $BOX ip -brief link show | awk '{ print $1 }' | xargs
}

start_program() {
    (exec nsenter --net=/run/netns/$BOX /rocelet/lab/guest/vfio_user.py "$GROUP" "$VF" >/tmp/program 2>&1) &
    PROGRAM_PID=$!
    wait_until "grep -q ^open /tmp/program || ! kill -0 $PROGRAM_PID"
    cat /tmp/program
    grep -q '^open 8086:' /tmp/program
}

# A second open of the group fails as long as the first process has it open (linux/drivers/vfio/group.c).
program_runs() {
    kill -0 "$PROGRAM_PID" && ! (exec 7<>"/dev/vfio/$GROUP") 2>/dev/null
}

stop_program() {
    kill "$PROGRAM_PID"
    wait "$PROGRAM_PID" 2>/dev/null || true
}

new_box() {
    ip netns add $BOX
}

# ----

make_pool 3
echo '{}' >"$CONFIG"
install_plugin rocelet-cni
VF=${VF_IDS[0]} KERNEL_VF=${VF_IDS[1]} OTHER=${VF_IDS[2]}
# Without interrupt remapping, which the lab's IOMMU does not have, vfio requires this module option.
modprobe vfio_iommu_type1 allow_unsafe_interrupts=1
modprobe vfio-pci
need_within 0 "a VF is bound to vfio-pci" "bind $VF vfio-pci"
GROUP=$(basename "$(readlink "/sys/bus/pci/devices/$VF/iommu_group")")
check "its IOMMU group is its own" "[[ -c /dev/vfio/$GROUP && \$(ls /sys/kernel/iommu_groups/$GROUP/devices) == $VF ]]"
SETTINGS=$(vf_settings "$VF")
KEYS="\"vlan\": 100, \"vlanQoS\": 3, \"spoofchk\": \"off\", \"trust\": \"on\", \"max_tx_rate\": 200, \"mac\": \"$MAC\", \"vfioPciMode\": true,
  \"ipam\": {\"type\": \"static\", \"addresses\": [{\"address\": \"$IP\"}]}"
new_box
start_engine
check_within 20 "the daemon lists it" "is_seen $VF vfio-pci"

say "ADD, CHECK, drift"
check "ADD" add
RESULT=$(cat /tmp/answer)
echo "# $(tr -s ' \n' ' ' <<<"$RESULT")"
check "the PF has the settings" is_set
check "the result is one interface, with the MAC and the PCI address" \
    "in_result '[(i[\"name\"], i[\"mac\"], i[\"pciID\"], i[\"sandbox\"]) for i in doc[\"interfaces\"]] == [(\"net1\", \"$MAC\", \"$VF\", \"/run/netns/$BOX\")]'"
check "and the address of IPAM" "in_result '[i[\"address\"] for i in doc[\"ips\"]] == [\"$IP\"]'"
check "nothing was moved into the pod" '[[ $(links_of_box) == lo ]]'
check "the driver is unchanged" "[[ \$(driver_of $VF) == vfio-pci ]]"
check "the API shows it" "curl -fsS $HTTP/api/v1/attachments | grep -q '\"door\":\"cni\"'"
check "CHECK" checks
check "the same ADD again is refused" "fails_with 102 add"
ip link set "$PF" vf "$(vf_index "$VF")" vlan 200 qos 3
check_within 20 "CHECK reports a VLAN that an administrator has changed" "fails_with 103 checks && grep -q vlan /tmp/answer"
ip link set "$PF" vf "$(vf_index "$VF")" vlan 100 qos 3
check_within 20 "CHECK succeeds again" checks
ip link set "$PF" vf "$(vf_index "$VF")" trust off
check_within 20 "CHECK reports changed trust" "fails_with 103 checks && grep -q trust /tmp/answer"

say "a VF with its kernel driver in the same pod"
kernel_keys='"vlan": 100, "vlanQoS": 3, "runtimeConfig": {"ips": ["10.9.0.2/24"]}'
kernel() { # COMMAND
    CNI_IFNAME=net2 CNI_COMMAND=$1 CNI_CONTAINERID=c1 CNI_NETNS=/run/netns/$BOX CNI_PATH=$CNI_DIR $PLUGIN <<<"$(netconf "$KERNEL_VF" "$kernel_keys")"
}
check "ADD" "kernel ADD >/tmp/answer || { cat /tmp/answer; false; }"
check "it is a netdev of the pod" "[[ \$(links_of_box) == 'lo net2' ]] && in_netns $BOX ethtool -i net2 | grep -qx 'bus-info: $KERNEL_VF'"
check "with its address" "in_netns $BOX ip -brief address show dev net2 | grep -qw 10.9.0.2/24"

say "DEL while a program has the device open"
check "a program in the pod has opened the device" start_program
check "DEL" "del $BOX"
check_restored "the PF has the VF's original settings"
check "the program still has the device" program_runs
check "DEL again" "del $BOX"
check "the other VF of the pod is unchanged" "has_settings $KERNEL_VF 'vlan 100' && in_netns $BOX ip -brief address show dev net2 | grep -qw 10.9.0.2/24"
stop_program

say "the daemon is killed while a program has the device open"
check "ADD" add
RESULT=$(cat /tmp/answer)
check "a program in the pod has opened the device" start_program
kill_rocelet
start_engine
check "the attachment is still known" "[[ \$(engine_state $VF) == in_pod ]] && is_set"
check_within 20 "CHECK" checks
kill_rocelet
check "DEL without a daemon is queued" "del '' && ! spool_is_empty"
start_engine
check_restored "and done by the next"
check_within 10 "no DEL is left" spool_is_empty
check "the program still has the device" program_runs
stop_program

say "the daemon is killed in ADD and in DEL"
for point in attach-record-after attach-admin-before attach-admin-after attach-done-before; do
    kill_rocelet
    start_armed $point
    check "$point: ADD fails, to be tried later" "fails_with 11 add"
    check "$point: the daemon dies" "dies 60"
    start_engine
    check "$point: DEL" "del $BOX"
    check_restored "$point: the PF has the VF's original settings"
done
for point in back-record-after back-admin-before back-admin-after back-done-before; do
    kill_rocelet
    start_armed $point
    check "$point: ADD" add
    check "$point: DEL is queued" "del $BOX"
    check "$point: the daemon dies" "dies 60"
    start_engine
    check_restored "$point: the PF has the VF's original settings"
    check_within 10 "$point: no DEL is left" spool_is_empty
done

say "no DEL comes"
check "ADD" add
check "the kernel VF's DEL" "kernel DEL >/tmp/answer || { cat /tmp/answer; false; }"
check_within 30 "it is free and as before" "is_free $KERNEL_VF"
ip netns delete $BOX
check_restored "with the end of its namespace the PF has the VF's original settings"
new_box

say "requests that fail"
for keys in '"mtu": 1400' '"txqlen": 100' '"softRoce": true'; do
    check "$keys, a setting of a netdev, is rejected" "fails_with 7 add '$keys' && grep -q vfio-pci /tmp/answer"
done
check "rdmaIsolation in shared mode is rejected" "fails_with 7 add '\"rdmaIsolation\": true'"
echo "$VF" >"/sys/bus/pci/devices/$VF/driver/unbind"
check "a VF without a driver is refused" "fails_with 102 add"
check "nothing was set" is_nothing_set

say "back to the kernel's driver"
echo igbvf >"/sys/bus/pci/devices/$VF/driver_override"
echo "$VF" >/sys/bus/pci/drivers_probe
check_within 20 "the daemon lists it" "is_seen $VF igbvf && [[ -n \$(netdev_of $VF) ]]"
udevadm settle --timeout=20
CLEAN[$VF]=$(look_of "$VF") # with one more altname than before: the PF has set its MAC by now, so udev adds one
check "ADD gives the pod a netdev" "add && [[ \$(links_of_box) == 'lo net1' ]] && is_set"
check "DEL" "del $BOX"
check_within 30 "it is free and as before" "is_free $VF"
is_free "$VF" || show_difference "$VF"
check "a VF that was not used is unchanged" "is_free $OTHER"

stop_rocelet
check_complaints "going on without (them|it|a filter)$|differs from its attachment: |differs from its plan: |has no (driver|netdev in the host)" "what was done here"
echo "# the scenario took $SECONDS s"
