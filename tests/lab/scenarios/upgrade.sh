# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The daemon's successor takes the node over while pods run: the kubelet never marks their devices unhealthy, nothing in the pods changes, and
# the successor serves later requests.
# lab: --kubelet --memory 4096 --timeout 900
# proves: daemon/compose k8s/kubelet daemon/plugin
# shellcheck source=../guest/lib.sh
. /rocelet/lab/guest/lib.sh
# shellcheck source=../guest/kubelet.sh
. /rocelet/lab/guest/kubelet.sh
# shellcheck source=../guest/attach.sh
. /rocelet/lab/guest/attach.sh

# Arguments as in a DaemonSet.
readonly FLAGS=(--registration legacy --config "$CONFIG" --state-dir "$STATE_DIR")

entry() { # ADDRESS: an annotation with it
    echo "[{\"resource\": \"$RESOURCE\", \"ips\": [\"$1\"]}]"
}

launch() { # POD_NAME [ARGS..]
    POD_NAMESPACE=rocelet POD_NAME=$1 launch_rocelet "$LAB_ROCELET" "${FLAGS[@]}" "${@:2}"
    wait_until is_up
}

# The successor answers where the first one has answered before.
take_over() { # POD_NAME
    launch "$1" --take-over --lock-wait 600 # work in progress there ends first, such as loading BPF programs
    need_within 60 "$1 takes over" "grep -q 'handed over to rocelet/$1,' $OUT/rocelet.log"
    check_within 30 "it is registered" is_registered
}

# Counts the kubelet's log lines about a plugin whose connection has ended, in 1.20 and later (pkg/kubelet/cm/devicemanager, markResourceUnhealthy).
n_marked_unhealthy() {
    grep -cE "Mark all resources Unhealthy for resource.*$RESOURCE" "$OUT/kubelet.log" || true
}

# The kernel has finished configuring the interface: up to two seconds after its carrier, the link-local address is still tentative.
is_settled() { # POD
    in_netns "$1" ip -6 address show dev net1 scope link -tentative | grep -q inet6
}

# Records changes of the links and addresses of a pod, each in a line. A process in a pod's namespace keeps its device, so they end before the pods do.
watch_pod() { # POD
    wait_until "is_settled $1"
    in_netns "$1" ip -oneline monitor link address route >"$OUT/$1.monitor" 2>&1 &
}

# What the kernel does at an advertisement of the lab's router, at any time, is nobody's doing here.
nothing_happened() { # POD
    ! awk -v pod="$1" '!/proto (kernel_)?ra/ { print "# in pod " pod ": " $0; n++ } END { exit n == 0 }' "$OUT/$1.monitor"
}

is_registered() {
    [[ $(metric rocelet_resource_registered "resource=\"$RESOURCE\"") == 1 ]]
}

make_pool 3
start_node
launch old
need_within 30 "the kubelet lists the VFs" "(( \$(n_registered $RESOURCE) == 3 ))"
run_pod a "$RESOURCE=1" "$(entry 10.9.0.1/24)"
run_pod b "$RESOURCE=1" "$(entry 10.9.0.2/24)"
a=$(vf_of a) b=$(vf_of b)
check "both have their interfaces" "is_complete a $a 10.9.0.1/24 && is_complete b $b 10.9.0.2/24"

say "an ordinary restart, which the kubelet does notice"
marked=$(n_marked_unhealthy)
stop_rocelet
launch old
check_within 30 "the kubelet has marked the devices unhealthy" "is_registered && (( \$(n_marked_unhealthy) > $marked ))"

say "the successor, while one pod writes into the other's memory"
first=$ROCELET_PID
watch_pod a
watch_pod b
perftest ib_write_bw a b -n 2000 -s 65536 & # several times as long as a hand-over takes
traffic=$!
marked=$(n_marked_unhealthy)
take_over new
check "the traffic goes on" "kill -0 $traffic"
check "the kubelet has not marked them unhealthy" "(( \$(n_marked_unhealthy) == $marked ))"
check "the successor has both attachments" "[[ \$(engine_state $a) == in_pod && \$(engine_state $b) == in_pod ]]"
check "the first one stays" "kill -0 $first"
check "the traffic has ended well" "wait $traffic"
check "nothing has happened to the pods' interfaces" "nothing_happened a && nothing_happened b"
pkill -f "^ip -oneline monitor link address route" || true

say "the successor serves the next pod"
run_pod c "$RESOURCE=1" "$(entry 10.9.0.3/24)"
check "the pod has its interface" "is_complete c $(vf_of c) 10.9.0.3/24"
kill -TERM "$first"
check "the first one ends well" "wait $first"
check "which the kubelet does not notice" "is_registered && (( \$(n_marked_unhealthy) == $marked ))"
remove_pod a
remove_pod b
remove_pod c
check_all_free

say "and back, as in a rollback"
second=$ROCELET_PID
take_over older
kill -TERM "$second"
check "the second one ends well" "wait $second"
check "the kubelet has not marked them unhealthy" "(( \$(n_marked_unhealthy) == $marked ))"
check "the kubelet lists the VFs" "(( \$(n_registered $RESOURCE) == 3 ))"
stop_rocelet
check_complaints
