# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# etcd, an API server, its controllers and a scheduler, as tests/kubelet builds them. They run on the host, in the cluster's namespaces, where they
# are ten times as fast as on an emulated processor. Clients of the API server have tokens; those of the kubelets name their nodes.

readonly API_PORT=6443
readonly CONTROL=/run/control # keys, kubeconfigs and etcd's data; in memory

start_control_plane() {
    local node
    mkdir "$CONTROL"
    tokens >"$CONTROL/tokens"
    openssl genrsa -out "$CONTROL/accounts.key" 2048 2>/dev/null
    run_in_background etcd --data-dir "$CONTROL/etcd" --logger zap --log-level warn
    # The API server creates a certificate for its address, which clients trust.
    run_in_background kube-apiserver --etcd-servers=http://127.0.0.1:2379 --bind-address="$MGMT_PREFIX.1" --secure-port="$API_PORT" \
        --cert-dir="$CONTROL/api" --token-auth-file="$CONTROL/tokens" --authorization-mode=Node,RBAC --enable-admission-plugins=NodeRestriction \
        --service-cluster-ip-range=10.96.0.0/24 --service-account-issuer=https://kubernetes.default.svc \
        --service-account-key-file="$CONTROL/accounts.key" --service-account-signing-key-file="$CONTROL/accounts.key" \
        --kubelet-preferred-address-types=InternalIP --allow-privileged=true
    becomes_true 60 "[[ -s $CONTROL/api/apiserver.crt ]]" || control_plane_failed
    kubeconfig admin >"$CONTROL/kubeconfig"
    for ((node = 0; node < N_NODES; node++)); do kubeconfig "node$node" >"$CONTROL/node$node"; done
    becomes_true 120 "$CONTROL_PLANE/kubectl --kubeconfig $CONTROL/kubeconfig get --raw /readyz &>/dev/null" || control_plane_failed
    # A node on emulated processors may miss heartbeats for a while.
    run_in_background kube-controller-manager --kubeconfig="$CONTROL/kubeconfig" --leader-elect=false --node-monitor-grace-period=300s \
        --service-account-private-key-file="$CONTROL/accounts.key" --root-ca-file="$CONTROL/api/apiserver.crt"
    run_in_background kube-scheduler --kubeconfig="$CONTROL/kubeconfig" --leader-elect=false
}

control_plane_failed() {
    tail -n 10 "$OUT"/{etcd,kube-apiserver}.log
    echo "the control plane did not start"
    exit 1
}

run_in_background() { # PROGRAM ARGS..
    "$CONTROL_PLANE/$1" "${@:2}" >"$OUT/$1.log" 2>&1 </dev/null &
}

# TOKEN,USER,UID,"GROUP"
tokens() {
    local node
    echo "$(token),admin,admin,\"system:masters\""
    for ((node = 0; node < N_NODES; node++)); do echo "$(token),system:node:node$node,node$node,\"system:nodes\""; done
}

token() {
    head -c 16 /dev/urandom | od -An -tx1 | tr -d ' \n'
}

kubeconfig() { # UID
    local token
    token=$(awk -F, -v uid="$1" '$3 == uid { print $1 }' "$CONTROL/tokens")
    cat <<END
{"apiVersion": "v1", "kind": "Config", "current-context": "lab", "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": "lab"}}],
 "clusters": [{"name": "lab", "cluster": {"server": "https://$MGMT_PREFIX.1:$API_PORT",
  "certificate-authority-data": "$(base64 -w 0 "$CONTROL/api/apiserver.crt")"}}],
 "users": [{"name": "lab", "user": {"token": "$token"}}]}
END
}
