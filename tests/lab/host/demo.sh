# shellcheck shell=bash
# lab.sh demo: real pods with a VF each, RDMA traffic between them, the daemon inside, and on this terminal what it says, once a second.

readonly DEMO_PORT=9907
readonly DEMO_URL=http://127.0.0.1:$DEMO_PORT
# From power-on to traffic between the pods; under a minute on an idle machine.
readonly DEMO_READY_TIMEOUT=$((BOOT_TIMEOUT + 180))

cmd_demo() {
    [[ -x $PROJECT_DIR/build/rocelet && -x $PROJECT_DIR/build/rocectl ]] || die "build/rocelet or build/rocectl is not there: run make first"
    require_free_port "$DEMO_PORT"
    # shellcheck disable=SC2046
    parse_run_options $(sed -n 's/^# lab: //p' "$LAB_DIR/scenarios/demo.sh") --forward "$DEMO_PORT:$DEMO_PORT"
    TIMEOUT=$((24 * 3600))
    start_machine demo
    trap demo_interrupted INT
    wait_for_demo
    show_demo
}

# Up to the daemon answering and traffic flowing; the guest says what it is at.
wait_for_demo() {
    local started=$SECONDS
    until [[ -e $OUT/ready ]]; do
        show_progress
        if [[ -e $OUT/status ]]; then
            demo_failed "the guest could not set the demo up"
        elif ! machine_runs; then
            demo_failed "the machine ended on its own$(panic_line)"
        elif stalled; then
            demo_failed "the emulated machine stands still; try again"
        elif ((SECONDS - started > DEMO_READY_TIMEOUT)); then
            demo_failed "not ready within $DEMO_READY_TIMEOUT s$(panic_line)"
        fi
        sleep 0.2
    done
    show_progress
}

demo_failed() { # WHY
    stop_machine
    VERDICT=$1
    explain
    die "demo FAILED: $1; logs: $OUT"
}

# Without a set time Ctrl-C is how the demo ends; with one it cuts it short.
demo_interrupted() {
    stop_machine
    echo
    note "demo ended"
    [[ -n ${DEMO_SECONDS:-} ]] && exit 130
    exit 0
}

show_demo() {
    local began=$SECONDS seen='' page=$OUT/page last=$OUT/page.last
    : >"$last"
    [[ ! -t 1 ]] || printf '\033[2J'
    while [[ -z ${DEMO_SECONDS:-} ]] || ((SECONDS - began < DEMO_SECONDS)); do
        [[ ! -e $OUT/status ]] || demo_failed "the guest could not go on"
        machine_runs || demo_failed "the machine ended on its own$(panic_line)"
        if ! curl -fsS -m 5 -o "$page" "$DEMO_URL/metrics" 2>"$OUT/curl.log"; then
            note "no answer from $DEMO_URL/metrics: $(<"$OUT/curl.log")"
        elif [[ $(sample_time "$page") != "$(sample_time "$last")" ]]; then
            demo_view "$((SECONDS - began))" "$last" "$page" && seen=yes
            mv "$page" "$last"
        fi
        sleep 0.2
    done
    stop_machine
    [[ -n $seen ]] || die "demo FAILED: no traffic between pods with attached VFs was seen in $DEMO_SECONDS s"
    note "demo ended after $DEMO_SECONDS s; traffic between pods with attached VFs was seen"
}

sample_time() { # PAGE
    grep '^rocelet_sample_timestamp_seconds ' "$1"
}

# Succeeds when the page shows traffic of pods with attached VFs since the last look.
demo_view() { # SECONDS_SO_FAR LAST_PAGE PAGE
    local terminal='' columns=0 name status=0
    if [[ -t 1 ]]; then
        terminal=yes
        columns=$(tput cols 2>/dev/null) || columns=0
    fi
    # As they are now: the guest puts others in their place.
    for name in pods events; do cat "$OUT/$name" >"$OUT/$name.now" 2>/dev/null || true; done
    touch "$OUT/events.shown"
    awk -v terminal="$terminal" -v columns="$columns" -v elapsed="$1" -v url="$DEMO_URL" \
        -f "$LAB_DIR/demo_view.awk" file=last "$2" file=page "$3" file=pods "$OUT/pods.now" file=shown "$OUT/events.shown" \
        file=events "$OUT/events.now" || status=$?
    mv "$OUT/events.now" "$OUT/events.shown"
    return "$status"
}
