# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# In exclusive mode a pod's RDMA device is in the pod's namespace: its counters continue, and reading them does not pin the namespace. Soft-RoCE devices cannot be
# moved: the host builds a NIC that can (tests/lab/module).
# lab: --kernel 6.1 --timeout 300
# proves: hw/counters hw/scan
# when: turns
# shellcheck source=../guest/lib.sh
. /rocelet/lab/guest/lib.sh
# shellcheck source=../guest/nic.sh
. /rocelet/lab/guest/nic.sh

counts() { # VALUE
    printf 'hw packet_seq_err = %s\n' "$1" >"$nic/lab/script"
}

# "HOST_OR_POD VALUE" of the only counter, from the page.
shown() {
    curl -fsS -m 60 "$HTTP/metrics" >/tmp/page
    echo "$(sed -n 's/^roce_port_info{device="mlx5_0".*netns="\([^"]*\)".*/\1/p' /tmp/page)" \
        "$(sed -n 's/^roce_sequence_nak_received_total{device="mlx5_0".*} //p' /tmp/page)"
}

say "a NIC in the host"
load_nic
find_pf
nic=$(realpath "/sys/class/net/$PF/device")
bind_nic "${nic##*/}" mlx5_core
echo 'hw packet_seq_err' >"$nic/lab/names"
echo 1 >"$nic/lab/beat" # each read of its counters advances the script by a step
counts 7000000
echo mlx5_0 >"$nic/lab/device"
udevadm settle --timeout=20 # udev renames it once
ip link set "$(ls "$nic/net")" name labnic0
need_within 60 "the RDMA subsystem is in exclusive mode" "rdma system set netns exclusive"
start_rocelet
wait_until is_up
check_within 60 "it has its total" '[[ $(shown) == " 7000000" ]]'

say "in a pod"
ip netns add pod
ip link set labnic0 netns pod
rdma dev set mlx5_0 netns pod
check "the kernel has moved it" '! rdma dev show mlx5_0 2>/dev/null && ip netns exec pod rdma dev show mlx5_0'
counts 7000123
check_within 60 "its total continues there" '[[ $(shown) == "pod 7000123" ]]'
counts 7000456
check_within 60 "and again" '[[ $(shown) == "pod 7000456" ]]'

say "the pod ends"
ip netns del pod
check_within 60 "its namespace is not pinned: the kernel has moved it back" 'rdma dev show mlx5_0'
check_within 60 "it has its total" '[[ $(shown) == " 7000456" ]]'
