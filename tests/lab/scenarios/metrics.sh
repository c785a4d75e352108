# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The numbers: perftest's, the kernel's and ours agree; promtool and Prometheus accept the page.
# proves: daemon/metrics hw/counters
# when: core
# shellcheck source=../guest/lib.sh
. /rocelet/lab/guest/lib.sh

MESSAGES=2000 MTU=1024 PACKETS_EACH=4 # per message
SIZE=$((PACKETS_EACH * MTU))
# IPv4, UDP, BTH and ICRC of each packet, and the RETH of each message's first (IBTA volume 1, 9.2; annex A17): what
# soft-RoCE counts, that is all but the Ethernet header.
WIRE_BYTES=$((MESSAGES * (SIZE + PACKETS_EACH * (20 + 8 + 12 + 4) + 16)))
WIRE_PACKETS=$((MESSAGES * PACKETS_EACH))

port() { # METRIC POD [LABEL]: the current value
    metric "$1" "device=\"rxe_$2\"" 'source="hw"' ${3:+"$3"}
}

kernel_agrees() { # POD KERNEL_COUNTER METRIC [LABEL]
    [[ $(rdma_counter "rxe_$1" "$2") == "$(port "$3" "$1" "${4:-}")" ]]
}

# Every counter of the kernel has its value on the page, under rocelet's name or passed through.
all_counters_agree() { # POD
    local page name value
    wait_until "kernel_agrees $1 sent_pkts roce_packets_total 'direction=\"sent\"'"
    page=$(curl -fsS "$HTTP/metrics" | grep "device=\"rxe_$1\"")
    while read -r name value; do
        grep -q " $value\$" <<<"$page" || { echo "no series has the $value of $name"; return 1; }
    done < <(rdma statistic show link "rxe_$1/1" | tr ' ' '\n' | paste -d' ' - - | awk 'NF == 2 && $2 ~ /^[0-9]+$/')
}

within_1_percent() { # A B
    awk -v a="$1" -v b="$2" 'BEGIN { d = a - b; if (d < 0) d = -d; exit !(d <= b / 100) }'
}

make_vfs 2
make_pod left "${VFS[0]}" 10.9.0.1/24
make_pod right "${VFS[1]}" 10.9.0.2/24
start_rocelet
wait_until is_up
wait_until "port roce_packets_total left 'direction=\"sent\"'"

say "perftest against our numbers"
bytes=$(port roce_bytes_total left 'direction="sent"')
packets=$(port roce_packets_total left 'direction="sent"')
received=$(port roce_packets_total right 'direction="received"')
# -u: on a busy machine ACKs arrive after perftest's default timeout of 67 ms, and packets sent twice are counted twice.
check "ib_write_bw runs" "perftest ib_write_bw left right -n $MESSAGES -s $SIZE -m $MTU -u 20 --tclass=106"
wait_until "kernel_agrees left sent_pkts roce_packets_total 'direction=\"sent\"'"
wait_until "kernel_agrees right rcvd_pkts roce_packets_total 'direction=\"received\"'"
bytes=$(($(port roce_bytes_total left 'direction="sent"') - bytes))
packets=$(($(port roce_packets_total left 'direction="sent"') - packets))
received=$(($(port roce_packets_total right 'direction="received"') - received))
echo "# packets sent: perftest $WIRE_PACKETS, ours $packets; received by the other: $received; bytes: perftest $WIRE_BYTES, ours $bytes"
curl -fsS "$HTTP/metrics" >"$OUT/page"
check "packets sent agree with perftest within 1 %" "within_1_percent $packets $WIRE_PACKETS"
check "packets received agree with perftest within 1 %" "within_1_percent $received $WIRE_PACKETS"
check "bytes sent agree with perftest within 1 %" "within_1_percent $bytes $WIRE_BYTES"
check "every counter of rdma statistic is on the page" "all_counters_agree left"

echo "# a sample over netlink of 2 RDMA devices and their netdevs takes $(metric rocelet_last_sample_seconds) s on emulated processors; RSS $(metric process_resident_memory_bytes) bytes"

say "identity"
check "the port's info series names netdev, namespace, VF and driver" \
    "metric roce_port_info 'device=\"rxe_left\"' 'netdev=\"net1\"' 'netns=\"left\"' 'function=\"vf\"' 'driver=\"rxe\"'"
check "a label names the source of the bytes" "metric roce_port_info 'device=\"rxe_left\"' 'bytes_source=\"netlink\"'"
check "there is no series of CNPs, which soft-RoCE cannot count" "! metric roce_cnp_received_packets_total 'source=\"hw\"'"

say "Prometheus"
check "promtool and Prometheus on the host accept the page" host_part
stop_rocelet
