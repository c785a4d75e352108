# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# BPF events on a kernel that allows them: states and failures of queue pairs, connections, ports; and nothing is left behind.
# On every kernel of the lab: lab.sh run --kernel 6.1|6.12|newest bpf_events
#   bpf_events.sh [BAR]    with a bar, the delay of failure events is at most that of so many starts of an empty program, measured here and
#   now: only on an idle machine (make bench)
# lab: --timeout 600
# proves: bpf daemon/events
# when: turns
# when: soak --kernel 6.1 --
# when: soak --kernel 6.12 --
# when: soak
# shellcheck source=../guest/lib.sh
. /rocelet/lab/guest/lib.sh
# shellcheck source=../guest/bpf.sh
. /rocelet/lab/guest/bpf.sh

BAR=${1:-} EMPTY_MS=$(/rocelet/lab/guest/empty_programs.sh 1)
UID_LEFT=8dbc5577-d0e2-4706-8787-57d52c03ddf2

programs_of_kernel() { # bpftool's list, without values that change by themselves
    {
        bpftool prog list
        bpftool map list
        bpftool link list
    } | { grep -oE '^[0-9]+: \S+ *(name \S+)?' || true; } | sed 's/^[0-9]*: //' | sort
}

loaded() { # PROGRAM [HOOK]
    metric rocelet_bpf_program_loaded "program=\"$1\"" ${2:+"hook=\"$2\""} | grep -qx 1
}

all_loaded() {
    local left_out='^-'
    [[ -e /sys/module/rdma_cm ]] || left_out='"cm_'
    ! curl -fsS -m 60 "$HTTP/metrics" | grep '^rocelet_bpf_program_loaded' | grep -v -e "$left_out" | grep -qv ' 1$'
}

event() { # REGEX: of an event in the API
    curl -fsS -m 60 "$HTTP/api/v1/events" | grep -qE "$1"
}

# Runs qp_fault between the pods' devices; its output is in $OUT/fault.log. A line on fd 7 makes it continue.
start_fault() { # KIND [TIMEOUT [RETRIES]]
    rm -f /tmp/go "$OUT/fault.log"
    mkfifo /tmp/go
    "$BUILD/bench/qp_fault" "$1" rxe_left rxe_right "${@:2}" </tmp/go >"$OUT/fault.log" 2>&1 &
    exec 7>/tmp/go
    wait_until "grep -qs qpn $OUT/fault.log"
}

end_fault() {
    echo >&7
    exec 7>&-
    wait "$!" || true
}

# The API lists the queue pair of start_fault in this state; the daemon knows it from the events alone.
fault_is_in() { # STATE
    curl -fsS -m 60 "$HTTP/api/v1/qps" | python3 -c '
import json, re, sys
qpn = int(re.search(r"qpn (\d+) peer", open(sys.argv[2]).read()).group(1))
states = [q["state"] for q in json.load(sys.stdin)["qps"] if q["device"] == "rxe_left" and q["qpn"] == qpn]
sys.exit(states != [sys.argv[1]])' "$1" "$OUT/fault.log"
}

# The event of the queue pair that has just failed, with its peer and reason; its delay is in $OUT/lateness.
reported() { # REASON
    curl -fsS -m 60 "$HTTP/api/v1/events" | python3 -c '
import calendar, json, re, sys, time
reason, fault, lateness, empty, bar = sys.argv[1], open(sys.argv[2]).read(), sys.argv[3], float(sys.argv[4]), sys.argv[5]
qpn, peer = re.search(r"qpn (\d+) peer (\d+)", fault).groups()
at = int(re.search(r"at (\d+)", fault).group(1))
doc = json.load(sys.stdin)
for e in doc["events"]:
    if e["reason"] == "QueuePairFailed" and "QP " + qpn + " on rxe_left" in e["message"]:
        assert "QP " + peer in e["message"] and "10.9.0.2" in e["message"] and reason in e["message"], e
        seconds, _, rest = e["last"].partition(".")
        when = calendar.timegm(time.strptime(seconds, "%Y-%m-%dT%H:%M:%S")) * 1000 + int(rest[:3])
        starts = (when - at) / empty
        open(lateness, "a").write("%s: %d ms after the completion was polled, %.1f starts of an empty program\n" % (reason, when - at, starts))
        sys.exit(bar != "" and starts > float(bar))
sys.exit("no event of queue pair " + qpn)' "$1" "$OUT/fault.log" "$OUT/lateness" "$EMPTY_MS" "$BAR"
}

find_pf
modprobe -a rdma_cm ib_cm || echo "# this guest's kernel has no rdma_cm: connections are left out"
: >"$OUT/lateness"
programs_of_kernel >/tmp/before
start_rocelet --log-level debug
wait_until is_up
check_within 10 "without RDMA devices the host's programs are there" 'loaded netdev_moves && loaded nic_health && loaded dcb_set'
check "and no others" '! loaded qp_created && ! loaded soft_completion'

make_vfs 2
make_pod left "${VFS[0]}" 10.9.0.1/24
make_pod right "${VFS[1]}" 10.9.0.2/24
check_within 90 "with devices all programs are there" 'all_loaded'

curl -fsS "$HTTP/api/v1/config" >"$OUT/config.json"
check "the configuration names them, with their hooks" 'json "[p[\"hook\"] for p in doc[\"bpf\"][\"programs\"] if p[\"name\"] == \"qp_modified\"] == [\"fentry\"]" <$OUT/config.json | grep -q True'
check "each is attached to the first of its hooks" 'holds_in_bpf "all(p[\"error\"] is None for p in programs if p[\"hook\"] != \"none\")"'

# A counter that appears with its first rise hides that rise from increase().
begins_at_0() { # DEVICE
    local value
    for value in RETRY_EXC_ERR RNR_RETRY_EXC_ERR REM_ACCESS_ERR QP_FATAL MOVED_TO_ERR; do
        [[ $(metric roce_qp_failures_total "device=\"$1\"" "reason=\"$value\"") == 0 ]] || return 1
    done
    for value in retransmit_timeout rnr_timeout icrc_error; do
        [[ $(metric roce_soft_events_total "device=\"$1\"" "kind=\"$value\"") == 0 ]] || return 1
    done
}
check_within 5 "before anything fails each reason of both devices is 0" 'begins_at_0 rxe_left && begins_at_0 rxe_right'
[[ ! -e /sys/module/rdma_cm ]] || check "before any connection the counter of rejections is 0" '[[ $(metric roce_connection_rejects_total '\''reason="invalid_service_id"'\'') == 0 ]]'

say "a queue pair's life"
# On a busy machine an answer may be late: the sender retries after half a second or more.
start_fault rkey 17 6
check_within 2 "it is listed with its state, peer and settings" 'curl -fsS $HTTP/api/v1/qps | tee $OUT/qps.json | grep -q RTS'
wait_until "grep -q status $OUT/fault.log"

say "and its end"
check_within 2 "a wrong key is reported${BAR:+ within $BAR starts of an empty program}, with queue pair, peer and reason" 'reported REM_ACCESS'
check_within 30 "and the queue pair is listed in the error state" 'fault_is_in ERR'
end_fault
check_within 30 "the wrong key is counted, from 0 on" '[[ $(metric roce_qp_failures_total '\''device="rxe_left"'\'' '\''reason="REM_ACCESS_ERR"'\'') == 1 ]]'
start_fault rnr 17
wait_until "grep -q status $OUT/fault.log"
check_within 2 "exhausted RNR retries are reported" 'reported RNR_RETRY'
end_fault
start_fault gone
pod_link right down
echo >&7
wait_until "grep -q status $OUT/fault.log"
check_within 2 "a peer that has vanished is reported" 'reported RETRY_EXC'
end_fault
check_within 3 "a port that goes down is reported" 'event PortDown'
pod_link right up
wait_until 'has_carrier right "$(pod_netdev right)"'
check_within 5 "a port that comes up is reported" 'event PortActive'
sed 's/^/# /' "$OUT/lateness"
check_within 3 "timeouts of soft-RoCE are counted" '[[ $(metric roce_soft_events_total '\''device="rxe_left"'\'' '\''kind="retransmit_timeout"'\'') -ge 2 ]]'
check_within 3 "RNR timeouts of soft-RoCE are counted" '[[ $(metric roce_soft_events_total '\''device="rxe_left"'\'' '\''kind="rnr_timeout"'\'') -ge 1 ]]'

# The receiver of later packets notices a lost one and sends a NAK: soft-RoCE counts that retry like a timeout.
say "retries without a timeout"
retries() { metric roce_ack_timeouts_total 'device="rxe_left"'; }
timeouts() { metric roce_soft_events_total 'device="rxe_left"' 'kind="retransmit_timeout"'; }
retries=$(retries) timeouts=$(timeouts)
in_netns left tc qdisc replace dev "$(pod_netdev left)" root netem loss 2% limit 10000
perftest ib_write_bw left right -n 20 -s 65536 -u 17 || true # netem drops some of perftest's TCP, too
in_netns left tc qdisc delete dev "$(pod_netdev left)" root
check_within 5 "the timeouts alone are those of BPF" "(( \$(retries) - $retries > \$(timeouts) - $timeouts ))"
echo "# $(($(retries) - retries)) retries, $(($(timeouts) - timeouts)) timeouts"

connect() {
    local server status=0
    in_pod right timeout 60 ib_write_bw -R -d rxe_right -n 100 -s 1024 >>"$OUT/cm-server.log" 2>&1 &
    server=$!
    wait_until "rdma resource show cm_id | grep -Eq 'link rxe_right/.* LISTEN' || ! kill -0 $server"
    in_pod left timeout 30 ib_write_bw -R -d rxe_left -n 100 -s 1024 10.9.0.2 >>"$OUT/cm-client.log" 2>&1 || status=$?
    wait "$server" || true
    return "$status"
}

connections() {
    say "connections"
    # A server that gets a connection while it starts to listen on its devices sometimes crashes in librdmacm.
    check "a connection is made" 'connect || connect || connect'
    check_within 3 "it is counted" '[[ $(metric roce_connections_total '\''result="connected"'\'') -ge 1 ]]'
    check_within 3 "the connection is counted on the other side, too" '[[ $(metric roce_connections_total '\''result="accepted"'\'') -ge 1 ]]'
    check_within 3 "the duration of connecting is measured" '[[ $(metric roce_connect_seconds_count) -ge 1 ]]'
    as_pod "$UID_LEFT" in_pod left timeout 20 ib_write_bw -R -d rxe_left -p 19999 10.9.0.2 >"$OUT/reject.log" 2>&1 || true
    check_within 3 "a connection to a closed port is rejected with its reason" 'event "no process listens"'
    check_within 3 "the rejection names process and pod, although the process has ended" 'event "rejected.*by ib_write_bw, pid [0-9]+; pod $UID_LEFT"'
    check_within 3 "the rejection is counted" '[[ $(metric roce_connection_rejects_total '\''reason="invalid_service_id"'\'') -ge 1 ]]'
}
if [[ -e /sys/module/rdma_cm ]]; then connections; fi

curl -fsS "$HTTP/api/v1/events" >"$OUT/events.json"
curl -fsS "$HTTP/metrics" | grep -E "^roce_(conn|soft)|resident|rocelet_(events|bpf|event)" >"$OUT/page" || true

say "a module can be unloaded once its devices are removed"
rdma link delete rxe_left
rdma link delete rxe_right
check_within 10 "the programs on the module are detached" '! loaded soft_completion && ! loaded qp_created'
check_within 5 "the module can be unloaded" 'modprobe -r rdma_rxe'
modprobe rdma_rxe
in_pod left rdma link add rxe_left type rxe netdev "$(pod_netdev left)"
check_within 90 "the programs are attached again with the module" 'all_loaded'
programs=$(list_programs)
stop_rocelet
check_within 5 "no program stays after the end" 'programs_of_kernel | diff /tmp/before - >$OUT/leftovers'

say "without BPF"
start_rocelet --no-bpf
wait_until is_up
check "there is no program" 'programs_of_kernel | diff /tmp/before - && ! metric rocelet_bpf_program_loaded'
stop_rocelet
echo "$programs"
