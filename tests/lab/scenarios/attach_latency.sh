# shellcheck shell=bash
# How long an attach takes, beside the least that the kernel needs for it and beside a CNI plugin, on the same VF in the same run.
# proves: daemon/attach/steps
# shellcheck source=../guest/lib.sh
. /rocelet/lab/guest/lib.sh
# shellcheck source=../guest/attach.sh
. /rocelet/lab/guest/attach.sh

# attach_latency.sh [ROUNDS [FLOOR_BAR CNI_BAR]]   with bars: at most FLOOR_BAR times the kernel's floor, and at least CNI_BAR times faster
# than host-device with static addresses; on an idle machine (make bench)
ROUNDS=${1:-3} FLOOR_BAR=${2:-} CNI_BAR=${3:-}
POD=bench IP=10.9.0.1/24

cni() { # ADD|DEL
    CNI_COMMAND=$1 CNI_CONTAINERID=$POD CNI_NETNS=/run/netns/$POD CNI_IFNAME=net1 CNI_PATH=/usr/lib/cni /usr/lib/cni/host-device <<END
{"cniVersion": "1.0.0", "name": "bench", "type": "host-device", "device": "${VFS[0]}",
 "ipam": {"type": "static", "addresses": [{"address": "$IP"}]}}
END
}

# Milliseconds that a command takes.
timed() { # COMMAND..
    local began=$EPOCHREALTIME
    "$@" >/tmp/timed 2>&1 || fail "$*: $(cat /tmp/timed)"
    awk -v a="$began" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f\n", (b - a) * 1000 }'
}

PLUGIN_MS=()

# One more than the rounds: the first reads the programs from the disk.
time_cni() {
    local round
    for ((round = 0; round <= ROUNDS; round++)); do
        PLUGIN_MS+=("$(timed cni ADD)")
        timed cni DEL >/dev/null
    done
    PLUGIN_MS=("${PLUGIN_MS[@]:1}")
}

median() { # NUMBERS..
    tr ' ' '\n' <<<"$*" | sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
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
ip netns add $POD
"$BUILD/bench/bench_attach" "${VF_IDS[0]}" "$STATE_DIR" "$ROUNDS" /run/netns/$POD >/tmp/bench
cat /tmp/bench
check "the VF is as before" "is_clean ${VF_IDS[0]}"
time_cni
floor=$(of_bench floor) attach=$(of_bench attach) plugin=$(median "${PLUGIN_MS[@]}")
echo "# the kernel's floor (move, name, address, up) $floor ms, attach $attach ms, host-device $plugin ms (medians of $ROUNDS)"
echo "# attach is $(ratio "$attach" "$floor") times the floor; host-device takes $(ratio "$plugin" "$attach") times as long"
back=$(of_bench return) reset=$(of_bench reset)
echo "# return $back ms, $(ratio "$back" "$floor") times the floor; with a new netdev $reset ms, $(ratio "$reset" "$floor") times"
check "all three were measured" "[[ -n '$floor' && -n '$attach' && -n '$plugin' ]]"
[[ -z $FLOOR_BAR ]] || check "at most $FLOOR_BAR times the floor" "at_least $FLOOR_BAR $(ratio "$attach" "$floor")"
[[ -z $CNI_BAR ]] || check "at least $CNI_BAR times faster than host-device" "at_least $(ratio "$plugin" "$attach") $CNI_BAR"
