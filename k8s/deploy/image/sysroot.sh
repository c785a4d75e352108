#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# sysroot.sh ARCH - makes a folder with the libraries and headers to build for another architecture, from Debian's packages of this machine's
# suite; prints its name. Packages are unpacked, not installed, and no apt configuration changes, so other uses of the machine are not
# affected. The folder is kept in /var/cache, and made again when the machine's package lists are newer.
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."
. tests/lab/host/common.sh
. tests/lab/host/apt.sh

ARCH=$1
CACHE=${ROCELET_SYSROOT_CACHE:-/var/cache/rocelet-sysroot}
# Packages that the image and a linker need besides the project's libraries.
mapfile -t PACKAGES < <(tests/deps.sh libraries && printf '%s\n' libc6-dev ibverbs-providers base-files ncurses-base)

key() {
    local lists
    eval "$(apt-config shell lists Dir::State::lists/d)"
    { cat "${BASH_SOURCE[0]}"; printf '%s\n' "${PACKAGES[@]}"; cat "$lists"/*_InRelease 2>/dev/null || true; } | sha256sum | cut -c1-16
}

# Unpacks a package, and registers its files for dpkg-query --admindir.
unpack() { # DEB ROOT
    local name
    name=$(dpkg-deb --field "$1" Package)
    [[ $(dpkg-deb --field "$1" Multi-Arch) != same ]] || name+=:$ARCH
    dpkg-deb --extract "$1" "$2"
    { dpkg-deb --field "$1"; printf 'Status: install ok installed\n\n'; } >>"$2/var/lib/dpkg/status"
    dpkg-deb --fsys-tarfile "$1" | tar -t | sed 's|^\.||; s|/$||; s|^$|/.|' >"$2/var/lib/dpkg/info/$name.list"
}

# Makes absolute links relative: a link to /lib/... would lead out of the folder.
stay_inside() { # ROOT
    local link target
    find "$1" -type l -lname '/*' -printf '%P\n' | while read -r link; do
        target=$(readlink "$1/$link")
        ln -sfnr "$1$target" "$1/$link"
    done
}

make_root() { # ROOT
    local work=$1/apt deb
    private_apt "$work" ''
    debian_sources >"$work/sources/suites.list"
    : >"$work/status"
    cat >>"$work/apt.conf" <<END
APT::Architecture "$ARCH";
APT::Architectures { "$ARCH"; };
Dir::State::Status "$work/status";
END
    export APT_CONFIG=$work/apt.conf
    apt-get -qq update
    apt-get -qq install --yes --download-only --no-install-recommends "${PACKAGES[@]}"
    mkdir -p "$1"/var/lib/dpkg/{info,updates}
    echo 1 >"$1/var/lib/dpkg/info/format"
    for deb in "$work"/cache/archives/*.deb; do unpack "$deb" "$1"; done
    stay_inside "$1"
    rm -rf "$work"
    # qemu -L replaces the host's folders by those of this root, so an empty /proc would hide the host's.
    find "$1" -mindepth 1 -depth -type d -empty ! -path '*/var/lib/dpkg/*' -delete
}

root=$CACHE/$ARCH-$(key)
if [[ ! -d $root ]]; then
    note "fetching Debian's libraries for $ARCH (once)"
    mkdir -p "$CACHE"
    exec 9>"$CACHE/lock"
    flock 9
    rm -rf "$CACHE"/new.*
    if [[ ! -d $root ]]; then
        new=$(mktemp -d "$CACHE/new.XXXXXX")
        chmod 755 "$new"
        trap 'rm -rf "$new"' EXIT
        make_root "$new" >&2
        mv "$new" "$root"
        # Keep the two most recently used folders: another checkout may be building with the second one.
        find "$CACHE" -mindepth 1 -maxdepth 1 -type d -name "$ARCH-*" -printf '%T@ %p\n' | sort -rn | tail -n +3 | cut -d' ' -f2- | xargs -r rm -rf
    fi
fi
touch "$root"
echo "$root"
