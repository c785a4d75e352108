# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# An old record changes nothing on a device that was set up again since, or that is another one under the same name.
# lab: --memory 2048 --timeout 900
# proves: daemon/attach/journal daemon/attach/ipam
# needs: kill-points
# shellcheck source=../guest/lib.sh
. /rocelet/lab/guest/lib.sh
# shellcheck source=../guest/attach.sh
. /rocelet/lab/guest/attach.sh

SOFT_ROCE=false
LEASES=/tmp/leases
RECORD=/rocelet/lab/guest/record.py

# All settings of an attach, and an address from an IPAM plugin that keeps its leases on the disk.
request_attach() { # ID POD
    curl -fsS -m 30 --unix-socket /run/rocelet/rocelet.sock -o /dev/null --data @- http://localhost/api/v1/attach <<END
{"device": "$1", "netns": "/run/netns/$2", "vlan": 100, "mtu": 1400, "mac": "02:00:00:00:00:0a", "trust": true, "spoofchk": false,
 "ipam": {"type": "host-local", "dataDir": "$LEASES", "ranges": [[{"subnet": "10.77.0.0/24"}]]}}
END
}

n_leases() {
    find $LEASES -type f -name '10.*' 2>/dev/null | wc -l
}

# Simulates a reboot: the namespaces are removed, the VFs are created again, and the boot id is another one.
reboot() {
    local pod
    for pod in $(ip netns list | cut -d" " -f1); do ip netns delete "$pod"; done
    echo 0 >"/sys/class/net/$PF/device/sriov_numvfs"
    make_vfs 2
    cat /proc/sys/kernel/random/uuid >/tmp/boot_id
}

# Settings that differ from those of the attach and from the original ones.
administrator() {
    local id index netdev
    for id in "${VF_IDS[@]}"; do
        index=$(vf_index "$id") netdev=$(netdev_of "$id")
        ip link set "$netdev" mtu 1300 alias "the administrator's"
        ip link set "$PF" vf "$index" mac "02:00:00:00:77:0$index"
        ip link set "$PF" vf "$index" vlan 77
        ip link set "$PF" vf "$index" trust on
        ip link set "$PF" vf "$index" spoofchk off
        CLEAN[$id]=$(look_of "$id")
    done
}

# Records all kernel messages about the VFs and their PF from now on.
watch_links() {
    rm -f /tmp/monitor
    ip monitor link >>/tmp/monitor 2>&1 &
    MONITOR=$!
    wait_until is_watched
    : >/tmp/monitor
}

# A new message has arrived, hence all earlier ones.
is_watched() {
    ip link set lo alias "marker $RANDOM$RANDOM"
    grep -q ' lo' /tmp/monitor
}

check_untouched() { # WHAT
    wait_until is_watched
    kill "$MONITOR"
    wait "$MONITOR" 2>/dev/null || true
    cp /tmp/monitor "$OUT/monitor-$1"
    check "$1: no message reports a change of a VF or the PF" "! grep -E '^[0-9]+: ($PF|$(netdev_of "$A")|$(netdev_of "$B"))[:@]' /tmp/monitor"
    check "$1: both have the administrator's settings" "is_clean $A && is_clean $B"
    is_clean "$A" || show_difference "$A"
    is_clean "$B" || show_difference "$B"
}

# Its record is that of a free device.
is_settled() {
    [[ $(python3 $RECORD "$FILE" | json 'doc["state"]') == free ]]
}

make_pool 2
A=${VF_IDS[0]} B=${VF_IDS[1]}
FILE=$STATE_DIR/devices/$A
cat /proc/sys/kernel/random/uuid >/tmp/boot_id
mount --bind /tmp/boot_id /proc/sys/kernel/random/boot_id

# Reboots, changes the VFs as an administrator, starts rocelet with the old journal, and checks the result.
after_a_reboot() { # WHAT
    reboot
    administrator
    watch_links
    start_engine
    check_within 30 "$1: the VF is free, and so is the other one" "[[ \$(engine_state $A) == free && \$(engine_state $B) == free ]]"
    check_within 30 "$1: its record is settled" is_settled
    check_within 30 "$1: its address is released" "((\$(n_leases) == 0))"
    check_untouched "$1"
}

say "a reboot with a device in its pod"
start_engine
ip netns add a
request_attach "$A" a
check "it is in its pod, set up as requested" "is_complete a $A 10.77.0 && has_settings $A 'vlan 100' 'trust on' 'spoof checking off' 02:00:00:00:00:0a"
check "an address is allocated" "((\$(n_leases) == 1))"
kill_rocelet
after_a_reboot in-a-pod
check "the log has the reason" "grep -q 'was rebooted' $OUT/rocelet.log"
ip netns add a
request_attach "$A" a
check "it can be attached again" "[[ \$(engine_state $A) == in_pod ]]"
rocectl detach "$A"
check_within 30 "and comes back as the administrator has made it" "is_free $A"
kill_rocelet

# The daemon kills itself in the middle of its work, as if the node went down.
for point in attach-configure-before back-move-before; do
    say "a reboot, with the record of $point"
    start_armed "$point"
    [[ -e /run/netns/a ]] || ip netns add a
    request_attach "$A" a &>/dev/null || true
    rocelet_died || rocectl detach "$A" &>/dev/null || true
    check "$point: the daemon died there" "dies 60"
    after_a_reboot "$point"
    kill_rocelet
done

say "a reboot, with the record of a version without a boot id"
start_engine
ip netns add a
request_attach "$A" a
kill_rocelet
check "its record is rewritten" "python3 $RECORD $FILE boot= origin.identity="
after_a_reboot no-boot
say "the same without a reboot"
[[ -e /run/netns/a ]] || ip netns add a
request_attach "$A" a
kill_rocelet
check "its record is rewritten" "python3 $RECORD $FILE boot= origin.identity="
start_engine
check_within 30 "it stays in its pod" "[[ \$(engine_state $A) == in_pod ]] && is_complete a $A 10.77.0"
ip netns delete a
check_within 30 "and is restored" "is_free $A"
is_free "$A" || show_difference "$A"
kill_rocelet

# Another device has its bus address: rocelet changes neither that device nor the VF whose number is in the record.
other_device() { # WHAT EDIT WORDS
    say "another device: $1"
    cp /tmp/boot_id /tmp/boot_id_then
    ip netns add a
    start_engine
    request_attach "$A" a
    kill_rocelet
    check "$1: its record is rewritten" "python3 $RECORD $FILE '$2'"
    reboot
    administrator
    cp /tmp/boot_id_then /tmp/boot_id
    watch_links
    start_engine
    check_within 30 "$1: it is bad" "[[ \$(engine_state $A) == bad ]]"
    check_within 10 "$1: doctor has the reason" "rocectl doctor | grep -A1 '$A' | grep '$3'"
    rocectl doctor | grep -A1 "$A" | sed 's/^/# /' || true
    check "$1: the other VF stays free" "[[ \$(engine_state $B) == free ]]"
    check_untouched "$1"
    kill_rocelet
}

other_device number 'origin.vf_index=1' 'expected VF 1 of'
after_a_reboot "the next boot ends it"
kill_rocelet
other_device mac 'origin.identity.pf_mac="020000000099"' 'its MAC differs'
after_a_reboot mac
kill_rocelet
other_device kind 'origin.identity.device=4660' 'expected 8086:1234'
after_a_reboot kind
kill_rocelet
other_device pf 'origin.pf="0000:77:00.0"' 'of 0000:77:00.0'
umount /proc/sys/kernel/random/boot_id
echo "# the scenario took $SECONDS s"
