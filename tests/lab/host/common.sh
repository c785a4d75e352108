# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Messages to the user of the lab.

. "$(dirname "${BASH_SOURCE[0]}")/../../lib/job.sh"

note() { printf 'lab: %s\n' "$*" >&2; }
die() {
    note "$*"
    exit 1
}
