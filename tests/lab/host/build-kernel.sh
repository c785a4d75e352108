#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds one of the guest's kernels into WORKDIR: vmlinuz, initrd and modules.img, which is mounted on /lib/modules. A program of
# its own, like build-root.sh.
set -euo pipefail
shopt -s inherit_errexit

LAB_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$LAB_DIR/host/common.sh"
. "$LAB_DIR/host/apt.sh"
. "$LAB_DIR/host/disk.sh"

# Enough to reach the root file system and the 9p shares; init.sh loads the rest.
readonly INITRD_MODULES=(virtio_pci virtio_blk ext4 9pnet_virtio 9p)
# What the lab has hardware for, or needs without any: a fifth of Debian's modules.
readonly KEPT_MODULES='arch|block|crypto|lib|mm|net|virt|fs/(9p|configfs|ext4|fscache|jbd2|mbcache|netfs|nls|overlayfs)|drivers/(block/(loop|virtio_blk)|char/hw_random|crypto/virtio|dca|i2c/algos|infiniband/(core|sw)|iommu|net/(bonding|dummy|ifb|ipvlan|macsec|macvlan|macvtap|net_failover|nlmon|tap|team|tun|veth|virtio_net|vrf|vxlan|wireguard)|net/ethernet/intel/(igb|igbvf)|net/mdio|pps|ptp|vdpa|vfio|vhost|virtio)'

main() { # WORKDIR KERNEL
    local work=$1 release
    fetch_kernel "$work" "$2"
    unpack_kernel "$work"
    release=$(basename "$work"/root/lib/modules/*)
    prepare_modules "$work/root" "$release"
    make_initrd "$work" "$release"
    make_disk "$work/root/lib/modules" "$work/modules.img" 16
    rm -rf "$work"/{apt,debs,unpacked,root}
}

# The packages, from the suites in which Debian has that kernel.
fetch_kernel() { # WORKDIR KERNEL
    local mirror suites image part
    mirror=$(require_mirror)
    case $2 in
        6.1) suites=(bookworm) ;;
        6.12) suites=(trixie) ;;
        newest) suites=(trixie trixie-backports) ;;
    esac
    private_apt "$1/apt" "$mirror" "${suites[@]}"
    export APT_CONFIG=$1/apt/apt.conf
    apt_quiet update
    image=$(apt-cache show linux-image-amd64 | sed -nE 's/^Depends: (.*, )?(linux-image-[0-9][^ ,]+).*/\2/p' | sort -V | tail -n 1)
    mkdir "$1/debs" && cd "$1/debs"
    apt-get download -qq busybox-static
    # It is unpacked, not installed: its package would pull in initramfs-tools and spend half a minute on an initrd nobody reads.
    # Debian ships it as one, or splits it into several.
    for part in image base binary modules; do
        ! has_package "linux-$part-${image#linux-image-}" || apt-get download -qq "linux-$part-${image#linux-image-}"
    done
    cd /
}

has_package() {
    apt-cache show "$1" >/dev/null 2>&1
}

# Leaves vmlinuz, and below root/ the modules and busybox.
unpack_kernel() { # WORKDIR
    local package
    for package in "$1"/debs/*.deb; do dpkg-deb -x "$package" "$1/unpacked"; done
    find "$1/unpacked" -type f -name 'vmlinuz*' -exec cp {} "$1/vmlinuz" \;
    mkdir -p "$1/root/lib/modules"
    mv "$(dirname "$(find "$1/unpacked" -type d -path '*/modules/*/kernel' -print -quit)")" "$1/root/lib/modules/"
    find "$1/unpacked" -type f -path '*/bin/busybox' -exec cp {} "$1/root/" \;
}

prepare_modules() { # ROOT RELEASE
    local modules=$1/lib/modules/$2
    (cd "$modules/kernel" && find . -regextype posix-extended -type f ! -regex "\./($KEPT_MODULES)[./].*" -delete)
    find "$modules/kernel" -type d -empty -delete
    rm -f "$modules"/{build,source}
    # Unpacking modules is work for the host: in an emulated guest it is seconds of every boot.
    find "$modules" -name '*.ko.xz' -print0 | xargs -0 -r -n 64 -P "$(nproc)" xz -d
    depmod -b "$1" "$2"
}

make_initrd() { # WORKDIR RELEASE
    local tree=$1/initrd.tree module path
    mkdir -p "$tree"/{bin,dev,proc,sys,root,modules}
    cp "$1/root/busybox" "$tree/bin/"
    for path in sh mount umount insmod switch_root sleep; do ln -s busybox "$tree/bin/$path"; done
    install -m 755 "$LAB_DIR/guest/initrd-init.sh" "$tree/init"
    for module in "${INITRD_MODULES[@]}"; do
        modprobe -d "$1/root" -S "$2" --show-depends "$module" | awk '$1 == "insmod" { print $2 }'
    done | awk '!seen[$0]++' | while read -r path; do
        cp "$path" "$tree/modules/"
        basename "$path"
    done >"$tree/modules/order"
    (cd "$tree" && find . | cpio --quiet -o -H newc) >"$1/initrd"
    rm -rf "$tree"
}

set -x # the output is a log that is read only when something went wrong
main "$@"
