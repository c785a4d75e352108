#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The first process of a rig: init.sh OUT CGROUP. Makes the private parts of the file system and starts containerd, then waits; its end is the
# end of everything in the rig. Paths are the usual ones, because nobody else can see them here:
#   /dev      the usual few devices; /dev/infiniband can be filled
#   /run      sockets; /run/rig is the rig's own: manifests, configurations, what pods write, the synthetic sysfs
#   /var/lib  the kubelet's, containerd's and rocelet's state
#   /var/log  the pods' logs
# This is all memory: nothing has to be removed afterwards.
set -euo pipefail

# Before /proc is our own: our process id as others see it.
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
    # Pods' volumes are mounted here by the kubelet and seen by the runtime.
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
    # The kubelet must have one; not every machine lets it be read.
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

# The kubelet sets these for the whole machine, unless they are already as it wants them: it sees files that say so.
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
# Everything whose parent died becomes a child of this shell, which reaps what ends.
sleep infinity &
while true; do wait -n || true; done
