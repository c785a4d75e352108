# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What the guest boots from: a root file system, and one of the kernels. Each is built once and cached under the hash of what it
# is made from.

readonly KNOWN_KERNELS='6.1 6.12 newest' # Debian 12's, Debian 13's, and the newest of Debian 13's backports

ROOT_DIR=   # the folder with root.img; set by name_image
KERNEL_DIR= # the folder with vmlinuz, initrd and modules.img; set by name_image

cmd_image() {
    parse_run_options "$@"
    prepare_image
}

# True if `image` has nothing to do.
cmd_built() {
    parse_run_options "$@"
    name_image
    [[ -d $ROOT_DIR && -d $KERNEL_DIR ]]
}

name_image() {
    ROOT_DIR=$(part_folder root guest/packages host/{apt,disk,build-root}.sh)
    KERNEL_DIR=$(part_folder "kernel-$KERNEL" guest/initrd-init.sh host/{apt,disk,build-kernel}.sh)
}

# Named after the files that decide what is inside; their licence lines do not.
part_folder() { # NAME FILE..
    echo "$LAB_CACHE/$1-$(cd "$LAB_DIR" && cat "${@:2}" | grep -v '^# SPDX-' | sha256sum | cut -c1-16)"
}

# Builds what is not there. Not to be called in a subshell: Ctrl-C would leave the build running.
prepare_image() {
    cmd_deps
    name_image
    prepare_part root "$ROOT_DIR" build-root.sh
    prepare_part "kernel-$KERNEL" "$KERNEL_DIR" build-kernel.sh
}

prepare_part() { # NAME FOLDER SCRIPT
    [[ -d $2 ]] || build_once "$@" || die "the guest's $1 could not be built"
    touch "$2" # the time of the last use, for prune_parts
}

build_once() { # NAME FOLDER SCRIPT
    local status=0
    mkdir -p "$LAB_CACHE"
    exec 9>"$LAB_CACHE/lock"
    flock 9
    if [[ ! -d $2 ]]; then # or another lab built it while this one waited
        rm -rf --one-file-system "$LAB_CACHE"/build.[0-9]* # what a killed build left behind
        build_with_progress "$@" && prune_parts "$1" || status=1
    fi
    exec 9>&-
    return "$status"
}

# The folder gets its name only when it is complete.
build_with_progress() { # NAME FOLDER SCRIPT
    local work=$LAB_CACHE/build.$$ started=$SECONDS
    mkdir -p "$work"
    contained bash "$LAB_DIR/host/$3" "$work" "$KERNEL" >"$work/build.log" 2>&1 9>&- </dev/null &
    local builder=$!
    # shellcheck disable=SC2064  # the current values
    trap "kill -KILL $builder 2>/dev/null || true; wait $builder 2>/dev/null || true; rm -rf --one-file-system '$work'" EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    tick "building the guest's $1 (once, usually a minute)" "$builder"
    local status=0
    wait "$builder" || status=1
    if ((status)); then
        tail -n 30 "$work/build.log" >&2
        rm -rf --one-file-system "$work"
    else
        mv "$work" "$2"
    fi
    trap - EXIT INT TERM HUP
    ((!status)) || return 1
    note "the guest's $1 is ready after $((SECONDS - started)) s, $(du -sh "$2" | cut -f1)"
}

# Keeps the two last used of a name: another checkout may be at another version. Removes nothing else, whatever folder the cache is.
prune_parts() { # NAME
    local dir
    find "$LAB_CACHE" -mindepth 1 -maxdepth 1 -type d -regextype posix-extended -regex ".*/${1//./\\.}-[0-9a-f]{16}" -printf '%T@ %p\n' |
        sort -rn | tail -n +3 | cut -d' ' -f2- | while read -r dir; do rm -rf "$dir"; done
}
