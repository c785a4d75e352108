# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Host packages. /etc/apt is never edited: Debian 12's QEMU has no SR-IOV NIC (igb), so a newer one is taken from
# bookworm-backports through a private copy of the apt sources that is deleted afterwards.

readonly LAB_PACKAGES=(mmdebstrap e2fsprogs cpio xz-utils zstd kmod curl util-linux)

cmd_deps() {
    local missing
    missing=$(missing_packages)
    if [[ -n $missing ]]; then
        # shellcheck disable=SC2086  # one word per package
        install_packages $missing
    fi
    have_igb || install_qemu
    have_igb || die "QEMU is installed but offers no 'igb' NIC: Debian 12 (with backports) or 13 is needed"
}

missing_packages() {
    { dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' "${LAB_PACKAGES[@]}" 2>/dev/null || true; } |
        awk -v wanted="${LAB_PACKAGES[*]}" '
            $1 == "ii" { have[$2] = 1 }
            END { n = split(wanted, w, " "); for (i = 1; i <= n; i++) if (!(w[i] in have)) print w[i] }'
}

# Checks the version, since listing QEMU's devices needs a quarter of a second. QEMU has igb since 8.0.
have_igb() {
    local version
    version=$(dpkg-query -W -f '${db:Status-Abbrev} ${Version}' qemu-system-x86 2>/dev/null) || return 1
    [[ $version =~ ^ii\ +([0-9]+:)?([0-9]+)\. ]] && ((BASH_REMATCH[2] >= 8))
}

install_qemu() {
    if [[ $(host_codename) == bookworm ]]; then
        install_from_backports qemu-system-x86
    else
        install_packages qemu-system-x86
    fi
}

install_packages() {
    note "installing on the host: $*"
    # The first attempt fails if the machine's package lists are old or absent.
    apt_install "$@" 2>/dev/null || { apt_quiet update && apt_install "$@"; } || die "apt could not install: $*"
}

apt_install() { # [apt options] PACKAGE..
    apt_quiet install --yes --no-install-recommends "$@"
}

install_from_backports() { # PACKAGE
    note "installing on the host: $1 from bookworm-backports"
    local dir mirror
    mirror=$(require_mirror)
    dir=$(mktemp -d /tmp/rocelet-apt.XXXXXX)
    chmod 755 "$dir" # apt's download user reads it
    mkdir -p "$dir/sources" "$dir/lists/partial"
    cp /etc/apt/sources.list.d/*.{list,sources} "$dir/sources/" 2>/dev/null || true
    deb_source "$mirror" bookworm-backports >"$dir/sources/rocelet-backports.list"
    local private=(-o "Dir::Etc::SourceParts=$dir/sources" -o "Dir::State::Lists=$dir/lists")
    local failed=0
    { apt_quiet "${private[@]}" update && apt_install "${private[@]}" -t bookworm-backports "$1"; } || failed=1
    rm -rf "$dir"
    ((!failed)) || die "apt could not install $1 from bookworm-backports"
}
