# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# lab.sh cluster: several machines at once, whose NICs are connected to one switch, and with "# cluster: --kubelet" in the scenario a control plane
# beside them. All of it runs in network, process and mount namespaces of its own and ends with the first process there; the scenario, from
# cluster/scenarios, too.

readonly CLUSTER_DIR=$LAB_DIR/cluster

CONTROL_PLANE= # the folder with its programs

cmd_cluster() { # [OPTIONS] SCENARIO [ARGS..]
    local status=0 scenario started
    parse_run_options "$@"
    scenario=${REST[0]:-}
    [[ -n $scenario && -e $CLUSTER_DIR/scenarios/$scenario.sh ]] || die "no scenario '$scenario'; there are: $(cluster_scenarios)"
    # shellcheck disable=SC2046
    parse_run_options $(sed -n 's/^# cluster: //p' "$CLUSTER_DIR/scenarios/$scenario.sh") "$@"
    prepare_image
    [[ -z $WITH_KUBELET ]] || prepare_kubernetes
    claim_output "cluster-$scenario"
    started=$SECONDS
    run_cluster "${REST[@]}" || status=$?
    report_cluster "$scenario" "$status" "$((SECONDS - started))"
    return "$status"
}

prepare_kubernetes() {
    "$PROJECT_DIR/tests/kubelet/kubelet.sh" build >/dev/null || die "there is no kubelet"
    CONTROL_PLANE=$("$PROJECT_DIR/tests/kubelet/kubelet.sh" build control-plane) || die "there is no control plane"
}

cluster_scenarios() {
    basename -s .sh "$CLUSTER_DIR"/scenarios/*.sh | xargs
}

# The first process in the namespaces is this program again: cluster/inside.sh. When this process ends, for whatever reason, all of them end.
run_cluster() { # SCENARIO [ARGS..]
    local first name
    for name in OUT MEMORY KERNEL TIMEOUT WITH_KUBELET CONTROL_PLANE; do printf '%s=%q\n' "$name" "${!name}"; done >"$OUT/env"
    setpriv --pdeathsig KILL unshare --mount --net --pid --fork --kill-child --mount-proc \
        bash "$LAB_DIR/lab.sh" inside "$OUT/env" "$@" </dev/null 8>&- > >(show_cluster) 2>&1 &
    first=$!
    # shellcheck disable=SC2064  # the current value
    trap "kill -KILL $first 2>/dev/null || true" EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    wait "$first"
}

show_cluster() {
    if [[ -n $QUIET ]]; then cat >"$OUT/scenario.log"; else tee "$OUT/scenario.log"; fi
}

report_cluster() { # SCENARIO STATUS SECONDS
    local last log
    # The output of the last process may still be in transit through tee.
    becomes_true 5 "tail -n 1 $OUT/scenario.log | grep -qE '^[0-9]+ passed'" || true
    last=$(tail -n 1 "$OUT/scenario.log")
    if (($2 == 0)); then
        note "cluster $1: ok, $last, $3 s"
        return
    fi
    {
        [[ -z $QUIET ]] || show_tail "scenario" "$OUT/scenario.log" 60
        for log in "$OUT"/node?/{rocelet,console}.log; do show_tail "${log##*/}" "$log" 20; done
    } >&2
    note "cluster $1: FAILED (status $2) after $3 s: $last"
    note "logs: $OUT"
}
