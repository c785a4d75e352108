# shellcheck shell=bash
# The guest's side of lab.sh demo: a node with containerd, the kubelet and rocelet; two pods with a VF each and traffic between them without
# end, and a third that comes and goes. The host stops the machine when it has seen enough.
# lab: --kubelet --memory 4096
# shellcheck source=../guest/lib.sh
. /rocelet/lab/guest/lib.sh
# shellcheck source=../guest/kubelet.sh
. /rocelet/lab/guest/kubelet.sh
# shellcheck source=../guest/attach.sh
. /rocelet/lab/guest/attach.sh

POD_TIMEOUT=240 # also on a busy machine

networks() { # IP/LEN
    echo "[{\"resource\": \"$RESOURCE\", \"ips\": [\"$1\"]}]"
}

# What rocelet cannot know, for the list of events.
tell() { # WORDS..
    echo "$(date -u +%FT%T.%3NZ) $*" >>"$OUT/steps"
}

# For the host, which cannot reach the daemon's socket: what people would ask for themselves, and all that happened in one list.
show_attachments() {
    touch "$OUT/steps"
    while sleep 1; do
        show pods "$(rocectl pods)"
        show events "$({ rocectl events | event_lines; cat "$OUT/steps"; } | sort)"
    done 2>/dev/null
}

declare -A SHOWN

# Writes a file anew when it is to be another, in one step for whoever reads it.
show() { # FILE TEXT
    [[ $2 != "${SHOWN[$1]:-}" ]] || return 0
    echo "$2" >"$OUT/$1.new"
    mv "$OUT/$1.new" "$OUT/$1"
    SHOWN[$1]=$2
}

# LAST TYPE REASON POD DEVICE COUNT MESSAGE -> LAST REASON: MESSAGE
event_lines() {
    awk 'NR > 1 { line = $1 " " $3 ":"; for (i = 7; i <= NF; i++) line = line " " $i; print line }'
}

# A pod that sends to PEER, or without one receives, for as long as it lives.
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
        tell "pod eval is made, with rocelet.dev/roce: 1 and an address in its annotation"
        run_pod eval "$RESOURCE=1" "$(networks 10.9.0.3/24)"
        id=$(pod_env eval $VARIABLE)
        tell "pod eval runs"
        sleep 4
        tell "pod eval is deleted"
        remove_pod eval
        wait_until 60 "is_free $id"
        tell "$id is free, and as before: name, MAC, MTU, settings on the PF"
        sleep 4
    done
}

# What train1's NIC would send on CE marks, if it were one; soft-RoCE does not.
answer_with_cnps() {
    while sleep 5; do send_cnp train1 train0; done
}

say "an SR-IOV NIC with three virtual functions, and rocelet with a pool of them"
make_pool 3
start_engine
show_attachments &

say "containerd and the kubelet"
start_node
wait_until 60 "(( \$(n_registered $RESOURCE) == 3 ))"

say "pods train0 and train1, each with a VF; train0 writes to train1's memory (RDMA, ECN-capable)"
tell "pods train0 and train1 are made, with rocelet.dev/roce: 1 and an address in their annotations"
make_trainer train1 10.9.0.2/24
make_trainer train0 10.9.0.1/24 10.9.0.2
wait_until "$POD_TIMEOUT" "pod_started train0 && pod_started train1"
# Slower than the emulated NIC, so that train0's packets queue up and some arrive with CE marks, and pods that start have the processors.
congest_pod train0 8mbit
answer_with_cnps &
rdma=$(rxe_of train1)
becomes_true 120 "(( \$(rdma_counter $rdma rcvd_pkts) > 500 ))" || fail "no traffic: $(tail -n 5 "$PODS"/train?/perftest)"
tell "traffic from train0 to train1"
touch "$OUT/ready"
come_and_go
