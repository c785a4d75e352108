# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# The cache: the kubelet and a control plane, built from source, and the programs around them, unpacked from packages. Each has a folder of its
# own, named with the hash of everything that decides its content; the folder gets its name only when it is complete.

KUBELET_BIN=  # the folder with the kubelet; set by name_cache
RUNTIME_ROOT= # the folder with containerd, runc, CNI plugins and busybox, laid out as in the packages; set by name_cache
CONTROL_PLANE= # the folder with the API server and its like, and etcd; set by name_cache

# The pods run busybox.
readonly RUNTIME_PACKAGES=(containerd runc containernetworking-plugins busybox-static)
readonly CONTROL_PLANE_PROGRAMS=(kube-apiserver kube-controller-manager kube-scheduler kubectl)

# Prints the folder with the kubelet, or the one with the control plane.
cmd_build() { # [control-plane]
    prepare_cache
    if [[ ${1:-} == control-plane ]]; then
        prepare_control_plane
        echo "$CONTROL_PLANE"
    else
        echo "$KUBELET_BIN"
    fi
}

# True if `build` has nothing to do.
cmd_built() { # [control-plane]
    name_cache
    [[ -d $RUNTIME_ROOT && -d $KUBELET_BIN ]] && [[ ${1:-} != control-plane || -d $CONTROL_PLANE ]]
}

name_cache() {
    RUNTIME_ROOT=$CACHE/runtime-$(key "${RUNTIME_PACKAGES[*]}")
    KUBELET_BIN=$CACHE/kubelet-$(key "$(<"$KUBELET_DIR/host/build-kubernetes.sh")")
    CONTROL_PLANE=$CACHE/control_plane-$(key "${CONTROL_PLANE_PROGRAMS[*]} $(<"$KUBELET_DIR/host/build-kubernetes.sh")")
    [[ -z $OTHER_KUBELET ]] || take_other
}

prepare_cache() {
    name_cache
    made_once "$RUNTIME_ROOT" "fetching containerd and runc" unpack_runtime
    [[ -n $OTHER_KUBELET ]] || made_once "$KUBELET_BIN" "building the kubelet, 3 to 8 minutes on two cores" contained bash "$KUBELET_DIR/host/build-kubernetes.sh" kubelet
}

prepare_control_plane() {
    made_once "$CONTROL_PLANE" "building the control plane, 3 to 8 minutes on two cores" build_control_plane
}

build_control_plane() { # FOLDER
    open_suite "$1/apt"
    fetch_packages "$1/packages" etcd-server
    close_suite
    mv "$1/packages/usr/bin/etcd" "$1/"
    rm -r "$1/packages"
    contained bash "$KUBELET_DIR/host/build-kubernetes.sh" "${CONTROL_PLANE_PROGRAMS[@]}" "$1"
}

# Uses the user's own kubelet. It would be invisible in a rig below /run, /var/lib, /var/log and /dev, which are the rig's own.
take_other() {
    KUBELET_BIN=$(realpath -e "$OTHER_KUBELET") || die "KUBELET_DIR: there is no $OTHER_KUBELET"
    [[ -x $KUBELET_BIN/kubelet ]] || die "KUBELET_DIR: there is no kubelet in $KUBELET_BIN"
    [[ ! $KUBELET_BIN/ =~ ^/(run|var/lib|var/log|dev)/ ]] || die "KUBELET_DIR: $KUBELET_BIN is not seen in a rig, which has folders of its own there"
}

# A hash of everything that decides a folder's content, without licence lines.
key() { # TEXT
    { cat "$KUBELET_DIR/host/packages.sh"; echo "$1"; } | grep -v '^# SPDX-' | sha256sum | cut -c1-16
}

# Runs COMMAND.. FOLDER, which fills the folder, unless that was done before.
made_once() { # FOLDER WHAT COMMAND..
    if [[ ! -d $1 ]]; then
        mkdir -p "$CACHE"
        exec 9>"$CACHE/lock"
        flock 9
        [[ -d $1 ]] || (make_now "$@") # another rig made it while this one waited
        exec 9>&-
    fi
    touch "$1" # the time of the last use, for prune
}

# In a shell of its own: it has traps.
make_now() { # FOLDER WHAT COMMAND..
    local started=$SECONDS work maker
    note "$2 (once)"
    rm -rf "$CACHE"/new.* # leftovers of a killed build
    work=$(mktemp -d "$CACHE/new.XXXXXX")
    chmod 755 "$work"
    # A process of its own: -e does not hold inside a condition.
    (set -e; "${@:3}" "$work") >"$work/build.log" 2>&1 9>&- </dev/null &
    maker=$!
    # shellcheck disable=SC2064  # the current values
    trap "kill -KILL $maker 2>/dev/null || true; wait $maker 2>/dev/null || true; chmod -R u+w '$work'; rm -rf '$work'" EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    tick "$2" "$maker"
    if ! wait "$maker"; then
        tail -n 30 "$work/build.log" >&2
        die "$2: failed"
    fi
    mv "$work" "$1"
    trap - EXIT
    prune "${1%-*}"
    note "done after $((SECONDS - started)) s, $(du -sh "$1" | cut -f1)"
}

unpack_runtime() { # FOLDER
    open_suite "$1/apt"
    fetch_packages "$1" "${RUNTIME_PACKAGES[@]}"
    close_suite
    rm -rf "${1:?}"/usr/share
}

# The two used last stay: another checkout may be at another version.
prune() { # PATH_PREFIX
    local dir
    find "$CACHE" -mindepth 1 -maxdepth 1 -type d -path "$1-*" -printf '%T@ %p\n' | sort -rn | tail -n +3 | cut -d' ' -f2- |
        while read -r dir; do rm -rf "$dir"; done
}
