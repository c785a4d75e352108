# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# CNI for pods whose VFs the kubelet has allocated: each pod gets its own only, and all come back.
# lab: --kubelet --memory 4096 --timeout 1500
# proves: daemon/cni daemon/attach
# when: turns
# shellcheck source=../guest/lib.sh
. /rocelet/lab/guest/lib.sh
# shellcheck source=../guest/kubelet.sh
. /rocelet/lab/guest/kubelet.sh
# shellcheck source=../guest/attach.sh
. /rocelet/lab/guest/attach.sh
# shellcheck source=../guest/cni.sh
. /rocelet/lab/guest/cni.sh

SOFT_ROCE=false

# The runtime's id of a pod's sandbox.
sandbox_of() { # POD
    ctr --namespace k8s.io containers list --quiet \
        "labels.\"io.cri-containerd.kind\"==sandbox,labels.\"io.kubernetes.pod.name\"~=^$1" | head -n1
}

add_to_pod() { # POD ID KEYS
    cni ADD "$(sandbox_of "$1")" --netns "$(pod_netns "$1")" --pod "default/$1-rig" --config "$(config "$2" "$3")"
}

make_pool 2
cat >"$CONFIG" <<END
{"pools": [{"resourceName": "roce", "resourcePrefix": "rocelet.dev", "selectors": {"pfNames": ["$PF#0-1"], "drivers": ["igbvf"]}}]}
END
start_node
start_engine
need_within 60 "the kubelet lists the VFs of the pool" "(( \$(n_registered $RESOURCE) == 2 ))"

say "pods to which the kubelet allocated a VF"
run_pod p "$RESOURCE=1"
run_pod q "$RESOURCE=1"
p=$(vf_of p) q=$(vf_of q)
echo "# p has $p, q has $q, in $(sandbox_of p)"
check "the VF of another pod is refused" "! answer=\$(add_to_pod q $p '') && [[ \$answer == *'\"code\":102,'* && \$answer == *default/p* ]]"
echo "# $answer"
check "its own is attached" "add_to_pod p $p '\"runtimeConfig\": {\"ips\": [\"10.9.1.1/24\"]}' && is_complete p $p 10.9.1.1/24"
check "it is listed with its pod" "rocectl pods | grep -w p-rig | grep -q $p"
# The sandbox ends without a DEL.
remove_pod p
check_within 60 "it comes back when the pod has ended" "is_free $p"
remove_pod q
check_all_free

stop_rocelet
check_complaints "going on without( them)?$" "that there is no runtime"
echo "# the scenario took $SECONDS s"
