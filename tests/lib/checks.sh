# shellcheck shell=bash
# What scenarios are written with, in the lab's virtual machine and in the kubelet's rig. A scenario is a bash script with -e: a
# command that fails where nobody looks ends it, with the line that failed. Conditions: see wait.sh.
#
# Whoever sources this has HTTP, the daemon's address, and may have a show_logs for failures.

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

# The last line a scenario prints, whatever ended it.
on_exit() { # STATUS
    trap - ERR EXIT
    if (($1 != 0)); then FAILED=$((FAILED + 1)); else last_checks; fi
    if ((FAILED > 0)); then show_logs || true; fi
    echo "$PASSED passed, $FAILED failed"
    exit "$((FAILED > 0))"
}

show_logs() { :; }

# What is to be so whenever a scenario has come to its end.
last_checks() { :; }

say() { echo "== $*"; }

fail() {
    echo "not ok - $*"
    exit 1
}

check() { # DESCRIPTION CONDITION..
    check_within 0 "$@"
}

# For what takes a moment to become true: SECONDS on a machine that does nothing else. A busy one has PATIENCE times that, since this says
# only when to give up; what must be quick is judged by the times that its events bear.
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

# A check that the rest of the scenario cannot do without.
need_within() { # SECONDS DESCRIPTION CONDITION..
    local failed=$FAILED
    check_within "$@"
    ((FAILED == failed)) && return
    FAILED=$failed # counted once, when the scenario ends
    exit 1
}

# The same without counting: says what was waited for and ends the scenario.
wait_until() { # [TIMEOUT_S] CONDITION..
    local timeout=30
    if [[ $1 =~ ^[0-9]+$ ]]; then
        timeout=$1
        shift
    fi
    timeout=$((PATIENCE * timeout))
    becomes_true "$timeout" "$@" &>/dev/null || fail "still not true after $timeout s: $*"
}

# A Python expression over JSON from stdin, which is `doc`.
json() { # EXPRESSION
    /usr/bin/python3 -c 'import json, sys; doc = json.load(sys.stdin); print(eval("(" + sys.argv[1] + ")"))' "$1"
}

# The value of the first series with that name and all those labels; prints nothing and fails when there is none.
metric() { # NAME ['label="x"'..]
    curl -fsS -m 60 "$HTTP/metrics" | awk -v name="$1" -v labels="${*:2}" '
        BEGIN { n = split(labels, wanted, " ") }
        # The rest is read, too: curl complains when nobody takes it.
        !found && (index($0, name "{") == 1 || index($0, name " ") == 1) {
            for (i = 1; i <= n; i++) if (!index($0, "{" wanted[i]) && !index($0, "," wanted[i])) next
            sub(/^[^{ ]*(\{.*\})? /, "")
            print $1
            found = 1
        }
        END { exit !found }'
}

# Two samples later everything that had passed is on the page.
next_samples() {
    local now
    now=$(metric rocelet_samples_total)
    wait_until "(( \$(metric rocelet_samples_total) >= $now + 2 ))"
}
