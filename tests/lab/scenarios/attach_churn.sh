# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# VFs are attached and returned again and again, while pods die without notice and the daemon, the kubelet and the runtime are killed: in the end
# every VF is free and clean, and memory, descriptors and journal have not grown.
# lab: --kubelet --memory 4096 --timeout 1800
# proves: daemon/attach
# when: soak --timeout 14400 -- 1000 50
# when: soak --timeout 3600 -- 100 4 true
# shellcheck source=../guest/lib.sh
. /rocelet/lab/guest/lib.sh
# shellcheck source=../guest/kubelet.sh
. /rocelet/lab/guest/kubelet.sh
# shellcheck source=../guest/attach.sh
. /rocelet/lab/guest/attach.sh

# attach_churn.sh [CYCLES [PODS [SOFT_ROCE [SEED]]]]   attaches by admin requests, over 4 VFs; pods through the kubelet; "true": with rxe devices
#
# With rxe devices a long run tests the kernel, not rocelet: deleting one rxe device in the very moment in which any namespace dies
# is enough for it to use the namespace after it was freed (remove_one_compat_dev() takes the compat device out of its list before
# device_del(), so that rdma_dev_exit_net() does not wait for it; drivers/infiniband/core/device.c, Linux 7.3).
CYCLES=${1:-40} N_PODS=${2:-2} SOFT_ROCE=${3:-false}
RANDOM=${4:-$$}
N_VFS=4
# The heap reaches its final size late. Leaking one attachment per cycle would exceed this.
MEMORY_TOLERANCE_KB=512

# Cycles of one VF, each with a namespace of its own. With `stubborn`, the daemon may be down now and then.
cycles() { # INDEX N [stubborn]
    local index=$1 cycle id=${VF_IDS[$1]}
    RANDOM=$((SEED + index))
    for ((cycle = 0; cycle < $2; cycle++)); do
        ip netns add "churn$index"
        attached "$id" "churn$index" "10.9.$index.$((cycle % 250 + 1))/24" "${3:-}" || { show_engine; fail "$id, cycle $cycle: $(<"/tmp/churn$index.log")"; }
        ((RANDOM % 2)) || rocectl detach "$id" &>"/tmp/churn$index.log" || [[ -n ${3:-} ]] || { show_engine; fail "$id, cycle $cycle: $(<"/tmp/churn$index.log")"; }
        ip netns delete "churn$index"
        wait_until 60 "[[ \$(engine_state $id) == free ]]"
    done
}

# Prints the daemon's threads and stacks, for the log of a failure.
show_engine() {
    local task
    curl -fsS -m 60 "$HTTP/api/v1/attachments" || true
    rocectl events --limit 40 || true
    for task in "/proc/$ROCELET_PID/task"/*; do echo "$(<"$task/comm") $(<"$task/wchan")"; sed 's/^/    /' "$task/stack"; done
}

# Repeats an attach whose answer is lost with a killed daemon, or that its successor rolls back.
attached() { # ID POD IP/LEN [stubborn]
    until attach "${@:1:3}" &>"/tmp/$2.log"; do
        [[ -n $4 ]] || return
        ! { [[ $(engine_state "$1") == in_pod ]] && is_complete "$2" "$1" "$3"; } || return 0
        sleep 0.2
    done
}

# All VFs at once.
churn() { # CYCLES_OF_ALL [stubborn]
    local index
    WORKERS=()
    for ((index = 0; index < N_VFS; index++)); do
        (trap - EXIT ERR; cycles "$index" "$((($1 + N_VFS - 1) / N_VFS))" "${2:-}") &
        WORKERS+=("$!")
    done
}

working() {
    local pid
    for pid in "${WORKERS[@]}"; do ! kill -0 "$pid" 2>/dev/null || return 0; done
    return 1
}

finished() {
    local pid status=0
    for pid in "${WORKERS[@]}"; do wait "$pid" || status=1; done
    return "$status"
}

# Kills a random victim every few seconds while there is work; on average after the time that one piece needs undisturbed: more often, and on a
# busy machine no piece would ever be finished.
kill_at_random() { # PIECE_S VICTIM..
    local victims=("${@:2}") kills=0
    while working; do
        sleep $((2 + RANDOM % ($1 * 2)))
        "${victims[RANDOM % ${#victims[@]}]}"
        kills=$((kills + 1))
    done
    echo "# $kills kills"
}

again() {
    kill_rocelet
    start_engine
}

kubelet_again() { restart_kubelet KILL; }
containerd_again() { restart_containerd KILL; }

one_pod() { # INDEX
    local pod=churn$1 ip=10.9.8.$(($1 + 1))/24
    make_pod "$pod" "$RESOURCE=1" "[{\"resource\": \"$RESOURCE\", \"ips\": [\"$ip\"]}]"
    wait_until 300 "pod_started $pod"
    is_complete "$pod" "$(pod_env "$pod" $VARIABLE)" "$ip" || return
    POD_TIMEOUT=120 remove_pod "$pod"
}

pods_in_turn() {
    local i
    for ((i = 0; i < N_PODS; i++)); do
        one_pod "$i"
    done
}

SEED=$RANDOM
echo "# seed $SEED"
make_pool $N_VFS '{"mtu": 1400, "vlan": 100}'
start_engine
churn $((CYCLES / 4)) # the heap and the descriptors reach their size
need_within 0 "a first quarter of $CYCLES attaches" finished
namespaces=$(n_namespaces) fds=$(n_fds) memory=$(allocated_kb) journal=$(journal_size)

say "$CYCLES attaches, half of them ended by deleting the namespace"
churn "$CYCLES"
need_within 0 "all cycles have finished" finished
check_all_free
check_within 10 "no namespace is left" "(( \$(n_namespaces) <= $namespaces ))"
check_within 10 "no descriptor is left" "(( \$(n_fds) <= fds ))"
# A sanitizer keeps freed memory, to find later uses.
echo "# memory: $memory kB, then $(allocated_kb) kB"
[[ $LAB_ROCELET == san/* ]] || check_within 30 "memory does not grow from $memory kB" "(( \$(allocated_kb) <= memory + MEMORY_TOLERANCE_KB ))"
check_within 10 "nor does the journal" "[[ \$(journal_size) == '$journal' ]]"
echo "# $SECONDS s so far"

say "$CYCLES more, while the daemon is killed"
churn "$CYCLES" stubborn
kill_at_random 3 again
need_within 0 "all cycles have finished" finished
check_all_free
check_within 10 "no namespace is left" "(( \$(n_namespaces) <= $namespaces ))"
check_within 10 "the journal has not grown" "[[ \$(journal_size) == '$journal' ]]"
echo "# $SECONDS s so far"

say "$N_PODS pods through the kubelet, while the daemon, the kubelet and the runtime are killed"
if ((N_PODS)); then
    start_node
    wait_until 60 "(( \$(n_registered $RESOURCE) == N_VFS ))"
    namespaces=$(n_namespaces) start=$SECONDS
    one_pod 99
    piece=$((SECONDS - start))
    echo "# an undisturbed pod is created and deleted in $piece s"
    (trap - EXIT ERR; pods_in_turn) &
    WORKERS=("$!")
    kill_at_random "$piece" again kubelet_again containerd_again
    need_within 0 "all pods had their VF" finished
    check_all_free
    # The kubelet cleans up interrupted sandboxes in its own time.
    check_within 150 "no namespace is left" "(( \$(n_namespaces) <= $namespaces ))"
    check_within 10 "the journal has not grown" "[[ \$(journal_size) == '$journal' ]]"
fi
stop_rocelet
echo "# the scenario took $SECONDS s"
