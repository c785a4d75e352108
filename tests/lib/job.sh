# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Runs work of several minutes in the background of a script and prints its progress. The script that sources this file defines note().

# Waits for a background job; prints from time to time that it is still running.
tick() { # WHAT PID
    local started=$SECONDS next=0
    while kill -0 "$2" 2>/dev/null; do
        if [[ -t 2 ]]; then
            printf '\r%s: %d s ' "$1" "$((SECONDS - started))" >&2
        elif ((SECONDS - started >= next)); then
            note "$1: $((SECONDS - started)) s"
            next=$((next + 15))
        fi
        sleep 1
    done
    [[ ! -t 2 ]] || printf '\r\033[K' >&2
}

# Runs a command in new namespaces, if that is allowed, so that its children and mounts end with it.
contained() {
    local wrapper=(unshare --mount --pid --fork --kill-child --mount-proc)
    "${wrapper[@]}" true 2>/dev/null || wrapper=()
    exec setpriv --pdeathsig KILL "${wrapper[@]}" "$@"
}
