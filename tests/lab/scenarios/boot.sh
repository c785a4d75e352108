# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Checks the lab itself: VFs, two pods on them, and RDMA traffic from one to the other. Does not use rocelet.
# proves: tests/lab/guest tests/lab/host
# shellcheck source=../guest/lib.sh
. /rocelet/lab/guest/lib.sh

say "virtual functions"
make_vfs 2
check "two VFs have netdevs" '(( ${#VFS[@]} == 2 )) && [[ ${VFS[0]} != "${VFS[1]}" ]]'
check "their driver is igbvf" '[[ $(readlink "/sys/class/net/${VFS[0]}/device/driver") == */igbvf ]]'

has_rdma() { # POD
    in_pod "$1" rdma link show "rxe_$1/1" | grep -qw "netdev $(pod_netdev "$1")"
}

say "pods"
make_pod left "${VFS[0]}" 10.9.0.1/24
make_pod right "${VFS[1]}" 10.9.0.2/24
check "the pods reach each other" 'ping_pod left right >/dev/null'
check "each pod has its RDMA device" 'has_rdma left && has_rdma right'

say "traffic"
sent=$(rdma_counter rxe_left sent_pkts)
received=$(rdma_counter rxe_right rcvd_pkts)
check "ib_write_bw runs" 'perftest ib_write_bw left right -n 100 -s 1024'
check "left's RDMA device counts what it sent" '(( $(rdma_counter rxe_left sent_pkts) >= sent + 100 ))'
check "right's RDMA device counts what it received" '(( $(rdma_counter rxe_right rcvd_pkts) >= received + 100 ))'

say "congestion"
capture right 'ip[1] & 3 = 3' /tmp/ce
capture left 'udp[8] = 0x81' /tmp/cnp
congest_pod left 8mbit
check "ib_write_bw runs through a congested queue" 'perftest ib_write_bw left right -n 60 -s 65536 --tclass=106'
send_cnp right left
check_within 5 "CE marks arrive" '(( $(lines /tmp/ce) > 100 ))'
check_within 5 "the CNP arrives" '(( $(lines /tmp/cnp) == 1 ))'
