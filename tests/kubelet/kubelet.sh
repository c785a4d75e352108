#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A real kubelet with containerd and fake RDMA hardware, in namespaces of its own, for trying the device plugin. See README.md.
set -euo pipefail
shopt -s inherit_errexit

OTHER_KUBELET=${KUBELET_DIR:-} # a folder with another kubelet; below, KUBELET_DIR is our own folder
KUBELET_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
PROJECT_DIR=$(cd "$KUBELET_DIR/../.." && pwd)
CACHE=${ROCELET_KUBELET_CACHE:-/var/cache/rocelet-kubelet}
TIMEOUT=${ROCELET_KUBELET_TIMEOUT:-400}

usage() {
    cat <<EOT
usage: kubelet.sh build [control-plane]  build the kubelet and fetch the runtime, unless they are there; prints where. With a word, also
                                        the API server, controller manager, scheduler, kubectl and etcd, and prints where they are
       kubelet.sh built [control-plane]  status 0 when they are there
       kubelet.sh run [OPTIONS] SCENARIO..
                                        run scenarios, each in a rig of its own; status 0 when all checks held
           --quiet                        print only the results, and the logs of a failure
           --keep                         leave the rig of a failure up, until Ctrl-C
       kubelet.sh up                    a rig to explore, with hardware and a kubelet
       kubelet.sh shell [COMMAND]       a shell in it (made for the shell when it is not up)
       kubelet.sh down                  end it; nothing is left behind
KUBELET_DIR=FOLDER in the environment: the kubelet there instead of ours, and containerd, ctr, runc and the shim where it has them
scenarios: $(scenarios)
EOT
}

. "$KUBELET_DIR/host/common.sh"
. "$KUBELET_DIR/host/packages.sh"
. "$KUBELET_DIR/host/cache.sh"
. "$KUBELET_DIR/host/rig.sh"
. "$KUBELET_DIR/host/run.sh"

case ${1:-} in
    build | built | run | up | shell | down)
        ((EUID == 0)) || die "run me as root"
        "cmd_$1" "${@:2}"
        ;;
    -h | --help | help) usage ;;
    *)
        usage >&2
        exit 2
        ;;
esac
