# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The guest's side of lab.sh demo: a node with containerd, the kubelet and rocelet; two pods with a VF each and endless traffic between
# them, and a third that is created and deleted in turn. The host stops the machine.
# lab: --kubelet --memory 4096
# shellcheck source=../guest/lib.sh
. /rocelet/lab/guest/lib.sh
# shellcheck source=../guest/kubelet.sh
. /rocelet/lab/guest/kubelet.sh
# shellcheck source=../guest/attach.sh
. /rocelet/lab/guest/attach.sh
# shellcheck source=../guest/demo.sh
. /rocelet/lab/guest/demo.sh

POD_TIMEOUT=240 # also on a busy machine

networks() { # IP/LEN
    echo "[{\"resource\": \"$RESOURCE\", \"ips\": [\"$1\"]}]"
}

# Creates a pod that sends to PEER, or without PEER receives, until it ends.
make_trainer() { # NAME IP/LEN [PEER]
    POD_FIRST="{ while :; do ib_write_bw -d \$(echo rxe_\$$VARIABLE | tr :. __) -D 600 -s 4096 --tclass=106 ${3:-} >/seen/perftest 2>&1; sleep 1; done; } & :"
    make_pod "$1" "$RESOURCE=1" "$(networks "$2")"
    POD_FIRST=:
}

# The soft-RoCE device of a pod's VF.
rxe_of() { # POD
    echo "rxe_$(pod_env "$1" $VARIABLE | tr :. __)"
}

come_and_go() {
    local id
    while true; do
        add_event "pod eval is made, with rocelet.dev/roce: 1 and an address in its annotation"
        run_pod eval "$RESOURCE=1" "$(networks 10.9.0.3/24)"
        id=$(pod_env eval $VARIABLE)
        add_event "pod eval runs"
        sleep 4
        add_event "pod eval is deleted"
        remove_pod eval
        wait_until 60 "is_free $id"
        add_event "$id is free, and as before: name, MAC, MTU, settings on the PF"
        sleep 4
    done
}

say "an SR-IOV NIC with three virtual functions, and rocelet with a pool of them"
make_pool 3
start_engine
show_attachments &

say "containerd and the kubelet"
start_node
wait_until 60 "(( \$(n_registered $RESOURCE) == 3 ))"

say "pods train0 and train1, each with a VF; train0 writes to train1's memory (RDMA, ECN-capable)"
add_event "pods train0 and train1 are made, with rocelet.dev/roce: 1 and an address in their annotations"
make_trainer train1 10.9.0.2/24
make_trainer train0 10.9.0.1/24 10.9.0.2
wait_until "$POD_TIMEOUT" "pod_started train0 && pod_started train1"
mark_traffic
traffic_is_there "$(rxe_of train1)" || fail "no traffic: $(tail -n 5 "$PODS"/train?/perftest)"
come_and_go
