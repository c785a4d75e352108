#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# qemu.sh ARCH - prints the program that runs another architecture's programs here. Unpacked, not installed: the machine's own
# binfmt_misc is not changed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
cpu=$(case $1 in arm64) echo aarch64 ;; amd64) echo x86_64 ;; esac)
# Debian 13's qemu-user is linked statically, and its qemu-user-static is a transitional package.
for package in qemu-user-static qemu-user; do
    for program in "$(tests/lib/debtool.sh "$package")/usr/bin/qemu-$cpu"{-static,}; do
        if [[ -f $program ]] && "$program" --version >/dev/null 2>&1; then
            echo "$program"
            exit
        fi
    done
done
echo "qemu.sh: no qemu for $1" >&2
exit 1
