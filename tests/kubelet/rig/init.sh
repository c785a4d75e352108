#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The first process of a rig: init.sh OUT CGROUP. Makes the private parts of the file system and starts containerd, then waits; when it
# ends, everything in the rig ends. Paths are the usual ones, because they are invisible outside:
#   /dev      the usual few devices; /dev/infiniband can be filled
#   /run      sockets; /run/rig is the rig's own: manifests, configurations, output of pods, the synthetic sysfs
#   /var/lib  the kubelet's, containerd's and rocelet's state
#   /var/log  the pods' logs
# This is all memory: nothing has to be removed afterwards.
set -euo pipefail

# While /proc is still the machine's: our process id outside the rig.
read -r outer_pid _ </proc/self/stat
# shellcheck source=/dev/null
. "$1/env"
. "$KUBELET_DIR/rig/containerd.sh"

main() {
    private_dev
    private_folders
    private_proc
    ip link set lo up
    start_containerd
    echo "$outer_pid" >"$OUT/init.pid.new"
    mv "$OUT/init.pid.new" "$OUT/init.pid"
    touch "$OUT/ready"
}

private_folders() {
    local folder
    for folder in /run /var/lib /var/log; do
        mount -t tmpfs -o mode=755 rig "$folder"
    done
    mkdir -p /run/{netns,lock} /run/rig/{manifests,pods,cni} /var/lib/kubelet
    # The kubelet mounts pods' volumes here; the runtime must see them.
    mount --bind /var/lib/kubelet /var/lib/kubelet
    mount --make-rshared /var/lib/kubelet
}

private_dev() {
    local dev entry
    dev=$(mktemp -d /tmp/rig-dev.XXXXXX)
    mount -t tmpfs -o mode=755 dev "$dev"
    while read -r entry; do
        # shellcheck disable=SC2086  # name, major, minor
        make_node "$dev" $entry
    done <<<"null 1 3
zero 1 5
full 1 7
random 1 8
urandom 1 9
kmsg 1 11
tty 5 0"
    # The kubelet needs /dev/kmsg; not every machine allows reading it.
    (: <"$dev/kmsg") 2>/dev/null || ln -sf null "$dev/kmsg"
    ln -s /proc/self/fd "$dev/fd"
    ln -s pts/ptmx "$dev/ptmx"
    mkdir "$dev"/{pts,shm,mqueue,infiniband}
    mount --rbind /dev/pts "$dev/pts"
    mount -t tmpfs shm "$dev/shm"
    mount --move "$dev" /dev
    rmdir "$dev"
}

make_node() { # FOLDER NAME MAJOR MINOR
    mknod -m 666 "$1/$2" c "$3" "$4"
}

# The kubelet sets these for the whole machine unless they already have its values: the rig's files have these values.
private_proc() {
    local setting
    mount -t proc proc /proc
    while read -r setting value; do
        [[ -e /proc/sys/$setting ]] || continue
        echo "$value" >"/run/rig/${setting//\//.}"
        mount --bind "/run/rig/${setting//\//.}" "/proc/sys/$setting"
    done <<<"vm/overcommit_memory 1
vm/panic_on_oom 0
kernel/panic 10
kernel/panic_on_oops 1
kernel/keys/root_maxkeys 1000000
kernel/keys/root_maxbytes 25000000"
}

main
# Orphaned processes become children of this shell, which reaps them.
sleep infinity &
while true; do wait -n || true; done
