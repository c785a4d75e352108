#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# fresh.sh - a newcomer's commands on a fresh Debian: `make deps`, the build and the unit tests, of the last commit, in a new minimal
# system. As root; 5 GB below /var/tmp until it ends, and the packages are downloaded each time.
#
#   fresh.sh [SUITE..]    default: bookworm trixie (Debian 12 and 13)
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. tests/lab/host/common.sh
. tests/lab/host/apt.sh

LOGS=build/fresh

make_system() { # SUITE ROOT
    local mirror option options=()
    mirror=$(require_mirror)
    while read -r option; do options+=(--aptopt="$option"); done < <(apt_acquire_settings)
    mmdebstrap --mode=root --variant=minbase --quiet --include=make "${options[@]}" --dpkgopt=force-unsafe-io \
        "$1" "$2" "$(deb_source "$mirror" "$1")"
    git clone --quiet --no-hardlinks . "$2/root/rocelet"
    npm_as_here "$2"
}

# Copies the registry and certificates of this machine's npm.
npm_as_here() { # ROOT
    local bundle=/etc/ssl/certs/ca-certificates.crt
    echo "registry=$(npm config get registry)" >"$1/root/.npmrc"
    [[ -e $bundle ]] || return 0
    install -D "$bundle" "$1/root/ca.crt"
    echo "cafile=/root/ca.crt" >>"$1/root/.npmrc"
}

# The root of the system must be a mount for its programs.
enter() { # ROOT COMMAND..
    mount --bind "$1" "$1"
    mount -t proc proc "$1/proc"
    mount --rbind /sys "$1/sys"
    mount --rbind /dev "$1/dev"
    exec env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
        chroot "$1" sh -c 'cd /root/rocelet && exec "$@"' sh "${@:2}"
}

# Runs a step in namespaces whose end removes its mounts and processes; false if it failed.
step() { # SUITE TITLE make_system|enter ARGS..
    local log="$LOGS/$1-${2// /-}.log" started=$SECONDS
    if (contained bash "$0" "${@:3}") >"$log" 2>&1 </dev/null; then
        echo "$1: $2: ok, $((SECONDS - started)) s$(grep -hE '^[0-9]+ passed' "$log" | sed 's/^/, /')"
    else
        echo "$1: $2: FAILED after $((SECONDS - started)) s; the end of $log:"
        tail -n 40 "$log"
        return 1
    fi
}

try() { # SUITE ROOT
    step "$1" "a minimal system" make_system "$1" "$2" &&
        step "$1" "make deps" enter "$2" make deps &&
        step "$1" "make" enter "$2" make -k -j2 all tests &&
        step "$1" "unit tests" enter "$2" make check-unit
}

((EUID == 0)) || die "run me as root"
case ${1:-} in
    # by step
    make_system) make_system "${@:2}" && exit ;;
    enter) enter "${@:2}" ;;
esac
mkdir -p "$LOGS"
status=0
(($#)) || set -- bookworm trixie
for suite in "$@"; do
    root=$(mktemp -d /var/tmp/rocelet-fresh.XXXXXX)
    # shellcheck disable=SC2064  # the current value
    trap "rm -rf --one-file-system '$root'" EXIT
    chmod 755 "$root"
    try "$suite" "$root" || status=1
    rm -rf --one-file-system "$root"
done
exit "$status"
