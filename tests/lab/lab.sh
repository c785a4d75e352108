#!/bin/bash
# The lab: a virtual machine with an SR-IOV NIC and RDMA devices, for trying rocelet without hardware.
set -euo pipefail

LAB_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
PROJECT_DIR=$(cd "$LAB_DIR/../.." && pwd)
LAB_CACHE=${ROCELET_LAB_CACHE:-/var/cache/rocelet-lab}

note() { printf 'lab: %s\n' "$*" >&2; }
die() {
    note "$*"
    exit 1
}

for part in apt deps; do
    # shellcheck source=/dev/null
    . "$LAB_DIR/host/$part.sh"
done
case ${1:-} in deps) cmd_deps ;; esac
