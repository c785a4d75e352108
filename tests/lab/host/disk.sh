# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The guest's disks.

make_disk() { # FOLDER IMAGE FREE_MIB
    truncate -s "$(($(du -sm "$1" | cut -f1) * 12 / 10 + $3))M" "$2"
    # No journal: the guest writes to a snapshot that is thrown away.
    mke2fs -q -t ext4 -O ^has_journal -E lazy_itable_init=1 -m 0 -d "$1" "$2"
}
