# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Helm on two nodes: the chart is installed, pods get a VF each, an upgrade to an image that does not exist stops at the first node and does not affect
# pods, a rollback repairs it, and uninstalling leaves nothing. The chart comes from `make chart`.
# cluster: --kubelet --memory 3072 --timeout 2400
# proves: k8s/deploy/helm docs/start/install.md
# when: soak
# needs: make:chart helm
# shellcheck source=../lib.sh
. "$(dirname "$0")/../lib.sh" "$1"
# shellcheck source=../rocelet.sh
. "$(dirname "$0")/../rocelet.sh"

N_VFS=2
cd "$PROJECT_DIR" || exit

helm() { # ARGS..
    HELM_CACHE_HOME=$RUN/helm HELM_CONFIG_HOME=$RUN/helm HELM_DATA_HOME=$RUN/helm "$HELM" --kubeconfig "$CONTROL/kubeconfig" -n rocelet "$@"
}

pods_still_run() {
    [[ $(kubectl get pods left right -o jsonpath='{.items[*].status.phase} {.items[*].status.containerStatuses[*].restartCount}') == "Running Running 0 0" ]] &&
        kubectl exec left -- busybox ping -c 1 -W 10 10.9.0.2 >/dev/null
}

# A pod of rocelet waits for an image that cannot be pulled.
waits_for_image() {
    kubectl -n rocelet get pods -o jsonpath='{.items[*].status.containerStatuses[*].state.waiting.reason}' | grep -qE "^(ErrImagePull|ImagePullBackOff)$"
}

read -r HELM _ <<<"$(tests/ship/helm.sh)"
wait_for_nodes
on_nodes "make_vfs $N_VFS"
join_nodes
on_nodes "import_image rocelet-$VERSION-amd64.tar"
for n in 0 1; do remains_of_rocelet "$n" >"$CLUSTER_OUT/before$n"; done
PF=$(node 0 'find_pf; echo $PF')

say "install"
began=$SECONDS
cat >"$CLUSTER_OUT/values.yaml" <<END
mode: native
config:
  pools:
  - resourceName: roce
    selectors: {pfNames: ["$PF"], drivers: ["igbvf"]}
    softRoce: true
    network: {subnets: ["10.9.0.0/24"]}
END
helm install rocelet "build/rocelet-$VERSION.tgz" --create-namespace -f "$CLUSTER_OUT/values.yaml"
need_within 120 "the DaemonSet is ready on both nodes" rolled_out rocelet "$IMAGE"
need_within 120 "both nodes offer their VFs" "[[ \$(allocatable 0) == $N_VFS && \$(allocatable 1) == $N_VFS ]]"
{ pod_manifest left 0 10.9.0.1/24; echo ---; pod_manifest right 1 10.9.0.2/24; } | kubectl apply -f -
need_within 90 "two pods on two nodes run" "[[ \$(pod_phase left) == Running && \$(pod_phase right) == Running ]]"
check "and reach each other with their VFs" pods_still_run
echo "# from the start to pods with VFs: $((SECONDS - began)) s"

say "an upgrade to an image that does not exist"
helm upgrade rocelet "build/rocelet-$VERSION.tgz" --reuse-values --set image.tag=none
need_within 60 "the first node waits for its image" waits_for_image
check "the other node has the previous version, and is ready" "[[ \$(n_ready rocelet) == 1 && \$(images | tr ' ' '\n' | grep -c \"^$IMAGE\\$\") == 1 ]]"
check "its VFs are offered" "[[ \" \$(allocatable 0) \$(allocatable 1) \" == *\" $N_VFS \"* ]]"
check "the pods still run" pods_still_run
# The controller syncs several times before the kubelet backs off pulling the image: if it updated the other node anyway, it would have by then.
check_within 90 "the image is tried again" "kubectl -n rocelet get events | grep -q 'Back-off pulling image'"
check "the upgrade has stopped there" "[[ \$(images | tr ' ' '\n' | grep -c \"^$IMAGE\\$\") == 1 ]]"

say "a rollback"
helm rollback rocelet
check_within 120 "both nodes are ready" rolled_out rocelet "$IMAGE"
check_within 60 "and offer their VFs" "[[ \$(allocatable 0) == $N_VFS && \$(allocatable 1) == $N_VFS ]]"
check "the pods still run" pods_still_run

say "uninstall"
kubectl delete pod left right
need_within 60 "all VFs are free" all_free
helm uninstall rocelet --wait
for n in 0 1; do
    check_within 60 "node $n is restored" "diff <(remains_of_rocelet $n) $CLUSTER_OUT/before$n"
done
check "nothing of the release is in its namespace" "[[ -z \$(kubectl -n rocelet get daemonsets,configmaps,roles,serviceaccounts -o name | grep rocelet) ]]"
echo "# the scenario took $SECONDS s"
