# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# k8s/cri/cri.h, through cri_watch, reports the same sandboxes of pods as containerd.
# proves: k8s/cri
# shellcheck source=../rig/lib.sh
. "$(dirname "$0")/../rig/lib.sh" "$1"

readonly WATCH_LOG=$OUT/sandboxes.log
readonly NETWORKS='[{"resource":"rocelet.dev/roce","interface":"net1"}]'

start_watch() {
    "$PROJECT_DIR/build/interop/cri_watch" >"$WATCH_LOG" 2>"$OUT/watch.log" </dev/null &
    WATCH_PID=$!
}

stop_watch() {
    local status=0
    kill "$WATCH_PID"
    wait "$WATCH_PID" || status=$?
    ((status == 0)) || fail "cri_watch ended with status $status"
    echo "# $(tail -n 1 "$WATCH_LOG" | cut -d' ' -f3-)"
}

# Creates a pod whose manifest is changed by a Python expression on `doc`, which must be false.
make_pod_with() { # NAME EXPRESSION
    mkdir -p "$PODS/$1"
    pod_manifest "$1" | json "$2 or json.dumps(doc)" >"/run/rig/$1.json"
    mv "/run/rig/$1.json" "/run/rig/manifests/$1.json"
}

# The last line about a pod's sandbox that was not removed: TIME sandbox ID NAMESPACE POD UID STATE NETNS NETWORKS
line() { # POD
    awk -v pod="$1-rig" '$2 == "sandbox" && $5 == pod { last = $0; id = $3 } $2 == "gone" && $3 == id { last = "" } END { if (last) print last }' "$WATCH_LOG"
}

field() { line "$1" | cut -d' ' -f"$2"; } # POD NUMBER
is_ready() { [[ $(field "$1" 7) == ready ]]; } # POD
netns_of_pod() { stat -Lc %i "/proc/$(pod_pid "$1")/ns/net"; } # POD
same_netns() { [[ $(stat -Lc %i "$(field "$1" 8)") == "$(netns_of_pod "$1")" ]]; } # POD

uid_of() { # POD
    curl -fsS -m 60 "$KUBELET_URL/pods" | json "next(p['metadata']['uid'] for p in doc['items'] if p['metadata']['name'] == '$1-rig')"
}

ahead() { # POD..
    local pod started
    for pod in "$@"; do
        started=$(date -d "$(stat -c %y "$PODS/$pod/starts")" +%s%3N)
        echo "# $pod's sandbox was known $((started - $(field "$pod" 1))) ms before its container ran"
    done
}

# The sandboxes that have a process, in containerd and in cri_watch.
theirs() {
    ctr -n k8s.io containers ls -q 'labels."io.cri-containerd.kind"==sandbox' | while read -r id; do
        ctr -n k8s.io tasks ls | awk -v id="$id" '$1 == id && $3 == "RUNNING" { print id }'
    done | sort | xargs
}
ours() {
    awk '$2 == "sandbox" { state[$3] = $7 } $2 == "gone" { delete state[$3] } END { for (id in state) if (state[id] == "ready") print id }' "$WATCH_LOG" | sort | xargs
}
agree() { [[ $(ours) == "$(theirs)" ]]; }

restart_containerd() { # COMMAND..   runs while it is down
    local pid
    pid=$(pgrep -x containerd)
    kill -KILL "$pid"
    while kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
    "$@"
    containerd --config /run/rig/containerd.toml >>"$OUT/containerd.log" 2>&1 </dev/null &
    disown
}

start_kubelet
start_watch
need_within 10 "containerd is found, with its events" "grep -q ' known containerd .*, events: containerd' $WATCH_LOG"

say "pods start"
make_pod_with a "doc['metadata'].update(annotations={'rocelet.dev/networks': '$NETWORKS'})"
make_pod_with h "doc['spec'].update(hostNetwork=True)"
make_pod b
wait_until "pod_started a && pod_started b && pod_started h"
need_within 5 "each sandbox is reported" "is_ready a && is_ready b && is_ready h"
check "a's network namespace is the one its container is in" "same_netns a"
check "b's too, another" "same_netns b && [[ $(field a 8) != $(field b 8) ]]"
check "h has the node's" "[[ $(field h 8) == host ]]"
check "a's annotation is reported, b has none" "[[ '$(field a 9)' == '$NETWORKS' && '$(field b 9)' == - ]]"
check "the uid is the kubelet's" "[[ $(field a 6) == $(uid_of a) && $(field b 6) == $(uid_of b) ]]"
check "containerd has the same sandboxes" agree
ahead a b

say "a pod ends"
remove_pod b
check_within 5 "b's sandbox has ended" "! is_ready b"
check_within 60 "its sandbox is gone once the kubelet, which checks every minute, removes it" "[[ -z \$(line b) ]]"
check "a's is not" "is_ready a"

say "containerd's death"
restart_containerd make_pod c
check_within 60 "a pod created meanwhile is reported" "is_ready c && pod_started c && same_netns c"
check_within 10 "containerd has the same sandboxes" agree
check "a's sandbox was never reported as gone" "! grep -q \"gone $(field a 3)\" $WATCH_LOG"
make_pod d
wait_until 60 "pod_started d"
check_within 5 "events come again" "is_ready d"
ahead d
stop_watch
