# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The first process in a cluster's namespaces: its networks, its machines and, if requested, its control plane; then the scenario.

. "$CLUSTER_DIR/../../lib/wait.sh"
. "$CLUSTER_DIR/control_plane.sh"

readonly N_NODES=2
readonly RUN=/run/cluster           # sockets and other files in memory only
readonly MGMT_PREFIX=10.10.0        # the network of machines and control plane: .1 is this end, .1N is node N's
readonly AGENT_PORT=9000

declare -A MACHINES # process by node

cmd_inside() { # ENV SCENARIO [ARGS..]   ENV: the file of run_cluster
    local node scenario status=0
    # shellcheck source=/dev/null
    . "$1"
    shift
    CLUSTER_OUT=$OUT
    name_image
    make_networks
    start_switch
    # In parallel: a machine needs longer.
    for ((node = 0; node < N_NODES; node++)); do boot_node "$node"; done
    [[ -z $WITH_KUBELET ]] || start_control_plane
    cluster_env >"$RUN/env"
    timeout --foreground --kill-after=10 "$TIMEOUT" bash "$CLUSTER_DIR/scenarios/$1.sh" "$RUN/env" "${@:2}" &
    scenario=$!
    watch_machines "$scenario"
    wait "$scenario" || status=$?
    ((status != 124)) || echo "out of time after $TIMEOUT s"
    exit "$status"
}

# Nothing is visible outside: this cluster has its own /run.
make_networks() {
    local node
    mount -t tmpfs -o mode=755 run /run
    mkdir "$RUN"
    ip link set lo up
    # IPv6 is not used here, and its router solicitations only wake the machines.
    echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6
    # The number of frames that a socket of the switch holds before its sender blocks.
    echo 512 >/proc/sys/net/unix/max_dgram_qlen
    ip link add mgmt type bridge forward_delay 0 mcast_snooping 0
    ip address add "$MGMT_PREFIX.1/24" dev mgmt
    ip link set mgmt up
    for ((node = 0; node < N_NODES; node++)); do
        ip tuntap add dev "mgmt$node" mode tap
        ip link set "mgmt$node" master mgmt up
    done
}

start_switch() {
    local node ports=()
    for ((node = 0; node < N_NODES; node++)); do ports+=("$RUN/fabric$node"); done
    /usr/bin/python3 "$CLUSTER_DIR/switch.py" run "$RUN/switch" "${ports[@]}" >"$OUT/switch.log" 2>&1 &
}

node_address() { # NODE
    echo "$MGMT_PREFIX.1$1"
}

boot_node() { # NODE
    NODE=$1 OUT=$CLUSTER_OUT/node$1
    FABRIC="dgram,local.type=unix,local.path=$RUN/fabric$1.vm,remote.type=unix,remote.path=$RUN/fabric$1"
    mkdir "$OUT"
    write_run_env "$(node_address "$1")/24" guest/node.sh "$AGENT_PORT"
    machine_command
    share_kubelet
    QEMU+=(-netdev "tap,id=mgmt,ifname=mgmt$1,script=no,downscript=no" -device "virtio-net-pci,netdev=mgmt,romfile=,mac=52:54:00:00:0$1:02")
    boot_options "$OUT/initrd"
    "${QEMU[@]}" -serial "file:$OUT/console.log" </dev/null >"$OUT/qemu.log" 2>&1 &
    MACHINES[$1]=$!
    OUT=$CLUSTER_OUT
}

# The variables for cluster/lib.sh.
cluster_env() {
    local name
    for name in PROJECT_DIR CLUSTER_DIR CLUSTER_OUT RUN N_NODES MGMT_PREFIX AGENT_PORT CONTROL CONTROL_PLANE BOOT_TIMEOUT; do
        printf '%s=%q\n' "$name" "${!name}"
    done
}

# Ends the scenario with a message when one of its machines ends.
watch_machines() { # SCENARIO_PID
    local node
    while kill -0 "$1" 2>/dev/null; do
        for node in "${!MACHINES[@]}"; do
            OUT=$CLUSTER_OUT/node$node QEMU_PID=${MACHINES[$node]}
            if ! machine_runs; then
                VERDICT="the machine of node $node ended on its own$(panic_line): $(tail -n 1 "$OUT/qemu.log")"
            elif stalled; then
                VERDICT="the machine of node $node hangs: no heartbeat for $STALL_TIMEOUT s"
            fi
        done
        OUT=$CLUSTER_OUT
        if [[ -n $VERDICT ]]; then
            echo "$VERDICT"
            kill "$1" 2>/dev/null || true
            return
        fi
        sleep 1
    done
}
