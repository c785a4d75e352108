#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds the lab's NIC for one of the guest's kernels.
#   nic_module.sh RELEASE FOLDER      leaves lab_nic.ko in FOLDER
set -euo pipefail
# shellcheck source=../../lib/apt.sh
. "$(dirname "$0")/../../lib/apt.sh"
release=$1 work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[[ -e /usr/src/linux-headers-$release ]] || apt_quiet install -y --no-install-recommends "linux-headers-$release"
cp "$(dirname "$0")"/../module/{Kbuild,*.[ch]} "$work/"
make -C "/usr/src/linux-headers-$release" M="$work" modules
cp "$work/lab_nic.ko" "$2/"
