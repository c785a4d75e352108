# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The sub-commands: run a scenario, start a rig to explore, enter it, end it.

# The rig of up and shell; each scenario has a rig of its own, with its name.
readonly DESK=desk

QUIET='' KEEP=''

cmd_run() { # [--quiet] [--keep] SCENARIO..
    local name worst=0 status
    while [[ ${1:-} == -* ]]; do
        case $1 in
            --quiet) QUIET=yes ;;
            --keep) KEEP=yes ;;
            *) die "unknown option $1" ;;
        esac
        shift
    done
    (($#)) || die "run: which scenario? There are: $(scenarios)"
    for name in "$@"; do [[ -e $KUBELET_DIR/scenarios/$name.sh ]] || die "no scenario '$name'; there are: $(scenarios)"; done
    for name in "$@"; do
        status=0
        run_one "$name" || status=$?
        ((status == 0)) || worst=$status
    done
    return "$worst"
}

run_one() { # SCENARIO
    local status=0 started=$SECONDS
    trap stop_rig EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    start_rig "$1" tied
    in_rig timeout --foreground --kill-after=10 "$TIMEOUT" bash "$KUBELET_DIR/scenarios/$1.sh" "$OUT" 2>&1 8>&- |
        show "$OUT/scenario.log" || status=$?
    if ((status)) && [[ -n $KEEP ]]; then
        note "kept: nsenter --target $RIG_PID --mount --net --pid (Ctrl-C ends it)"
        sleep infinity
    fi
    stop_rig
    trap - EXIT
    report "$1" "$status" "$((SECONDS - started))"
    return "$status"
}

show() { # LOG
    if [[ -n $QUIET ]]; then cat >"$1"; else tee "$1"; fi
}

report() { # SCENARIO STATUS SECONDS
    local last
    last=$(tail -n 1 "$OUT/scenario.log" 2>/dev/null || true)
    (($2 != 124)) || last+=", out of time after $TIMEOUT s"
    if (($2 == 0)); then
        note "$1: ok, $last, $3 s"
        return
    fi
    [[ -z $QUIET ]] || tail -n 60 "$OUT/scenario.log" >&2
    note "$1: FAILED (status $2) after $3 s: $last"
    note "logs: $OUT"
}

scenarios() {
    local path names=()
    for path in "$KUBELET_DIR"/scenarios/*.sh; do names+=("$(basename "$path" .sh)"); done
    echo "${names[*]}"
}

cmd_up() {
    if find_rig "$DESK"; then
        note "already up"
        return
    fi
    start_rig "$DESK"
    in_rig bash "$KUBELET_DIR/rig/desk.sh" "$OUT"
    note "up; kubelet.sh shell goes in, kubelet.sh down ends it; logs: $OUT"
}

cmd_shell() { # [COMMAND..]
    local status=0 own=
    find_rig "$DESK" || { own=yes; cmd_up; }
    # With arguments, they are read as one command line of that shell.
    RIG_KUBELET_DIR=$KUBELET_DIR RIG_OUT=$OUT BASH_ENV=$KUBELET_DIR/rig/shell.rc \
        in_rig bash --rcfile "$KUBELET_DIR/rig/shell.rc" ${1:+-c "$*"} || status=$?
    [[ -z $own ]] || cmd_down
    return "$status"
}

cmd_down() {
    OUT=$PROJECT_DIR/build/kubelet/$DESK
    [[ ! -d $OUT ]] || stop_rig
}
