. /rocelet/lab/guest/lib.sh
make_vfs 1
start_rocelet --log-level debug
wait_until "curl -fsS $HTTP/readyz"
ip netns add pod
VF=${VFS[0]}
ip link set $VF netns pod name net1
ip -n pod link set net1 up
ip -n pod addr add 10.9.0.1/24 dev net1
wait_until "has_carrier pod net1"
in_pod pod rdma link add rxe_pod type rxe netdev net1
wait_until 5 "rdma link show rxe_pod/1 | grep -q ACTIVE"
wait_until 3 "devices_json | grep rxe_pod" || true
devices_json
echo
curl -s $HTTP/metrics | grep -E "roce_|overr|events|looks"
in_pod pod rdma link
in_pod pod rdma -d dev
rdma -d dev
rdma -d link
ls /run/netns; ls -la /sys/class/infiniband/*/ /sys/class/infiniband/*/ports/1/
stop_rocelet
