# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Attacks on a device's identity, from network namespaces with NET_ADMIN in the initial user namespace, as pods of many clusters have:
# RDMA devices under other devices' names, a lock on the folder of device nodes, interfaces on VFs that are free.
# proves: daemon/attach/steps hw/ops
# shellcheck source=../guest/lib.sh
. /rocelet/lab/guest/lib.sh
# shellcheck source=../guest/attach.sh
. /rocelet/lab/guest/attach.sh

node_number() { # FILE
    stat -c '%t:%T' "$1"
}

number_of() { # RDMA_DEVICE: of its uverbs device, as stat prints it
    local dir major minor
    for dir in /sys/class/infiniband_verbs/uverbs*; do
        [[ $(<"$dir/ibdev") == "$1" ]] || continue
        IFS=: read -r major minor <"$dir/dev"
        printf '%x:%x\n' "$major" "$minor"
    done
}

exists() { # RDMA_DEVICE
    rdma dev show "$1" >/dev/null 2>&1
}

make_pool 2
a=${VF_IDS[0]} b=${VF_IDS[1]}
NAME=rxe_${a//[:.]/_}
start_engine
for ns in evil pod1 pod2; do ip netns add $ns; done
ip -n evil link add eth0 type veth peer name eth1
ip -n evil link set eth0 up
ip -n evil link set eth1 up

say "a lock on the folder of the device nodes"
mkdir -p /dev/rocelet/by-name
flock -o /dev/rocelet sleep 1000 &
LOCKER=$!
wait_until "! flock -n /dev/rocelet true"
check "does not block an attach" "timeout 300 /usr/local/sbin/rocectl attach $b --netns /run/netns/pod2 --ip 10.9.0.2/24 --soft-roce"
timeout 300 /usr/local/sbin/rocectl detach "$b" || true
check_all_free # with the lock held
kill "$LOCKER"
wait "$LOCKER" 2>/dev/null || true

say "a device with the name that a VF's device would get"
in_netns evil rdma link add "$NAME" type rxe netdev eth0
check "the VF is attached all the same" "attach $a pod1 10.9.0.1/24 && is_complete pod1 $a 10.9.0.1/24"
own=$(pod_rdma pod1)
check "with a device of its own" "[[ -n '$own' && '$own' != '$NAME' ]]"
check "and the node is that device's" "[[ \$(node_number /dev/rocelet/by-name/$a) == \$(number_of $own) ]]"

say "names are swapped while it is attached"
in_netns evil rdma link delete "$NAME"
in_netns evil rdma dev set "$own" name mine0
in_netns evil rdma link add "$own" type rxe netdev eth0
rocectl detach "$a" || true
wait_until 300 "[[ \$(engine_state $a) == free ]]"
check "its device is removed" "! exists mine0"
check "the other device is not" "exists $own"
in_netns evil rdma link delete "$own" || true
check_all_free

say "an interface on a VF that is free, from another namespace"
ip link add link "$(netdev_of "$a")" name spy0 netns evil type macvlan mode bridge
ip -n evil link set spy0 up
check "the VF is attached" "attach $a pod1 10.9.0.1/24 && is_complete pod1 $a 10.9.0.1/24"
check "with a new netdev, without the interface" "! ip -n evil link show dev spy0 >/dev/null 2>&1"
check "and an event reports it" "rocectl events | grep -q 'macvlan spy0 in namespace net:.* was stacked on the old one'"
rocectl detach "$a" || true
check_all_free

say "a pod removes the alias, the record is corrupt, and no kubelet lists allocations"
check "the VF is attached" "attach $a pod1 10.9.0.1/24"
in_netns pod1 ip link set net1 alias ''
in_netns pod1 ip link set net1 group 7
kill_rocelet
head -c 32768 /dev/urandom >"$STATE_DIR/devices/$a"
ip netns delete pod1
wait_until "[[ -n \$(netdev_of $a 2>/dev/null) ]]"
index=$(<"/sys/bus/pci/devices/$a/net/$(netdev_of "$a")/ifindex")
start_engine
check "an admin request cannot return it" "rocectl detach $a 2>&1 | grep -q 'no journal record has the owner of $a'"
check "its trouble names what it waits for" "curl -fsS -m 60 $HTTP/api/v1/attachments | grep -q 'until the kubelet and the runtime show'"
check "and it is not changed" "[[ \$(engine_state $a) == bad && \$(<\"/sys/bus/pci/devices/$a/net/\$(netdev_of $a)/ifindex\") == $index ]]"
stop_rocelet
