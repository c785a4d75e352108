# shellcheck shell=bash
# Waiting for what becomes true. A condition is shell text ("ip link show net1 | grep -q LOWER_UP") or a command with its arguments.

# Without pipefail: "list | grep -q" must not fail because grep stopped reading early.
holds() { # CONDITION..
    local status=0
    set +o pipefail
    eval "$*" || status=$?
    set -o pipefail
    return "$status"
}

# Looks every 50 ms, at least once.
becomes_true() { # SECONDS CONDITION..
    local deadline=$((SECONDS + $1))
    until holds "${@:2}"; do
        ((SECONDS < deadline)) || return 1
        sleep 0.05
    done
}
