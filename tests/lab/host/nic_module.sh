#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds the lab's NIC for one of the guest's kernels.
#   nic_module.sh RELEASE FOLDER      leaves lab_nic.ko in FOLDER
set -euo pipefail
release=$1 work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[[ -e /usr/src/linux-headers-$release ]] || apt-get install -y -qq --no-install-recommends "linux-headers-$release"
cp "$(dirname "$0")"/../module/{Kbuild,*.[ch]} "$work/"
make -C "/usr/src/linux-headers-$release" M="$work" modules
cp "$work/lab_nic.ko" "$2/"
