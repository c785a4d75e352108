# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# One daemon hands its node to the next while the kubelet runs: the kubelet sees no new registration, marks no device unhealthy, and its next
# requests go to the successor; with Register and in plugins_registry/.
# proves: daemon/compose k8s/kubelet k8s/rpc
# shellcheck source=../rig/lib.sh
. "$(dirname "$0")/../rig/lib.sh" "$1"

readonly VF=rocelet.dev/vf

# Counts the kubelet's log lines about a plugin whose connection has ended, in 1.20 and later.
n_marked_unhealthy() {
    grep -cE "Mark all resources Unhealthy for resource.*$VF|ListAndWatch ended unexpectedly" "$OUT/kubelet.log" || true
}

take_over() { # NAME [ARGS..]
    local first=$ROCELET_PID lists marked found
    lists=$(lists_received $VF) marked=$(n_marked_unhealthy) found=$(registrations $VF)
    POD_NAMESPACE=rocelet POD_NAME=$1 start_rocelet --take-over --lock-wait 120 "${@:2}"
    need_within 30 "the node is handed over to $1" "grep -q 'handed over to rocelet/$1,' $OUT/rocelet.log"
    need_within 30 "$1 gives the kubelet its list" "(( \$(lists_received $VF) > $lists ))"
    kill -TERM "$first"
    check "the previous daemon exits with 0" "wait $first"
    check "$1: nothing was registered again" "(( \$(registrations $VF) == $found ))"
    check "$1: no device was marked unhealthy" "(( \$(n_marked_unhealthy) == $marked && \$(n_registered $VF) == 4 ))"
}

in_mode() { # legacy|registry
    local lists
    say "$1"
    lists=$(lists_received $VF)
    POD_NAMESPACE=rocelet POD_NAME=first start_rocelet --registration "$1"
    # The kubelet's own list still has the previous daemon's devices, as unhealthy ones.
    wait_until "(( \$(lists_received $VF) > $lists && \$(n_registered $VF) == 4 ))"
    run_pod "$1-a" "$VF=1"
    take_over second --registration "$1"
    run_pod "$1-b" "$VF=1"
    take_over third --registration "$1"
    run_pod "$1-c" "$VF=1"
    check "three pods have three devices" \
        "(( \$(for p in a b c; do pod_resources $1-\$p $VF; done | sort -u | wc -l) == 3 ))"
    marked=$(n_marked_unhealthy)
    stop_rocelet
    check_within 20 "the kubelet does notice a real end" "(( \$(n_marked_unhealthy) > $marked ))"
    for p in a b c; do remove_pod "$1-$p"; done
}

make_hardware 2 8
configure <<<'{"resourceList": [{"resourceName": "vf", "resourcePrefix": "rocelet.dev", "selectors": {"pfNames": ["ens1np0#0-3"], "isRdma": true}}]}'
start_kubelet
in_mode legacy
in_mode registry
