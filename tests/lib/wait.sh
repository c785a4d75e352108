# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Waits for conditions. A condition is shell text ("ip link show net1 | grep -q LOWER_UP") or a command with its arguments.

# Without pipefail: "list | grep -q" must not fail because grep stopped reading early.
holds() { # CONDITION..
    local status=0
    set +o pipefail
    eval "$*" || status=$?
    set -o pipefail
    return "$status"
}

# Evaluates the condition repeatedly, with pauses of twice its duration: the work that it waits for may need the CPUs, too, above all
# emulated ones.
becomes_true() { # SECONDS CONDITION..
    local deadline=$((SECONDS + $1)) began pause_ms
    while
        began=${EPOCHREALTIME/[.,]/}
        ! holds "${@:2}"
    do
        ((SECONDS < deadline)) || return 1
        pause_ms=$(((${EPOCHREALTIME/[.,]/} - began) / 500))
        ((pause_ms >= 50)) || pause_ms=50
        ((pause_ms <= 1000)) || pause_ms=1000 # or the clock was set
        sleep "$((pause_ms / 1000)).$(printf %03d $((pause_ms % 1000)))"
    done
}
