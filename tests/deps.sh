#!/bin/bash
# deps.sh - the Debian packages that build and test rocelet. Quiet when they are all there.
#
#   deps.sh          build, unit tests, linters, benchmarks; the lab's host side too
set -euo pipefail

BUILD="gcc make pkg-config clang bpftool git
libuv1-dev libnl-3-dev libbpf-dev libelf-dev libibverbs-dev libudev-dev libmicrohttpd-dev libjansson-dev zlib1g-dev libisal-dev
libnghttp2-dev libprotobuf-c-dev protobuf-c-compiler protobuf-compiler libseccomp-dev libcap-ng-dev libgnutls28-dev libcrypt-dev"
TEST="libcmocka-dev clang-format clang-tidy cppcheck libclang-rt-dev valgrind shellcheck curl iproute2 python3 procps strace gdb openssl python3-grpcio python3-protobuf
python3-scapy tshark tcpdump"

missing() {
	local package
	for package in $BUILD $TEST; do
		[ "$(dpkg-query -W -f '${db:Status-Abbrev}' "$package" 2>/dev/null)" = "ii " ] || echo "$package"
	done
}

install_missing() {
	local packages
	mapfile -t packages < <(missing)
	[ ${#packages[@]} -gt 0 ] || return 0
	if [ "$(id -u)" != 0 ]; then
		echo "these packages are missing, install them or run 'sudo make deps': ${packages[*]}" >&2
		exit 1
	fi
	echo "installing ${packages[*]}"
	apt-get update -qq
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${packages[@]}" >/dev/null
}

install_missing
[ "$(id -u)" != 0 ] || "$(dirname "$0")/lab/lab.sh" deps
