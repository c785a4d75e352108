# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Packages of Debian 12, whatever Debian this machine has: fetched with lists of our own and unpacked, never installed.
# The mirror is the one that the machine's apt uses.

. "$(dirname "${BASH_SOURCE[0]}")/../../lab/host/apt.sh"

readonly SUITE=bookworm
SUITE_APT= # the private lists and caches; see open_suite

# Downloads the package lists of the suite, sources too, into FOLDER.
open_suite() { # FOLDER
    local mirror entry
    mirror=$(require_mirror)
    SUITE_APT=$1
    mkdir -p "$SUITE_APT"/{lists,cache/archives}/partial
    entry=$(deb_source "$mirror" "$SUITE")
    printf '%s\n' "$entry" "deb-src ${entry#deb }" >"$SUITE_APT/sources.list"
    apt_suite update
}

close_suite() {
    rm -rf "$SUITE_APT"
}

apt_suite() {
    apt-get -qq -o "Dir::Etc::SourceList=$SUITE_APT/sources.list" -o Dir::Etc::SourceParts=/dev/null \
        -o "Dir::State::Lists=$SUITE_APT/lists" -o "Dir::Cache=$SUITE_APT/cache" \
        -o Acquire::Languages=none -o APT::Sandbox::User=root "$@"
}

fetch_packages() { # FOLDER PACKAGE..
    local package
    mkdir -p "$1" "$SUITE_APT/debs"
    (cd "$SUITE_APT/debs" && apt_suite download "${@:2}")
    for package in "$SUITE_APT"/debs/*.deb; do dpkg-deb -x "$package" "$1"; done
    rm -r "$SUITE_APT/debs"
}
