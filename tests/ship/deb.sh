#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# deb.sh - the Debian package: it can be built, lintian has no complaints, it installs into a minimal Debian of this machine's suite with its
# dependencies, its programs run there, systemd accepts its unit, and purging it leaves nothing but records of attached
# devices. As root, a minute or two.
# run:
# proves: daemon/debian Makefile
# when: turns
# needs: root
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. tests/lib/checks.sh
. tests/lab/host/common.sh
. tests/lab/host/apt.sh

VERSION=$(sed -n 's/^VERSION := //p' Makefile)
ROOT=$(mktemp -d /var/tmp/rocelet-deb.XXXXXX)
readonly ROOT
chmod 755 "$ROOT"
trap 'leave "$?"' EXIT
leave() { # STATUS
    local status=0
    trap - ERR EXIT
    (on_exit "$1") || status=$?
    rm -rf --one-file-system "$ROOT"
    exit "$status"
}

make_system() {
    local option options=()
    while read -r option; do options+=(--aptopt="$option"); done < <(apt_acquire_settings)
    mmdebstrap --mode=root --variant=minbase --include=systemd "${options[@]}" --dpkgopt=force-unsafe-io --skip=cleanup/apt/lists --quiet \
        "$(host_codename)" "$ROOT" - <<<"$(debian_sources)"
}

# Services are not started in a chroot.
inside() { # COMMAND..
    # shellcheck disable=SC2016 # the inner shell's
    unshare --mount --pid --fork --kill-child sh -c 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"' "$ROOT" env -i \
        PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@" </dev/null
}

# The unit has the same capabilities as the overlay, which documents them.
capabilities_agree() {
    local unit overlay
    unit=$(sed -n 's/^CapabilityBoundingSet=//p' daemon/debian/rocelet.service | tr ' ' '\n' | sed 's/^CAP_//' | sort)
    overlay=$(sed -n '/ add:/,/[a-zA-Z]*:$/s/^ *- \([A-Z_]*\)$/\1/p' k8s/deploy/overlays/native/daemonset.yaml | sort)
    [[ -n $unit && $unit == "$overlay" ]]
}

installs() {
    cp "$DEB" "$ROOT/rocelet.deb"
    inside apt-get install -y -qq --no-install-recommends /rocelet.deb
}

# Purging leaves no file of dpkg or the daemon, if no device is attached.
purges() {
    mkdir -p "$ROOT/var/lib/rocelet/devices" "$ROOT/run/rocelet"
    touch "$ROOT/var/lib/rocelet/lock"
    inside apt-get purge -y -qq rocelet
    [[ -z $(find "$ROOT"/{etc,usr,var/lib,run} -name '*rocelet*' ! -path '*/dpkg/*' ! -path '*/apt/*') ]]
}

keeps_records() {
    mkdir -p "$ROOT/var/lib/rocelet/devices"
    touch "$ROOT/var/lib/rocelet/devices/0000:03:00.2"
    installs && inside apt-get purge -y -qq rocelet && [[ -e $ROOT/var/lib/rocelet/devices/0000:03:00.2 ]]
}

check "the changelog's version is the Makefile's" "[[ \$(head -n 1 daemon/debian/changelog) == 'rocelet ($VERSION) '* ]]"
check "the unit has the capabilities of the native overlay" capabilities_agree
need_within 0 "it is built" "make --no-print-directory --silent deb"
DEB=$(echo build/deb/rocelet_"$VERSION"_*.deb)
check "lintian has no error and no warning" "lintian --fail-on error,warning --tag-display-limit 0 $DEB"
need_within 0 "a minimal Debian" make_system
need_within 0 "it installs, with its dependencies" installs
check "rocelet runs" "[[ \$(inside rocelet --version) == 'rocelet $VERSION' ]]"
check "rocectl runs" "[[ \$(inside rocectl --version) == 'rocectl $VERSION' ]]"
check "it contains the CNI plugin, which rocelet installs" "inside rocelet --install-cni=/opt && [[ \$(inside env CNI_COMMAND=VERSION /opt/rocelet-cni) == *'\"1.1.0\"'* ]]"
check "the unit is enabled" "[[ -L $ROOT/etc/systemd/system/multi-user.target.wants/rocelet.service ]]"
check "systemd accepts it" "inside systemd-analyze verify --man=no rocelet.service"
check "both programs have a manual page" "[[ \$(inside dpkg -L rocelet | grep -c '/man8/roce.*\.8\.gz') == 2 ]]"
check "it is purged without a trace" purges
check "but records of attached devices stay" keeps_records
echo "# package: $(du -h "$DEB" | cut -f1)"
