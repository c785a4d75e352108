# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Soft-RoCE VFs together with other devices: beside a device of another RDMA pool, in a pod with the host's network, and while a container that ignores
# SIGTERM still has its own.
# lab: --kubelet --memory 4096 --timeout 1200
# proves: daemon/attach/steps daemon/plugin
# shellcheck source=../guest/lib.sh
. /rocelet/lab/guest/lib.sh
# shellcheck source=../guest/kubelet.sh
. /rocelet/lab/guest/kubelet.sh
# shellcheck source=../guest/attach.sh
. /rocelet/lab/guest/attach.sh

readonly HCA=rocelet.dev/hca

entry() { # ADDRESS: an annotation with it
    echo "[{\"resource\": \"$RESOURCE\", \"ips\": [\"$1\"]}]"
}

# Only the device cgroup decides, whichever nodes are visible in the container.
can_open() { # POD NODE
    in_pod "$1" sh -c "exec 3<>/dev/infiniband/$2"
}

uverbs_of() { # RDMA_DEVICE
    grep -lx "$1" /sys/class/infiniband_verbs/uverbs*/ibdev | cut -d/ -f5
}

make_pool 2
rdma link add rxe_pf type rxe netdev "$PF"
OTHERS="{\"resourceName\": \"hca\", \"resourcePrefix\": \"rocelet.dev\", \"kind\": \"shared\", \"slots\": 4, \"selectors\": {\"ifNames\": [\"$PF\"], \"isRdma\": true}}"
# VFs by their names, which they have in the host only.
BY_NAME="\"ifNames\": [\"${VFS[0]}\", \"${VFS[1]}\"]"
sed -i "s|^{\"pools\": \[|&$OTHERS,\n|; s|\"pfNames\": \[[^]]*\]|$BY_NAME|" "$CONFIG"
start_node
start_engine
need_within 30 "the kubelet lists the VFs and the slots" "(( \$(n_registered $RESOURCE) == 2 && \$(n_registered $HCA) == 4 ))"
NODE=$(uverbs_of rxe_pf)

say "a container with a soft-RoCE VF and a slot of an HCA, and one with a VF"
run_pod both "$RESOURCE=1" "$HCA=1" "$(entry 10.9.0.1/24)"
run_pod one "$RESOURCE=1" "$(entry 10.9.0.2/24)"
both=$(pod_env both $VARIABLE)
check "the first one has its interface" "is_complete both $both 10.9.0.1/24"
check "and opens both devices" "can_open both by-name/$both && can_open both $NODE"
check "the other opens its own only" "can_open one by-name/$(pod_env one $VARIABLE) && ! can_open one $NODE && ! can_open one by-name/$both"
check "a container cannot create a node there" "! in_pod both sh -c 'busybox mknod /dev/infiniband/x c 1 3' 2>/dev/null && ! in_pod both sh -c ': >/dev/infiniband/x' 2>/dev/null"
remove_pod both
remove_pod one
check_all_free

say "the host's network"
make_pod_with "doc['spec'].update(hostNetwork=True)" host "$RESOURCE=1"
check_within 60 "its status has the reason why it does not start" "pod_status host | grep -q 'pod default/host-rig uses hostNetwork: without a pod interface'"
check_within 90 "each time it is tried" "(( \$(grep -c 'container not started: .*uses hostNetwork' $OUT/rocelet.log) >= 2 ))"
check "there is no event of the device" "! curl -fsS -m 60 $HTTP/api/v1/events | grep -q HostNetwork"
remove_pod host
check_all_free

say "a container that ignores SIGTERM"
POD_FIRST='env >/seen/env; trap "" TERM; echo started >>/seen/starts; while :; do sleep 1; done'
make_pod_with "doc['spec'].update(terminationGracePeriodSeconds=600)" slow "$RESOURCE=1" "$(entry 10.9.0.3/24)"
# The kubelet stops a container that it has not seen running together with its sandbox, at once.
wait_until "$POD_TIMEOUT" "pod_started slow && pod_status slow | grep -q '^Running'"
POD_FIRST=:
slow=$(pod_env slow $VARIABLE) pid=$(pod_pid slow)
keeps_vf() { nsenter -t "$pid" -n ip link show net1 >/dev/null && [[ $(engine_state "$slow") == in_pod ]]; }
rm /run/rig/manifests/slow.json
need_within 30 "the kubelet forgets it" "! pod_known slow"
run_pod next "$RESOURCE=1" "$(entry 10.9.0.4/24)"
check "the next pod gets the other VF" "[[ \$(pod_env next $VARIABLE) != $slow ]]"
check "the first one keeps its own" keeps_vf
make_pod third "$RESOURCE=1" "$(entry 10.9.0.5/24)"
need_within 60 "with nothing else free, the kubelet allocates it to a third one" "pod_known third && [[ \$(pod_resources third $RESOURCE) == $slow ]]"
check_within 60 "the third one waits" "pod_status third | grep -q 'is still attached to pod default/slow-rig'"
check "while the first one keeps it" "keeps_vf && [[ ! -e $PODS/third/starts ]]"
kill -KILL "$pid"
check_within 120 "until that has ended" "pod_started third && is_complete third $slow 10.9.0.5/24"
remove_pod third
remove_pod next
check_all_free
stop_rocelet
