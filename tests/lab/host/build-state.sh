#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Boots a machine and saves it into WORKDIR; see state.sh. A program of its own, like build-root.sh. What machine it is, its environment says:
# ROOT_DIR, KERNEL_DIR, MEMORY, NICS, WITH_KUBELET, WITH_IOMMU, MGMT.
set -euo pipefail
shopt -s inherit_errexit

LAB_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
PROJECT_DIR=$(cd "$LAB_DIR/../.." && pwd)
. "$LAB_DIR/host/common.sh"
. "$LAB_DIR/../lib/wait.sh"
. "$LAB_DIR/host/machine.sh"
. "$LAB_DIR/host/state.sh"

readonly BOOT_TIMEOUT=360

main() { # WORKDIR
    STATE=$1 OUT=$1/out
    mkdir "$OUT"
    printf '%-512s' saved >"$1/saved"
    printf '%-512s' restored >"$1/restored"
    tsc_khz >"$1/tsc_khz"
    machine_command
    share_kubelet
    [[ -z $MGMT ]] || management_nic ''
    boot_options "$1/initrd"
    wake_disk saved
    save_machine "$1"
    rm -rf "$1"/{out,initrd,saved}
}

# Through its monitor, whose answers are in a log.
save_machine() { # WORKDIR
    coproc MONITOR { exec "${QEMU[@]}" -serial "file:$1/console.log" -monitor stdio >"$1/monitor.log" 2>&1; }
    becomes_true "$BOOT_TIMEOUT" "grep -q 'lab: ready to be saved' $1/console.log || ! kill -0 $MONITOR_PID"
    monitor "migrate -d file:$1/memory"
    becomes_true 300 "monitor 'info migrate' && grep -qE 'Migration status: (completed|failed)|^Error' $1/monitor.log"
    monitor quit
    wait "$MONITOR_PID"
    grep -q 'Migration status: completed' "$1/monitor.log" || { cat "$1/monitor.log" && exit 1; }
}

monitor() { # COMMAND
    echo "$1" >&"${MONITOR[1]}"
}

set -x # the output is a log that is read only when something went wrong
main "$1"
