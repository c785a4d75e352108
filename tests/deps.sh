#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# deps.sh - the Debian packages that build and test rocelet. Quiet if all are installed.
#
#   deps.sh              build, unit tests, linters, benchmarks; also the lab on the host
#   deps.sh build        only what the programs and the image are built with
#   deps.sh cross ARCH   the compiler for another architecture
#   deps.sh deb          packages for `make deb`
#   deps.sh page         the browser that judges the page, and the dependencies of nginx, which is unpacked beside it
#   deps.sh lint         installs nothing: fails with the packages that `make lint` lacks
#   deps.sh libraries    prints the libraries' packages, of whatever architecture
set -euo pipefail
# shellcheck source=lib/apt.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib/apt.sh"

TOOLS="gcc make pkg-config clang bpftool git python3 protobuf-c-compiler protobuf-compiler ibverbs-providers npm"
LIBRARIES="libuv1-dev libnl-3-dev libbpf-dev libelf-dev libibverbs-dev libudev-dev libmicrohttpd-dev libjansson-dev zlib1g-dev libisal-dev
libnghttp2-dev libprotobuf-c-dev libseccomp-dev libcap-ng-dev libgnutls28-dev libcrypt-dev libncurses-dev"
LINT="libcmocka-dev clang-format clang-tidy cppcheck libclang-rt-dev shellcheck"
TEST="ccache valgrind curl iproute2 procps strace openssl python3-grpcio python3-protobuf
python3-scapy tshark tcpdump tmux python3-yaml python3-kubernetes python3-jsonschema"
PAGE="chromium libpcre2-8-0"
PACKAGING="dpkg-dev debhelper help2man lintian"

missing() {
	local package
	for package in "$@"; do
		# Other distributions package it differently.
		if [ "$package" = npm ] && command -v npm >/dev/null; then continue; fi
		[ "$(dpkg-query -W -f '${db:Status-Abbrev}' "$package" 2>/dev/null)" = "ii " ] || echo "$package"
	done
}

install_missing() {
	local packages
	mapfile -t packages < <(missing "$@")
	[ ${#packages[@]} -gt 0 ] || return 0
	if [ "$(id -u)" != 0 ]; then
		echo "these packages are missing, install them or run 'sudo make deps': ${packages[*]}" >&2
		exit 1
	fi
	echo "installing ${packages[*]}"
	apt_quiet update
	apt_quiet install -y --no-install-recommends "${packages[@]}"
}

# shellcheck disable=SC2086 # lists of words
case ${1:-} in
build) install_missing $TOOLS $LIBRARIES ;;
cross) install_missing "gcc-$(case $2 in arm64) echo aarch64 ;; amd64) echo x86-64 ;; esac)-linux-gnu" ;;
deb) install_missing $TOOLS $LIBRARIES $PACKAGING ;;
page) install_missing $PAGE python3-grpcio python3-protobuf python3-jsonschema openssl npm ;;
lint)
	mapfile -t packages < <(missing $TOOLS $LIBRARIES $LINT)
	[ ${#packages[@]} = 0 ] || {
		echo "these packages are missing, 'sudo make deps' installs them: ${packages[*]}" >&2
		exit 1
	}
	;;
libraries) printf '%s\n' $LIBRARIES libcmocka-dev ;;
*)
	install_missing $TOOLS $LIBRARIES $LINT $TEST
	[ "$(id -u)" != 0 ] || "$(dirname "$0")/lab/lab.sh" deps
	;;
esac
