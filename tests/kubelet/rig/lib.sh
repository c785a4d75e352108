# shellcheck shell=bash
# Helpers for scenarios, which run inside the rig and start with:  . "$(dirname "$0")/../rig/lib.sh"
#
# A scenario is a bash script with -e: a command that fails where nobody looks ends it, with the line that failed.
# Conditions are shell text ('pod_runs a && ...') or a command with its arguments.

set -eEuo pipefail

# shellcheck source=/dev/null
. "$1/env" # PROJECT_DIR KUBELET_DIR KUBELET_BIN RUNTIME_ROOT OUT CGROUP
cd "$PROJECT_DIR"
. "$KUBELET_DIR/host/common.sh"
. "$KUBELET_DIR/rig/containerd.sh"
. "$KUBELET_DIR/rig/hardware.sh"
. "$KUBELET_DIR/rig/kubelet.sh"
. "$KUBELET_DIR/rig/pods.sh"
. "$KUBELET_DIR/rig/daemon.sh"

PASSED=0
FAILED=0

trap 'on_error "$?" "${BASH_SOURCE[0]##*/}:$LINENO" "$BASH_COMMAND"' ERR
trap 'on_exit "$?"' EXIT
trap 'fail "out of time"' TERM

on_error() { # STATUS WHERE COMMAND
    echo "failed (status $1) at $2: $3"
}

# The last line a scenario prints, whatever ended it.
on_exit() { # STATUS
    trap - ERR EXIT
    if (($1 != 0)); then FAILED=$((FAILED + 1)); fi
    ((FAILED == 0)) || show_logs
    echo "$PASSED passed, $FAILED failed"
    exit "$((FAILED > 0))"
}

say() { echo "== $*"; }

fail() {
    echo "not ok - $*"
    exit 1
}

check() { # DESCRIPTION CONDITION..
    check_within 0 "$@"
}

# For what takes a moment to become true.
check_within() { # SECONDS DESCRIPTION CONDITION..
    if becomes_true "$1" "${@:3}"; then
        PASSED=$((PASSED + 1))
        echo "ok - $2"
    else
        FAILED=$((FAILED + 1))
        echo "not ok - $2"
        echo "    condition: ${*:3}"
    fi
}

# A check that the rest of the scenario cannot do without.
need_within() { # SECONDS DESCRIPTION CONDITION..
    local failed=$FAILED
    check_within "$@"
    ((FAILED == failed)) && return
    FAILED=$failed # counted once, when the scenario ends
    exit 1
}

# The same without counting.
wait_until() { # [TIMEOUT_S] CONDITION..
    local timeout=30
    if [[ $1 =~ ^[0-9]+$ ]]; then
        timeout=$1
        shift
    fi
    becomes_true "$timeout" "$@" &>/dev/null || fail "still not true after $timeout s: $*"
}

# A Python expression over JSON from stdin, which is `doc`.
json() { # EXPRESSION
    /usr/bin/python3 -c 'import json, sys; doc = json.load(sys.stdin); print(eval("(" + sys.argv[1] + ")"))' "$1"
}

show_logs() {
    echo "--- pods"
    pods 2>/dev/null || true
    echo "--- end of the kubelet's log"
    tail -n 15 "$OUT/kubelet.log" 2>/dev/null || true
    [[ -e $OUT/rocelet.log ]] || return 0
    echo "--- end of rocelet's log"
    tail -n 30 "$OUT/rocelet.log"
}
