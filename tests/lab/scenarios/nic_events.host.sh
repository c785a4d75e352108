#!/bin/bash
# The host's half: the NIC's module, for the guest's kernel.
#   nic_events.host.sh RELEASE
set -euo pipefail
: "${LAB_OUT:?output folder}"
cd "$(dirname "$0")/.."
release=$1 work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[[ -e /usr/src/linux-headers-$release ]] || apt-get install -y -qq --no-install-recommends "linux-headers-$release"
cp module/lab_nic.c module/Kbuild "$work/"
make -C "/usr/src/linux-headers-$release" M="$work" modules
cp "$work/lab_nic.ko" "$LAB_OUT/"
