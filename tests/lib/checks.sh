# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Functions for scenarios, in the lab's virtual machine and in the kubelet's rig. A scenario is a bash script with -e: an unhandled
# failure of a command ends it and prints the line. wait.sh defines conditions.
#
# The script that sources this file sets HTTP, the daemon's address, and may define show_logs, which runs after failures.

set -eEuo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/wait.sh"

readonly PATIENCE=6
PASSED=0
FAILED=0

trap 'on_error "$?" "${BASH_SOURCE[0]##*/}:$LINENO" "$BASH_COMMAND"' ERR
trap 'on_exit "$?"' EXIT
trap 'fail "out of time"' TERM

on_error() { # STATUS WHERE COMMAND
    echo "failed (status $1) at $2: $3"
}

# Prints the last line of a scenario, even if it ended early.
on_exit() { # STATUS
    trap - ERR EXIT
    if (($1 != 0)); then FAILED=$((FAILED + 1)); else last_checks; fi
    if ((FAILED > 0)); then show_logs || true; fi
    echo "$PASSED passed, $FAILED failed"
    exit "$((FAILED > 0))"
}

show_logs() { :; }

# Checks at the end of every scenario; the script that sources this file may replace it.
last_checks() { :; }

say() { echo "== $*"; }

fail() {
    echo "not ok - $*"
    exit 1
}

check() { # DESCRIPTION CONDITION..
    check_within 0 "$@"
}

# For conditions that need time to become true, at most SECONDS on an idle machine. The timeout is PATIENCE times that, for busy machines.
# Whether something is fast enough is judged by the timestamps of its events instead.
check_within() { # SECONDS DESCRIPTION CONDITION..
    if becomes_true "$((PATIENCE * $1))" "${@:3}"; then
        PASSED=$((PASSED + 1))
        echo "ok - $2"
    else
        FAILED=$((FAILED + 1))
        echo "not ok - $2"
        echo "    condition: ${*:3}"
    fi
}

# A check that ends the scenario if it fails.
need_within() { # SECONDS DESCRIPTION CONDITION..
    local failed=$FAILED
    check_within "$@"
    ((FAILED == failed)) && return
    FAILED=$failed # counted once, when the scenario ends
    exit 1
}

# The same without counting; on a timeout, prints the condition and ends the scenario.
wait_until() { # [TIMEOUT_S] CONDITION..
    local timeout=30
    if [[ $1 =~ ^[0-9]+$ ]]; then
        timeout=$1
        shift
    fi
    timeout=$((PATIENCE * timeout))
    becomes_true "$timeout" "$@" &>/dev/null || fail "still not true after $timeout s: $*"
}

# Evaluates a Python expression over the JSON document from stdin, `doc`.
json() { # EXPRESSION
    /usr/bin/python3 -c 'import json, sys; doc = json.load(sys.stdin); print(eval("(" + sys.argv[1] + ")"))' "$1"
}

# The value of the first series with this name and all these labels; prints nothing and fails if there is none.
metric() { # NAME ['label="x"'..]
    curl -fsS -m 60 "$HTTP/metrics" | awk -v name="$1" -v labels="${*:2}" '
        BEGIN { n = split(labels, wanted, " ") }
        # Read to the end, because curl fails if its output is closed early.
        !found && (index($0, name "{") == 1 || index($0, name " ") == 1) {
            for (i = 1; i <= n; i++) if (!index($0, "{" wanted[i]) && !index($0, "," wanted[i])) next
            sub(/^[^{ ]*(\{.*\})? /, "")
            print $1
            found = 1
        }
        END { exit !found }'
}

# Waits for two samples: then the metrics page covers everything before the call.
next_samples() {
    local now
    now=$(metric rocelet_samples_total)
    wait_until "(( \$(metric rocelet_samples_total) >= $now + 2 ))"
}

# Checks that the daemon's log in OUT has no errors and warnings, except those that match PATTERN and those about slow work: the machine's
# speed is not judged.
check_complaints() { # [PATTERN [EXPLANATION]]
    local lines kubelet='|reason="NotReady"'
    declare -F start_node >/dev/null && kubelet= # without one, rocelet is not ready for long
    lines=$(grep -E ' (error|warn) ' "$OUT/rocelet.log" | grep -vE " warn +worker: |DEADLINE_EXCEEDED the deadline passed| is still being attached, step [a-z_]+ \(waited $kubelet${1:+|$1}" || true)
    check "nothing to complain about${2:+ but $2}${lines:+: $lines}" "[[ -z '${lines:+x}' ]]"
}

# True if the daemon is ready, or waits for nothing but a kubelet that registers its resources.
is_up() {
    local reasons
    reasons=$(curl -sS -m 2 "$HTTP/readyz" 2>/dev/null) || return
    [[ -n $reasons && $(sed '/^not ready: the kubelet .* of the configured resources /d' <<<"$reasons" | grep -c '^not ready: ') == 0 ]]
}
