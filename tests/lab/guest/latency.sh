# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The delay of a change, for scenarios with ROUNDS and an optional BAR: the median of the rounds must not exceed that many
# starts of an empty program, measured here and now. Only on an idle machine (make bench). Sourced after lib.sh.

EMPTY_MS=$(/rocelet/lab/guest/empty_programs.sh 1)

# Runs the cases on stdin (see latency.py): every change must become visible.
latencies() { # WHERE [list RESOURCE]
    local name times median
    cat >/tmp/cases
    python3 /rocelet/lab/guest/latency.py "$ROUNDS" /tmp/cases "${@:2}" >/tmp/latencies || fail "latency: $(cat /tmp/latencies)"
    while read -r name times; do
        median=$(tr ' ' '\n' <<<"$times" | sort -n | sed -n "$((ROUNDS / 2 + 1))p")
        echo "# $name: $1 $median ms after the kernel's message, $(starts "$median") starts of an empty program (rounds: $times)"
        check "$name: $1${BAR:+ within $BAR starts of an empty program, $EMPTY_MS ms each}" \
            "[[ -z '$BAR' ]] || awk 'BEGIN { exit !($(starts "$median") <= ${BAR:-0}) }'"
    done </tmp/latencies
}

starts() { # MS
    awk -v ms="$1" -v empty="$EMPTY_MS" 'BEGIN { printf "%.1f", ms / empty }'
}
