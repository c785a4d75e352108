#!/bin/bash
# Builds the guest image into WORKDIR: root.img, vmlinuz, initrd. A program of its own, called by image.sh, so that -e holds in
# every step; a change to it makes a new image.
set -euo pipefail
shopt -s inherit_errexit

LAB_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$LAB_DIR/host/common.sh"
. "$LAB_DIR/host/apt.sh"

readonly LAB_SUITE=trixie
# Enough to reach the root file system and the 9p shares; init.sh loads the rest.
readonly INITRD_MODULES=(virtio_pci virtio_blk ext4 9pnet_virtio 9p)
# Drivers for hardware the lab will never have: without them the image is a third smaller.
readonly UNUSED_DRIVERS=(accel ata bluetooth comedi gpu hid hwmon iio input isdn md media message mfd misc mmc mtd net/can
    net/ethernet/{broadcom,cavium,chelsio,cisco,emulex,huawei,mellanox,netronome,qlogic,sfc}
    net/wireless nfc parport power scsi soundwire staging target thermal usb video)

main() { # WORKDIR
    local work=$1
    make_root "$work" "$work/root"
    make_kernel "$work" "$work/root"
    make_initrd "$work" "$work/root"
    make_disk "$work/root" "$work/root.img"
    rm -rf "$work"/{root,kernel,kernel.debs}
}

make_root() { # WORKDIR ROOT
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
        --customize-hook="$(declare -f fetch_kernel); fetch_kernel '$1/kernel.debs'" \
        "$LAB_SUITE" "$2" "$(deb_source "$mirror" "$LAB_SUITE")" "$(deb_source "$mirror" "$LAB_SUITE-backports")"
    mkdir -p "$2"/rocelet/{lab,lib,build,out}
    ln -s rocelet/out "$2/out"
}

guest_packages() {
    sed 's/#.*//' "$LAB_DIR/guest/packages" | xargs | tr ' ' ,
}

# Runs as a hook of mmdebstrap, in sh. The kernel is unpacked, not installed: its package would pull in initramfs-tools and
# spend half a minute on an initrd nobody reads. Debian splits it into several packages, or ships it as one.
fetch_kernel() { # FOLDER
    export APT_CONFIG="$MMDEBSTRAP_APT_CONFIG"
    newest=$(apt-cache search --names-only '^linux-image-[0-9.]+\+deb[0-9]+-amd64$' | cut -d' ' -f1 | sort -V | tail -n 1)
    version=${newest#linux-image-}
    mkdir -p "$1" && cd "$1" || exit 1
    for part in image base binary modules; do
        if apt-cache show "linux-$part-$version" >/dev/null 2>&1; then
            apt-get download -qq -o APT::Sandbox::User=root "linux-$part-$version" || exit 1
        fi
    done
}

make_kernel() { # WORKDIR ROOT
    local unpacked=$1/kernel package release modules driver
    for package in "$1"/kernel.debs/*.deb; do dpkg-deb -x "$package" "$unpacked"; done
    find "$unpacked" -type f -name 'vmlinuz*' -exec cp {} "$1/vmlinuz" \;
    modules=$(dirname "$(find "$unpacked" -type d -path '*/modules/*/kernel' -print -quit)")
    release=$(basename "$modules")
    for driver in "${UNUSED_DRIVERS[@]}"; do rm -rf "$modules/kernel/drivers/$driver"; done
    rm -rf "$modules/kernel/sound"
    mkdir -p "$2/lib/modules"
    mv "$modules" "$2/lib/modules/"
    # Unpacking modules is work for the host: in an emulated guest it is seconds of every boot.
    find "$2/lib/modules/$release" -name '*.ko.xz' -print0 | xargs -0 -r -n 64 -P "$(nproc)" xz -d
    depmod -b "$2" "$release"
}

make_initrd() { # WORKDIR ROOT
    local tree=$1/initrd.tree release module path
    release=$(basename "$2"/lib/modules/*)
    mkdir -p "$tree"/{bin,dev,proc,sys,root,modules}
    cp "$2/bin/busybox" "$tree/bin/"
    for path in sh mount umount insmod switch_root sleep; do ln -s busybox "$tree/bin/$path"; done
    install -m 755 "$LAB_DIR/guest/initrd-init.sh" "$tree/init"
    for module in "${INITRD_MODULES[@]}"; do
        modprobe -d "$2" -S "$release" --show-depends "$module" | awk '$1 == "insmod" { print $2 }'
    done | awk '!seen[$0]++' | while read -r path; do
        cp "$path" "$tree/modules/"
        basename "$path"
    done >"$tree/modules/order"
    (cd "$tree" && find . | cpio --quiet -o -H newc) >"$1/initrd"
    rm -rf "$tree"
}

make_disk() { # ROOT IMAGE
    local mib=$(($(du -sm "$1" | cut -f1) * 12 / 10 + 512))
    truncate -s "${mib}M" "$2"
    # No journal: the guest writes to a snapshot that is thrown away.
    mke2fs -q -t ext4 -O ^has_journal -E lazy_itable_init=1 -m 0 -d "$1" "$2"
}

set -x # the output is a log that is read only when something went wrong
main "$1"
