# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Helpers for the scripts that a cluster's scenario sends to a node. These return a status and do not count checks.
. /rocelet/lab/guest/lib.sh
trap - EXIT
[[ -z $LAB_KUBELET ]] || . /rocelet/lab/guest/kubelet.sh

# Starts containerd and the kubelet, which joins the cluster with the kubeconfig in the output folder.
join_cluster() {
    NODE_NAME=$LAB_HOSTNAME
    KUBELET_ADDRESS=${LAB_MGMT%/*}
    # Containers are measured seldom: each time costs a second of an emulated processor.
    KUBELET_FLAGS=(--v=2 --kubeconfig=/out/kubeconfig "--node-ip=$KUBELET_ADDRESS" --housekeeping-interval=30s)
    start_node
}

# Imports an image from the host into containerd.
import_image() { # FILE   below build/
    ctr --namespace k8s.io images import "/rocelet/build/$1" &>/dev/null
}
