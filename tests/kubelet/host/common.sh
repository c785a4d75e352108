# shellcheck shell=bash
# Saying things to whoever runs the rig, and waiting.

note() { printf 'kubelet: %s\n' "$*" >&2; }
die() {
    note "$*"
    exit 1
}

# Looks every 50 ms, at least once. Without pipefail: "list | grep -q" must not fail because grep stopped reading early.
becomes_true() { # SECONDS CONDITION..
    local deadline=$((SECONDS + $1))
    until holds "${@:2}"; do
        ((SECONDS < deadline)) || return 1
        sleep 0.05
    done
}

holds() { # CONDITION..
    local status=0
    set +o pipefail
    eval "$*" || status=$?
    set -o pipefail
    return "$status"
}
