# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What scripts know that a cluster's scenario sends to a node. They end with a status, and count nothing.
. /rocelet/lab/guest/lib.sh
trap - EXIT
[[ -z $LAB_KUBELET ]] || . /rocelet/lab/guest/kubelet.sh

# containerd and the kubelet, which joins the cluster with the kubeconfig that the host has put into the output folder.
join_cluster() {
    NODE_NAME=$LAB_HOSTNAME
    KUBELET_ADDRESS=${LAB_MGMT%/*}
    # What is measured of containers is measured seldom: each time takes an emulated processor a second.
    KUBELET_FLAGS=(--v=2 --kubeconfig=/out/kubeconfig "--node-ip=$KUBELET_ADDRESS" --housekeeping-interval=30s)
    start_node
}

# Makes an image of the host's known to containerd.
import_image() { # FILE   below build/
    ctr --namespace k8s.io images import "/rocelet/build/$1" &>/dev/null
}
