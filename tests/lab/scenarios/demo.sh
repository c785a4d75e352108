# shellcheck shell=bash
# The guest's side of lab.sh demo: pods, the daemon and traffic without end. The host stops the machine when it has seen enough.
# shellcheck source=../guest/lib.sh
. /rocelet/lab/guest/lib.sh

say "two virtual functions of the emulated NIC"
make_vfs 2

say "pods train0 and train1, each with a VF as net1 and an RDMA device on it"
make_pod train0 "${VFS[0]}" 10.9.0.1/24
make_pod train1 "${VFS[1]}" 10.9.0.2/24

say "rocelet"
start_rocelet

# Slower than the emulated NIC, so that train0's packets queue up and some arrive with CE marks.
congest_pod train0 20mbit

# What train1's NIC would send on CE marks, if it were one; soft-RoCE does not.
answer_with_cnps() {
    while sleep 1; do send_cnp train1 train0; done
}

say "RDMA writes from train0 to train1 (ECN-capable), CNPs back"
answer_with_cnps &
(
    wait_until "(( $(rdma_counter rxe_train1 rcvd_pkts) < \$(rdma_counter rxe_train1 rcvd_pkts) ))"
    touch "$OUT/ready"
) &
while perftest ib_write_bw train0 train1 -D 30 -s 4096 --tclass=106; do :; done
fail "ib_write_bw does not run: $(tail -n 5 "$OUT/perftest-client.log")"
