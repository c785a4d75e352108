# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# lab.sh demo: real pods with a VF each, RDMA traffic between them, the daemon inside, and on this terminal its output, once a second.
# Without a kubelet, as at the first start: while it is built, VFs that rocectl attaches, and traffic between them.

readonly DEMO_PORT=9907
readonly DEMO_URL=http://127.0.0.1:$DEMO_PORT
# From power-on to traffic; under a minute on an idle machine.
readonly DEMO_READY_TIMEOUT=$((BOOT_TIMEOUT + 180))
readonly DEMO_EVENT='^20[0-9-]{8}T[0-9:.]+Z'
readonly BUILD_LOG=$PROJECT_DIR/build/kubelet-build.log

KUBELET_BUILD= # its process, and its group, while the kubelet is built
DEMO_NOTICE=   # a line of the view
DEMO_BEGAN=    # SECONDS when the view with pods came up
DEMO_SEEN=     # non-empty once the view has shown traffic of pods

cmd_demo() {
    [[ -x $PROJECT_DIR/build/rocelet && -x $PROJECT_DIR/build/rocectl ]] || die "build/rocelet or build/rocectl is not there: run make first"
    require_free_port "$DEMO_PORT"
    prepare_image
    if ! "$PROJECT_DIR/tests/kubelet/kubelet.sh" built; then demo_by_hand; fi
    start_demo demo
    show_demo
}

# A demo for the minutes while the kubelet is built, once.
demo_by_hand() {
    # A session of its own: a job of a script does not receive Ctrl-C, and its children would outlive it.
    setsid "$PROJECT_DIR/tests/kubelet/kubelet.sh" build >"$BUILD_LOG" 2>&1 </dev/null &
    KUBELET_BUILD=$!
    trap end_build EXIT
    note "the kubelet is being built, once; until it is there: VFs that rocectl attaches to network namespaces"
    start_demo demo_by_hand
    renice -n 10 -p "$QEMU_PID" >/dev/null # the build of the kubelet has priority
    show_while is_building
    stop_machine
    [[ ! -t 1 ]] || printf '\033[2J\033[H'
    wait "$KUBELET_BUILD" || demo_build_failed
    KUBELET_BUILD='' DEMO_NOTICE=''
    note "the kubelet is built; the machine starts again, with real pods"
}

is_building() {
    DEMO_NOTICE=$(tail -n 1 "$BUILD_LOG")
    kill -0 "$KUBELET_BUILD" 2>/dev/null
}

end_build() {
    [[ -z $KUBELET_BUILD ]] || kill -TERM -- "-$KUBELET_BUILD" 2>/dev/null || true
}

demo_build_failed() {
    KUBELET_BUILD=
    tail -n 30 "$BUILD_LOG" >&2
    die "demo FAILED: the kubelet could not be built; log: $BUILD_LOG"
}

# Returns once the daemon answers and traffic flows.
start_demo() { # SCENARIO
    SHOWN=0
    # shellcheck disable=SC2046
    parse_run_options $(sed -n 's/^# lab: //p' "$LAB_DIR/scenarios/$1.sh") --forward "$DEMO_PORT:$DEMO_PORT"
    TIMEOUT=$((24 * 3600))
    start_machine "$1"
    trap 'stop_machine; end_build' EXIT
    trap demo_interrupted INT
    wait_for_demo
}

# Shows the guest's progress.
wait_for_demo() {
    local started=$SECONDS
    until [[ -e $OUT/ready ]]; do
        show_progress
        if [[ -e $OUT/status ]]; then
            demo_failed "the guest could not set the demo up"
        elif ! machine_runs; then
            demo_failed "the machine ended on its own$(panic_line)"
        elif stalled; then
            demo_failed "the emulated machine hangs; try again"
        elif ((SECONDS - started > DEMO_READY_TIMEOUT)); then
            demo_failed "not ready within $DEMO_READY_TIMEOUT s$(panic_line)"
        fi
        sleep 0.2
    done
    show_progress
}

demo_failed() { # WHY
    stop_machine
    end_build
    VERDICT=$1
    explain
    die "demo FAILED: $1; logs: $OUT"
}

# Without a set time Ctrl-C is the normal end of the demo; with one it interrupts it.
demo_interrupted() {
    stop_machine
    end_build
    echo
    note "demo ended"
    [[ -n ${DEMO_SECONDS:-} ]] && exit 130
    exit 0
}

show_demo() {
    DEMO_BEGAN=$SECONDS
    show_while demo_has_time
    stop_machine
    [[ -n $DEMO_SEEN ]] || die "demo FAILED: no traffic between pods with attached VFs was seen in $DEMO_SECONDS s"
    grep -qE "$DEMO_EVENT Attached: .* is net1 of pod default/train0" "$OUT/events.shown" || die "demo FAILED: no event of train0's VF was seen"
    ! grep -vE "$DEMO_EVENT" "$OUT/events.shown" || die "demo FAILED: these events have no time"
    note "demo ended after $DEMO_SECONDS s; traffic between pods with attached VFs was seen"
}

demo_has_time() {
    [[ -z ${DEMO_SECONDS:-} ]] || ((SECONDS - DEMO_BEGAN < DEMO_SECONDS))
}

# The view, with each new sample. Sets DEMO_SEEN when it shows traffic of pods with attached VFs.
show_while() { # CONDITION
    local began=$SECONDS page=$OUT/page last=$OUT/page.last
    DEMO_SEEN=
    : >"$last"
    [[ ! -t 1 ]] || printf '\033[2J'
    while "$1"; do
        [[ ! -e $OUT/status ]] || demo_failed "the guest could not go on"
        machine_runs || demo_failed "the machine ended on its own$(panic_line)"
        if ! curl -fsS -m 5 -o "$page" "$DEMO_URL/metrics" 2>"$OUT/curl.log"; then
            note "no answer from $DEMO_URL/metrics: $(<"$OUT/curl.log")"
        elif [[ $(sample_time "$page") != "$(sample_time "$last")" ]]; then
            demo_view "$((SECONDS - began))" "$last" "$page" && DEMO_SEEN=yes
            mv "$page" "$last"
        fi
        sleep 0.2
    done
}

sample_time() { # PAGE
    grep '^rocelet_sample_timestamp_seconds ' "$1"
}

# Succeeds if the page shows traffic of pods with attached VFs since the last page.
demo_view() { # SECONDS_SO_FAR LAST_PAGE PAGE
    local terminal='' columns=0 name status=0
    if [[ -t 1 ]]; then
        terminal=yes
        columns=$(tput cols 2>/dev/null) || columns=0
    fi
    # Copies, because the guest replaces these files.
    for name in pods events; do cat "$OUT/$name" >"$OUT/$name.now" 2>/dev/null || true; done
    touch "$OUT/events.shown"
    awk -v terminal="$terminal" -v columns="$columns" -v elapsed="$1" -v url="$DEMO_URL" \
        -v notice="$DEMO_NOTICE" -f "$LAB_DIR/demo_view.awk" file=last "$2" file=page "$3" file=pods "$OUT/pods.now" file=shown "$OUT/events.shown" \
        file=events "$OUT/events.now" || status=$?
    mv "$OUT/events.now" "$OUT/events.shown"
    return "$status"
}
