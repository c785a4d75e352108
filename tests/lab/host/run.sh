# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# lab.sh run: one scenario in one machine, and its result.

# Exit statuses of the lab itself; a scenario's own is passed on.
readonly STATUS_TIMEOUT=124 STATUS_BROKEN=125 STATUS_EMULATOR=126
# The guest leaves a heartbeat every second; a machine without one for this many seconds hangs. Also seen while its kernel booted.
readonly STALL_TIMEOUT=120
# From power-on to the first line of the scenario; under 15 s on an idle machine.
readonly BOOT_TIMEOUT=${ROCELET_LAB_BOOT_TIMEOUT:-360}

MEMORY=2048
TIMEOUT=${ROCELET_LAB_TIMEOUT:-900}
KERNEL=newest
NICS=1 # each with up to seven VFs
FORWARDS=()
QUIET=
WITH_KUBELET= # the guest gets a kubelet
WITH_IOMMU=   # and an IOMMU, which vfio-pci needs
SHOWN=0   # bytes of the scenario's log already printed
VERDICT=  # why the lab ended the run, if it did

cmd_run() {
    parse_run_options "$@"
    local scenario=${REST[0]:-} status=0
    [[ -n $scenario ]] || die "run: which scenario? There are: $(scenarios)"
    [[ -e $LAB_DIR/scenarios/$scenario.sh ]] || die "no scenario '$scenario'; there are: $(scenarios)"
    # The scenario's own options, from its line "# lab: OPTIONS"; those of the command line override them.
    # shellcheck disable=SC2046
    parse_run_options $(sed -n 's/^# lab: //p' "$LAB_DIR/scenarios/$scenario.sh") "$@"
    run_once "$scenario" || status=$?
    if ((status == STATUS_EMULATOR)); then
        note "$VERDICT; starting it once more"
        VERDICT='' status=0
        run_once "$scenario" || status=$?
    fi
    report "$scenario" "$status"
    return "$status"
}

run_once() { # SCENARIO
    local status=0
    SHOWN=0 HOST_PART=
    start_machine "${REST[@]}"
    supervise "$1" || status=$?
    stop_machine
    return "$status"
}

parse_run_options() { # [OPTIONS] [REST..]
    FORWARDS=()
    while (($#)); do
        case $1 in
            --forward) FORWARDS+=("${2:?--forward HOSTPORT:GUESTPORT}"); shift 2 ;;
            --memory) MEMORY=${2:?--memory MIB}; shift 2 ;;
            --kernel) KERNEL=$(known_kernel "${2:-}"); shift 2 ;;
            --timeout) TIMEOUT=${2:?--timeout SECONDS}; shift 2 ;;
            --quiet) QUIET=yes; shift ;;
            --kubelet) WITH_KUBELET=yes; shift ;;
            --iommu) WITH_IOMMU=yes; shift ;;
            --nics) NICS=${2:?--nics N}; shift 2 ;;
            -*) die "unknown option $1" ;;
            *) break ;;
        esac
    done
    REST=("$@")
}

known_kernel() { # NAME
    [[ " $KNOWN_KERNELS " == *" $1 "* && -n $1 ]] || die "no kernel '$1'; there are: $KNOWN_KERNELS"
    echo "$1"
}

scenarios() {
    local path names=()
    for path in "$LAB_DIR"/scenarios/*.sh; do
        [[ $path == *.host.sh ]] || names+=("$(basename "$path" .sh)")
    done
    echo "${names[*]}"
}

# Returns the scenario's status, or the lab's with VERDICT set.
supervise() { # SCENARIO
    local started=$SECONDS
    while true; do
        show_progress
        if [[ -e $OUT/status ]]; then
            show_progress
            return "$(<"$OUT/status")"
        elif ! machine_runs; then
            machine_ended || return
        elif [[ ! -e $OUT/started ]] && ((SECONDS - started > BOOT_TIMEOUT)); then
            broken "the guest did not reach the scenario within $BOOT_TIMEOUT s$(panic_line)" || return
        elif stalled; then
            # With QEMU 10's emulation this happened about once in 20 runs before the guest used a periodic tick: its timer
            # interrupts no longer arrive, every process sleeps for ever.
            emulator_failed "the emulated machine hangs: no heartbeat for $STALL_TIMEOUT s" || return
        elif ((SECONDS - started > BOOT_TIMEOUT + TIMEOUT)); then
            VERDICT="the guest hangs: no result $((TIMEOUT + BOOT_TIMEOUT)) s after its start"
            return "$STATUS_TIMEOUT"
        fi
        serve_host_part "$1"
        sleep 0.2
    done
}

# Before the first heartbeat the kernel's messages about its devices count as signs of life.
stalled() {
    local sign=$OUT/heartbeat
    [[ -e $sign ]] || sign=$OUT/console.log
    [[ -e $sign ]] && (($(date +%s) - $(stat -c %Y "$sign") > STALL_TIMEOUT))
}

# A guest that panics or powers off ends QEMU with 0. A signal comes from QEMU itself (it aborts on a failed assertion: seen
# once in some hundred starts, before the guest had its disks) or from this host.
machine_ended() {
    local status=0
    wait "$QEMU_PID" 2>/dev/null || status=$?
    if ((status > 128)); then
        emulator_failed "QEMU ended by signal $((status - 128)): $(tail -n 1 "$OUT/qemu.log")"
    else
        broken "the machine ended on its own$(panic_line)"
    fi
}

# A failure of the emulator, not of the scenario.
emulator_failed() {
    VERDICT=$*
    return "$STATUS_EMULATOR"
}

broken() {
    VERDICT=$*
    return "$STATUS_BROKEN"
}

panic_line() {
    grep -m1 -aoE '(BUG: |Oops: |Kernel panic).*' "$OUT/console.log" 2>/dev/null | sed 's/^/: /' || true
}

# Prints the scenario's new output.
show_progress() {
    local size
    [[ -z $QUIET && -e $OUT/scenario.log ]] || return 0
    size=$(stat -c %s "$OUT/scenario.log")
    ((size > SHOWN)) || return 0
    tail -c "+$((SHOWN + 1))" "$OUT/scenario.log" | head -c "$((size - SHOWN))"
    SHOWN=$size
}

# The guest writes host.request into the output folder and waits for host.status.
serve_host_part() { # SCENARIO
    if [[ -n $HOST_PART ]]; then
        kill -0 "$HOST_PART" 2>/dev/null || HOST_PART=
    elif [[ -e $OUT/host.request ]]; then
        run_host_part "$LAB_DIR/scenarios/$1.host.sh" 8>&- &
        HOST_PART=$!
    fi
}

run_host_part() { # SCRIPT
    local status=0 args port=${FORWARDS[0]:-}
    eval "args=($(<"$OUT/host.request"))"
    LAB_OUT=$OUT LAB_PORT=${port%%:*} LAB_FORWARDS=${FORWARDS[*]} \
        setpriv --pdeathsig TERM bash "$1" "${args[@]}" >>"$OUT/host.log" 2>&1 || status=$?
    rm "$OUT/host.request"
    echo "$status" >"$OUT/host.status.new"
    mv "$OUT/host.status.new" "$OUT/host.status"
}

report() { # SCENARIO STATUS
    local last
    last=$(tail -n 1 "$OUT/scenario.log" 2>/dev/null || true)
    (($2 != STATUS_TIMEOUT)) || last+=", out of time after $TIMEOUT s"
    if (($2 == 0)); then
        note "$1: ok, $last, $SECONDS s"
        return
    fi
    explain
    note "$1: FAILED (status $2) after $SECONDS s: ${VERDICT:-$last}"
    note "logs: $OUT"
}

explain() {
    {
        [[ -z $QUIET ]] || show_tail "scenario" "$OUT/scenario.log" 40
        show_tail "its part on the host" "$OUT/host.log" 40
        show_tail "rocelet" "$OUT/rocelet.log" 40
        show_tail "guest kernel" "$OUT/dmesg.log" 20
        [[ -n $VERDICT ]] || return 0 # the guest itself ran
        show_tail "console" "$OUT/console.log" 30
        show_tail "qemu" "$OUT/qemu.log" 10
    } >&2
}
