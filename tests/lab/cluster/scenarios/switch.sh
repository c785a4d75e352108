# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Checks the cluster itself: two machines on one switch, RDMA between a VF of each, and the receiver's rocelet counts the switch's
# marks.
# cluster: --timeout 600
# proves: tests/lab/cluster
# when: soak
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh" "$1"

wait_for_nodes
echo "# both machines are up after $SECONDS s"

say "a pod on each node, with a VF"
node 0 'make_vfs 1; make_pod left "${VFS[0]}" 10.9.0.1/24'
node 1 'make_vfs 1; make_pod right "${VFS[0]}" 10.9.0.2/24'
check "they reach each other across the switch" "node 0 'in_pod left busybox ping -c 1 -W 5 10.9.0.2' >/dev/null"
on_nodes 'start_rocelet --packet-pods'
for n in 0 1; do
    need_within 60 "the packets of the pod on node $n are watched" "[[ \$(node_metric $n rocelet_bpf_ports 'hook=\"tcx\"') == 1 ]]"
done

# perftest's two ends are on two nodes. -u: ACKs may wait in a queue for 4 s; with perftest's timeout of 67 ms, soft-RoCE retries and sometimes fails with an
# invalid request.
write_bw() { # ARGS..
    node 1 "in_pod right ib_write_bw -d rxe_right -u 20 --tclass=106 $* &>\$OUT/perftest-server.log &
        wait_until 'in_netns right ss -Hltn \"sport = :18515\" | grep -q .'"
    node 0 "in_pod left ib_write_bw -d rxe_left -u 20 --tclass=106 $* 10.9.0.2 &>\$OUT/perftest-client.log || has_no_report"
}

ce_received() { # NODE
    node_metric "$1" roce_ecn_ce_received_packets_total || echo unknown
}

say "traffic"
check "ib_write_bw runs from node to node" "write_bw -n 100 -s 1024"
check_within 5 "right's rocelet counts ECN-capable packets" "[[ \$(node_metric 1 roce_ecn_packets_total 'direction=\"received\"' 'ecn=\"ect0\"') -ge 100 ]]"
check "without marks by the switch none is counted" "(( \$(ce_received 1) == 0 && \$(marked 1) == 0 ))"

say "a congested switch"
set_port 1 rate=8e6 mark=5000
check "ib_write_bw runs through it" "write_bw -n 60 -s 65536"
set_port 1 off
check "the switch has marked packets" "(( \$(marked 1) > 100 ))"
check_within 5 "right's rocelet counts as many as the switch has marked" "(( \$(ce_received 1) == \$(marked 1) ))"
check "left's counts none" "(( \$(ce_received 0) == 0 ))"
echo "# marked by the switch: $(marked 1), seen by the receiver's rocelet: $(ce_received 1)"

on_nodes 'kill -TERM $(pidof rocelet); wait_until "! pidof rocelet"'
echo "# the scenario took $SECONDS s"
