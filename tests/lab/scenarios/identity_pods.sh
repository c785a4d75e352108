# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Real pods and the numbers of device nodes: a container restarts after its device number has changed; a pod deletes its soft-RoCE
# device and waits for another one with its number; a pod with the host's network leaves residual state on its VF.
# lab: --kubelet --memory 4096 --timeout 900
# proves: daemon/plugin daemon/pools daemon/attach
# shellcheck source=../guest/lib.sh
. /rocelet/lab/guest/lib.sh
# shellcheck source=../guest/kubelet.sh
. /rocelet/lab/guest/kubelet.sh
# shellcheck source=../guest/attach.sh
. /rocelet/lab/guest/attach.sh

readonly HOST=lab.rocelet/host PLAIN=lab.rocelet/vf PLAIN_VARIABLE=PCIDEVICE_LAB_ROCELET_VF

# Soft-RoCE devices of the host, on its first two VFs: numbered in the order of creation.
make_devices() { # INDEX INDEX
    local i
    for i; do rdma link add "rxe$i" type rxe netdev "${VFS[i]}"; done
}

delete_devices() {
    rdma link delete rxe0
    rdma link delete rxe1
}

n_starts() { # POD
    wc -l <"$PODS/$1/starts"
}

number_of() { # SOFT_ROCE_VF
    stat -c '0x%t 0x%T' "/dev/rocelet/by-name/$1"
}

# A container may create a node with mknod, so that only its device cgroup decides.
can_open() { # POD "MAJOR MINOR"
    in_pod "$1" sh -c "busybox rm -f /tmp/it; busybox mknod /tmp/it c $(($(cut -d' ' -f1 <<<"$2"))) $(($(cut -d' ' -f2 <<<"$2"))) && exec 3<>/tmp/it"
}

configure() { # NETWORK: more keys of the last pool
    cat >"$CONFIG.new" <<END
{"pools": [
  {"resourceName": "vf", "resourcePrefix": "lab.rocelet", "selectors": {"pfNames": ["$PF#0-1"], "drivers": ["igbvf"], "isRdma": true}},
  {"resourceName": "roce", "resourcePrefix": "rocelet.dev", "selectors": {"pfNames": ["$PF#2-3"], "drivers": ["igbvf"]}, "softRoce": true,
   "network": {}},
  {"resourceName": "host", "resourcePrefix": "lab.rocelet", "selectors": {"pfNames": ["$PF#4"], "drivers": ["igbvf"]}$1}]}
END
    mv "$CONFIG.new" "$CONFIG"
}

make_pool 5
for i in 0 1; do ip link set "${VFS[i]}" up; done
make_devices 0 1
configure ''
start_node
start_engine
need_within 30 "the kubelet lists the VFs" "(( \$(n_registered $RESOURCE) == 2 && \$(n_registered $PLAIN) == 2 && \$(n_registered $HOST) == 1 ))"

say "a device gets another number while a pod has it"
run_pod a "$PLAIN=1"
a=$(pod_env a $PLAIN_VARIABLE)
other=${VF_IDS[0]}
[[ $a != "$other" ]] || other=${VF_IDS[1]}
delete_devices
make_devices 1 0 # each gets the other's number
check_within 60 "an event reports it" "rocectl events | grep Drift | grep -q '$a: its container was given /dev/infiniband/uverbs'"
check_within 60 "neither device is allocated" "rocectl explain $a | grep -q node_changed && rocectl explain $other | grep -q node_held"
kill -KILL "$(pod_pid a)"
check_within 120 "its container does not start again, and its status has the reason" "pod_status a | grep -q 'delete the pod'"
echo "# $(pod_status a | cut -c1-300)"
check "it has not started" "(( \$(n_starts a) == 1 ))"
remove_pod a
check_within 60 "when the pod has ended, both are allocatable" "! rocectl explain $a | grep -q node_ && ! rocectl explain $other | grep -q node_"
run_pod b "$PLAIN=1"
check "the next pod starts" "pod_devices b | grep -q uverbs"
remove_pod b

say "a pod deletes its soft-RoCE device"
run_pod c "$RESOURCE=1" "$(entry '"ips": ["10.9.0.1/24"]')"
c=$(vf_of c)
number=$(number_of "$c")
check "a container can open its own" "can_open c '$number'"
in_netns c rdma link delete "$(pod_rdma c)"
check_within 60 "an event reports it" "rocectl events | grep Drift | grep $c | grep -q rdma"
run_pod d "$RESOURCE=1" "$(entry '"ips": ["10.9.0.2/24"]')"
d=$(vf_of d)
check "the next pod's device has another number" "[[ '$(number_of "$d")' != '$number' ]]"
check "which its container can open" "can_open d '$(number_of "$d")'"
check "and the first one's cannot" "! can_open c '$(number_of "$d")'"
check "the device that occupied the number is removed" "! rdma link show | grep -q rxe_hold && ! in_netns d ip link show | grep -q rl-hold"
check "and there is no event of it" "! rocectl events | grep -q rxe_hold"
kill -KILL "$(pod_pid c)"
check_within 120 "the first one's container does not start again" "pod_status c | grep -q 'delete the pod'"
remove_pod c
remove_pod d

say "a pool gets a network while a pod has its VF"
h=${VF_IDS[4]} name=$(netdev_of "${VF_IDS[4]}")
run_pod q "$HOST=1"
configure ', "network": {}'
wait_until 60 "(( \$(metric rocelet_config_reloads_total 'result=\"ok\"') >= 1 ))"
kill -KILL "$(pod_pid q)"
check_within 120 "its container starts again" "(( \$(n_starts q) == 2 ))"
check "and its VF stays where it was" "[[ \$(engine_state $h) == free && \$(netdev_of $h) == $name ]] && ! in_pod q ip link show net1"
remove_pod q
run_pod r "$HOST=1"
check "the next pod gets it as net1" "[[ \$(engine_state $h) == in_pod ]] && in_pod r ip link show net1"
remove_pod r
check_within 60 "and returns it" "is_free $h"

say "a pod with the host's network changes its VF"
make_pod_with "doc['spec'].update(hostNetwork=True)" host "$HOST=1"
wait_until 90 "pod_started host"
check "the VF stays in the host, and is recorded" "[[ \$(engine_state $h) == in_pod && \$(netdev_of $h) == $name ]]"
ip link set "$name" group 7 mtu 1300 alias 'a pod was here'
ip link set "$name" up
tc qdisc add dev "$name" clsact
tc filter add dev "$name" ingress protocol all matchall action drop
remove_pod host
check_within 60 "it is free and restored" "is_free $h"
check "by a new netdev, which an event reports" "rocectl events | grep 'with a new netdev' | grep -q $h"

delete_devices
for i in 0 1; do ip link set "${VFS[i]}" down; done
check_all_free
stop_rocelet
