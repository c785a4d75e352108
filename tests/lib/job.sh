# shellcheck shell=bash
# Work that takes minutes, in the background of a script that says how long it has been at it. Whoever sources this has note().

# Waits for a background job; says now and then that it is still at it.
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

# In namespaces of its own, where that is allowed: when the command is ended, its children and mounts end with it.
contained() {
    local wrapper=(unshare --mount --pid --fork --kill-child --mount-proc)
    "${wrapper[@]}" true 2>/dev/null || wrapper=()
    exec setpriv --pdeathsig KILL "${wrapper[@]}" "$@"
}
