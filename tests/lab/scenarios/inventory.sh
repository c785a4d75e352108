# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The live inventory: every change of the hardware is visible soon after the kernel's message; it is right again after lost events.
# proves: daemon/inventory hw/scan hw/netlink
# shellcheck source=../guest/lib.sh
. /rocelet/lab/guest/lib.sh

# inventory.sh [ROUNDS [BAR]]
ROUNDS=${1:-1} BAR=${2:-}
# shellcheck source=../guest/latency.sh
. /rocelet/lab/guest/latency.sh

say "one PF, no VFs"
find_pf
PF_ID=$(basename "$(readlink "/sys/class/net/$PF/device")")
NUMVFS=/sys/class/net/$PF/device/sriov_numvfs
ip link set "$PF" up
wait_until "ip link show $PF | grep -q LOWER_UP"
start_rocelet
wait_until is_up
check "the PF is known by its PCI address, with its driver" "holds_in_devices 'functions[\"$PF_ID\"][\"driver\"] == \"igb\"'"
check "it can have VFs and has none" "holds_in_devices 'functions[\"$PF_ID\"][\"numVfs\"] == 0 and functions[\"$PF_ID\"][\"totalVfs\"] > 0'"
check "udev runs here, so its source is used" '! grep -q "udev does not run here" $OUT/rocelet.log'
check "RDMA netlink events are received" '! grep -q "sends no RDMA netlink events" $OUT/rocelet.log'

say "latency: from the kernel's message to /api/v1/devices"
NO_VF='all(d["kind"] != "vf" for d in functions.values())'
latencies "in /api/v1/devices" <<END
vf_function_added | echo 1 >$NUMVFS | KERNEL.* add +/.* \\(pci\\) | sum(d["kind"] == "vf" for d in functions.values()) == 1 | echo 0 >$NUMVFS | $NO_VF
vf_netdev_added | echo 1 >$NUMVFS | KERNEL.* add +/.* \\(net\\) | any(d["kind"] == "vf" and d["netdevs"] for d in functions.values()) | echo 0 >$NUMVFS | $NO_VF
END
make_vfs 1
VF=${VFS[0]}
VF_ID=$(basename "$(readlink "/sys/class/net/$VF/device")")
latencies "in /api/v1/devices" <<END
vf_removed | echo 0 >$NUMVFS | KERNEL.* remove +/.*$VF_ID \\(pci\\) | "$VF_ID" not in functions | echo 1 >$NUMVFS | "$VF_ID" in functions and "$VF" in netdevs
END
ip link set "$VF" up
wait_until "ip link show $VF | grep -q LOWER_UP"
wait_until "holds_in_devices 'netdevs[\"$VF\"][\"carrier\"]'"
check "the VF names its PF and index" "holds_in_devices 'functions[\"$VF_ID\"][\"parent\"] == \"$PF_ID\" and functions[\"$VF_ID\"][\"vf\"] == 0'"
wait_until "holds_in_devices 'functions[\"$VF_ID\"][\"vfLinkState\"] == \"auto\"'"
check "the VF's link state is read through its PF" "holds_in_devices 'functions[\"$VF_ID\"][\"vfLinkState\"] == \"auto\"'"
check "both answer on the bus" "holds_in_devices 'not functions[\"$PF_ID\"][\"unreachable\"] and not functions[\"$VF_ID\"][\"unreachable\"]'"
check "the PCI path to them is known" "holds_in_devices 'functions[\"$VF_ID\"][\"pciPath\"] is not None and functions[\"$VF_ID\"][\"pciPath\"] == functions[\"$PF_ID\"][\"pciPath\"]'"
wait_until "holds_in_devices 'not netdevs[\"$PF\"][\"defaultRoute\"] and not netdevs[\"$VF\"][\"defaultRoute\"]'"
ip route add default dev "$PF" metric 4000
wait_until "holds_in_devices 'netdevs[\"$PF\"][\"defaultRoute\"]'"
check "a default route is found" "holds_in_devices 'netdevs[\"$PF\"][\"defaultRoute\"] and not netdevs[\"$VF\"][\"defaultRoute\"]'"
ip route delete default dev "$PF" metric 4000
wait_until "holds_in_devices 'not netdevs[\"$PF\"][\"defaultRoute\"]'"
check "and its end" "holds_in_devices 'not netdevs[\"$PF\"][\"defaultRoute\"]'"
latencies "in /api/v1/devices" <<END
rdma_device_added | rdma link add rxe_t type rxe netdev $VF | KERNEL.* add +/.*rxe_t \\(infiniband\\) | "rxe_t" in rdma | rdma link delete rxe_t | "rxe_t" not in rdma
END
rdma link add rxe_t type rxe netdev "$VF"
wait_until "holds_in_devices 'rdma[\"rxe_t\"][\"ports\"][0][\"state\"] == \"active\"'"
latencies "in /api/v1/devices" <<END
carrier_and_port_lost | ip link set $PF down | \\] [0-9]+: $VF: .*NO-CARRIER | netdevs["$VF"]["carrier"] is False and rdma["rxe_t"]["ports"][0]["state"] != "active" | ip link set $PF up | netdevs["$VF"]["carrier"] and rdma["rxe_t"]["ports"][0]["state"] == "active"
rdma_device_removed | rdma link delete rxe_t | KERNEL.* remove +/.*rxe_t \\(infiniband\\) | "rxe_t" not in rdma | rdma link add rxe_t type rxe netdev $VF | "rxe_t" in rdma
renamed | ip link set $VF name renamed0 | \\] [0-9]+: renamed0: | "renamed0" in netdevs | ip link set renamed0 name $VF | "$VF" in netdevs
END
rdma link delete rxe_t

say "a VF in a pod stays in the inventory"
ip link set "$VF" down
ip netns add pod
latencies "in /api/v1/devices" <<END
moved_to_pod | ip link set $VF netns pod name net1 | Deleted [0-9]+: $VF | netdevs["net1"]["netns"] == "pod" | ip -n pod link set net1 netns 1 name $VF | netdevs["$VF"]["netns"] == "host"
END
ip link set "$VF" netns pod name net1
ip -n pod link set net1 up
wait_until "holds_in_devices 'netdevs[\"net1\"][\"carrier\"]'"
check "its carrier in the pod is visible from the host" "holds_in_devices 'netdevs[\"net1\"][\"netns\"] == \"pod\" and netdevs[\"net1\"][\"carrier\"]'"
in_pod pod rdma link add rxe_pod type rxe netdev net1
wait_until "holds_in_devices '\"rxe_pod\" in rdma and rdma[\"rxe_pod\"][\"ports\"][0][\"netdev\"] == \"net1\"'"
check "the pod's RDMA device belongs to the VF's function" "holds_in_devices 'any(r[\"name\"] == \"rxe_pod\" for r in functions[\"$VF_ID\"][\"rdma\"])'"
ip netns delete pod
wait_until "holds_in_devices 'all(n[\"netns\"] == \"host\" for d in functions.values() for n in d[\"netdevs\"])'"
check "the VF is back in the host after the pod's death" "holds_in_devices 'len(functions[\"$VF_ID\"][\"netdevs\"]) == 1'"
check "moves are reported with the process that made them" 'grep -q "is moved from network namespace .* by ip, pid" $OUT/rocelet.log'
stop_rocelet

say "lost events"
VF=$(vf_netdev 0)
start_rocelet --event-buffer 1024
wait_until is_up
before=$(metric rocelet_event_overruns_total 'source="rtnetlink"')
ip link set "$VF" up # the kernel reports aliases only while it is up
for ((i = 0; i < 3000; i++)); do echo "link set dev $VF alias flood$i"; done >/tmp/flood
echo "link set dev $VF down" >>/tmp/flood
echo "link set dev $VF name last0" >>/tmp/flood
kill -STOP "$ROCELET_PID"
ip -batch /tmp/flood
kill -CONT "$ROCELET_PID"
wait_until "holds_in_devices '\"last0\" in netdevs'"
check_within 5 "the receive buffer was overrun" "(( \$(metric rocelet_event_overruns_total 'source=\"rtnetlink\"') > before ))"
check "the inventory is right after lost events" "holds_in_devices 'sorted(n[\"name\"] for n in functions[\"$VF_ID\"][\"netdevs\"]) == [\"last0\"]'"
stop_rocelet

say "without udev or privileges"
udevadm control --exit
wait_until '! pgrep -x systemd-udevd'
rm -rf /run/udev/control
start_rocelet --no-bpf
wait_until is_up
check "without udev it logs that and listens to the kernel" 'grep -q "udev does not run here" $OUT/rocelet.log'
echo 0 >"$NUMVFS"
wait_until "holds_in_devices 'all(d[\"kind\"] != \"vf\" for d in functions.values())'"
check "hot-unplug is noticed without udev" "holds_in_devices 'all(d[\"kind\"] != \"vf\" for d in functions.values())'"
stop_rocelet
: >"$OUT/rocelet.log"
(exec setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all /usr/local/sbin/rocelet --run-dir /tmp/nobody) >>"$OUT/rocelet.log" 2>&1 &
ROCELET_PID=$!
wait_until is_up
check "without privileges it serves the inventory" "holds_in_devices '\"$PF_ID\" in functions'"
check "and logs what is missing" 'grep -q "going on without" $OUT/rocelet.log'
stop_rocelet
