# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Helpers for scenarios, which run inside the rig and start with:  . "$(dirname "$0")/../rig/lib.sh"

set -eEuo pipefail

# shellcheck source=/dev/null
. "$1/env" # PROJECT_DIR KUBELET_DIR KUBELET_BIN RUNTIME_ROOT OUT CGROUP
cd "$PROJECT_DIR"
. tests/lib/checks.sh
. "$KUBELET_DIR/rig/containerd.sh"
. "$KUBELET_DIR/rig/hardware.sh"
. "$KUBELET_DIR/rig/kubelet.sh"
. "$KUBELET_DIR/rig/pods.sh"
. "$KUBELET_DIR/rig/daemon.sh"

show_logs() {
    echo "--- pods"
    pods 2>/dev/null || true
    echo "--- end of the kubelet's log"
    tail -n 15 "$OUT/kubelet.log" 2>/dev/null || true
    [[ -e $OUT/rocelet.log ]] || return 0
    echo "--- end of rocelet's log"
    tail -n 30 "$OUT/rocelet.log"
}
