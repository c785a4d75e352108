# shellcheck shell=bash
# lab.sh demo: two pods, RDMA traffic between them, the daemon inside, and on this terminal what its page says, once a second.

readonly DEMO_PORT=9907
readonly DEMO_URL=http://127.0.0.1:$DEMO_PORT

cmd_demo() {
    [[ -x $PROJECT_DIR/build/rocelet ]] || die "build/rocelet is not there: run make first"
    require_free_port "$DEMO_PORT"
    FORWARDS=("$DEMO_PORT:$DEMO_PORT")
    TIMEOUT=$((24 * 3600))
    start_machine demo
    trap demo_interrupted INT
    wait_for_demo
    show_demo
}

# Up to the daemon answering and traffic flowing; the guest says what it is at.
wait_for_demo() {
    local started=$SECONDS status
    until [[ -e $OUT/ready ]]; do
        show_progress
        if [[ -e $OUT/status ]]; then
            demo_failed "the guest could not set the demo up"
        elif ! machine_runs; then
            demo_failed "the machine ended on its own$(panic_line)"
        elif ((SECONDS - started > BOOT_TIMEOUT)); then
            demo_failed "not ready within $BOOT_TIMEOUT s$(panic_line)"
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
    local began=$SECONDS traffic='' page=$OUT/page last=$OUT/page.last
    : >"$last"
    [[ ! -t 1 ]] || printf '\033[2J'
    while [[ -z ${DEMO_SECONDS:-} ]] || ((SECONDS - began < DEMO_SECONDS)); do
        [[ ! -e $OUT/status ]] || demo_failed "the traffic stopped"
        machine_runs || demo_failed "the machine ended on its own$(panic_line)"
        if ! curl -fsS -m 5 -o "$page" "$DEMO_URL/metrics" 2>"$OUT/curl.log"; then
            note "no answer from $DEMO_URL/metrics: $(<"$OUT/curl.log")"
        elif [[ $(sample_time "$page") != "$(sample_time "$last")" ]]; then
            demo_table "$((SECONDS - began))" "$last" "$page" && traffic=yes
            mv "$page" "$last"
        fi
        sleep 0.2
    done
    stop_machine
    [[ -n $traffic ]] || die "demo FAILED: no traffic was seen on the page in $DEMO_SECONDS s"
    note "demo ended after $DEMO_SECONDS s; traffic was seen"
}

sample_time() { # PAGE
    grep '^rocelet_sample_timestamp_seconds ' "$1"
}

# Succeeds when the page shows traffic since the last look.
demo_table() { # SECONDS_SO_FAR LAST_PAGE PAGE
    local terminal=''
    [[ ! -t 1 ]] || terminal=yes
    awk -v terminal="$terminal" -v elapsed="$1" -v url="$DEMO_URL" -v last="$2" -f "$LAB_DIR/demo_view.awk" "$2" "$3"
}
