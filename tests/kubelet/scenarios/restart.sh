# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The kubelet dies and comes back, again and again: rocelet registers each time, and running pods are not affected.
# In the environment: ROUNDS, how often (20); BAR_MS, limit for the median registration, on an idle machine (no check without it).
# proves: k8s/kubelet k8s/rpc daemon/plugin
# when: turns
# shellcheck source=../rig/lib.sh
. "$(dirname "$0")/../rig/lib.sh" "$1"

readonly ROUNDS=${ROUNDS:-20} VF=rocelet.dev/vf SHARED=rdma/hca
POD_PID=
LATENCIES=() # ms; see latency

both_listed() {
    (($(lists_received $VF) > 0 && $(lists_received $SHARED) > 0))
}

metrics_socket_serves() {
    curl -fsS -m 2 --unix-socket "$PLUGINS/rocelet-metrics.sock" http://x/metrics | grep -q '^rocelet_'
}

# Kills and restarts the kubelet once; counts the successes.
kubelet_round() { # MODE
    stop_kubelet KILL
    launch_kubelet
    wait_until 60 "kubelet_ready"
    if becomes_true $((PATIENCE * 20)) both_listed; then
        REGISTERED=$((REGISTERED + 1))
        [[ $1 != legacy ]] || LATENCIES+=("$(latency)")
    fi
    becomes_true $((PATIENCE * 5)) metrics_socket_serves &>/dev/null && SERVED=$((SERVED + 1))
    [[ $(pod_pid keeper) != "$POD_PID" ]] || UNTOUCHED=$((UNTOUCHED + 1))
}

rounds() { # N MODE
    local round
    REGISTERED=0 SERVED=0 UNTOUCHED=0
    for ((round = 0; round < $1; round++)); do
        kubelet_round "$2"
    done
    check "$2: registered again $1 times" "((REGISTERED == $1))"
    check "$2: rocelet-metrics.sock served again $1 times" "((SERVED == $1))"
    check "$2: the pod was untouched $1 times" "((UNTOUCHED == $1))"
}

# Milliseconds from the moment the kubelet's socket accepted to our last resource's registration: the first by an observer that
# tries to connect every millisecond, the second from the kubelet's log.
latency() {
    local resource
    for resource in $VF $SHARED; do registration_time "$resource"; done | sort -n | tail -n 1 |
        awk -v accepted="$(tail -n 1 /run/rig/accepted)" '{ printf "%.1f\n", ($1 - accepted) * 1000 }'
}

print_latencies() {
    ((${#LATENCIES[@]})) || return 0
    printf '%s\n' "${LATENCIES[@]}" | sort -n | awk '{ v[NR] = $1 }
        END { printf "# registered after the kubelet'\''s socket accepts: median %s ms, worst %s ms of %d\n", v[int((NR + 1) / 2)], v[NR], NR }'
}

median_within() { # MS
    ((${#LATENCIES[@]})) || return 1
    printf '%s\n' "${LATENCIES[@]}" | sort -n | awk -v bar="$1" '{ v[NR] = $1 } END { exit NR == 0 || v[int((NR + 1) / 2)] > bar }'
}

make_hardware 2 8
configure <<EOT
{"resourceList": [{"resourceName": "vf", "resourcePrefix": "rocelet.dev", "selectors": {"pfNames": ["ens1np0#0-3"], "isRdma": true}}],
 "configList": [{"resourceName": "hca", "rdmaHcaMax": 10, "selectors": {"ifNames": ["ens2np0"]}}]}
EOT
start_kubelet
/usr/bin/python3 "$KUBELET_DIR/rig/accepts.py" >/run/rig/accepted 2>"$OUT/accepts.log" </dev/null &
start_rocelet --registration legacy
wait_until both_listed
run_pod keeper "$VF=2" "$SHARED=1"
POD_PID=$(pod_pid keeper)
KEPT=$(pod_resources keeper $VF)

say "the kubelet is killed $ROUNDS times, with Register"
rounds "$ROUNDS" legacy
print_latencies
[[ -z ${BAR_MS:-} ]] || check "registered within $BAR_MS ms of the socket's first answer" "median_within $BAR_MS"
check "PodResources names the same devices" "[[ '$KEPT' == \$(pod_resources keeper $VF) ]]"
run_pod late "$VF=2"
check "a new pod gets the others" "[[ -z \$(printf '%s\n' $KEPT \$(pod_resources late $VF) | sort | uniq -d) ]]"
check "the daemon was never restarted" rocelet_runs

say "the daemon is restarted, then killed"
for signal in TERM KILL; do
    lists=$(lists_received $VF)
    stop_rocelet "$signal"
    start_rocelet --registration legacy
    need_within 20 "after SIG$signal it is registered again" "(( \$(lists_received $VF) > $lists ))"
    check "both pods were untouched by SIG$signal" "[[ \$(pod_pid keeper) == $POD_PID ]] && pod_started late"
done
remove_pod late
check_within 10 "returned devices are free, devices in use are not" "run_pod new $VF=2 && [[ -z \$(printf '%s\n' $KEPT \$(pod_resources new $VF) | sort | uniq -d) ]]"
stop_rocelet

say "the kubelet is killed 3 times, with plugins_registry"
lists=$(lists_received $VF)
start_rocelet --registration registry
need_within 20 "registered" "(( \$(lists_received $VF) > $lists ))"
rounds 3 registry
stop_rocelet
