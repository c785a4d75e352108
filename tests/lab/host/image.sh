# shellcheck shell=bash
# The guest image: built once, cached under the hash of what it is made from.

IMAGE= # the folder with root.img, vmlinuz and initrd; set by prepare_image

cmd_image() {
    prepare_image
}

# Builds the image when it is not there. Not to be called in a subshell: Ctrl-C would leave the build running.
prepare_image() {
    cmd_deps
    IMAGE=$LAB_CACHE/$(image_key)
    [[ -d $IMAGE ]] || build_once
    touch "$IMAGE" # says when it was last used, for prune_images
}

# Everything that decides what is inside.
image_key() {
    cat "$LAB_DIR"/guest/{packages,initrd-init.sh} "$LAB_DIR"/host/{apt,build-image}.sh | sha256sum | cut -c1-16
}

build_once() {
    mkdir -p "$LAB_CACHE"
    exec 9>"$LAB_CACHE/lock"
    flock 9
    if [[ ! -d $IMAGE ]]; then # or another lab built it while this one waited
        rm -rf --one-file-system "$LAB_CACHE"/build.[0-9]* # what a killed build left behind
        build_with_progress
        prune_images
    fi
    exec 9>&-
}

# The folder gets its name only when it is complete.
build_with_progress() {
    local work=$LAB_CACHE/build.$$ started=$SECONDS
    mkdir -p "$work"
    contained bash "$LAB_DIR/host/build-image.sh" "$work" >"$work/build.log" 2>&1 9>&- </dev/null &
    local builder=$!
    # shellcheck disable=SC2064  # the values of now
    trap "kill -KILL $builder 2>/dev/null || true; wait $builder 2>/dev/null || true; rm -rf --one-file-system '$work'" EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    tick "building the guest image (once)" "$builder"
    if ! wait "$builder"; then
        tail -n 30 "$work/build.log" >&2
        die "the guest image could not be built"
    fi
    mv "$work" "$IMAGE"
    trap - EXIT INT TERM HUP
    note "guest image ready after $((SECONDS - started)) s, $(du -sh "$IMAGE" | cut -f1)"
}

# The two used last stay: another checkout may be at another version. Nothing but images goes, whatever the cache is.
prune_images() {
    local dir
    find "$LAB_CACHE" -mindepth 1 -maxdepth 1 -type d -regextype posix-extended -regex '.*/[0-9a-f]{16}' -printf '%T@ %p\n' | sort -rn | tail -n +3 | cut -d' ' -f2- |
        while read -r dir; do rm -rf "$dir"; done
}
