# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Shown by lab.sh demo while the kubelet is built: VFs that rocectl attaches to network namespaces, traffic between two without end, and a
# third that comes and goes. The host stops the machine.
# shellcheck source=../guest/lib.sh
. /rocelet/lab/guest/lib.sh
# shellcheck source=../guest/attach.sh
. /rocelet/lab/guest/attach.sh
# shellcheck source=../guest/demo.sh
. /rocelet/lab/guest/demo.sh

# During the build of a kubelet an attach can exceed rocectl's timeout.
in_time() { # CONDITION
    wait_until 60 "$1"
}

attach_with_event() { # ID NAME IP/LEN
    ip netns add "$2"
    add_event "rocectl attach $1 --netns /run/netns/$2 --ip $3 --soft-roce"
    attach "$1" "$2" "$3" || in_time "[[ \$(engine_state $1) == in_pod ]]"
}

# Sends to PEER, or without PEER receives, again and again.
train() { # NAME [PEER_IP]
    while :; do
        in_pod "$1" ib_write_bw -d "$(pod_rdma "$1")" -D 600 -s 4096 --tclass=106 ${2:+"$2"} >"$OUT/perftest-$1.log" 2>&1 || sleep 1
    done
}

come_and_go() { # ID
    while true; do
        attach_with_event "$1" eval 10.9.0.3/24
        sleep 4
        add_event "rocectl detach $1"
        rocectl detach "$1" || true
        in_time "is_free $1"
        add_event "$1 is free, and as before: name, MAC, MTU, settings on the PF"
        ip netns delete eval
        sleep 4
    done
}

say "an SR-IOV NIC with three virtual functions, and rocelet"
make_pool 3
start_engine
show_attachments devices &

say "two of them go into network namespaces; train0 writes to train1's memory (RDMA, ECN-capable)"
attach_with_event "${VF_IDS[0]}" train1 10.9.0.2/24
attach_with_event "${VF_IDS[1]}" train0 10.9.0.1/24
train train1 &
train train0 10.9.0.2 &
mark_traffic
traffic_is_there "$(pod_rdma train1)" || fail "no traffic: $(tail -n 5 "$OUT"/perftest-train?.log)"
come_and_go "${VF_IDS[2]}"
