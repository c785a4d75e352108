# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# For scenarios of the attach engine: the original state of VFs, whether it is restored, and admin
# requests. Sourced after lib.sh.

readonly RESOURCE=rocelet.dev/roce VARIABLE=PCIDEVICE_ROCELET_DEV_ROCE STATE_DIR=/var/lib/rocelet CONFIG=/tmp/config.json

SOFT_ROCE=true   # attachments have an rxe device; for a scenario to change before make_pool
VF_IDS=()        # bus names, in order
declare -A CLEAN # [ID]: its state in the host when it is free

# Makes VFs, records their state, and configures a pool of them. NETWORK is the pool's "network" object.
make_pool() { # N_VFS [NETWORK]
    local netdev id
    cp "$BUILD/rocectl" /usr/local/sbin/ # not over the share, like the daemon
    make_vfs "$1"
    for netdev in "${VFS[@]}"; do
        id=$(basename "$(readlink "/sys/class/net/$netdev/device")")
        VF_IDS+=("$id")
        CLEAN[$id]=$(look_of "$id")
    done
    cat >"$CONFIG" <<END
{"pools": [{"resourceName": "roce", "resourcePrefix": "rocelet.dev", "selectors": {"pfNames": ["$PF#0-$(($1 - 1))"], "drivers": ["igbvf"]},
  "softRoce": $SOFT_ROCE, "network": ${2:-"{}"}}]}
END
}

# The first N VFs of all NICs, each of which has seven, and a pool of all.
make_all_vfs() { # N
    local path n=0
    for path in /sys/class/net/*/device/sriov_totalvfs; do
        ip link set "$(cut -d/ -f5 <<<"$path")" up
        echo 7 >"${path%totalvfs}numvfs"
        n=$((n + 7))
    done
    wait_until 120 "(( \$(ls -d /sys/bus/pci/drivers/igbvf/0000:*/net/* | wc -l) == $n ))"
    udevadm settle --timeout=60
    for path in $(printf '%s\n' /sys/bus/pci/drivers/igbvf/0000:* | head -n "$1"); do VF_IDS+=("${path##*/}"); done
    cat >"$CONFIG" <<END
{"pools": [{"resourceName": "roce", "selectors": {"drivers": ["igbvf"]}, "network": {}}]}
END
}

# The state of a VF in the host, without its index, and without what depends on whether it was ever up (it then has the kernel's default qdisc, and
# before Linux 6.12 igb shows its own MAC as the PF's setting for it). Prints only an empty name while it is not in the host.
look_of() { # ID
    local path=/sys/bus/pci/devices/$1 name
    name=$(ls "$path/net" 2>/dev/null) || true
    echo "name '$name'"
    [[ -n $name ]] || return 0
    ip -d link show dev "$name" | sed -E '1s/^[0-9]+: //; s/ (qlen|numtxqueues) .*//; s/ qdisc (noop|mq|fq_codel|pfifo_fast) / /; s/ permaddr [^ ]*//'
    echo "RDMA devices: $(rdma link show | grep -w "netdev $name" || true)"
    vf_settings "$1" | sed "s/ether $(cat "$path/net/$name/address") /ether 00:00:00:00:00:00 /"
}

# The PF's settings of a VF.
vf_settings() { # ID
    ip -d link show dev "$PF" | grep -w "vf $(vf_index "$1")"
}

has_settings() { # ID WORDS..
    local line word
    line=$(vf_settings "$1")
    for word in "${@:2}"; do [[ $line == *"$word"* ]] || { echo "no '$word' in: $line"; return 1; }; done
}

vf_index() { # ID
    local link
    for link in "/sys/class/net/$PF/device"/virtfn*; do
        [[ $(basename "$(readlink "$link")") != "$1" ]] || echo "${link##*virtfn}"
    done
}

netdev_of() { # ID
    ls "/sys/bus/pci/devices/$1/net"
}

is_clean() { # ID
    [[ $(look_of "$1") == "${CLEAN[$1]}" ]]
}

# Clean, and free for the next pod.
is_free() { # ID
    [[ $(engine_state "$1") == free ]] && is_clean "$1"
}

all_free() {
    local id
    for id in "${VF_IDS[@]}"; do is_free "$id" || return; done
}

# Logs the differences if they are not.
check_all_free() {
    local id
    check_within 30 "all VFs are free and as before" all_free
    for id in "${VF_IDS[@]}"; do is_free "$id" || show_difference "$id"; done
}

show_difference() { # ID [POD]
    diff --label "$1 before" --label "$1 now, $(engine_state "$1")" -u <(echo "${CLEAN[$1]}") <(look_of "$1") || true
    [[ -z ${2:-} ]] || in_netns "$2" ip -d address show || true
}

# The VF is in the pod as requested: named, up, with address, rocelet's alias and RDMA device.
is_complete() { # POD ID IP/LEN
    local link
    link=$(in_netns "$1" ip -d link show dev net1 2>/dev/null) &&
        grep -q '[<,]UP[,>]' <<<"$link" && grep -q 'alias rocelet ' <<<"$link" &&
        in_netns "$1" ethtool -i net1 | grep -qx "bus-info: $2" &&
        in_netns "$1" ip -brief address show dev net1 | grep -qw "$3" &&
        { ! $SOFT_ROCE || [[ -n $(pod_rdma "$1") ]]; }
}

# ---- pods of the kubelet, with guest/kubelet.sh

entry() { # KEYS: an annotation with one entry
    echo "[{\"resource\": \"$RESOURCE\"${1:+, $1}}]"
}

# The VF of a running pod, from its environment.
vf_of() { # POD
    pod_env "$1" $VARIABLE
}

# The pod fails to start, and its status has one sentence with all the words.
refused() { # POD WORDS..
    local text word
    text=$(pod_status "$1")
    for word in "default/$1-rig" rocelet.dev/networks "${@:2}"; do [[ $text == *"$word"* ]] || return; done
    [[ $(grep -o rocelet.dev/networks <<<"$text" | wc -l) == 1 ]]
}

# ---- requests to the engine

rocectl() { # ARGS..
    /usr/local/sbin/rocectl "$@"
}

# free, attaching, in_pod, returning or bad; fails while the daemon does not answer.
engine_state() { # ID
    local document state
    document=$(curl -fsS -m 60 "$HTTP/api/v1/attachments" 2>/dev/null) || return
    state=$(tr '{' '\n' <<<"$document" | sed -nE '/"function":"'"$1"'"/s/.*"state":"([a-z_]+)".*/\1/p')
    echo "${state:-free}"
}

# Attaches with an RDMA device, unless SOFT_ROCE is false.
attach() { # ID POD IP/LEN [ARGS..]
    local soft=()
    ! $SOFT_ROCE || soft=(--soft-roce)
    rocectl attach "$1" --netns "/run/netns/$2" --ip "$3" "${soft[@]}" "${@:4}"
}

start_engine() { # [ARGS..]
    start_rocelet --config "$CONFIG" --state-dir "$STATE_DIR" "$@"
    wait_until is_up
}

# Starts the build that dies at KILL_POINT; returns when it is ready or dead.
start_armed() { # KILL_POINT [ARGS..]
    ROCELET_KILL_AT=$1 launch_rocelet kill/rocelet --config "$CONFIG" --state-dir "$STATE_DIR" "${@:2}"
    wait_until "is_up || ! kill -0 $ROCELET_PID 2>/dev/null"
}

rocelet_died() {
    ! kill -0 "$ROCELET_PID" 2>/dev/null
}

# Waits until the daemon dies at its kill point; false if it keeps running.
dies() { # SECONDS
    local status=0
    becomes_true "$1" rocelet_died 2>/dev/null || return 1
    wait "$ROCELET_PID" 2>/dev/null || status=$?
    ((status == 128 + 9)) || fail "the daemon was not killed, it ended with status $status"
}

kill_rocelet() {
    kill -KILL "$ROCELET_PID" 2>/dev/null || true
    wait "$ROCELET_PID" 2>/dev/null || true
}

# ---- what must not grow

n_namespaces() {
    lsns --noheadings -t net -o NS | wc -l
}

n_fds() {
    local open=("/proc/$ROCELET_PID/fd"/*)
    echo "${#open[@]}"
}

# Bytes and files of the journal.
journal_size() {
    find "$STATE_DIR/devices" -type f -printf '%s\n' 2>/dev/null | awk '{ s += $1 } END { print s + 0, NR }'
}
