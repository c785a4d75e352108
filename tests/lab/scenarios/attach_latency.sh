# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# How long an attach takes, and an ADD of rocelet-cni, beside the least that the kernel needs for it and beside another CNI plugin, on the
# same VF in the same run.
# proves: daemon/attach/steps
# shellcheck source=../guest/lib.sh
. /rocelet/lab/guest/lib.sh
# shellcheck source=../guest/attach.sh
. /rocelet/lab/guest/attach.sh
# shellcheck source=../guest/cni.sh
. /rocelet/lab/guest/cni.sh

# attach_latency.sh [ROUNDS [FLOOR_BAR CNI_BAR]]   with bars: an attach takes at most FLOOR_BAR times the kernel's floor, an ADD at most CNI_BAR
# times, its process included; on an idle machine, or with ROCELET_LAB_ACCEL=icount (make bench)
ROUNDS=${1:-3} FLOOR_BAR=${2:-} CNI_BAR=${3:-}
DAEMON_LOG=/tmp/rocelet.log # a runtime gives the daemon a pipe
POD=bench IP=10.9.0.1/24
declare -A CONFIGS ADD_MS

# The address is from another plugin (ipam), or from the runtime (ips), which is the work that the floor has, too.
make_configs() {
    local static="\"ipam\": {\"type\": \"static\", \"addresses\": [{\"address\": \"$IP\"}]}"
    CONFIGS=(
        [host-device]="{\"cniVersion\": \"1.0.0\", \"name\": \"bench\", \"type\": \"host-device\", \"device\": \"${VFS[0]}\", $static}"
        [rocelet-ipam]="$(netconf "${VF_IDS[0]}" "$static")"
        [rocelet-ips]="$(netconf "${VF_IDS[0]}" "\"runtimeConfig\": {\"ips\": [\"$IP\"]}")"
    )
}

# The environment in which a runtime starts a plugin.
export CNI_CONTAINERID=$POD CNI_NETNS=/run/netns/$POD CNI_IFNAME=net1 CNI_PATH=$CNI_DIR

# Milliseconds from the start of a program to its end, the median of the rounds.
start_ms() { # ROUNDS STDIN BEFORE PROGRAM
    "$BUILD/bench/bench_start" "$@" >/tmp/start || fail "bench_start $*"
    awk '{ print $3 }' /tmp/start
}

# After each DEL udev has looked at what came back, as with the floor. The first DEL finds nothing; if one fails, the next ADD does.
time_plugin() { # WHICH
    local program=$PLUGIN conf=/tmp/$1.json del
    [[ $1 != host-device ]] || program=$CNI_DIR/host-device
    del="CNI_COMMAND=DEL $program <$conf >/tmp/said; udevadm settle --timeout=20"
    echo "${CONFIGS[$1]}" >"$conf"
    ADD_MS[$1]=$(CNI_COMMAND=ADD start_ms "$ROUNDS" "$conf" "$del" "$program")
    sh -c "$del"
}

of_bench() { # NAME: its median
    awk -v name="$1" '$1 == name && $2 == "median" { print $3 }' /tmp/bench
}

ratio() { # A B
    awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", a / b }'
}

at_least() { # A B
    awk -v a="$1" -v b="$2" 'BEGIN { exit !(a >= b) }'
}

make_pool 1
make_configs
ip netns add $POD
"$BUILD/bench/bench_attach" "${VF_IDS[0]}" "$STATE_DIR" "$ROUNDS" /run/netns/$POD >/tmp/bench
cat /tmp/bench
check "the VF is as before" "is_clean ${VF_IDS[0]}"
time_plugin host-device
floor=$(of_bench floor) attach=$(of_bench attach) plugin=${ADD_MS[host-device]}
echo "# the kernel's floor (move, name, address, up) $floor ms, attach $attach ms, host-device $plugin ms (medians of $ROUNDS)"
echo "# attach is $(ratio "$attach" "$floor") times the floor; host-device $(ratio "$plugin" "$floor") times, $(ratio "$plugin" "$attach") times as long as attach"
back=$(of_bench return) reset=$(of_bench reset)
echo "# return $back ms, $(ratio "$back" "$floor") times the floor; with a new netdev $reset ms, $(ratio "$reset" "$floor") times"
check "all three were measured" "[[ -n '$floor' && -n '$attach' && -n '$plugin' ]]"
[[ -z $FLOOR_BAR ]] || check "at most $FLOOR_BAR times the floor" "at_least $FLOOR_BAR $(ratio "$attach" "$floor")"

# A daemon that has just started loads BPF programs, which takes an emulated processor seconds.
works_at_nothing() {
    local i
    for i in 1 2; do
        next_samples
        [[ $(metric rocelet_oldest_work_seconds) == 0.000000 ]] || return
    done
}

# The daemon of this run, and the plugin as a runtime starts it.
echo '{}' >"$CONFIG"
install_plugin rocelet-cni
start_engine
becomes_true 120 works_at_nothing || echo "# the daemon is still loading programs: its figures are too high"
echo "${CONFIGS[rocelet-ips]}" >/tmp/status.json
echo "# a program that does nothing $(start_ms 21 /dev/null '' /bin/true) ms, VERSION $(CNI_COMMAND=VERSION start_ms 21 /dev/null '' $PLUGIN) ms," \
    "STATUS, which the daemon answers, $(CNI_COMMAND=STATUS start_ms 21 /tmp/status.json '' $PLUGIN) ms"
time_plugin rocelet-ips
time_plugin rocelet-ipam
for which in rocelet-ips rocelet-ipam; do
    add=${ADD_MS[$which]}
    echo "# ADD of $which $add ms, process start included: $(ratio "$add" "$floor") times the floor, host-device takes $(ratio "$plugin" "$add") times as long"
    check "$which was measured" "[[ -n '$add' ]]"
done
[[ -z $CNI_BAR ]] || check "ADD at most $CNI_BAR times the floor" "at_least $CNI_BAR $(ratio "${ADD_MS[rocelet-ips]}" "$floor")"
check "the VF is free" "[[ \$(engine_state ${VF_IDS[0]}) == free ]]" # host-device has left its alias
stop_rocelet
cp "$DAEMON_LOG" "$OUT/rocelet.log"
