#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds the guest's root file system into WORKDIR: root.img. A program of its own, called by image.sh, so that -e holds in every
# step; a change to it makes a new image.
set -euo pipefail
shopt -s inherit_errexit

LAB_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$LAB_DIR/host/common.sh"
. "$LAB_DIR/host/apt.sh"
. "$LAB_DIR/host/disk.sh"

readonly LAB_SUITE=trixie

main() { # WORKDIR
    make_root "$1/root"
    make_disk "$1/root" "$1/root.img" 512
    rm -rf "$1/root"
}

make_root() { # ROOT
    local mirror option options=()
    mirror=$(require_mirror)
    while read -r option; do options+=(--aptopt="$option"); done < <(apt_acquire_settings)
    mmdebstrap --mode=root --variant=minbase --quiet "${options[@]}" \
        --include="$(guest_packages)" \
        --aptopt='Apt::Install-Recommends "false"' \
        --dpkgopt='path-exclude=/usr/share/doc/*' \
        --dpkgopt='path-exclude=/usr/share/man/*' \
        --dpkgopt='path-exclude=/usr/share/locale/*' \
        --dpkgopt=force-unsafe-io \
        "$LAB_SUITE" "$1" "$(deb_source "$mirror" "$LAB_SUITE")"
    mkdir -p "$1"/rocelet/{lab,lib,build,out} "$1/usr/lib/modules"
    ln -s rocelet/out "$1/out"
}

guest_packages() {
    sed 's/#.*//' "$LAB_DIR/guest/packages" | xargs | tr ' ' ,
}

set -x # the output is a log that is read only when something went wrong
main "$1"
