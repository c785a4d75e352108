#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# perftest.sh ARCH ROOT - makes a file system with Debian's perftest, a shell, and their dependencies: for the example perftest.yaml in clusters
# with pods that cannot install packages over the network. Packages are unpacked, not installed. Their entries are in status.d, for sbom.py.
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."

ARCH=$1 ROOT=$2
readonly WANTED=(perftest dash coreutils ibverbs-providers base-files)
DEBS=$(mktemp -d)
trap 'rm -rf "$DEBS"' EXIT

# All direct and indirect dependencies; virtual packages are left out.
closure() {
    apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces --no-enhances "${WANTED[@]/%/:$ARCH}" |
        grep '^[a-z0-9]' | sed "s/:$ARCH\$//" | sort -u
}

# Without packages such as debconf, which are used only during an installation.
mapfile -t PACKAGES < <(closure | grep -vE '^(debconf.*|cdebconf|libdebian-installer4|perl-base|dpkg|tar|install-info|sensible-utils|libc-bin|awk|mawk|original-awk|gawk)$')
(cd "$DEBS" && apt-get download -qq -o APT::Sandbox::User=root "${PACKAGES[@]/%/:$ARCH}" >/dev/null)

rm -rf "$ROOT"
mkdir -p "$ROOT"/usr/{bin,sbin,lib,lib64}
for folder in bin sbin lib lib64; do ln -s "usr/$folder" "$ROOT/$folder"; done
mkdir -p "$ROOT/var/lib/dpkg/status.d" "$ROOT/tmp"
for deb in "$DEBS"/*.deb; do
    # tar follows the links from /lib to /usr/lib; dpkg-deb --extract would replace them by folders.
    dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$ROOT" --keep-directory-symlink --no-same-owner
    dpkg-deb --field "$deb" >"$ROOT/var/lib/dpkg/status.d/$(dpkg-deb --field "$deb" Package)"
done
ln -sf dash "$ROOT/usr/bin/sh"
# Manual pages and translations are more than half of the files.
rm -rf "${ROOT:?}"/usr/share/{man,info,locale,lintian} "${ROOT:?}"/dev/* "${ROOT:?}"/proc "${ROOT:?}"/sys
find "$ROOT/usr/share/doc" -type f ! -name copyright -delete
find "$ROOT/usr/share/doc" -depth -type d -empty -delete
chmod -R u=rwX,go=rX "$ROOT"
