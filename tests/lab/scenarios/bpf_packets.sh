# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The packet programs' counts equal tshark's of captures of the same interfaces, packet for packet; they follow devices and pods,
# and leave nothing behind. On every kernel of the lab: lab.sh run --kernel 6.1|6.12|newest bpf_packets
#   bpf_packets.sh [CYCLES]    how often a pod's namespace with a device comes and goes, 12
# lab: --timeout 900
# proves: bpf daemon/packets
# when: turns
# when: soak --kernel 6.1 --
# when: soak --kernel 6.12 --
# when: soak --timeout 7200 -- 1000
# shellcheck source=../guest/lib.sh
. /rocelet/lab/guest/lib.sh
# shellcheck source=../guest/bpf.sh
. /rocelet/lab/guest/bpf.sh

CYCLES=${1:-12}
LOSS_PERCENT=2 LOSS_MESSAGES=1500 DELAY_MS=20 DELAY_MESSAGES=100
# A kernel without one-shot timers delays until the next tick (HZ=250), and an answer needs a moment.
TICK_MS=4
# The heap reaches its final size late. A leak per cycle shows in 1,000 of them (make soak).
MEMORY_TOLERANCE_KB=1024

watched() { # DEVICE
    holds_in_bpf "ports.get('$1', {}).get('hook') in ('tcx', 'clsact')"
}

netem() { # POD [SETTINGS..]
    in_netns "$1" tc qdisc replace dev "$(pod_netdev "$1")" root netem "${@:2}" limit 10000
}

plain_queue() { # POD
    in_netns "$1" tc qdisc delete dev "$(pod_netdev "$1")" root
}

# The number of packets that a netem has dropped.
netem_dropped() { # POD
    in_netns "$1" tc -s -j qdisc show dev "$(pod_netdev "$1")" | json '[q["drops"] for q in doc if q["kind"] == "netem"][0]'
}

# Sums over the flows from left to right, as counted at left: packets, retransmissions, round trips, and their time in us.
flow_sums() {
    curl -fsS "$HTTP/api/v1/qps?device=rxe_left&limit=1000" | /usr/bin/python3 -c '
import json, sys
source, flows = sys.argv[1], []
for qp in json.load(sys.stdin)["qps"]:
    if qp["sent"] and qp["address"] == source:
        flows.append(qp["sent"])
    if qp["received"] and qp["peerAddress"] == source:
        flows.append(qp["received"])
rtts = [f["rtt"] for f in flows if f["rtt"]]
print(sum(f["packets"] for f in flows), sum(f["retransmissions"] for f in flows), sum(r["count"] for r in rtts),
      sum(r["count"] * r["meanNs"] for r in rtts) // 1000)' "$(pod_ip left)"
}

# Runs perftest and prints what it added to flow_sums.
flows_of() { # PERFTEST_ARGS..
    local before after
    next_samples
    before=$(flow_sums)
    perftest "$@" >/dev/null
    next_samples
    after=$(flow_sums)
    paste -d' ' <(tr ' ' '\n' <<<"$before") <(tr ' ' '\n' <<<"$after") | awk '{ printf "%d ", $2 - $1 } END { print "" }'
}

say "kernel $(uname -r)"
make_vfs 4
make_pod left "${VFS[0]}" 10.9.0.1/24
make_pod right "${VFS[1]}" 10.9.0.2/24
bpf_remains left right >/tmp/remains.before
start_rocelet --sample-interval 0.5 --packet-pods
wait_until is_up
need_within 120 "both pods' netdevs are watched" 'watched rxe_left && watched rxe_right'
echo "# hook: $(bpf_config 'ports["rxe_left"]["hook"]'), $(bpf_config 'ports["rxe_left"]["memory"] >> 10') KiB of maps for each netdev"
case $(uname -r) in
    6.1.*) check "by clsact, without tcx" '[[ $(bpf_config "ports[\"rxe_left\"][\"hook\"]") == clsact ]]' ;;
    *) check "by tcx" '[[ $(bpf_config "ports[\"rxe_left\"][\"hook\"]") == tcx ]]' ;;
esac
# The self-tests include XDP, with the receiver's end of a veth pair as mirror port.
check "the self-tests of the programs pass here, none is skipped" \
    '"$BUILD/tests/packets" packet_watch >$OUT/packet_watch.log 2>&1 && ! grep SKIPPED $OUT/packet_watch.log'

say "traffic of all kinds"
start_judging plain left right
check "write, read, send and atomic run" "perftest ib_write_bw left right -n 100 -s 4096 -m 1024 --tclass=106 &&
    perftest ib_read_bw left right -n 50 -s 4096 -m 1024 --tclass=2 && perftest ib_send_bw left right -n 50 -s 2048 &&
    perftest ib_atomic_bw left right -n 50"
right_mac=$(in_netns right ip -brief link show dev "$(pod_netdev right)" | awk '{ print $3 }')
injected=$(in_netns left /usr/bin/python3 /rocelet/lab/guest/inject.py "$(pod_netdev left)" "$right_mac" 10.9.0.1 10.9.0.2)
check "scapy's packets are sent ($injected)" '((injected > 400))'
stop_judging plain
check "left's figures are tshark's" judged plain left
check "right's figures are tshark's" judged plain right

say "congestion"
congest_pod left 8mbit
start_judging congested left right
check "ib_write_bw runs through a congested queue" 'perftest ib_write_bw left right -n 60 -s 65536 --tclass=106'
send_cnp right left
stop_judging congested
plain_queue left
check "right's figures are tshark's" judged congested right
check "there are CE marks among the received packets" 'grep -Eq "^equal roce_ecn_packets_total received ce 26: [0-9]{3,}" $OUT/congested.right.judged'
# The queue marks packets behind our program, which therefore sees them unmarked.
check "left's figures are tshark's" judged congested left sent:roce_ecn_packets_total
check "the CNP is among the received packets" 'grep -qx "equal roce_cnp_received_packets_total: 1" $OUT/congested.left.judged'

say "loss: $LOSS_PERCENT % of what left sends, by netem"
netem left loss "$LOSS_PERCENT%"
start_judging lossy right
# One message of one packet at a time; a lost one is retried after half a second, which is longer than a busy machine needs to answer.
read -r packets again _ < <(flows_of ib_write_bw left right -n "$LOSS_MESSAGES" -s 1024 -m 1024 -t 1 -u 17)
stop_judging lossy
dropped=$(netem_dropped left)
plain_queue left
error=$(awk -v p="$LOSS_PERCENT" -v n="$packets" 'BEGIN { printf "%.2f", 4 * 100 * sqrt(p / 100 * (1 - p / 100) / n) }')
share=$(awk -v a="$again" -v n="$packets" 'BEGIN { printf "%.2f", 100 * a / n }')
# netem drops some of perftest's TCP, too.
check "right's figures are tshark's" judged lossy right
arrived=$(sed -nE 's/^# .*: ([0-9]+) packets received.*/\1/p' "$OUT/lossy.right.judged")
lost=$((packets - arrived))
echo "# $packets packets, $again retransmissions: $share %; netem drops $LOSS_PERCENT % and dropped $dropped, $lost of them of RoCE; four standard deviations are $error %"
check "retransmissions agree with netem's loss within the sampling error" \
    "awk 'BEGIN { d = $share - $LOSS_PERCENT; if (d < 0) d = -d; exit !(d <= $error) }'"
check "what netem dropped is missing" '((lost > 0 && lost <= dropped))'
check "each of these packets was sent again" '((again >= lost && again <= lost + lost / 5 + 2))'

say "delay: $DELAY_MS ms for what right sends, by netem"
measure_delay() {
    read -r _ _ near near_us < <(flows_of ib_write_bw left right -n "$DELAY_MESSAGES" -s 1024 -m 1024 -t 1 -u 18)
    netem right delay "${DELAY_MS}ms"
    read -r _ _ far far_us < <(flows_of ib_write_bw left right -n "$DELAY_MESSAGES" -s 1024 -m 1024 -t 1 -u 18)
    plain_queue right
    added=$(awk -v a="$far_us" -v b="$far" -v c="$near_us" -v d="$near" 'BEGIN { printf "%.2f", (a / b - c / d) / 1000 }')
    echo "# round trips: $near of $((near_us / near)) us without, $far of $((far_us / far)) us with the delay:" \
        "$added ms more, $DELAY_MS to $((DELAY_MS + 2 * TICK_MS)) expected"
}
is_expected() { # MS
    awk -v ms="$1" -v delay="$DELAY_MS" -v tick="$TICK_MS" 'BEGIN { exit !(ms > delay - 1 && ms <= delay + 2 * tick) }'
}
# On a busy machine some answers are late, on either side.
for _ in 1 2 3; do
    measure_delay
    ! is_expected "$added" || break
done
check "every message has its round trip" '((near >= DELAY_MESSAGES * 9 / 10 && far >= DELAY_MESSAGES * 9 / 10))'
check "round trips agree with netem's delay within two of the kernel's ticks" is_expected "$added"

say "devices and namespaces that come and go"
# The third VF: into a pod if soft-RoCE works there.
make_pod late "${VFS[2]}" 10.9.0.3/24
check_within 10 "a new device is watched" watched rxe_late
cycle() { # N
    for ((i = 0; i < $1; i++)); do
        make_passing_device
        wait_until "watched rxe_cycle"
        remove_passing_device
        wait_until "holds_in_bpf '\"rxe_cycle\" not in ports'"
    done
}
# On the fourth VF, in a namespace that is deleted, too, if soft-RoCE works there.
make_passing_device() {
    if [[ $(pod_netns late) == /run/netns/* ]]; then
        ip netns add cycle
        ip link set "${VFS[3]}" netns cycle
        in_netns cycle ip link set "${VFS[3]}" up
        in_netns cycle rdma link add rxe_cycle type rxe netdev "${VFS[3]}"
    else
        ip link set "${VFS[3]}" up
        rdma link add rxe_cycle type rxe netdev "${VFS[3]}"
    fi
}
# A device that the kernel unregisters asynchronously, as when its netdev is moved, may use the namespace after its end (attach_churn.sh
# explains it); this function removes it synchronously.
remove_passing_device() {
    rdma link delete rxe_cycle
    if [[ -e /run/netns/cycle ]]; then
        in_netns cycle ip link set "${VFS[3]}" netns 1
        ip netns delete cycle
        wait_until "[[ -e /sys/class/net/${VFS[3]} ]]"
    fi
    wait_until "! rdma link show rxe_cycle/1 &>/dev/null"
}
n_fds() {
    local open=("/proc/$ROCELET_PID/fd"/*)
    echo "${#open[@]}"
}
cycle $((CYCLES / 4 + 1))
next_samples
objects=$(n_bpf_objects) fds=$(n_fds) memory=$(allocated_kb)
cycle "$CYCLES"
next_samples
echo "# after $CYCLES cycles: BPF objects $objects, then $(n_bpf_objects); memory $memory kB, then $(allocated_kb) kB; descriptors $fds, then $(n_fds)"
check_within 10 "no BPF object is left of a namespace" "(( \$(n_bpf_objects) <= $objects ))"
check_within 10 "no descriptor is left" "(( \$(n_fds) <= $fds ))"
[[ $LAB_ROCELET == san/* ]] || check_within 30 "memory does not grow" "(( \$(allocated_kb) <= memory + MEMORY_TOLERANCE_KB ))"

say "a VF that we put into a pod, without soft-RoCE"
watched_in_pod() { # NETDEV
    holds_in_bpf "any(p['netdev'] == '$1' and p['hook'] in ('tcx', 'clsact') for p in bpf['ports'])"
}
id=$(basename "$(readlink "/sys/class/net/${VFS[3]}/device")")
ip netns add plain
check "it is attached" "$BUILD/rocectl attach $id --netns /run/netns/plain --interface plain1 --ip 10.9.0.4/24"
check_within 10 "it is watched there" watched_in_pod plain1
check "it is detached" "$BUILD/rocectl detach $id"
check_within 10 "and not watched any more" '! watched_in_pod plain1'
ip netns delete plain
check_within 10 "the remaining devices are watched" 'watched rxe_left && watched rxe_right && watched rxe_late'

say "the end"
programs=$(list_programs)
stop_rocelet
# The kernel frees the maps of a process that has ended a little later.
check_within 30 "no BPF object is left" 'diff -u /tmp/remains.before <(bpf_remains left right)'
# Removing a device takes its port down, and the diagnosis reports the effects of scapy and netem.
check_complaints "rxe_cycle.*PortDown|rxe_(left|right) .*(application_error|receiver_not_ready|packet_loss|fabric_congestion).*DiagnosisOnset" \
    "what was done here"
check "the diagnosis has reported scapy's requests for foreign memory" 'grep -q "rxe_left .*application_error.*DiagnosisOnset" $OUT/rocelet.log'
echo "$programs"
