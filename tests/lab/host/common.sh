# shellcheck shell=bash
# Saying things to whoever runs the lab.

note() { printf 'lab: %s\n' "$*" >&2; }
die() {
    note "$*"
    exit 1
}

# Waits for a background job; says now and then that it is still at it.
tick() { # WHAT PID
    local started=$SECONDS next=0
    while kill -0 "$2" 2>/dev/null; do
        if [[ -t 2 ]]; then
            printf '\rlab: %s: %d s ' "$1" "$((SECONDS - started))" >&2
        elif ((SECONDS - started >= next)); then
            note "$1: $((SECONDS - started)) s"
            next=$((next + 15))
        fi
        sleep 1
    done
    [[ ! -t 2 ]] || printf '\r\033[K' >&2
}
