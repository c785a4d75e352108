# shellcheck shell=bash
# What the guest boots from: a root file system, and one of the kernels. Each is built once and cached under the hash of what it
# is made from.

readonly KNOWN_KERNELS='6.1 6.12 newest' # Debian 12's, Debian 13's, and the newest of Debian 13's backports

ROOT_DIR=   # the folder with root.img; set by prepare_image
KERNEL_DIR= # the folder with vmlinuz, initrd and modules.img; set by prepare_image
PART=       # set by prepare_part

cmd_image() {
    parse_run_options "$@"
    prepare_image
}

# Builds what is not there. Not to be called in a subshell: Ctrl-C would leave the build running.
prepare_image() {
    cmd_deps
    prepare_part root build-root.sh guest/packages host/{apt,disk,build-root}.sh
    ROOT_DIR=$PART
    prepare_part "kernel-$KERNEL" build-kernel.sh guest/initrd-init.sh host/{apt,disk,build-kernel}.sh
    KERNEL_DIR=$PART
}

# Sets PART to the folder, named after the files that decide what is inside.
prepare_part() { # NAME SCRIPT FILE..
    PART=$LAB_CACHE/$1-$(cd "$LAB_DIR" && cat "${@:3}" | sha256sum | cut -c1-16)
    [[ -d $PART ]] || build_once "$1" "$2"
    touch "$PART" # says when it was last used, for prune_parts
}

build_once() { # NAME SCRIPT
    mkdir -p "$LAB_CACHE"
    exec 9>"$LAB_CACHE/lock"
    flock 9
    if [[ ! -d $PART ]]; then # or another lab built it while this one waited
        rm -rf --one-file-system "$LAB_CACHE"/build.[0-9]* # what a killed build left behind
        build_with_progress "$@"
        prune_parts "$1"
    fi
    exec 9>&-
}

# The folder gets its name only when it is complete.
build_with_progress() { # NAME SCRIPT
    local work=$LAB_CACHE/build.$$ started=$SECONDS
    mkdir -p "$work"
    contained bash "$LAB_DIR/host/$2" "$work" "$KERNEL" >"$work/build.log" 2>&1 9>&- </dev/null &
    local builder=$!
    # shellcheck disable=SC2064  # the values of now
    trap "kill -KILL $builder 2>/dev/null || true; wait $builder 2>/dev/null || true; rm -rf --one-file-system '$work'" EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    tick "building the guest's $1 (once)" "$builder"
    if ! wait "$builder"; then
        tail -n 30 "$work/build.log" >&2
        die "the guest's $1 could not be built"
    fi
    mv "$work" "$PART"
    trap - EXIT INT TERM HUP
    note "the guest's $1 is ready after $((SECONDS - started)) s, $(du -sh "$PART" | cut -f1)"
}

# The two of a name used last stay: another checkout may be at another version. Nothing else goes, whatever the cache is.
prune_parts() { # NAME
    local dir
    find "$LAB_CACHE" -mindepth 1 -maxdepth 1 -type d -regextype posix-extended -regex ".*/${1//./\\.}-[0-9a-f]{16}" -printf '%T@ %p\n' |
        sort -rn | tail -n +3 | cut -d' ' -f2- | while read -r dir; do rm -rf "$dir"; done
}
