#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# rootfs.sh ROOT TRIPLET [SYSROOT] - completes the image's file system in ROOT, in which `make install` has put the programs: the shared
# libraries that they need directly or indirectly, the files that libibverbs opens at run time, and the copyright and the entry for
# vulnerability scanners of each Debian package with a file in the image.
#
# The image contains nothing else, whether it is built with Docker or without: the Dockerfile runs this script, too. Libraries come from
# this machine's packages, or from packages unpacked in SYSROOT (sysroot.sh). No shell, no package manager, no configuration.
set -euo pipefail
shopt -s inherit_errexit nullglob

ROOT=$1 TRIPLET=$2 SYSTEM=${3:-}
LIB=usr/lib/$TRIPLET

# libibverbs opens the provider of a device, by its name in a file of /etc/libibverbs.d. All providers are included, because the NICs of
# the nodes are not known here. ncurses reads the capabilities of the terminal of `kubectl exec -it`; without them rocectl top prints plain text.
readonly OPENED_AT_RUN_TIME=("usr/lib/$TRIPLET/libibverbs/*.so" "etc/libibverbs.d/*.driver" "usr/lib/terminfo/l/linux" "usr/lib/terminfo/s/screen*"
	"usr/lib/terminfo/t/tmux*" "usr/lib/terminfo/v/vt100" "usr/lib/terminfo/x/xterm*")
declare -A PACKAGES=() TAKEN=()

die() {
	echo "rootfs.sh: $*" >&2
	exit 1
}

# Records the package of a file. dpkg may list the path with or without /usr, because /lib is a link to /usr/lib.
note_package() { # PATH
	local path=/${1#/} owner=
	for path in "$path" "${path#/usr}" "/usr$path"; do
		owner=$(dpkg-query --admindir="$SYSTEM/var/lib/dpkg" -S "$path" 2>/dev/null | sed 's/: .*//') && break
	done
	[[ -n $owner ]] || die "no package contains $SYSTEM/$1, so its copyright is unknown"
	PACKAGES[${owner%%, *}]=1
}

take() { # PATH [AS]
	local as=${2:-$1} mode=644
	[[ $as != */ld-linux* ]] || mode=755 # the kernel executes it
	install -D -m "$mode" "$SYSTEM/$1" "$ROOT/$as"
	note_package "$1"
}

needed_by() { # ELF
	readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\].*/\1/p'
}

take_libraries_of() { # ELF..
	local elf name
	for elf in "$@"; do
		for name in $(needed_by "$elf"); do take_library "$name"; done
	done
}

# Copies a library, and the libraries that it needs.
take_library() { # NAME
	local name=$1 dir
	[[ -z ${TAKEN[$name]:-} ]] || return 0
	TAKEN[$name]=1
	for dir in "$LIB" "lib/$TRIPLET"; do [[ ! -e $SYSTEM/$dir/$name ]] || break; done
	[[ -e $SYSTEM/$dir/$name ]] || die "$name is needed, and is not in $SYSTEM/$LIB"
	take "$dir/$name" "$LIB/$name"
	take_libraries_of "$ROOT/$LIB/$name"
}

# Copies the dynamic loader to the path that is written into every program.
take_loader() {
	local path
	path=$(readelf -l "$ROOT/usr/sbin/rocelet" | sed -n 's/.*program interpreter: \(.*\)\]/\1/p')
	take_library "${path##*/}"
	ln -sr "$ROOT/$LIB/${path##*/}" "$ROOT/usr$path"
}

opened_at_run_time() {
	local pattern path as
	for pattern in "${OPENED_AT_RUN_TIME[@]}"; do
		for path in "$SYSTEM"/$pattern "$SYSTEM"/${pattern#usr/}; do
			path=${path#"$SYSTEM"/} as=usr/${path#usr/}
			[[ $path != etc/* ]] || as=$path
			# In a sysroot /lib is not a link to /usr/lib: a file is in only one of the two.
			[[ ! -e $SYSTEM/$path || -e $ROOT/$as ]] || take "$path" "$as"
		done
	done
	take_libraries_of "$ROOT/$LIB"/libibverbs/*.so
	[[ -e $ROOT/$LIB/libibverbs.so.1 && -d $ROOT/etc/libibverbs.d ]] || die "no providers of libibverbs: is ibverbs-providers installed?"
}

# Writes the entries and copyrights of the packages. They are named without the architecture: "libuv1:amd64" is libuv1.
write_packages() {
	local package name licence
	mkdir -p "$ROOT/var/lib/dpkg/status.d"
	for package in "${!PACKAGES[@]}"; do
		name=${package%:*}
		install -D -m 644 "$SYSTEM/usr/share/doc/$name/copyright" "$ROOT/usr/share/doc/$name/copyright"
		dpkg-query --admindir="$SYSTEM/var/lib/dpkg" -s "$package" >"$ROOT/var/lib/dpkg/status.d/$name"
	done
	grep -rhoE '/usr/share/common-licenses/[A-Za-z0-9.+-]*[A-Za-z0-9]' "$ROOT/usr/share/doc" | sort -u | while read -r licence; do
		[[ ! -e $SYSTEM$licence ]] || install -D -m 644 "$SYSTEM$licence" "$ROOT$licence"
	done
}

our_licences() {
	install -D -m 644 -t "$ROOT/usr/share/doc/rocelet" LICENSE NOTICE bpf/LICENSE.BSD-2-Clause bpf/LICENSE.GPL-2.0
}

# os-release is for vulnerability scanners; passwd and group are for the runtime and libc.
etc() {
	take usr/lib/os-release
	ln -s ../usr/lib/os-release "$ROOT/etc/os-release"
	printf '%s\n' 'root:x:0:0:root:/:/nonexistent' 'nobody:x:65534:65534:nobody:/nonexistent:/nonexistent' >"$ROOT/etc/passwd"
	printf '%s\n' 'root:x:0:' 'nogroup:x:65534:' >"$ROOT/etc/group"
}

mkdir -p "$ROOT"/{etc,run,var,usr/lib}
ln -s usr/lib "$ROOT/lib"
ln -s usr/lib64 "$ROOT/lib64"
mkdir -p "$ROOT/usr/lib64"
ln -s ../run "$ROOT/var/run" # paths of the sockets of other programs begin with it
take_libraries_of "$ROOT"/usr/sbin/*
take_loader
opened_at_run_time
etc
write_packages
our_licences
chmod -R u=rwX,go=rX "$ROOT"
