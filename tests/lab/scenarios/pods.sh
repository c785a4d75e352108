# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Real pods in the lab: containerd, the kubelet, and the daemon as device plugin for real VFs with soft-RoCE. Checks the base on
# which VFs are attached to pods; the scenario itself does the attach engine's work.
# lab: --kubelet --memory 4096 --timeout 600
# proves: tests/lab/guest
# shellcheck source=../guest/lib.sh
. /rocelet/lab/guest/lib.sh
# shellcheck source=../guest/kubelet.sh
. /rocelet/lab/guest/kubelet.sh

RESOURCE=lab.rocelet/vf VARIABLE=PCIDEVICE_LAB_ROCELET_VF

pci_of() { # NETDEV
    basename "$(readlink "/sys/class/net/$1/device")"
}

# Attaches as the engine does. soft-RoCE devices cannot be moved to another namespace: the device is created again, and gets its number again.
attach() { # POD IP/LEN
    local vf
    vf=$(basename "/sys/bus/pci/devices/$(pod_env "$1" $VARIABLE)/net"/*)
    ip link set "$vf" netns "$(pod_pid "$1")" name net1
    in_netns "$1" ip address add "$2" dev net1
    in_netns "$1" ip link set net1 up
    wait_until "has_carrier $1 net1"
    in_netns "$1" rdma link add "rxe_$1" type rxe netdev net1
}

# A container may create a node with mknod, so that only its device cgroup decides.
can_open_node_of() { # POD OTHER_POD
    local major minor
    read -r major minor < <(in_pod "$2" sh -c 'stat -c "0x%t 0x%T" /dev/infiniband/uverbs*')
    in_pod "$1" mknod "/tmp/of_$2" c $((major)) $((minor))
    in_pod "$1" sh -c "exec 3<>/tmp/of_$2"
}

make_vfs 2
for i in 0 1; do
    ip link set "${VFS[i]}" up
    rdma link add "rxe$i" type rxe netdev "${VFS[i]}"
done
start_node
echo "# containerd and the kubelet are ready $SECONDS s after the scenario's start"
cat >/tmp/config.json <<END
{"pools": [{"resourceName": "vf", "resourcePrefix": "lab.rocelet", "selectors": {"pfNames": ["$PF"], "isRdma": true}}]}
END
start_rocelet --config /tmp/config.json
need_within 30 "the kubelet lists both VFs" "(( \$(n_registered $RESOURCE) == 2 ))"

say "two pods"
began=$SECONDS
run_pod a "$RESOURCE=1"
echo "# a pod runs $((SECONDS - began)) s after its manifest"
run_pod b "$RESOURCE=1"
check "each has a VF of its own" \
    "[[ \$(printf '%s\n' \$(pod_env a $VARIABLE) \$(pod_env b $VARIABLE) | sort) == '$(printf '%s\n' "$(pci_of "${VFS[0]}")" "$(pci_of "${VFS[1]}")" | sort)' ]]"
check "PodResources agrees" "[[ \$(pod_resources a $RESOURCE) == \$(pod_env a $VARIABLE) ]]"
check "a container sees its RDMA device's nodes" "pod_devices a | grep -qx 'rdma_cm uverbs[01]'"
check "and not the other's" "[[ '$(pod_devices a)' != '$(pod_devices b)' ]]"

say "their VFs moved in by the scenario"
attach a 10.9.0.1/24
attach b 10.9.0.2/24
check "a container sees its net1" "in_pod a ip -brief address show net1 | grep -q 10.9.0.1/24"
check "the pods reach each other" "ping_pod a b >/dev/null"
check "ib_write_bw runs between the containers" "perftest ib_write_bw a b -n 100 -s 1024"
check "ib_send_lat too" "perftest ib_send_lat a b -n 50"
check "a container can open its own device under any name" "can_open_node_of a a"
check "but not the other's" "! can_open_node_of a b"

say "restarts, with running pods"
pid=$(pod_pid a)
restart_containerd KILL
restart_kubelet KILL
need_within 30 "the kubelet lists both VFs again" "(( \$(n_registered $RESOURCE) == 2 ))"
check "the pods keep running" "[[ \$(pod_pid a) == $pid ]]"
check "with their VFs" "ping_pod a b >/dev/null"

say "the end of a pod"
pci=$(pod_env a $VARIABLE)
remove_pod a
check_within 30 "the kernel gives the VF back, as net1" "[[ -e /sys/bus/pci/devices/$pci/net/net1 ]]"
check_within 5 "without its RDMA device" "[[ ! -e /sys/class/infiniband/rxe_a ]]"
remove_pod b
stop_rocelet
echo "# memory in use: $(free -m | awk '/^Mem:/ { print $3 " of " $2 }') MiB; the scenario took $SECONDS s"
