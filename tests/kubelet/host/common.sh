# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Messages to the user of the rig, and waiting.

. "$(dirname "${BASH_SOURCE[0]}")/../../lib/wait.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../../lib/job.sh"

note() { printf 'kubelet: %s\n' "$*" >&2; }
die() {
    note "$*"
    exit 1
}
