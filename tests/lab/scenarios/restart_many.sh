# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The daemon is started again while 32 VFs are in network namespaces: how soon the kubelet has its list again, which is once every VF was
# found where its record has it; and nothing about the VFs changes.
# lab: --kubelet --memory 4096 --nics 5 --timeout 1800
# proves: daemon/attach daemon/attach/journal daemon/compose
# when: soak
# shellcheck source=../guest/lib.sh
. /rocelet/lab/guest/lib.sh
# shellcheck source=../guest/kubelet.sh
. /rocelet/lab/guest/kubelet.sh
# shellcheck source=../guest/attach.sh
. /rocelet/lab/guest/attach.sh
# shellcheck source=../guest/latency.sh
. /rocelet/lab/guest/latency.sh

# restart_many.sh [ROUNDS [BAR]]   with a bar: registered within that many starts of an empty program; on an idle machine (make bench)
ROUNDS=${1:-2} BAR=${2:-}
N=32
SOFT_ROCE=false

# Starts the daemon as in a DaemonSet; STARTED is the time of its execution.
start_again() {
    : >"$OUT/rocelet.log"
    STARTED=$EPOCHREALTIME
    launch_rocelet "$LAB_ROCELET" --registration legacy --config "$CONFIG" --state-dir "$STATE_DIR"
    wait_until 120 "grep -q 'registered, the kubelet watches its list' $OUT/rocelet.log"
}

# From the execution to the log line of the registration, by that line's own time.
registered_ms() {
    local at
    at=$(sed -nE 's/^([^ ]+) .*registered, the kubelet watches its list.*/\1/p' "$OUT/rocelet.log" | head -n 1)
    awk -v a="$STARTED" -v b="$(date -d "$at" +%s.%3N)" 'BEGIN { printf "%.0f\n", (b - a) * 1000 }'
}

median_of() { # NUMBERS..
    tr ' ' '\n' <<<"$*" | sort -n | sed -n "$((($# + 1) / 2))p"
}

all_are_in() {
    (($(curl -fsS -m 60 "$HTTP/api/v1/attachments" | grep -o '"state":"in_pod"' | wc -l) == N))
}

# All state of the VFs in their namespaces, with their counts of carrier changes and the PFs' settings; journal files with their times.
state_of_all() {
    local i path
    for ((i = 0; i < N; i++)); do
        ip -n "p$i" -d link show net1
        ip -n "p$i" address show net1 | grep -v valid_lft
        ip netns exec "p$i" cat /sys/class/net/net1/carrier_changes
    done
    for path in /sys/class/net/*/device/sriov_totalvfs; do ip -d link show "$(cut -d/ -f5 <<<"$path")" | grep -w vf; done
    find "$STATE_DIR/devices" -type f -printf '%f %s %T@\n' | sort
}

cp "$BUILD/rocectl" /usr/local/sbin/
make_all_vfs $N
start_node
for ((i = 0; i < N; i++)); do ip netns add "p$i"; ip -n "p$i" link set lo up; done
empty=()
for ((i = 0; i <= ROUNDS; i++)); do
    start_again
    empty+=("$(registered_ms)")
    stop_rocelet
done
start_again
for ((i = 0; i < N; i++)); do attach "${VF_IDS[i]}" "p$i" "10.9.$i.1/24" >/dev/null || fail "${VF_IDS[i]} is not attached"; done
check "$N VFs are in namespaces" all_are_in
for ((i = 0; i < N; i++)); do wait_until "has_carrier p$i net1"; done
before=$(state_of_all)

full=()
for ((i = 0; i < ROUNDS; i++)); do
    if ((i % 2)); then kill_rocelet; else stop_rocelet; fi
    start_again
    full+=("$(registered_ms)")
    check_within 10 "all are where they were" all_are_in
    check "and nothing about them has changed" '[[ $(state_of_all) == "$before" ]]'
    diff <(echo "$before") <(state_of_all) || true
done
echo "# registered and reconciled after $(median_of "${full[@]}") ms, $(starts "$(median_of "${full[@]}")") starts of an empty program (rounds: ${full[*]});" \
    "with nothing attached $(median_of "${empty[@]:1}") ms (${empty[*]:1})"
check "a start with $N attachments${BAR:+ takes no more than $BAR starts of an empty program, $EMPTY_MS ms each}" \
    "[[ -z '$BAR' ]] || awk 'BEGIN { exit !($(starts "$(median_of "${full[@]}")") <= ${BAR:-0}) }'"
echo "# $(allocated_kb) kB allocated with $N attachments"
check_complaints
for ((i = 0; i < N; i++)); do rocectl detach "${VF_IDS[i]}" >/dev/null || fail "${VF_IDS[i]} is not detached"; done
check_within 60 "all come back" "(( \$(ls -d /sys/bus/pci/drivers/igbvf/0000:*/net/* | wc -l) == 35 ))"
stop_rocelet
