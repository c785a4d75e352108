#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# PID 1 of the guest, from the checkout (see initrd-init.sh for what ran before): mounts, devices, modules; then the host's folders and the
# scenario. What to run is in /out/run.env, written by the host; the result goes back through /out.
#
# The machine can be saved in between, and be restored any number of times (host/state.sh): what comes before must not depend on the scenario.

export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8

main() {
    mount_all
    bring_up_devices
    [[ ! -b /dev/vdc ]] || wait_until_restored
    mount -o remount,rw /
    share_folders
    set_clock
    set -a
    # shellcheck source=/dev/null
    . /out/run.env
    set +a
    hostname "$LAB_HOSTNAME"
    [[ -z $LAB_MGMT ]] || bring_up_mgmt
    [[ -z $LAB_KUBELET ]] || share_kubelet
    if [[ $SCRIPT == shell ]]; then
        interactive
    else
        run_scenario
    fi
    echo o >/proc/sysrq-trigger
    sleep 60
}

mount_all() {
    mount -t proc proc /proc
    mount -t sysfs sys /sys
    mount -t devtmpfs dev /dev
    mkdir -p /dev/pts /dev/shm
    mount -t devpts -o mode=620,ptmxmode=666 devpts /dev/pts
    mount -t tmpfs shm /dev/shm
    mount -t tmpfs tmp /tmp
    mount -t cgroup2 cgroup2 /sys/fs/cgroup
    mount -t bpf bpf /sys/fs/bpf
    mount -t debugfs debugfs /sys/kernel/debug
    mount -t tracefs tracefs /sys/kernel/tracing
    mount -t configfs configfs /sys/kernel/config 2>/dev/null
    mount --make-rshared /
    mkdir -p /run/netns /run/lock
    ln -sfn /proc/self/fd /dev/fd
}

# udev first: the devices that the modules make are then named by it as they appear, and no full replay is needed.
bring_up_devices() {
    ip link set lo up
    # The emulated network has a router of its own, and what carries the default route is not given away.
    echo 0 >/proc/sys/net/ipv6/conf/default/accept_ra
    /usr/lib/systemd/systemd-udevd --daemon
    modprobe -a igb igbvf virtio_net rdma_rxe ib_uverbs rdma_ucm
    udevadm trigger --action=add --subsystem-match=net --subsystem-match=misc --subsystem-match=infiniband
    udevadm settle --timeout=20
}

# The disk says "saved" in the machine that the host saves when it reads this line, and "restored" in those made from it.
wait_until_restored() {
    echo "lab: ready to be saved" >/dev/console
    until [[ $(dd if=/dev/vdc iflag=direct bs=512 count=1 status=none) == restored* ]]; do sleep 0.05; done
}

share_folders() {
    share lab lab ro
    share build build ro
    share lib lib ro
    share out out
}

share() { # TAG FOLDER [OPTION]
    mount -t 9p -o "trans=virtio,version=9p2000.L,msize=262144${3:+,$3}" "$1" "/rocelet/$2"
}

# A restored machine's stopped when it was saved. A new file bears the host's time.
set_clock() {
    : >/out/clock
    date --set "@$(stat -c %.9Y /out/clock)" >/dev/null
}

# Nothing in them changes while the machine runs: what was read is kept, and 100 MB of kubelet can be run from there.
share_kubelet() {
    local tag
    for tag in kubelet kubelet-bin; do
        mkdir -p "/rocelet/$tag"
        mount -t 9p -o trans=virtio,version=9p2000.L,msize=1048576,ro,cache=loose "$tag" "/rocelet/$tag"
    done
}

# The NIC on which the host is reached, or reaches in. The host knows the address: no DHCP needed.
bring_up_mgmt() {
    local path
    for path in /sys/class/net/*; do
        [[ $(readlink "$path/device/driver") == */virtio_net ]] || continue
        ip link set "${path##*/}" name mgmt
        ip address add "$LAB_MGMT" dev mgmt
        ip link set mgmt up
    done
}

# The guest gives up a little before the host does, so that there is still somebody to save the logs.
run_scenario() {
    touch /out/started
    cd /tmp || return
    while sleep 1; do echo >/out/heartbeat; done &
    timeout --kill-after=5 "$LAB_TIMEOUT" bash "/rocelet/lab/$SCRIPT" "${ARGS[@]}" >/out/scenario.log 2>&1 </dev/null
    local status=$?
    dmesg >/out/dmesg.log
    echo "$status" >/out/status.new
    mv /out/status.new /out/status
}

interactive() {
    cd /rocelet/build || return
    TERM=$LAB_TERM setsid --ctty --wait bash --rcfile /rocelet/lab/guest/shell.rc -i </dev/ttyS0 >/dev/ttyS0 2>&1
}

main
