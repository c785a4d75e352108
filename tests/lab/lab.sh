#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The lab: a virtual machine with an SR-IOV NIC and RDMA devices, for trying rocelet without hardware. See README.md.
set -euo pipefail
shopt -s inherit_errexit

LAB_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
PROJECT_DIR=$(cd "$LAB_DIR/../.." && pwd)
LAB_CACHE=${ROCELET_LAB_CACHE:-/var/cache/rocelet-lab}

usage() {
    cat <<EOF
usage: lab.sh deps                      install the host packages the lab needs
       lab.sh image [--kernel NAME]     build what the guest boots from, unless it is there
       lab.sh built [--kernel NAME]     status 0 when it is there
       lab.sh run [OPTIONS] SCENARIO [ARGS..]
                                        run a scenario; its status is the exit status
           --kernel NAME                  $(tr ' ' , <<<"$KNOWN_KERNELS"); default $KERNEL
           --forward HOSTPORT:GUESTPORT   reach a guest port on 127.0.0.1 (again for more); HOSTPORT 0: any that is free
           --memory MIB                   default $MEMORY
           --nics N                       SR-IOV NICs, default $NICS
           --kubelet                      share the real kubelet with the guest
           --iommu                        an IOMMU, so that devices can be bound to vfio-pci
           --timeout SECONDS              for the scenario, default $TIMEOUT
           --quiet                        print only the result, and the logs when it fails
       lab.sh shell                     a shell in the guest
       lab.sh demo                      real pods with a VF each, traffic and the daemon, with a live view
       lab.sh cluster [OPTIONS] SCENARIO [ARGS..]
                                        two machines on one switch, and a Kubernetes cluster of them; options as for run
scenarios: $(scenarios)
of a cluster: $(cluster_scenarios)
EOF
}

. "$LAB_DIR/host/common.sh"
. "$LAB_DIR/host/apt.sh"
. "$LAB_DIR/host/deps.sh"
. "$LAB_DIR/host/image.sh"
. "$LAB_DIR/host/machine.sh"
. "$LAB_DIR/host/state.sh"
. "$LAB_DIR/host/run.sh"
. "$LAB_DIR/host/shell.sh"
. "$LAB_DIR/host/demo.sh"
. "$LAB_DIR/host/cluster.sh"
. "$LAB_DIR/cluster/inside.sh"

case ${1:-} in
    deps | image | built | run | shell | demo | cluster | inside)
        ((EUID == 0)) || die "run me as root"
        "cmd_$1" "${@:2}"
        ;;
    -h | --help | help) usage ;;
    *)
        usage >&2
        exit 2
        ;;
esac
