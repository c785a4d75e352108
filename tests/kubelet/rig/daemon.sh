# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# rocelet in the rig, with the synthetic tree.

readonly HTTP=http://127.0.0.1:9907 CONFIG=/run/rig/rocelet.json
readonly ROCELET=${ROCELET:-$PROJECT_DIR/build/rocelet}
ROCELET_PID=

# Writes its configuration from stdin.
configure() {
    cat >"$CONFIG.new"
    mv "$CONFIG.new" "$CONFIG"
}

# The tree sends no events: the daemon scans it every second.
start_rocelet() { # [ARGS..]
    (cd / && exec "$ROCELET" --config "$CONFIG" --sysfs-root "$TREE" --rescan-interval 1 --listen 127.0.0.1:9907 \
        --log-level debug "$@") >>"$OUT/rocelet.log" 2>&1 </dev/null &
    ROCELET_PID=$!
    echo "$ROCELET_PID" >/run/rig/rocelet.pid
    wait_until "is_up || ! kill -0 $ROCELET_PID"
    kill -0 "$ROCELET_PID" 2>/dev/null || fail "rocelet ended before it was ready"
}

rocelet_runs() { kill -0 "$ROCELET_PID" 2>/dev/null; }

stop_rocelet() { # [SIGNAL]
    local status=0
    kill -"${1:-TERM}" "$ROCELET_PID"
    wait "$ROCELET_PID" 2>/dev/null || status=$?
    ROCELET_PID=
    [[ ${1:-TERM} != TERM || $status == 0 ]] || fail "rocelet ended with status $status after SIGTERM"
}

# Evaluates a Python expression over one of the daemon's JSON documents, `doc`.
api() { # devices|pods EXPRESSION
    curl -fsS -m 60 "$HTTP/api/v1/$1" | json "$2"
}
