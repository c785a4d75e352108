# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Attacks on a device's identity that outlive a pod or replace it: an RDMA device that a process elsewhere has
# open, a network namespace at the same path, an interface of the same name and mark, swapped records.
# proves: daemon/attach daemon/attach/steps daemon/attach/journal
# shellcheck source=../guest/lib.sh
. /rocelet/lab/guest/lib.sh
# shellcheck source=../guest/attach.sh
. /rocelet/lab/guest/attach.sh

index_of() { # POD INTERFACE
    in_netns "$1" ip -o link show dev "$2" | cut -d: -f1
}

make_pool 2
a=${VF_IDS[0]} b=${VF_IDS[1]}
start_engine
for ns in evil pod1 pod2; do ip netns add $ns; done
ip -n evil link set lo up

# Kernels up to 6.12 delete a soft-RoCE device only when no process has it open; rocelet does not wait for that.
ends_contexts() {
    grep -aq rxe_disassociate_ucontext /sys/kernel/btf/rdma_rxe
}

hold() { # RDMA_DEVICE PORT: opens it outside of its pod
    in_netns evil ib_write_bw -d "$1" -p "$2" >>"$OUT/holder.log" 2>&1 &
    HOLDER=$!
    check_within 30 "a process outside has the RDMA device open" "rdma res show $1 | grep -q 'ctx [1-9]'"
}

end_holder() {
    kill "$HOLDER" 2>/dev/null || true
    wait "$HOLDER" 2>/dev/null || true
}

comes_back() { # RDMA_DEVICE
    if ! ends_contexts; then
        check_within 60 "an event reports it" "rocectl events --limit 50 | grep -q 'outside of the pod has the soft-RoCE device $1 open'"
        check "no work is stuck" "! rocectl doctor | grep -qw stuck"
        end_holder
    fi
    check_within 120 "the VF is returned" "[[ \$(engine_state $a) == free ]]"
    check "its RDMA device is removed" "! rdma dev show $1 >/dev/null 2>&1"
    check "no work is stuck" "! rocectl doctor | grep -qw stuck"
    end_holder
    check_all_free
}

say "a process outside of the pod has the pod's RDMA device open, and the VF is detached"
check "the VF is attached" "attach $a pod1 10.9.0.1/24 && is_complete pod1 $a 10.9.0.1/24"
own=$(pod_rdma pod1)
hold "$own" 19000
timeout 120 /usr/local/sbin/rocectl detach "$a" || true
comes_back "$own"

say "the pod ends instead"
check "the VF is attached" "attach $a pod1 10.9.0.1/24"
own=$(pod_rdma pod1)
hold "$own" 19001
ip netns delete pod1
comes_back "$own"

say "another namespace at the path of one that was deleted"
ip netns add pod1
check "the VF is attached" "attach $a pod1 10.9.0.1/24"
ip netns delete pod1
ip netns add pod1
check_within 60 "the VF is returned" "[[ \$(engine_state $a) == free ]]"
check "and is not in the new one" "! in_netns pod1 ip link show net1 >/dev/null 2>&1"
check_all_free

say "an interface with the name and the alias of the VF's"
check "the VF is attached" "attach $a pod1 10.9.0.1/24"
mark=$(in_netns pod1 ip -d link show net1 | sed -n 's/^ *alias //p')
in_netns pod1 ip link set net1 down name real0
in_netns pod1 ip link property add dev real0 altname "$PF"
in_netns pod1 ip link add net1 type veth peer name other
in_netns pod1 ip link set net1 alias "$mark"
in_netns pod1 ip link set real0 alias ''
check "it is returned" "timeout 120 /usr/local/sbin/rocectl detach $a"
check "the other interface stays where it is" "in_netns pod1 ip link show net1 | grep -q net1@other"
check "the PF keeps its name" "[[ -e /sys/class/net/$PF/device/sriov_numvfs ]]"
check_all_free
ip -n pod1 link del net1

say "two records are swapped while rocelet is down"
check "both VFs are attached" "attach $a pod1 10.9.0.1/24 && attach $b pod2 10.9.0.2/24"
first=$(index_of pod1 net1) second=$(index_of pod2 net1)
kill_rocelet
mv "$STATE_DIR/devices/$a" "$STATE_DIR/devices/x"
mv "$STATE_DIR/devices/$b" "$STATE_DIR/devices/$a"
mv "$STATE_DIR/devices/x" "$STATE_DIR/devices/$b"
start_engine
check_within 30 "an event reports it" "rocectl events --limit 100 | grep -w JournalBad | grep -q 'another device'"
check "no pod gets the other's VF" "is_complete pod1 $a 10.9.0.1/24 && is_complete pod2 $b 10.9.0.2/24"
check "and no pod loses its own VF for a moment" "[[ \$(index_of pod1 net1) == $first && \$(index_of pod2 net1) == $second ]]"
stop_rocelet
echo "# the scenario took $SECONDS s"
