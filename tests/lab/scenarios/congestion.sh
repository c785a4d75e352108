# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Faults of RDMA networks, made with real parts: pods of the kubelet with soft-RoCE on a VF each, perftest between them, the guest's
# queues, its links and its queue pairs. The running diagnosis reports the cause and the pod while the fault lasts, and its end.
# Causes that soft-RoCE can show: docs/reference/diagnosis.md.
#   congestion.sh [ROUNDS [FAULT..]]    how often each fault is made, 1, and which; all
# lab: --kubelet --memory 4096 --timeout 2400
# proves: daemon/diagnosis daemon/metrics
# when: soak --timeout 7200 -- 3
# shellcheck source=../guest/lib.sh
. /rocelet/lab/guest/lib.sh
# shellcheck source=../guest/kubelet.sh
. /rocelet/lab/guest/kubelet.sh
# shellcheck source=../guest/attach.sh
. /rocelet/lab/guest/attach.sh

ROUNDS=${1:-1}
FAULTS=("${@:2}")
((${#FAULTS[@]})) || FAULTS=(nothing_wrong congestion top loss delay wrong_key link_flap mtu not_ready without_ecn incast out_of_patience vanished)
POD_TIMEOUT=240 # also on a busy machine
# A rate that an emulated machine can send.
RATE=7mbit RATE_OF_THREE=2400kbit MTU=512
PORT=18515 # of the last flow
# DCQCN's DSCP 26, ECN-capable; and a timeout of 4 s, because ACKs of a busy machine come late.
TRAFFIC_CLASS=106 ACK_TIMEOUT=20
FLOWS=()
IMPATIENT= # the output file of the last impatient flow

# Short hold and release times: the engine's own tests judge those. On a busy machine samples may be late. soft-RoCE reports that
# its line carries 2.5 Gbit/s, of which three emulated senders reliably reach a thousandth, with a hundred packets a second. Incast needs three senders here, as there are no eight.
configure() {
    json 'json.dumps({**doc, "expect-congestion-control": "dcqcn", "diagnosis": {"settle_seconds": 0, "warming_seconds": 1, "hold_seconds": 1,
        "release_seconds": 2, "release_link_seconds": 2, "release_idle_seconds": 2, "stale_source_seconds": 60,
        "congestion_packets": 100, "incast_peers": 3, "incast_utilisation": 0.001}})' \
        <"$CONFIG" >"$CONFIG.new"
    mv "$CONFIG.new" "$CONFIG"
}

# ---- traffic

# Starts an endless flow between pods. The polling programs are nice, so that the kernel has time to send and receive.
flow() { # TOOL FROM TO [ARGS..]
    local tool=$1 from=$2 to=$3
    shift 3
    PORT=$((PORT + 1))
    in_pod "$to" nice -n 19 "$tool" -d "$(pod_rdma "$to")" -p "$PORT" -D 3600 -m "$MTU" --tclass="$TRAFFIC_CLASS" -u "$ACK_TIMEOUT" "$@" >"$OUT/flow.$PORT.server" 2>&1 &
    FLOWS+=("$!")
    wait_until "in_netns $to ss -Hltn 'sport = :$PORT' | grep -q ."
    in_pod "$from" nice -n 19 "$tool" -d "$(pod_rdma "$from")" -p "$PORT" -D 3600 -m "$MTU" --tclass="$TRAFFIC_CLASS" -u "$ACK_TIMEOUT" "$@" "$(pod_ip "$to")" \
        >"$OUT/flow.$PORT.client" 2>&1 &
    FLOWS+=("$!")
}

# A flow whose queue pair fails after four seconds without an answer: with perftest's settings soft-RoCE never does.
impatient_flow() { # FROM TO
    local from=$1 to=$2 ends=$OUT/ends.$((PORT += 1)) end
    for end in from to; do
        mkfifo "$ends.$end.in"
        exec {end_fd}<>"$ends.$end.in" # so that no open of the fifo blocks, and no reader gets its end
    done
    one_end "$to" answer <"$ends.to.in" >"$ends.to" 2>&1 &
    FLOWS+=("$!")
    one_end "$from" write <"$ends.from.in" >"$ends.from" 2>&1 &
    FLOWS+=("$!")
    wait_until "grep -q ^end '$ends.from' && grep -q ^end '$ends.to'"
    grep ^end "$ends.from" >"$ends.to.in"
    grep ^end "$ends.to" >"$ends.from.in"
    wait_until "pair_works '$from'"
    IMPATIENT=$ends.from
}

one_end() { # POD write|answer
    runc --root /run/containerd/runc/k8s.io exec "$(container_id "$1")" /usr/local/bin/qp_fault "$2" "$(pod_rdma "$1")" 18 3
}

# The pod's queue pair has received answers.
pair_works() { # POD
    rocectl qps --pod "default/$1-rig" -o json | json 'any(q["comm"] == "qp_fault" and q["received"] and q["received"]["packets"] > 20 for q in doc["qps"])' | grep -q True
}

# Processes of the pods' traffic in one pod, or in all.
senders_and_receivers() { # [POD]
    local what='^(ib_(write|send)_bw|/usr/local/bin/qp_fault) '
    if (($#)); then
        pgrep --ns "$(pod_pid "$1")" --nslist net -f "$what"
    else
        pgrep -f "$what"
    fi
}

end_flows() {
    local pids
    ((${#FLOWS[@]})) || return 0
    pids=$(senders_and_receivers) || true
    # shellcheck disable=SC2086 # numbers
    [[ -z $pids ]] || kill -KILL $pids 2>/dev/null || true
    wait_until '! senders_and_receivers'
    wait "${FLOWS[@]}" || true
    FLOWS=()
}

# Limits a pod's rate by a queue that neither marks nor drops. Queues are changed while no traffic flows: packets waiting in one are lost
# with it, and soft-RoCE sometimes fails the queue pair then.
pace() { # POD
    plain_queue "$1"
    in_netns "$1" tc qdisc replace dev net1 root tbf rate "$RATE" burst 10kb latency 2s
}

netem() { # POD SETTINGS..
    plain_queue "$1"
    in_netns "$1" tc qdisc replace dev net1 root netem rate "$RATE" limit 10000 "${@:2}"
}

plain_queue() { # POD
    in_netns "$1" tc qdisc delete dev net1 root 2>/dev/null || true
}

packets_of() { # POD DIRECTION
    metric roce_packets_total "device=\"$(pod_rdma "$1")\"" 'source="hw"' "direction=\"$2\""
}

# More than the first packets arrive.
flows_to() { # POD
    local before
    before=$(packets_of "$1" received)
    next_samples
    (($(packets_of "$1" received) - before > 300))
}

# ---- verdicts

verdicts() { # PYTHON_EXPRESSION over them
    { rocectl diagnose -o json || true; } | json "(lambda verdicts: $1)(doc['verdicts'])"
}

reports() { # CAUSE POD..
    local pod
    for pod in "${@:2}"; do
        [[ $(verdicts "any(v['cause'] == '$1' and {'namespace': 'default', 'name': '$pod-rig'} in v['pods'] for v in verdicts)") == True ]] || return
    done
}

is_silent() {
    [[ $(verdicts 'verdicts') == '[]' ]]
}

# The number of onsets of all causes and ports since the start.
onsets() {
    curl -fsS -m 60 "$HTTP/metrics" | awk '/^roce_diagnosis_onsets_total/ { n += $NF } END { print n + 0 }'
}

# Prints the verdicts into the log.
print_verdicts() {
    verdicts '"\n".join("#   %s: %s of %s; first moved: %s; %s" % (v["severity"], v["cause"], " and ".join(p["name"] for p in v["pods"]),
        v["firstMoved"], "; ".join("%s %.4g" % (e["name"], e["value"]) for e in v["evidence"] if e["value"] is not None)) for v in verdicts)'
}

# Checks the verdict and its pods while the fault lasts.
check_reported() { # FAULT CAUSE POD..
    local began=$SECONDS
    check_within 30 "$1: $2 is reported for pod ${*:3}" reports "${@:2}"
    echo "# after $((SECONDS - began)) s:"
    print_verdicts
}

# Checks that the verdict ends after the fault.
check_over() { # FAULT [SECONDS]
    check_within "${2:-30}" "$1: the verdict has ended, and there is no other" is_silent
    is_silent || print_verdicts
}

# ---- the faults

nothing_wrong() {
    local before
    say "traffic from a to b, without a fault"
    before=$(onsets)
    pace a
    flow ib_write_bw a b
    wait_until 'flows_to b'
    for _ in {1..8}; do next_samples; done
    check "there is no verdict, and was none meanwhile" 'is_silent && (($(onsets) == before))'
    end_flows
}

congestion() {
    say "a congested queue: rate limit and RED with ECN"
    plain_queue a
    congest_pod a "$RATE"
    flow ib_write_bw a b
    check_reported "marks" fabric_congestion b
    end_flows
    check_over "marks"
}

# One screen per second is kept in $OUT/top, for tests/lab/recording.py.
top() {
    local frames recorder
    say "rocectl top on a terminal, while a queue is congested"
    plain_queue a
    congest_pod a "$RATE"
    terminal new-session -d -x 150 -y 24 "/usr/local/sbin/rocectl top 2>$OUT/top.log"
    need_within 30 "top: the four ports are there" 'terminal_shows "a-rig" && terminal_shows "d-rig"'
    frames=$OUT/top
    rm -rf "$frames" && mkdir "$frames"
    while terminal capture-pane -e -p >"$frames/$SECONDS"; do sleep 1; done &
    recorder=$!
    flow ib_write_bw a b
    check_within 30 "top: it shows the verdict on b's port" 'terminal_shows "fabric_congestion.*default/b-rig"'
    next_samples
    terminal send-keys Enter
    check_within 30 "top: Enter shows the verdicts and the queue pairs of that port" 'terminal_shows "verdicts, queue pairs" && terminal_shows ib_write_bw'
    next_samples
    terminal send-keys Escape
    check_within 30 "top: Escape leads back" 'terminal_shows "crit: fabric_congestion"'
    terminal send-keys q
    check_within 30 "top: q ends it" '! terminal has-session 2>/dev/null'
    wait "$recorder"
    end_flows
    pace a
    check_over "top"
}

terminal() { # TMUX_COMMAND..
    LC_ALL=C.UTF-8 tmux -f /dev/null -S /tmp/terminal "$@"
}

terminal_shows() { # PATTERN
    terminal capture-pane -p | grep -q "$1"
}

loss() {
    say "loss: 2 % of what a sends"
    netem a loss 2%
    flow ib_write_bw a b
    check_reported "loss" packet_loss a
    end_flows
    pace a
    check_over "loss"
}

delay() {
    local before
    say "delay: 20 ms are no fault"
    before=$(onsets)
    netem b delay 20ms
    flow ib_write_bw a b
    wait_until 'flows_to b'
    for _ in {1..8}; do next_samples; done
    check "no verdict on 20 ms" 'is_silent && (($(onsets) == before))'
    end_flows
    plain_queue b
}

wrong_key() {
    local application
    say "a wrong key"
    # Repeated, as such applications do: a single error's verdict could end before a busy machine checks it.
    while "$BUILD/bench/qp_fault" rkey "$(pod_rdma a)" "$(pod_rdma b)" 20 6 </dev/null; do sleep 0.2; done >"$OUT/rkey.log" 2>&1 &
    application=$!
    check_reported "a wrong key" application_error a b
    kill "$application"
    wait "$application" || true
    check_over "a wrong key"
}

link_flap() {
    say "a link that flaps: the physical port's"
    ip link set "$PF" down
    check_reported "the link" link_flap a b
    ip link set "$PF" up
    check_over "the link" 90
}

mtu() {
    say "an MTU that does not fit the existing queue pairs"
    flow ib_write_bw a b
    wait_until 'flows_to b'
    in_netns b ip link set net1 mtu 400
    check_reported "the MTU" mtu_mismatch b
    in_netns b ip link set net1 mtu 1500
    end_flows
    check_over "the MTU" 90
}

not_ready() {
    local receiver
    say "a receiver that stops posting"
    flow ib_send_bw a b -s 4096 # posted requests are used up soon
    wait_until 'flows_to b'
    receiver=$(senders_and_receivers b)
    kill -STOP "$receiver"
    check_reported "no receive work requests" receiver_not_ready a b
    kill -CONT "$receiver"
    check_over "no receive work requests"
    end_flows
}

without_ecn() {
    say "traffic without ECN"
    TRAFFIC_CLASS=104 flow ib_write_bw a b
    check_reported "no ECN" not_ecn_capable a
    end_flows
    check_over "no ECN"
}

# There is no queue in front of a VF: each sender's own queue replaces the switch's towards the receiver.
incast() {
    local pod
    say "incast: three senders to one receiver"
    for pod in a b c; do
        plain_queue "$pod"
        congest_pod "$pod" "$RATE_OF_THREE"
        flow ib_write_bw "$pod" d
    done
    check_reported "incast" incast d
    end_flows
    for pod in b c; do plain_queue "$pod"; done
    pace a
    check_over "incast"
}

# Its queue pair fails after four seconds; others of the same pod continue. The verdict is held for a minute.
out_of_patience() {
    say "a delay longer than the timeout of queue pairs"
    flow ib_write_bw a b
    impatient_flow a c
    wait_until 'flows_to b'
    netem c delay 20s
    check_reported "20 s of delay" peer_gone a
    check "20 s of delay: the pair had exceeded its retries" 'grep -q "^status 12 " "$IMPATIENT"'
    plain_queue c
    check_over "20 s of delay" 90
    end_flows
}

vanished() {
    say "a peer whose pod is deleted"
    flow ib_write_bw a b
    impatient_flow a d
    wait_until 'flows_to b'
    remove_pod d
    check_reported "a peer that is gone" peer_gone a
    end_flows
    check_over "a peer that is gone" 90
}

run_d() {
    run_pod d "$RESOURCE=1" "$(entry '"ips": ["10.9.0.4/24"]')"
}

cp "$BUILD/bench/qp_fault" /usr/local/bin/
make_pool 4
configure
start_node
start_engine
need_within 30 "the kubelet lists the VFs" "(( \$(n_registered $RESOURCE) == 4 ))"
for i in 1 2 3; do make_pod "$(tr 123 abc <<<"$i")" "$RESOURCE=1" "$(entry "\"ips\": [\"10.9.0.$i/24\"]")"; done
run_d
wait_until "$POD_TIMEOUT" 'pod_started a && pod_started b && pod_started c'
echo "# four pods run $SECONDS s after the scenario's start"

for ((round = 1; round <= ROUNDS; round++)); do
    ((round == 1)) || say "round $round"
    pod_started d || run_d
    pace a
    for fault in "${FAULTS[@]}"; do "$fault"; done
done

stop_rocelet
echo "# the scenario took $SECONDS s"
