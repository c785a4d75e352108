# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# One rig: a set of namespaces that a process of ours keeps open. Every process of the rig is in its process namespace, every
# mount and every link in its mount and network namespaces: when its first process is killed, the kernel removes them all. Only the
# cgroups must be removed by this script.

readonly START_TIMEOUT=60

OUT=      # the rig's folder, with its logs and its name
RIG_PID=  # of the first process in it, as seen from here

# Makes a rig. With `tied`, the rig ends with this script, for whatever reason.
start_rig() { # NAME [tied]
    local leash=()
    [[ -z ${2:-} ]] || leash=(setpriv --pdeathsig KILL)
    prepare_cache
    claim_output "$1"
    local cgroup=rocelet-kubelet-$$
    echo "$cgroup" >"$OUT/cgroup"
    make_cgroups "$cgroup"
    write_env "$cgroup"
    setsid "${leash[@]}" unshare --mount --net --pid --fork --kill-child \
        bash "$KUBELET_DIR/rig/init.sh" "$OUT" "$cgroup" </dev/null >"$OUT/init.log" 2>&1 8>&- &
    local holder=$!
    disown # the shell prints no message about its end
    # Notices a rig that exits during its start, and prints its logs.
    if ! becomes_true "$START_TIMEOUT" "[[ -e $OUT/ready ]] || ! kill -0 $holder 2>/dev/null" || [[ ! -e $OUT/ready ]]; then
        stop_rig
        tail -n 30 "$OUT"/{init,containerd}.log >&2 2>/dev/null || true
        die "the rig did not start; its logs: $OUT"
    fi
    RIG_PID=$(<"$OUT/init.pid")
}

# An empty folder, held by a lock for as long as this script lives.
claim_output() { # NAME
    OUT=$PROJECT_DIR/build/kubelet/$1
    mkdir -p "$PROJECT_DIR/build/kubelet"
    exec 8>"$PROJECT_DIR/build/kubelet/$1.lock"
    flock -n 8 || die "'$1' is already running in this checkout"
    find_rig "$1" && die "'$1' is already up in this checkout: kubelet.sh down"
    rm -rf "$OUT"
    mkdir -p "$OUT"
}

# The variables for the scripts in the rig.
write_env() { # CGROUP
    local name
    for name in PROJECT_DIR KUBELET_DIR KUBELET_BIN RUNTIME_ROOT OUT; do printf '%s=%q\n' "$name" "${!name}"; done >"$OUT/env"
    printf 'CGROUP=%q\n' "$1" >>"$OUT/env"
}

# True if there is a rig of that name; sets OUT and RIG_PID. A process id alone may belong to another process by now.
find_rig() { # NAME
    OUT=$PROJECT_DIR/build/kubelet/$1
    [[ -s $OUT/init.pid ]] || return 1
    RIG_PID=$(<"$OUT/init.pid")
    grep -qzF "$OUT" "/proc/$RIG_PID/cmdline" 2>/dev/null
}

in_rig() { # COMMAND..
    nsenter --target "$RIG_PID" --mount --net --pid -- "$@"
}

# When this returns, nothing but the folder with the logs is left.
stop_rig() {
    RIG_PID=$(cat "$OUT/init.pid" 2>/dev/null || true)
    if [[ -n $RIG_PID ]] && grep -qzF "$OUT" "/proc/$RIG_PID/cmdline" 2>/dev/null; then
        local holder
        holder=$(ps -o ppid= -p "$RIG_PID")
        kill -KILL "$RIG_PID" 2>/dev/null || true
        # The first process of a process namespace exits only after all others.
        becomes_true 30 "! kill -0 $RIG_PID $holder 2>/dev/null" || note "process $RIG_PID does not end"
    fi
    rm -f "$OUT/init.pid" "$OUT/ready"
    [[ ! -s $OUT/cgroup ]] || becomes_true 10 "remove_cgroups $(<"$OUT/cgroup")" || note "some cgroups of the rig could not be removed"
    take_back
    RIG_PID=
}

# --- cgroups: the rig's pods are below one of its own, in every hierarchy

is_unified() { [[ $(stat -f -c %T /sys/fs/cgroup) == cgroup2fs ]]; }

make_cgroups() { # NAME
    local hierarchy
    sweep_cgroups
    if is_unified; then
        mkdir "/sys/fs/cgroup/$1"
        cat /sys/fs/cgroup/cgroup.subtree_control >"$OUT/controllers"
        hand_down /sys/fs/cgroup ||
            die "this machine's own cgroup cannot delegate its controllers: processes are in it, as in some containers"
        hand_down "/sys/fs/cgroup/$1"
    else
        cgroup_hierarchies | while read -r hierarchy; do mkdir -p "$hierarchy/$1"; done
    fi
}

# Delegates to a cgroup's children the controllers that the kubelet requires.
hand_down() { # CGROUP
    local controller
    for controller in cpu cpuset memory hugetlb pids; do
        grep -qw "$controller" "$1/cgroup.controllers" || continue
        echo "+$controller" 2>/dev/null >"$1/cgroup.subtree_control" || return 1
    done
}

# Takes back controllers that the root did not delegate before. If another rig still needs one, the kernel refuses.
take_back() {
    local controller
    [[ -e $OUT/controllers ]] || return 0
    for controller in $(</sys/fs/cgroup/cgroup.subtree_control); do
        grep -qw "$controller" "$OUT/controllers" || echo "-$controller" 2>/dev/null >/sys/fs/cgroup/cgroup.subtree_control || true
    done
    rm "$OUT/controllers"
}

cgroup_hierarchies() {
    awk '$3 == "cgroup" || $3 == "cgroup2" { print $2 }' /proc/mounts
}

# Removes leftovers of rigs whose script was killed: neither that script nor the rig's first process runs.
sweep_cgroups() {
    local name
    while read -r name; do
        kill -0 "${name##*-}" 2>/dev/null || pgrep -f "/init.sh .* $name\$" >/dev/null || remove_cgroups "$name" || true
    done < <(cgroup_hierarchies | xargs -I{} find {} -maxdepth 1 -name 'rocelet-kubelet-*' -printf '%f\n' | sort -u)
}

remove_cgroups() { # NAME
    local hierarchy left=0
    while read -r hierarchy; do
        [[ -d $hierarchy/$1 ]] || continue
        find "$hierarchy/$1" -depth -type d -exec rmdir {} + 2>/dev/null || left=1
    done < <(cgroup_hierarchies)
    return "$left"
}
