# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Helpers for a cluster's scenarios, which start with:  . "$(dirname "$0")/../lib.sh" "$1"

# shellcheck source=/dev/null
. "$1" # see cluster_env in inside.sh
. "$PROJECT_DIR/tests/lib/checks.sh"

VERSION=$(sed -n 's/^VERSION := //p' "$PROJECT_DIR/Makefile")

# ---- nodes

# Runs a script on a node, with the helpers of guest/lib.sh. Its background processes keep running.
node() { # NODE SCRIPT
    /usr/bin/python3 "$CLUSTER_DIR/ask.py" "$MGMT_PREFIX.1$1" "$AGENT_PORT" <<<". /rocelet/lab/guest/cluster.sh
$2"
}

# The same on all of them at once.
on_nodes() { # SCRIPT
    local node pids=() pid status=0
    for ((node = 0; node < N_NODES; node++)); do
        node "$node" "$1" &
        pids+=("$!")
    done
    for pid in "${pids[@]}"; do wait "$pid" || status=$?; done
    return "$status"
}

wait_for_nodes() {
    local node
    for ((node = 0; node < N_NODES; node++)); do
        becomes_true "$BOOT_TIMEOUT" "node $node true 2>/dev/null" || fail "node $node did not come up within $BOOT_TIMEOUT s"
    done
}

# A series of the rocelet of a node; see metric.
node_metric() { # NODE NAME ['label="x"'..]
    HTTP=http://$MGMT_PREFIX.1$1:9907 metric "${@:2}"
}

# ---- the switch between them

# Sets how frames reach NODE from now on: rate=BIT/S delay=S mark=BYTES limit=BYTES, or "off". See switch.py.
set_port() { # NODE KEY=VALUE..
    /usr/bin/python3 "$CLUSTER_DIR/switch.py" ask "$RUN/switch" set "$@" >/dev/null
}

# "LEFT MARKED DROPPED": frames that have reached NODE, how many of them the switch has marked, and frames that it has dropped.
port_counters() { # NODE
    /usr/bin/python3 "$CLUSTER_DIR/switch.py" ask "$RUN/switch" counters "$1"
}

marked() { # NODE
    port_counters "$1" | cut -d' ' -f2
}

# ---- Kubernetes, with "# cluster: --kubelet"

kubectl() { # ARGS..
    "$CONTROL_PLANE/kubectl" --kubeconfig "$CONTROL/kubeconfig" --cache-dir "$RUN/kubectl" "$@"
}

# Joins the machines to the cluster; returns when they are Ready.
join_nodes() {
    local node
    for ((node = 0; node < N_NODES; node++)); do cp "$CONTROL/node$node" "$CLUSTER_OUT/node$node/kubeconfig"; done
    on_nodes join_cluster
    wait_until 60 "[[ \$(kubectl get nodes -o jsonpath='{.items[*].status.conditions[?(@.type==\"Ready\")].status}') == 'True True' ]]"
}
